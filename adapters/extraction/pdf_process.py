"""The parent's side of the reading process: started when needed, kept, limited, replaced."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress

from adapters.child_processes import started
from adapters.extraction import wire
from domain.errors import BelegError, NotFound, PasswordNeeded, Unavailable, Unreadable

_MOST_FRAME_BYTES = 256 << 20
_FILES_A_PROCESS = 200
"""A process is replaced after so many, so that what a library leaks stays small."""
_FAILURES: dict[str, type[BelegError]] = {"not_found": NotFound, "locked": PasswordNeeded}
_STOPPED = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_SLOW = "Reading this file took too long. Split it, or save it anew, and upload that."
_CRASHED = (
    "This file makes its reader crash ({cause}): it is damaged, or needs too much memory."
    " Open it in another program, save it anew, and upload that."
)


class Crashed(Exception):
    """The process ended in the middle of a file; `status` is as in `subprocess`."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status

    @property
    def for_good(self) -> bool:
        """True where a second attempt would only take as long."""
        return self.status == -signal.SIGXCPU

    def verdict(self) -> Unreadable | Unavailable:
        """What to tell of it."""
        if self.for_good:
            return Unreadable(_SLOW)
        if -self.status in _STOPPED:
            return Unavailable("Reading was stopped from outside. Try again.")
        ended = self.status < 0
        cause = f"signal {-self.status}" if ended else f"exit status {self.status}"
        return Unreadable(_CRASHED.format(cause=cause))


class _Child:
    """One running process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.served = 0

    @classmethod
    async def start(cls) -> "_Child":
        """A fresh one, in a session of its own, with nothing of this one's environment.

        Raises:
            Unavailable: the system starts no process.
        """
        try:
            process = await started("adapters.extraction.pdf_child")
        except OSError as error:
            raise Unavailable("The reading process cannot be started. Try again.") from error
        return cls(process)

    async def send(self, request: wire.Request) -> None:
        """Put a request to it.

        Raises:
            Crashed: it has ended.
        """
        self.served += 1
        stdin = self._process.stdin
        assert stdin is not None  # noqa: S101 - asked for above
        try:
            stdin.write(wire.frame(request))
            await stdin.drain()
        except ConnectionError as error:
            raise Crashed(await self._process.wait()) from error

    async def reply(self) -> wire.Reply:
        """Its next reply.

        Raises:
            Crashed: it has ended.
            Unreadable: the reply is too long.
        """
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101 - asked for above
        try:
            size = int.from_bytes(await stdout.readexactly(wire.HEADER_BYTES), "big")
            if size > _MOST_FRAME_BYTES:
                raise Unreadable("There is more text in this file than can be read.")
            reply = wire.reply(await stdout.readexactly(size))
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise Crashed(await self._process.wait()) from error
        if isinstance(reply, wire.Failed) and reply.kind == "memory":
            self.served = _FILES_A_PROCESS  # it ends itself
        return reply

    @property
    def pid(self) -> int:
        """Its process id, which is its session's too."""
        return self._process.pid

    @property
    def fit(self) -> bool:
        """True where it may serve another file."""
        return self._process.returncode is None and self.served < _FILES_A_PROCESS

    def stop(self) -> None:
        """Send it, and everything it started, to its end."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    async def kill(self) -> None:
        """End it and everything it started. Nobody may be waiting for its reply."""
        self.stop()
        if self._process.stdin is not None:
            self._process.stdin.close()
        if self._process.stdout is not None:
            while await self._process.stdout.read(1 << 20):
                pass
        await self._process.wait()


class PdfProcesses:
    """A pool of reading processes; requests beyond its size wait their turn.

    Args:
        size: processes at most.
        wall_s: seconds a request may take once its turn has come.
    """

    def __init__(self, *, size: int = 1, wall_s: float = 110.0) -> None:
        self._wall_s = wall_s
        self._turns = asyncio.Semaphore(size)
        self._idle: list[_Child] = []
        self._all: set[_Child] = set()
        self._closed = False

    async def ask(self, request: wire.Request) -> AsyncGenerator[wire.Reply, None]:
        """Every reply to `request`. Cancelling the task, or closing this, ends the process.

        Raises:
            Crashed: the process ended before the last reply.
            Unreadable: the file cannot be read, or not in time.
            NotFound: the file has no such page.
            Unavailable: no process can be started.
        """
        failed: wire.Failed | None = None
        async with self._child() as child:
            deadline = asyncio.get_running_loop().time() + self._wall_s
            try:
                async with asyncio.timeout_at(deadline):
                    await child.send(request)
                more = True
                while more:
                    async with asyncio.timeout_at(deadline):
                        reply = await child.reply()
                    more = isinstance(reply, wire.Pages)
                    if isinstance(reply, wire.Failed):
                        failed = reply
                    else:
                        yield reply
            except TimeoutError as error:
                raise Unreadable(_SLOW) from error
        if failed is not None:
            raise _FAILURES.get(failed.kind, Unreadable)(failed.message)

    @asynccontextmanager
    async def _child(self) -> AsyncIterator[_Child]:
        """A process for one request; kept afterwards if the request came to its end."""
        async with self._turns:
            if self._closed:
                raise Unavailable("Reading has been shut down. Try again.")
            child = self._idle.pop() if self._idle else await _Child.start()
            self._all.add(child)
            kept = False
            try:
                yield child
                kept = child.fit
            finally:
                if kept:
                    self._idle.append(child)
                else:
                    self._all.discard(child)
                    await child.kill()

    @property
    def pids(self) -> list[int]:
        """The running processes."""
        return [child.pid for child in self._all]

    async def aclose(self) -> None:
        """End every process. Who is waiting for one gets `Unavailable`."""
        self._closed = True
        for child in self._all:
            child.stop()
        while self._idle:
            child = self._idle.pop()
            self._all.discard(child)
            await child.kill()
