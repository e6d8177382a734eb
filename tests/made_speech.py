"""A voice of its own: a tone as long as its text takes, by the contract of the port."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import av
import numpy as np

from domain.errors import BelegError
from domain.speech import VOICES, Line, SpeechLimits, Spoken, Voice, characters
from domain.usage import TokenUsage

CHARS_A_S = 15
LIMITS = SpeechLimits(2_000, 20, several_voices=True)


@dataclass
class MadeSpeech:
    """The port `Speech` without anybody who speaks.

    Args:
        steps: what the next calls raise, in turn; None for one that speaks.
        spoken: the lines of every call so far.
    """

    limits: SpeechLimits = LIMITS
    voices: frozenset[Voice] = frozenset(VOICES)
    steps: list[BelegError | None] = field(default_factory=list)
    spoken: list[tuple[Line, ...]] = field(default_factory=list)
    provider: str = "local"
    model: str = "made-voice"

    def bound(self, lines: Sequence[Line]) -> TokenUsage:
        return TokenUsage(0, estimated=True, characters=characters(lines))

    async def speak(self, lines: Sequence[Line]) -> Spoken:
        self.spoken.append(tuple(lines))
        if self.steps and (step := self.steps.pop(0)):
            raise step
        told = characters(lines)
        audio = mp3(told / CHARS_A_S)
        return Spoken(audio, Decimal(told) / CHARS_A_S, TokenUsage(0, characters=told))


def mp3(seconds: float, rate: int = 24_000, bits_per_s: int = 96_000) -> bytes:
    """A tone as mono MP3."""
    out = io.BytesIO()
    with av.open(out, "w", format="mp3") as file:
        stream = file.add_stream("libmp3lame", rate=rate, layout="mono")
        stream.bit_rate = bits_per_s
        left = max(1, int(seconds * rate))
        tone = (np.sin(np.arange(rate) * 0.1) * 8_000).astype(np.int16).reshape(1, -1)
        while left > 0:
            frame = av.AudioFrame.from_ndarray(tone[:, :left], format="s16p", layout="mono")
            frame.sample_rate, left = rate, left - rate
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    return out.getvalue()
