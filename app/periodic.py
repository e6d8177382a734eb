"""What every long-running process does beside its work."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog

from app.services import Services
from domain.errors import Unavailable

_REAP_S = 5.0
log = structlog.get_logger()


@asynccontextmanager
async def reaping(services: Services) -> AsyncIterator[None]:
    """Clean up after dead processes every few seconds, for as long as the block runs.

    Every web process and every worker does it, so that no single one has to be alive.
    """
    task = asyncio.create_task(_reap(services))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _reap(services: Services) -> None:
    while True:
        try:
            await services.reap()
        except* Unavailable as errors:
            log.warning("reaping_postponed", reason=str(errors.exceptions[0]))
        except* Exception:  # it must go on: without it nothing dead is ever cleaned up
            log.exception("reaping_failed")
        await asyncio.sleep(_REAP_S)
