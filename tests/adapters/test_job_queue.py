"""Jobs that our own transaction enqueued, run by a real SAQ worker."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio
from saq import Queue, Status, Worker
from saq.types import Context

from adapters.postgres.connection import open_pool
from adapters.postgres.jobs import HEARTBEAT_S
from adapters.postgres.unit_of_work import PostgresUnitOfWork
from domain.jobs import INGEST_SOURCE, QUEUES, JobKind
from workers.jobs import JOBS
from workers.main import JobQueue

KIND = JobKind("note", "ingest", timeout_s=5, retries=3, retry_delay_s=0.05, retry_delay_max_s=0.1)
Run = Callable[..., Awaitable[None]]


@pytest_asyncio.fixture
async def uow(database_url: str) -> AsyncIterator[PostgresUnitOfWork]:
    async with open_pool(database_url, size=3) as pool:
        yield PostgresUnitOfWork(pool)


@asynccontextmanager
async def _working(database_url: str, run: Run) -> AsyncIterator[Queue]:
    """A worker of the queue whose only function is `run`."""
    queue = Queue.from_url(database_url, name=KIND.queue, min_size=1, max_size=3)
    await queue.connect()
    worker: Worker[Any] = Worker(queue, [(KIND.name, run)], concurrency=2)
    task = asyncio.create_task(worker.start())
    try:
        yield queue
    finally:
        await worker.stop()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await queue.disconnect()


async def _ended(queue: Queue, key: str) -> Status:
    for _ in range(200):
        job = await queue.job(f"saq:job:{KIND.queue}:{KIND.name}:{key}")
        if job is not None and job.status in {Status.COMPLETE, Status.FAILED, Status.ABORTED}:
            return job.status
        await asyncio.sleep(0.05)
    pytest.fail("the job did not end")


async def test_a_worker_runs_a_job_with_its_arguments_and_limits(
    database_url: str, uow: PostgresUnitOfWork
) -> None:
    runs: list[tuple[str, int | None, int | None, int]] = []

    async def run(context: Context, *, source_id: str) -> None:
        job = context["job"]
        runs.append((source_id, job.timeout, job.heartbeat, job.retries))

    async with _working(database_url, run) as queue:
        async with uow() as tx:
            await tx.jobs.enqueue(KIND, "one", source_id="s-1")
        assert await _ended(queue, "one") is Status.COMPLETE
    assert runs == [("s-1", KIND.timeout_s, HEARTBEAT_S, KIND.retries)]


async def test_a_job_is_seen_only_after_commit(database_url: str, uow: PostgresUnitOfWork) -> None:
    runs: list[str] = []

    async def run(_context: Context, *, source_id: str) -> None:
        runs.append(source_id)

    async with _working(database_url, run) as queue:
        async with uow() as tx:
            await tx.jobs.enqueue(KIND, "one", source_id="s-1")
            await asyncio.sleep(0.3)
            assert runs == []
        assert await _ended(queue, "one") is Status.COMPLETE


async def test_a_job_that_fails_is_run_again_as_often_as_its_kind_says(
    database_url: str, uow: PostgresUnitOfWork
) -> None:
    runs: list[str] = []

    async def run(_context: Context, *, source_id: str) -> None:
        runs.append(source_id)
        raise RuntimeError(source_id)

    async with _working(database_url, run) as queue:
        async with uow() as tx:
            await tx.jobs.enqueue(KIND, "bad", source_id="s-1")
        assert await _ended(queue, "bad") is Status.FAILED
    assert len(runs) == KIND.retries


async def test_a_key_runs_once_at_a_time_and_again_after_it_has_ended(
    database_url: str, uow: PostgresUnitOfWork
) -> None:
    runs: list[str] = []
    may_end = asyncio.Event()

    async def run(_context: Context, *, source_id: str) -> None:
        runs.append(source_id)
        await may_end.wait()

    async with _working(database_url, run) as queue:
        for source_id in ("s-1", "s-2", "s-3"):
            async with uow() as tx:
                await tx.jobs.enqueue(KIND, "one", source_id=source_id)
            await asyncio.sleep(0.1)
        assert runs == ["s-1"]
        may_end.set()
        assert await _ended(queue, "one") is Status.COMPLETE
        async with uow() as tx:
            await tx.jobs.enqueue(KIND, "one", source_id="s-4")
        for _ in range(100):
            await asyncio.sleep(0.02)
            if len(runs) > 1:
                break
    assert runs == ["s-1", "s-4"]


async def test_a_worker_that_hangs_keeps_no_dead_job_from_running_again(
    database_url: str, uow: PostgresUnitOfWork
) -> None:
    hanging, other = (
        JobQueue.from_url(database_url, name=KIND.queue, min_size=1, max_size=3) for _ in range(2)
    )
    async with uow() as tx:
        await tx.jobs.enqueue(KIND, "one", source_id="s-1")
    await hanging.connect()
    await other.connect()
    try:
        assert await hanging.sweep() == []
        job = await hanging.dequeue(timeout=1)
        assert job
        await hanging.update(job, status=Status.ACTIVE, started=1, touched=1)  # long ago
        assert await other.sweep(abort=0.1) == [job.key]
        assert (await other.info())["queued"] == 1
    finally:
        await hanging.disconnect()
        await other.disconnect()


async def test_a_job_that_a_wrong_clock_put_off_is_run(
    database_url: str, uow: PostgresUnitOfWork
) -> None:
    queue = JobQueue.from_url(database_url, name=KIND.queue, min_size=1, max_size=3)
    async with uow() as tx:
        await tx.jobs.enqueue(KIND, "one", source_id="s-1")
    await queue.connect()
    try:
        async with queue.pool.connection() as connection:
            await connection.execute("update saq_jobs set scheduled = scheduled + 3600")
        assert await queue.dequeue(timeout=0.1) is None
        await queue.sweep()
        assert await queue.dequeue(timeout=1)
    finally:
        await queue.disconnect()


def test_every_queue_has_a_kind_and_every_kind_a_function() -> None:
    assert {kind.queue for kind in JOBS} == set(QUEUES)
    assert INGEST_SOURCE in JOBS
    for kind, function in JOBS.items():
        assert function.__name__ == kind.name
