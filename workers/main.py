"""The process that runs the jobs of one queue."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import structlog
import uvloop
from saq import Worker
from saq.queue.postgres import PostgresQueue
from saq.utils import now_seconds

from app.bootstrap import services
from app.log import set_up_logs
from app.periodic import reaping, sweeping
from app.services import Services
from app.settings import read_settings
from workers.jobs import JOBS

_BEAT_S = 1.0
_TIMERS: Any = {"sweep": 2}  # seconds; SAQ's type asks for all its timers
_ABORT_S = 1.5
_CONCURRENCY = 4
_LONGEST_WAIT_S = 300
_DUE = (
    "update saq_jobs set scheduled = %s where queue = %s and status = 'queued' and scheduled > %s"
)
"""No job is told to wait so long: a clock that was ahead, and was put back, wrote that."""
_TURN_S = 0.0005
"""Seconds that a computing thread keeps the event loop waiting. Python's own are ten times as long,
and would be waited for at every answer of the database."""
log = structlog.get_logger()


def run(queue: str) -> None:
    """Run that queue's jobs until SIGTERM; jobs that still run then are run again elsewhere."""
    set_up_logs()
    sys.setswitchinterval(_TURN_S)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(queue))


async def _run(name: str) -> None:
    settings = read_settings()
    async with services(settings) as wired, reaping(wired), sweeping(wired):
        for notice in wired.notices:
            log.warning("notice", text=notice)
        queue = JobQueue.from_url(settings.database_url, name=name, min_size=1, max_size=4)
        await queue.connect()
        try:
            worker: Worker[Any] = Worker(
                queue,
                [
                    (kind.name, _beating(wired, job))
                    for kind, job in JOBS.items()
                    if kind.queue == name
                ],
                concurrency=_CONCURRENCY,
                timers=_TIMERS,
                cancellation_hard_deadline_s=8.0,
            )
            await worker.start()
        finally:
            await queue.disconnect()


class JobQueue(PostgresQueue):
    """SAQ's queue, sweeping dead jobs faster: it waits for each to end by itself, in turn.

    A job that only looked dead is not waited for either: attempt tokens fence what it writes.
    """

    async def sweep(self, lock: int = 60, abort: float = _ABORT_S) -> list[str]:
        """Run the jobs of dead workers again; one worker at a time does it.

        SAQ's own turn lasts as long as the connection: a worker that hangs, or whose machine
        vanished, would keep it for hours, and dead jobs would wait for as long.
        """
        turn = "select pg_try_advisory_xact_lock(%s, hashtext(%s))"
        async with self.pool.connection() as connection, connection.transaction():
            await connection.execute("set local idle_in_transaction_session_timeout = '60s'")
            asked = await connection.execute(turn, (self.saq_lock_keyspace, self.name))
            if (await asked.fetchone()) != (True,):
                return []
            self._has_sweep_lock = True
            now = int(now_seconds())
            await connection.execute(_DUE, (now, self.name, now + _LONGEST_WAIT_S))
            return await super().sweep(lock, abort)


def _beating(
    wired: Services, job: Callable[..., Awaitable[None]]
) -> Callable[..., Awaitable[None]]:
    """The function SAQ calls: `job` beside a heartbeat, so that only a dead worker looks dead."""

    async def run_job(context: Mapping[str, Any], **arguments: str) -> None:
        ended = False

        async def beat() -> None:
            # Cancelling alone does not end it: a connection that comes at the same moment makes
            # psycopg's pool forget that it was cancelled, and the worker would never stop.
            while not ended:
                await asyncio.sleep(_BEAT_S)
                try:
                    await context["job"].update()
                except Exception as error:  # noqa: BLE001 - the next beat may succeed
                    log.warning("heartbeat_missed", reason=str(error))

        heart = asyncio.create_task(beat())
        structlog.contextvars.bind_contextvars(job=context["job"].key)
        try:
            await job(wired, **arguments)
        finally:
            ended = True
            heart.cancel()
            with suppress(asyncio.CancelledError):
                await heart
            structlog.contextvars.clear_contextvars()

    return run_job
