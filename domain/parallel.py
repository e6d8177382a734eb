"""Several things at once, of which none that was begun is dropped."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable


async def run_each(gate: asyncio.Semaphore, jobs: Iterable[Callable[[], Awaitable[None]]]) -> None:
    """Run every job, as many at once as the gate lets.

    Raises:
        Exception: the first that a job raised. No job begins after it; those under way end first,
            since what they do is paid for.
    """
    failed: list[Exception] = []

    async def run(job: Callable[[], Awaitable[None]]) -> None:
        async with gate:
            if failed:
                return
            try:
                await job()
            except Exception as error:  # noqa: BLE001 - raised below
                failed.append(error)

    async with asyncio.TaskGroup() as group:
        for job in jobs:
            group.create_task(run(job))
    if failed:
        raise failed[0]


async def both(first: Awaitable[None], second: Awaitable[None]) -> None:
    """Two things at the same time, each to its end; cancelled together.

    Raises:
        Exception: what the first one raised, else what the second one did.
    """
    for outcome in await asyncio.gather(first, second, return_exceptions=True):
        if outcome is not None:
            raise outcome
