"""The database that `beleg up` runs starts again whenever it ends, and no faster than it can."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from app import bootstrap, up
from app.data_folder import DataFolder


class Failing:
    """A server that ends as soon as it is up."""

    starts = 0

    def poll(self) -> int:
        return 1

    def start(self) -> str:
        self.starts += 1
        assert self.starts < 5, "it is started again and again, and nothing else runs"
        return "postgresql:///beleg"


async def test_one_that_ran_and_then_fails_at_once_is_given_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Failing()
    clock: Iterator[float] = chain([0.0, 20.0], repeat(20.0))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setattr(bootstrap, "embedded_postgres", lambda *_, **__: server)
    monkeypatch.setattr(up, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    folder = cast("DataFolder", SimpleNamespace(database=tmp_path, logs=tmp_path))
    database = up._Database(folder)  # noqa: SLF001 - what `up` runs
    with suppress(TimeoutError):
        await asyncio.wait_for(database.keep_running(), timeout=0.2)
    assert server.starts == 1
