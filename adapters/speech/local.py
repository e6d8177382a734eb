"""Text to speech made here, for nothing: hibari for English, espeak-ng for the rest."""

import asyncio
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from subprocess import CalledProcessError

import msgspec

from adapters.child_processes import output_of
from domain.errors import ModelRefused, ModelUnavailable, Unavailable, Unreadable
from domain.ports import SoundJoiner
from domain.speech import VOICES, Line, SpeechLimits, Spoken, Voice, characters, require_whole
from domain.usage import TokenUsage

LOCAL_VOICES = "local-voices"
ESPEAK = "espeak-ng"
_WALL_S = 240.0
_ESPEAK_NAMES = {
    "linde": "de",
    "ahorn": "de+f2",
    "birke": "de+m3",
    "willow": "en-us",
    "rowan": "en-us+f2",
}
"""Of its variants those that a transcriber understood best, the default first."""
_WORDS_A_MINUTE = "140"
_HIBARI_TUNES = {"willow": (1.0, 24_000), "rowan": (1.15, 20_900)}
"""It has one voice. Spoken faster and played slower, it is a lower one at the same pace."""
_LEAST_WAV_BYTES = 1_000
"""Less is a header with nothing to hear behind it."""


def installed_voices(joiner: SoundJoiner) -> "LocalSpeech | None":
    """What speaks here; None where neither of the two is installed."""
    program, hibari = shutil.which(ESPEAK), find_spec("hibari") is not None
    return LocalSpeech(joiner, program, hibari=hibari) if program or hibari else None


class LocalSpeech:
    """The port `Speech` without a network, a key or a price, in processes of their own.

    Args:
        joiner: makes one MP3 of what they speak.
        espeak: its absolute path; None where it is not installed.
        hibari: whether the extra `beleg[voice]` is.
    """

    provider = "local"
    model = LOCAL_VOICES
    limits = SpeechLimits(4_000, 60, several_voices=True)

    def __init__(self, joiner: SoundJoiner, espeak: str | None, *, hibari: bool) -> None:
        self._joiner = joiner
        self._espeak = espeak
        self._tunes = _HIBARI_TUNES if hibari else {}
        names = {*self._tunes, *(_ESPEAK_NAMES if espeak else ())}
        self.voices: frozenset[Voice] = frozenset(v for v in VOICES if v.name in names)
        self._turn = asyncio.Semaphore(1)

    def bound(self, lines: Sequence[Line]) -> TokenUsage:
        """See the port; they cost nothing."""
        return TokenUsage(0, characters=characters(lines))

    async def speak(self, lines: Sequence[Line]) -> Spoken:
        """See the port."""
        async with self._turn:
            wavs = await self._wavs(lines)
        audible = [wav for wav in wavs if len(wav) > _LEAST_WAV_BYTES]
        if not audible:
            raise ModelRefused("There is nothing in this text that can be read aloud.")
        try:
            mp3 = await self._joiner.joined(audible)
        except (Unavailable, Unreadable) as error:
            raise ModelUnavailable(f"The recording was lost here: {error.message}") from error
        usage = self.bound(lines)
        require_whole(lines, mp3.seconds, usage, self.model)
        return Spoken(mp3.content, mp3.seconds, usage)

    async def _wavs(self, lines: Sequence[Line]) -> list[bytes]:
        """A WAV file a line; hibari, which takes a second to load, reads all of its own at once."""
        tuned = [line for line in lines if line.voice.name in self._tunes]
        found = iter(await self._by_hibari(tuned)) if tuned else iter(())
        return [
            next(found) if line.voice.name in self._tunes else await self._by_espeak(line)
            for line in lines
        ]

    async def _by_hibari(self, lines: Sequence[Line]) -> list[bytes]:
        asked = [(line.text, *self._tunes[line.voice.name]) for line in lines]
        out = await _output("adapters.speech.hibari_child", [], msgspec.json.encode(asked))
        return msgspec.msgpack.decode(out, type=list[bytes])

    async def _by_espeak(self, line: Line) -> bytes:
        assert self._espeak is not None  # noqa: S101 - `voices` has it only where it is installed
        command = [self._espeak, "-v", _ESPEAK_NAMES[line.voice.name], "-s", _WORDS_A_MINUTE]
        more = ["-b", "1", "--stdin", "--stdout"]
        return await _output("adapters.speech.espeak_child", [*command, *more], line.text.encode())


async def _output(module: str, arguments: Sequence[str], given: bytes) -> bytes:
    """What a process of ours prints."""
    try:
        return await output_of(
            module,
            arguments,
            given,
            wall_s=_WALL_S,
            OPENBLAS_NUM_THREADS="1",  # it would start threads before it is confined
        )
    except TimeoutError as error:
        # Its CPU time is limited too: this machine is busy.
        raise ModelUnavailable("Speaking took too long here. Try again later.") from error
    except CalledProcessError as error:
        raise ModelRefused("This text could not be read aloud here. Try a shorter one.") from error
    except OSError as error:
        raise ModelUnavailable("The speaking process cannot be started. Try again.") from error
