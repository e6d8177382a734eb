"""The ports `SoundReader` and `SoundJoiner`: processes that open recordings, within limits."""

import asyncio
import signal
import tempfile
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from decimal import Decimal
from typing import BinaryIO

import msgspec

from adapters.child_processes import started
from domain.errors import Unavailable, Unreadable
from domain.sound import MOST_JOINED_SECONDS, MOST_SECONDS, Mp3, Sound

_STOPPED = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_WALL_S = {"probe": 120.0, "mp3": 900.0, "join": 900.0}
_SLOW = "Reading this recording took too long. Save it anew, as MP3 for example, and add that."
_CRASHED = (
    "This recording makes its reader crash: it is damaged, or needs too much memory."
    " Save it anew in another program and add that."
)
_MILLISECOND = Decimal("0.001")


class _Answer(msgspec.Struct):
    """What the process prints."""

    error: str = ""
    format: str = ""
    seconds: float = 0.0
    loudest_db: float = 0.0


class SoundProcesses:
    """Opens recordings, each in a process that ends with it.

    Args:
        size: processes at most.
    """

    def __init__(self, *, size: int = 2) -> None:
        self._turns = asyncio.Semaphore(size)

    @asynccontextmanager
    async def opened(self, blocks: AsyncIterable[bytes]) -> AsyncIterator["Recording"]:
        """See `SoundReader.opened`. The copy has no name: a kill leaves nothing behind."""
        with tempfile.TemporaryFile() as file:
            async for block in blocks:
                await asyncio.to_thread(file.write, block)
            file.flush()
            size = file.tell()
            if not size:
                raise Unreadable("This recording is empty: it has 0 bytes.")
            answer = await self.ask("probe", file)
            seconds = _decimal(answer.seconds)
            yield Recording(self, file, Sound(answer.format, seconds, answer.loudest_db, size))

    async def joined(self, parts: Sequence[bytes]) -> Mp3:
        """See `SoundJoiner.joined`."""
        with tempfile.TemporaryFile() as file, tempfile.TemporaryFile() as target:
            await asyncio.to_thread(file.writelines, parts)
            file.flush()
            lengths = map(len, parts)
            answer = await self.ask("join", file, target.fileno(), MOST_JOINED_SECONDS, *lengths)
            content = await asyncio.to_thread(_whole, target)
        return Mp3(content, _decimal(answer.seconds))

    async def ask(self, request: str, recording: BinaryIO, *more: int) -> _Answer:
        """The answer of a process to `request`; descriptors among `more` must be above 2.

        Raises:
            Unreadable: the recording cannot be opened, or not in time.
            Unavailable: the process cannot be started, or was ended from outside.
        """
        async with self._turns:
            process = await _started(request, recording, more)
            try:
                async with asyncio.timeout(_WALL_S[request]):
                    printed, _ = await process.communicate()
            except TimeoutError as error:
                raise Unreadable(_SLOW) from error
            finally:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        _require_whole(process.returncode or 0)
        answer = msgspec.json.decode(printed, type=_Answer)
        if answer.error:
            raise Unreadable(answer.error)
        return answer


class Recording:
    """The `OpenSound` port over a file."""

    def __init__(self, processes: SoundProcesses, file: BinaryIO, sound: Sound) -> None:
        self._processes = processes
        self._file = file
        self.sound = sound

    async def content(self) -> bytes:
        """See `OpenSound.content`."""
        return await asyncio.to_thread(_whole, self._file)

    async def as_mp3(self, bits_per_s: int) -> bytes:
        """See `OpenSound.as_mp3`."""
        with tempfile.TemporaryFile() as target:
            await self._processes.ask("mp3", self._file, target.fileno(), bits_per_s, MOST_SECONDS)
            return await asyncio.to_thread(_whole, target)


def _decimal(seconds: float) -> Decimal:
    return Decimal(seconds).quantize(_MILLISECOND)


def _whole(file: BinaryIO) -> bytes:
    # The child shares the descriptor's place in the file.
    file.seek(0)
    return file.read()


async def _started(
    request: str, recording: BinaryIO, more: tuple[int, ...]
) -> asyncio.subprocess.Process:
    recording.seek(0)
    source = recording.fileno()
    try:
        return await started(
            "adapters.extraction.sound_child",
            [request, str(source), *map(str, more)],
            stdin=asyncio.subprocess.DEVNULL,
            descriptors=(source, *more[:1]),
        )
    except OSError as error:
        raise Unavailable("The reading process cannot be started. Try again.") from error


def _require_whole(status: int) -> None:
    """Raise for a process that did not end by itself; `status` is as in `subprocess`."""
    if status == -signal.SIGXCPU:
        raise Unreadable(_SLOW)
    if -status in _STOPPED:
        raise Unavailable("Reading was stopped from outside. Try again.")
    if status:
        raise Unreadable(_CRASHED)
