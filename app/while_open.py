"""Streams that end when their reader may no longer see what they show."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from app.services import Services
from domain.access import Visitor
from domain.channels import ACCESS_CHANGED
from domain.errors import Unavailable
from domain.ids import NotebookId
from domain.ports import Wakeup

_END = object()
_LOOK_AGAIN_S = 0.5
"""Where the database does not answer, or its clock says that it has not expired yet."""
_LET_IN_S = 0.25
"""A first look at once would keep the first piece of an answer waiting."""


async def while_open(
    services: Services,
    visitor: Visitor,
    notebook_id: NotebookId,
    events: AsyncIterator[bytes],
    *,
    farewell: bytes = b"",
) -> AsyncIterator[bytes]:
    """`events`, until they end or the notebook is closed to that visitor, whichever comes first.

    Args:
        farewell: what is said then.
    """
    async with services.listener.waiting(ACCESS_CHANGED, str(visitor.user.id)) as changed:
        closed = asyncio.create_task(_closed(services, visitor, notebook_id, changed))
        step: asyncio.Future[bytes | object] | None = None
        try:
            while True:
                step = asyncio.ensure_future(anext(events, _END))
                await asyncio.wait({step, closed}, return_when=asyncio.FIRST_COMPLETED)
                if closed.done():
                    closed.result()
                    yield farewell
                    return
                event = step.result()
                if not isinstance(event, bytes):
                    return
                yield event
        finally:
            closed.cancel()
            if step is not None and not step.done():
                step.cancel()
                await asyncio.wait({step})


async def _closed(
    services: Services, visitor: Visitor, notebook_id: NotebookId, changed: Wakeup
) -> None:
    """Return once they may not see that notebook, or what they came with counts no more."""
    await asyncio.sleep(_LET_IN_S)  # whatever has changed since the door is seen then
    while await _is_open(services, visitor, notebook_id):
        with suppress(TimeoutError):
            async with asyncio.timeout(_left_s(services, visitor)):
                await changed.wait()
        changed.clear()


async def _is_open(services: Services, visitor: Visitor, notebook_id: NotebookId) -> bool:
    """Whether they may see it, once the database tells: without it nothing new is shown either."""
    while True:
        with suppress(Unavailable):
            return await services.share.is_open_to(visitor, notebook_id)
        await asyncio.sleep(_LOOK_AGAIN_S)


def _left_s(services: Services, visitor: Visitor) -> float | None:
    """Seconds until what they came with expires; None where it does not."""
    if visitor.expires_at is None:
        return None
    left = visitor.expires_at - services.accounts.clock.now()
    return max(left.total_seconds(), _LOOK_AGAIN_S)
