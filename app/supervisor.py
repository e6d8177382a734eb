"""Keeps programs running until it is told to end: restarts, logs, an orderly stop."""

import asyncio
import json
import os
import re
import signal
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from domain.errors import Unavailable

_FAST_DEATH_S = 10.0
_FAST_FAILURES = 3
_SHORTEST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 30.0
_GRACE_S = 20.0
_LARGEST_LOG_BYTES = 10_000_000
_LONGEST_LINE_BYTES = 64_000
_TAIL_LINES = 15
_LOUD = re.compile(r"(WARNING|ERROR|CRITICAL)\b")
_SAID_ELSEWHERE = frozenset({"event", "level", "timestamp", "exception"})
_LOUD_LEVELS = frozenset({"warning", "error", "critical"})


@dataclass(frozen=True, slots=True)
class Program:
    """One child that is kept running.

    Args:
        name: how messages and its log file call it.
        command: absolute path of the program, and its arguments.
        pass_fds: open file descriptors that it inherits.
    """

    name: str
    command: Sequence[str]
    pass_fds: tuple[int, ...] = ()


@dataclass(slots=True)
class Patience:
    """How long to wait before a dead child starts again, and when to give up.

    One that has run for a while can: its settings are right, and what it needs will be back.
    """

    failures: int = 0
    next_s: float = _SHORTEST_PAUSE_S
    has_run: bool = False

    def pause_s(self, *, lived_s: float, status: int) -> float | None:
        """Seconds to wait after a death; None after three within 10 s of one that never ran.

        A kill -9 comes from outside (a person, the kernel short of memory): it makes the pause
        longer, but says nothing about the program.

        Args:
            lived_s: seconds since it started.
            status: exit status; a negative number is the signal that ended it.
        """
        if lived_s >= _FAST_DEATH_S:
            self.failures, self.next_s, self.has_run = 0, _SHORTEST_PAUSE_S, True
        elif status != -signal.SIGKILL:
            self.failures += 1
        if self.failures >= _FAST_FAILURES and not self.has_run:
            return None
        pause_s, self.next_s = self.next_s, min(2 * self.next_s, _LONGEST_PAUSE_S)
        return pause_s


class Supervisor:
    """Runs programs side by side, each in a session of its own.

    Args:
        logs: folder of the log files, `NAME.log` each.
        environment: the children's environment.
        tie: turns a command into one that ends with this process.
        say: shows one line to the person at the terminal: deaths, and the children's warnings
            and errors, those that repeat themselves once.
    """

    def __init__(
        self,
        *,
        logs: Path,
        environment: Mapping[str, str],
        tie: Callable[[Sequence[str]], list[str]],
        say: Callable[[str], None],
    ) -> None:
        self._logs = logs
        self._environment = environment
        self._tie = tie
        self._say = say
        self._running: set[int] = set()
        self._said: deque[str] = deque(maxlen=100)
        self._is_stopping = False

    async def keep_running(self, program: Program) -> None:
        """Start `program` whenever it is not running; cancelling this stops it in good order.

        Raises:
            Unavailable: it never ran, and failed three times in a row right after its start; the
                message ends with the last lines of its log.
        """
        patience = Patience()
        while True:
            started = time.monotonic()
            log = Log(self._logs / f"{program.name}.log")
            status = await self._run(program, log)
            pause_s = patience.pause_s(lived_s=time.monotonic() - started, status=status)
            if pause_s is None:
                said = "\n".join(map(readable, log.tail)).splitlines()[-_TAIL_LINES:]
                message = f"{program.name} does not start ({_how(status)}). It said:"
                raise Unavailable("\n  ".join([message, *said]))
            self._say(f"{program.name} {_how(status)}; it starts again in {pause_s:.0f} s")
            await asyncio.sleep(pause_s)

    def kill_all(self) -> None:
        """End every child at once, without its grace period."""
        for group in self._running:
            _kill_group(group)

    async def _run(self, program: Program, log: "Log") -> int:
        """One life of `program`: its exit status."""
        # A pipe of our own: asyncio's would make wait() last until grandchildren close it too.
        read_end, write_end = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *self._tie(program.command),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=write_end,
                stderr=write_end,
                env=self._environment,
                pass_fds=program.pass_fds,
                start_new_session=True,  # Ctrl-C on the terminal is for the parent alone
            )
        finally:
            os.close(write_end)
        self._running.add(process.pid)
        reading = asyncio.create_task(self._read(program.name, read_end, log))
        try:
            return await process.wait()
        except asyncio.CancelledError:
            self._is_stopping = True
            raise
        finally:
            await _stop(process)
            self._running.discard(process.pid)
            # What it wrote last is still in the pipe.
            with suppress(TimeoutError):
                await asyncio.wait_for(reading, timeout=1)

    async def _read(self, name: str, pipe: int, log: "Log") -> None:
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(pipe, "rb")
        )
        try:
            async for line in _lines(reader):
                loud = loud_line(log.write(line))
                # Children often notice the same thing; the logs have every line.
                if loud and loud not in self._said and not self._is_stopping:
                    self._said.append(loud)
                    self._say(f"{name}: {loud}")
        finally:
            transport.close()
            log.close()


class Log:
    """A log file that grows to a limit, and the last lines written to it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("ab", buffering=0)
        self.tail: deque[str] = deque(maxlen=_TAIL_LINES)

    def write(self, line: bytes) -> str:
        """Append a line, and return it as text; a full disk loses it and stops nobody."""
        with suppress(OSError):
            if self._file.tell() > _LARGEST_LOG_BYTES:
                self._file.close()
                self._path.replace(self._path.with_suffix(".log.1"))
                self._file = self._path.open("ab", buffering=0)
            self._file.write(line + b"\n")
        text = line.decode(errors="replace")
        self.tail.append(text)
        return text

    def close(self) -> None:
        """Close the file; the tail stays."""
        self._file.close()


def loud_line(line: str) -> str | None:
    """What a person should see of a log line: None unless it is a warning or an error.

    Args:
        line: a JSON object with `event` and `level`, or a text that begins with its level.
    """
    fields = _fields(line)
    if fields is None:
        return line if _LOUD.match(line) else None
    if fields.get("level") not in _LOUD_LEVELS:
        return None
    # Of a stack trace the last line says what happened; the log has the rest.
    said = [part.strip(" |+-") for part in readable(line).splitlines()]
    return next((part for part in reversed(said) if part), None)


def readable(line: str) -> str:
    """A log line as a person reads it: a JSON object as its event and what belongs to it."""
    fields = _fields(line)
    if fields is None:
        return line
    about = {key: value for key, value in fields.items() if key not in _SAID_ELSEWHERE}
    event = fields.get("event", "")
    if event == "notice":  # a sentence for a person
        event = about.pop("text", "")
    return " ".join([str(event), *(f"{key}={value}" for key, value in about.items())])


def _fields(line: str) -> dict[str, object] | None:
    if not line.startswith("{"):
        return None
    try:
        fields = json.loads(line)
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """The lines of `stream` without their ends; an endless one is cut."""
    rest = b""
    while block := await stream.read(_LONGEST_LINE_BYTES):
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            yield line
        if len(rest) > _LONGEST_LINE_BYTES:
            yield rest
            rest = b""
    if rest:
        yield rest


async def _stop(process: asyncio.subprocess.Process) -> None:
    """SIGTERM, a grace period, then by force; whatever it started goes too."""
    try:
        if process.returncode is None:
            process.terminate()
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), timeout=_GRACE_S)
    finally:
        _kill_group(process.pid)
        await process.wait()


def _kill_group(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _how(status: int) -> str:
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return f"ended with status {status}"
