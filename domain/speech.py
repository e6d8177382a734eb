"""Text that is read aloud: voices, lines, and how they are cut into requests."""

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from domain.errors import ModelAnswerInvalid, Rejected
from domain.sentences import split
from domain.usage import TokenUsage

_FASTEST_CHARS_A_S = 30
"""Letters and digits: nobody who is understood reads faster; voices read about fourteen."""
_SLACK_S = 1
_AFTER_SPACE = re.compile(r"(?<=\s)(?=\S)")


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice by the name that people choose; each provider has its own for it.

    Args:
        language: the one it reads, ISO 639-1.
    """

    name: str
    language: str


VOICES = (
    Voice("linde", "de"),
    Voice("ahorn", "de"),
    Voice("birke", "de"),
    Voice("willow", "en"),
    Voice("rowan", "en"),
)
"""Of each language the default first; the first two are the pair that talks to each other."""
LANGUAGES = tuple(dict.fromkeys(voice.language for voice in VOICES))


def voice_named(name: str) -> Voice:
    """The voice of that name.

    Raises:
        Rejected: there is none; the message names those there are.
    """
    for voice in VOICES:
        if voice.name == name:
            return voice
    known = ", ".join(f"{voice.name} ({voice.language})" for voice in VOICES)
    raise Rejected(f"There is no voice {name!r}. There are {known}.")


def default_voices(language: str, speakers: int = 1) -> tuple[Voice, ...]:
    """The voices that read `language` to somebody who chose none.

    Raises:
        Rejected: nobody reads that language, or not that many do.
    """
    found = tuple(voice for voice in VOICES if voice.language == language)[:speakers]
    if len(found) < speakers:
        known = ", ".join(LANGUAGES)
        raise Rejected(f"{speakers} voices for {language!r} are not there. Languages are {known}.")
    return found


@dataclass(frozen=True, slots=True)
class Line:
    """What one voice says before the next one speaks."""

    voice: Voice
    text: str


@dataclass(frozen=True, slots=True)
class SpeechLimits:
    """What one request may carry.

    Args:
        characters: code points of all its lines, a line break between two of them counted.
        lines: at most.
        several_voices: whether its lines may be of different voices.
    """

    characters: int
    lines: int
    several_voices: bool


@dataclass(frozen=True, slots=True)
class Spoken:
    """What one request gave.

    Args:
        audio: an MP3 file.
        seconds: how long it lasts, as measured.
        usage: the characters that are billed for it.
    """

    audio: bytes
    seconds: Decimal
    usage: TokenUsage


def text_of(lines: Sequence[Line]) -> str:
    """The lines as one text, for who reads with one voice."""
    return "\n".join(line.text for line in lines)


def characters(lines: Sequence[Line]) -> int:
    """Code points of the lines, a line break between two of them counted."""
    return len(text_of(lines))


def batches(lines: Sequence[Line], limits: SpeechLimits) -> list[tuple[Line, ...]]:
    """The requests that read `lines` in order, as few as go.

    A line that is too long is cut behind a sentence, else behind a word, else anywhere: joined,
    its pieces are the line again. What has no visible character is left out.
    """
    requests: list[list[Line]] = []
    for line in lines:
        for piece in _pieces(line, limits.characters):
            last = requests[-1] if requests else []
            fits = (
                last
                and len(last) < limits.lines
                and characters(last) + 1 + len(piece.text) <= limits.characters
                and (limits.several_voices or last[-1].voice == piece.voice)
            )
            if fits:
                last.append(piece)
            else:
                requests.append([piece])
    return [tuple(request) for request in requests]


def require_whole(lines: Sequence[Line], seconds: Decimal, usage: TokenUsage, model: str) -> None:
    """Refuse a recording that cannot hold all of its text.

    Raises:
        ModelAnswerInvalid: it is shorter than its letters and digits take at the fastest.
    """
    spoken = sum(char.isalnum() for line in lines for char in line.text)
    least = spoken / _FASTEST_CHARS_A_S - _SLACK_S
    if seconds < least or (spoken and not seconds):
        raise ModelAnswerInvalid(
            f"{model} read {spoken} letters in {seconds:.1f} seconds: part of the text is missing.",
            usage=usage,
        )


def _pieces(line: Line, most: int) -> Iterator[Line]:
    cuts = _cuts(line, most) if len(line.text) > most else []
    for start, end in itertools.pairwise([0, *cuts, len(line.text)]):
        text = line.text[start:end]
        if text.strip():
            yield Line(line.voice, text)


def _cuts(line: Line, most: int) -> list[int]:
    """Where a line that is too long is cut."""
    sentences = [start for start, _ in split(line.text, line.voice.language)][1:]
    words = [gap.start() for gap in _AFTER_SPACE.finditer(line.text)]
    cuts, start = [], 0
    while len(line.text) - start > most:
        start = _last(sentences, start, most) or _last(words, start, most) or start + most
        cuts.append(start)
    return cuts


def _last(cuts: Sequence[int], start: int, most: int) -> int | None:
    """The last of `cuts`, which rise, that leaves a piece of at most `most` behind `start`."""
    before = bisect_right(cuts, start + most)
    return cuts[before - 1] if before and cuts[before - 1] > start else None
