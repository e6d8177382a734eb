"""What the providers of speech have in common: habits, and checks of what they answer."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

from domain.errors import ModelAnswerInvalid, ModelCut, Unavailable, Unreadable
from domain.ports import SoundReader
from domain.speech import Line, Spoken, require_whole
from domain.usage import TokenUsage


@dataclass(frozen=True, slots=True)
class SpeechHabits:
    """How a provider is asked.

    Args:
        model: as in the price list.
        voices: the provider's names by ours, over the usual ones.
        timeout_s: for a whole request.
    """

    model: str
    voices: Mapping[str, str]
    timeout_s: float


async def spoken(
    sounds: SoundReader, audio: bytes, lines: Sequence[Line], usage: TokenUsage, model: str
) -> Spoken:
    """The recording, measured.

    Raises:
        ModelAnswerInvalid: it is empty, something else than MP3, or too short for its text. It
            was served all the same, so it is billed.
        ModelCut: it could not be measured through no fault of its own.
    """
    if not audio:
        raise ModelAnswerInvalid(f"{model} answered with an empty recording.", usage=usage)
    try:
        async with sounds.opened(_blocks(audio)) as recording:
            sound = recording.sound
    except Unreadable as error:
        message = f"{model} answered with something that is no recording: {_begin(audio)}"
        raise ModelAnswerInvalid(message, usage=usage) from error
    except Unavailable as error:
        raise ModelCut(f"The recording was lost here: {error.message}", usage=usage) from error
    if sound.format != "mp3":
        message = f"{model} answered with {sound.format} where MP3 was asked for."
        raise ModelAnswerInvalid(message, usage=usage)
    require_whole(lines, sound.seconds, usage, model)
    return Spoken(audio, sound.seconds, usage)


async def _blocks(audio: bytes) -> AsyncIterator[bytes]:
    yield audio


def _begin(audio: bytes) -> str:
    """What it says where it is a text, as errors that come with status 200 are."""
    text = audio[:200].decode("utf-8", "replace")
    return text if text.isprintable() else f"{len(audio)} bytes."
