import asyncio
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from app import bootstrap
from app.supervisor import Log, Patience, Program, Supervisor, loud_line
from domain.errors import Unavailable


class Terminal:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


@pytest.fixture
def supervisor(tmp_path: Path, terminal: Terminal) -> Supervisor:
    return Supervisor(
        logs=tmp_path, environment=os.environ, tie=bootstrap.tied_command, say=terminal
    )


def shell(script: str) -> Sequence[str]:
    return ["/bin/sh", "-c", script]


def is_running(pid: int) -> bool:
    try:
        state = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


async def written(path: Path) -> str:
    async with asyncio.timeout(10):
        while not text(path).endswith("\n"):  # noqa: ASYNC110 - a file sets no event
            await asyncio.sleep(0.02)
    return text(path)


def test_three_failures_right_after_the_start_end_the_patience() -> None:
    patience = Patience()
    assert [patience.pause_s(lived_s=2, status=1) for _ in range(3)] == [1, 2, None]


def test_a_program_that_lived_a_while_gets_every_chance() -> None:
    patience = Patience()
    for _ in range(2):
        assert patience.pause_s(lived_s=60, status=1) == 1
        # As while its database is away.
        pauses = [patience.pause_s(lived_s=1, status=1) for _ in range(6)]
        assert pauses == [2, 4, 8, 16, 30, 30]


def test_being_killed_makes_pauses_longer_and_never_ends_the_patience() -> None:
    patience = Patience()
    pauses = [patience.pause_s(lived_s=1, status=-signal.SIGKILL) for _ in range(7)]
    assert pauses == [1, 2, 4, 8, 16, 30, 30]


async def test_a_program_that_does_not_start_is_told_with_its_last_lines(
    supervisor: Supervisor, terminal: Terminal
) -> None:
    program = Program("web", shell("echo the price of gpt-9 is missing; exit 3"))
    with pytest.raises(Unavailable, match=r"status 3(?s:.)*the price of gpt-9 is missing"):
        await supervisor.keep_running(program)
    assert terminal.lines == [
        "web ended with status 3; it starts again in 1 s",
        "web ended with status 3; it starts again in 2 s",
    ]


async def test_stopping_lets_a_program_finish_what_it_does(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    done = tmp_path / "done"
    script = (
        f"trap 'sleep 0.3; echo yes > {done}; exit 0' TERM; echo up; while :; do sleep 0.05; done"
    )
    task = asyncio.create_task(supervisor.keep_running(Program("worker", shell(script))))
    await written(tmp_path / "worker.log")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert text(done) == "yes\n"


async def test_a_second_request_to_stop_does_not_wait(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    script = "trap '' TERM; echo up; while :; do sleep 0.05; done"
    task = asyncio.create_task(supervisor.keep_running(Program("worker", shell(script))))
    await written(tmp_path / "worker.log")
    started = time.monotonic()
    task.cancel()
    await asyncio.sleep(0.1)
    supervisor.kill_all()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - started < 5


async def test_what_a_dead_program_had_started_is_ended_too(
    supervisor: Supervisor, terminal: Terminal, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    script = f"sleep 600 & echo $$ $! > {pids}; wait"
    task = asyncio.create_task(supervisor.keep_running(Program("worker", shell(script))))
    program, grandchild = map(int, (await written(pids)).split())
    os.kill(program, signal.SIGKILL)
    async with asyncio.timeout(5):
        while not terminal.lines:  # noqa: ASYNC110 - a list sets no event
            await asyncio.sleep(0.02)
    assert not is_running(grandchild)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_warnings_reach_the_terminal_and_everything_the_log(
    supervisor: Supervisor, terminal: Terminal, tmp_path: Path
) -> None:
    script = """
        echo '{"event": "job_done", "level": "info"}'
        echo '{"event": "provider_refused", "level": "error", "status": 401}'
        echo 'WARNING: low on space'; echo 'WARNING: low on space'; printf 'no end'; kill -9 $$"""
    task = asyncio.create_task(supervisor.keep_running(Program("worker", shell(script))))
    async with asyncio.timeout(5):
        while len(terminal.lines) < 3:  # noqa: ASYNC110 - a list sets no event
            await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert terminal.lines == [
        "worker: provider_refused status=401",
        "worker: WARNING: low on space",
        "worker was ended by SIGKILL; it starts again in 1 s",
    ]
    assert text(tmp_path / "worker.log").splitlines()[-1] == "no end"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ('{"event": "a", "level": "warning", "timestamp": "t", "exception": "long"}', "a"),
        ('{"event": "notice", "level": "warning", "text": "No model writes."}', "No model writes."),
        ('{"event": "a", "level": "info"}', None),
        ('{"event": "+ Traceback:\\n | KeyError: 3\\n +---", "level": "error"}', "KeyError: 3"),
        ('{"broken', None),
        ("ERROR:    port taken", "ERROR:    port taken"),
        ("ERRORS are none of ours", None),
        ("Traceback (most recent call last):", None),
    ],
)
def test_a_line_is_loud_by_its_level(line: str, shown: str | None) -> None:
    assert loud_line(line) == shown


def test_a_log_starts_anew_when_it_is_full(tmp_path: Path) -> None:
    log = Log(tmp_path / "web.log")
    for _ in range(12):
        log.write(b"x" * 1_000_000)
    log.close()
    assert (tmp_path / "web.log.1").stat().st_size > 10_000_000
    assert (tmp_path / "web.log").stat().st_size < 3_000_000
