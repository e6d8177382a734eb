"""`beleg up` as a person runs it: a real database, real children, real signals."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import httpx
import pytest

from domain.jobs import QUEUES

UP = [sys.executable, "-P", "-m", "app.cli", "up"]
CHILDREN = {"web", "postgres", *QUEUES}
READY = re.compile(r"^Beleg is ready: (http://[\d.]+:\d+)$", re.MULTILINE)


class Run:
    """One `beleg up`, and what it wrote."""

    def __init__(self, data: Path, *arguments: str, **environment: str) -> None:
        self.output = data.with_name(f"output-{time.monotonic_ns()}")
        inherited = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [*UP, "--data", str(data), *arguments],
                cwd=data.parent,
                env={**inherited, "BELEG_SHARED_BUFFERS": "32MB", **environment},
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def address(self) -> str:
        def ready() -> re.Match[str] | None:
            assert self.process.poll() is None, self.output.read_text()
            return READY.search(self.output.read_text())

        found = wait_for(ready, timeout_s=60)
        assert found is not None
        return found[1]

    def children(self) -> dict[str, int]:
        """Process ids of the direct children by what they are."""
        found = {}
        for pid in descendants(self.process.pid, depth=1):
            command = ""
            with suppress(FileNotFoundError, ProcessLookupError):  # one that ended just now
                command = Path("/proc", str(pid), "cmdline").read_text().replace("\0", " ")
            for name in CHILDREN:
                if f" {name} " in command or f"/{name} " in command:
                    found[name] = pid
        return found

    def end(self, sign: signal.Signals) -> int:
        self.process.send_signal(sign)
        return self.process.wait(timeout=30)


T = TypeVar("T")


def wait_for(condition: Callable[[], T], *, timeout_s: float) -> T:
    deadline = time.monotonic() + timeout_s
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
    return found


def stat(pid: int) -> tuple[str, int] | None:
    """State letter and parent of a process."""
    try:
        fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return fields[0], int(fields[1])


def descendants(ancestor: int, *, depth: int = 9) -> set[int]:
    parents = {
        int(entry.name): found[1]
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and (found := stat(int(entry.name)))
    }
    family: set[int] = set()
    generation = {ancestor}
    for _ in range(depth):
        generation = {pid for pid, parent in parents.items() if parent in generation}
        family |= generation
    return family


def all_gone(pids: set[int]) -> bool:
    return all((found := stat(pid)) is None or found[0] == "Z" for pid in pids)


def is_ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/health/ready", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@contextmanager
def running(data: Path, *arguments: str, **environment: str) -> Iterator[Run]:
    run = Run(data, *arguments, **environment)
    try:
        yield run
    finally:
        family = descendants(run.process.pid)
        run.process.kill()
        run.process.wait()
        wait_for(lambda: all_gone(family), timeout_s=15)


@pytest.fixture
def usual_port_is_taken() -> Iterator[None]:
    try:
        taken = socket.create_server(("127.0.0.1", 8470))
    except OSError:
        yield  # somebody else holds it, which serves as well
    else:
        with taken:
            yield


@pytest.mark.usefixtures("usual_port_is_taken")
def test_it_serves_refuses_a_second_one_and_ends_without_a_trace(data: Path) -> None:
    with running(data) as run:
        address = run.address()
        assert not address.endswith(":8470")
        assert is_ready(address)
        assert httpx.get(f"{address}/").status_code == 200, "who is at the machine is signed in"
        assert set(run.children()) == CHILDREN

        second = subprocess.run(
            [*UP, "--data", str(data)], capture_output=True, text=True, timeout=20, check=False
        )
        assert second.returncode == 1
        assert second.stderr.count("\n") == 1
        assert address in second.stderr
        assert f"pid {run.process.pid}" in second.stderr
        assert is_ready(address)

        family = descendants(run.process.pid)
        assert run.end(signal.SIGINT) == 0
        assert all_gone(family)
        assert READY.findall(run.output.read_text()) == [address]


def test_nothing_outlives_a_kill_and_the_next_start_recovers(data: Path) -> None:
    with running(data) as run:
        run.address()
        family = descendants(run.process.pid)
        assert len(family) > len(CHILDREN)
        run.end(signal.SIGKILL)
        wait_for(lambda: all_gone(family), timeout_s=15)
    with running(data) as run:
        run.address()
        for pid in (run.process.pid, *descendants(run.process.pid)):
            with suppress(ProcessLookupError):  # its parent was killed before
                os.kill(pid, signal.SIGKILL)
        run.process.wait()
    with running(data) as run:
        assert is_ready(run.address())
        family = descendants(run.process.pid)
        assert run.end(signal.SIGTERM) == 0
        assert all_gone(family)


def test_a_start_right_after_a_kill_takes_over(data: Path) -> None:
    with running(data) as run:
        run.address()
        family = descendants(run.process.pid)
        run.process.kill()
        run.process.wait()
        with running(data) as next_run:
            assert is_ready(next_run.address())
            assert all_gone(family)


def test_what_dies_starts_again_at_the_same_address(data: Path) -> None:
    with running(data) as run:
        address = run.address()
        before = run.children()
        killed = ("ingest", "web", "postgres")
        for name in killed:
            os.kill(before[name], signal.SIGKILL)

        def all_run_again() -> bool:
            now = run.children()
            return set(now) == CHILDREN and all(now[name] != before[name] for name in killed)

        wait_for(all_run_again, timeout_s=30)
        wait_for(lambda: is_ready(address), timeout_s=30)
        assert "worker-ingest was ended by SIGKILL" in run.output.read_text()


def test_whoever_listens_on_the_network_signs_nobody_in(data: Path) -> None:
    with running(data, "--host", "0.0.0.0", "--port", "0", BELEG_LOCAL="1") as run:
        address = run.address().replace("0.0.0.0", "127.0.0.1")
        assert httpx.get(f"{address}/").status_code == 401


def test_a_port_that_was_asked_for_and_is_taken_is_named(data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = subprocess.run(
            [*UP, "--data", str(data), "--port", str(port)],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    assert refused.returncode == 1
    assert f"Port {port} is taken" in refused.stderr


def test_memory_that_cannot_be_read_is_named_and_an_empty_value_counts_as_absent(
    data: Path,
) -> None:
    refused = Run(data, BELEG_SHARED_BUFFERS="much")
    assert refused.process.wait(timeout=30) == 1
    assert "BELEG_SHARED_BUFFERS is like 256MB" in refused.output.read_text()
    with running(data, BELEG_SHARED_BUFFERS="", DATABASE_URL=" ") as run:
        wait_for(lambda: "postgres" in run.children(), timeout_s=30)


def test_a_database_that_does_not_answer_is_told_in_one_paragraph(data: Path) -> None:
    nowhere = "postgresql://nobody@127.0.0.1:9/none"
    run = Run(data, DATABASE_URL=nowhere)
    assert run.process.wait(timeout=30) == 1
    told = run.output.read_text()
    assert "could not be migrated" in told
    assert "Connection refused" in told
    assert not (data / "postgres").exists()
