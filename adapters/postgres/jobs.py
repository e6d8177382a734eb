"""Enqueue SAQ jobs inside our own transaction."""

import time

import msgspec
from saq.job import Job, Status

from adapters.postgres.rows import Store
from domain.jobs import JobKind

HEARTBEAT_S = 10
"""A job that does not beat for so long is taken for dead and run again. It beats every second:
on a machine with ten times the work it can do, 4 s once ran live jobs twice."""


class PostgresJobs(Store):
    """The `Jobs` port: the row that `saq.Queue.enqueue` would write, in the caller's transaction.

    SAQ is pinned, and a contract test runs such a row through a real worker.
    """

    async def enqueue(self, kind: JobKind, key: str, **arguments: str) -> None:
        now_ms = time.time_ns() // 1_000_000
        job = Job(
            function=kind.name,
            kwargs=dict(arguments),
            key=f"saq:job:{kind.queue}:{kind.name}:{key}",
            timeout=kind.timeout_s,
            heartbeat=HEARTBEAT_S,
            retries=kind.retries,
            ttl=60,
            retry_delay=kind.retry_delay_s,
            retry_backoff=kind.retry_delay_max_s,
            priority=kind.priority,
            queued=now_ms,
            status=Status.QUEUED,
        )
        await self._run(
            "insert into saq_jobs (key, job, queue, status, priority, scheduled)"
            " values (:key, :job, :queue, 'queued', :priority, :now)"
            # A job that has ended keeps its row for a while; it makes room for the next one.
            " on conflict (key) do update set job = excluded.job, queue = excluded.queue,"
            " status = excluded.status, scheduled = excluded.scheduled, expire_at = null"
            " where saq_jobs.status in ('aborted', 'complete', 'failed')",
            key=job.key,
            job=msgspec.json.encode(job.to_dict() | {"queue": kind.queue}),
            queue=kind.queue,
            priority=kind.priority,
            now=now_ms // 1000,
        )
        await self._run("select pg_notify(:channel, 'saq:enqueue')", channel=f"saq:{kind.queue}")
