"""Recordings: what is known of one before it is transcribed, and what may be sent."""

import math
from dataclasses import dataclass
from decimal import Decimal

from domain.errors import TooLarge, Unreadable

MOST_SENT_BYTES = 25 << 20
MOST_SECONDS = 4 * 3600
MOST_JOINED_SECONDS = 3600
_MINUTE = 60
SILENT_DB = -60.0
"""Decibels below full scale: a voice is forty louder, even a whisper far from its microphone."""
_BITS_PER_S = (64_000, 48_000, 40_000, 32_000, 24_000, 16_000, 8_000)
"""Those that MP3 has at 16 kHz and a voice needs."""
_FRAMING = 1.01
_AS_UPLOADED = frozenset({"mp3", "wav"})

_MEDIA_TYPES: tuple[tuple[bytes, str], ...] = (
    # With the byte behind, for a text may begin with these letters.
    *((b"ID3" + bytes([version]), "audio/mpeg") for version in (2, 3, 4)),
    *((b"fLaC" + bytes([block]), "audio/flac") for block in (0, 0x80)),
    (b"OggS\0", "audio/ogg"),
    (b"\x1aE\xdf\xa3", "audio/webm"),
    # Frames of AAC and of MP3; UTF-16's byte order mark, FF FE, is none.
    *((start, "audio/aac") for start in (b"\xff\xf1", b"\xff\xf9")),
    *((b"\xff" + bytes([sync]), "audio/mpeg") for sync in (0xE2, 0xE3, 0xF2, 0xF3, 0xFA, 0xFB)),
)
_STILL_BRANDS = (b"avif", b"avis", b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1")


@dataclass(frozen=True, slots=True)
class Sound:
    """What a walk through a recording tells.

    Args:
        format: "mp3" or "wav" where transcription services take it as it is, else another name.
        seconds: how long it lasts, by its packets, whatever its header says.
        loudest_db: of its loudest sample, relative to full scale; at least that: once something
            is loud enough, the walk stops listening.
        bytes: of the file.
    """

    format: str
    seconds: Decimal
    loudest_db: float
    bytes: int

    @property
    def goes_as_it_is(self) -> bool:
        """True where it need not be converted before it is sent."""
        return self.format in _AS_UPLOADED and self.bytes <= MOST_SENT_BYTES


@dataclass(frozen=True, slots=True)
class Mp3:
    """A recording made here."""

    content: bytes
    seconds: Decimal


def sound_type(head: bytes) -> str | None:
    """The media type of a recording, by its first bytes; None where they begin something else."""
    if head[:4] in {b"RIFF", b"RF64"} and head[8:12] == b"WAVE":
        return "audio/wav"
    if head[4:8] == b"ftyp":
        return None if head[8:12] in _STILL_BRANDS else "audio/mp4"
    return next((told for start, told in _MEDIA_TYPES if head.startswith(start)), None)


def require_hearable(sound: Sound) -> None:
    """Refuse what need not be paid for.

    Raises:
        TooLarge: it lasts longer than four hours.
        Unreadable: it is silent.
    """
    if sound.seconds > MOST_SECONDS:
        raise TooLarge(
            f"This recording lasts {_clock(sound.seconds)} hours; {_clock(Decimal(MOST_SECONDS))}"
            " is the limit. Split it and add the parts."
        )
    if sound.loudest_db < SILENT_DB:
        raise Unreadable(
            f"This recording is silent: in {_length(sound.seconds)}, nothing is louder"
            f" than {SILENT_DB:.0f} dB. Nobody was asked to transcribe it. Check the microphone"
            " or the file, and add another one."
        )


def bits_per_s(seconds: Decimal) -> int:
    """The best rate of an MP3 of that length that may be sent."""
    most = MOST_SENT_BYTES * 8 / (float(seconds) * _FRAMING + 1)
    return next((rate for rate in _BITS_PER_S if rate <= most), _BITS_PER_S[-1])


def _length(seconds: Decimal) -> str:
    """0.4 seconds, 1 second, 2:05 minutes or 1:02:05 hours."""
    if seconds < _MINUTE:
        number = f"{min(seconds, Decimal('59.9')):.1f}".removesuffix(".0")
        return "1 second" if number == "1" else f"{number} seconds"
    hours, clock = _clock(seconds).split(":", 1)
    return f"{clock.removeprefix('0')} minutes" if hours == "0" else f"{hours}:{clock} hours"


def _clock(seconds: Decimal) -> str:
    """Hours, minutes and seconds; rounded up, so that more than a limit looks like more."""
    minutes, rest = divmod(math.ceil(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
