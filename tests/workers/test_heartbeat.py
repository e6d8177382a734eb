"""The heart that beats beside a job ends with it, whatever became of its last beat."""

import asyncio
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, cast

import pytest

from app.services import Services
from workers import main


class DeafJob:
    """A job whose update forgets once that it was cancelled, as psycopg's pool does at times."""

    key = "j"

    def __init__(self) -> None:
        self.beating = asyncio.Event()

    async def update(self) -> None:
        if self.beating.is_set():
            return
        self.beating.set()
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)


async def test_a_beat_that_does_not_hear_that_it_is_cancelled_is_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(main, "_BEAT_S", 0.001)
    job = DeafJob()

    async def work(_services: Services) -> None:
        await job.beating.wait()

    run_job: Any = main._beating(cast("Services", SimpleNamespace()), work)  # noqa: SLF001 - what SAQ calls
    running = asyncio.create_task(run_job({"job": job}))
    ended, _ = await asyncio.wait({running}, timeout=2)
    running.cancel()
    assert ended
