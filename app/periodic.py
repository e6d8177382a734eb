"""What every long-running process does beside its work."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import structlog

from app.services import Services
from domain.errors import Unavailable

_REAP_S = 5.0
_RENEW_S = 4.0
_SWEEP_S = 900.0
log = structlog.get_logger()


@asynccontextmanager
async def reaping(services: Services) -> AsyncIterator[None]:
    """Clean up after dead processes every few seconds, for as long as the block runs.

    Every web process and every worker does it, so that no single one has to be alive.
    """
    async with _every(_REAP_S, "reaping", services.reap):
        yield


@asynccontextmanager
async def renewing(services: Services) -> AsyncIterator[None]:
    """Keep others from taking this process's model calls for a dead one's.

    Whatever process makes calls has to do it.
    """
    async with _every(_RENEW_S, "renewing", services.renew_calls):
        yield


@asynccontextmanager
async def sweeping(services: Services) -> AsyncIterator[None]:
    """Delete files that nobody needs or may have any more, every quarter of an hour."""
    async with (
        _every(_SWEEP_S, "sweeping", services.sweep_files),
        _every(_SWEEP_S, "expiring", services.export_account.expire),
    ):
        yield


@asynccontextmanager
async def _every(
    pause_s: float, name: str, act: Callable[[], Awaitable[None]]
) -> AsyncIterator[None]:
    task = asyncio.create_task(_repeat(pause_s, name, act))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _repeat(pause_s: float, name: str, act: Callable[[], Awaitable[None]]) -> None:
    postponed, failed = f"{name}_postponed", f"{name}_failed"
    while True:
        try:
            await act()
        except* Unavailable as errors:
            log.warning(postponed, reason=str(errors.exceptions[0]))
        except* Exception:  # it must go on: without it nothing dead is ever cleaned up
            log.exception(failed)
        await asyncio.sleep(pause_s)
