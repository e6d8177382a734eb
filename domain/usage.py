"""What a model call used and what it costs."""

from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from enum import StrEnum

_MILLION = Decimal(1_000_000)
_SECONDS_A_MINUTE = 60
_SMALLEST = Decimal("0.000000001")
_TIMES, _MORE = 10, 10_000
_ANY = "surrogatepass"
"""What models write may hold half of a character."""


class CallKind(StrEnum):
    """What a model call was for."""

    CHAT = "chat"
    EMBEDDING = "embedding"
    VISION = "vision"
    STT = "stt"
    SUMMARY = "summary"
    RERANK = "rerank"
    GUIDE = "guide"
    DOCUMENT = "document"
    TTS = "tts"


class CallStatus(StrEnum):
    """Where a model call stands."""

    PENDING = "pending"
    """Written before the call; its reservation holds."""
    SERVED = "served"
    CUT = "cut"
    """Broke off or was stopped; what arrived is paid for."""
    FAILED = "failed"
    """The provider did not serve it; costs nothing."""
    UNKNOWN = "unknown"
    """Its process died while it was in flight; stands at its upper bound."""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens, seconds of sound, or characters read aloud, of one call.

    Args:
        input_tokens: tokens sent.
        output_tokens: tokens received; 0 for embeddings.
        estimated: True where the provider reported nothing and they were counted here.
        seconds: of a recording; 0 for models that are paid by the token.
        characters: read aloud, as the provider counts them; 0 for models that do not speak.
    """

    input_tokens: int
    output_tokens: int = 0
    estimated: bool = False
    seconds: Decimal = Decimal(0)
    characters: int = 0

    def may_be_of(self, bound: "TokenUsage") -> bool:
        """False where it is less than nothing, or too much for a call that was bound so.

        A little more is possible: what a provider adds to a prompt is not known here.
        """
        pairs: tuple[tuple[Decimal | int, Decimal | int], ...] = (
            (self.input_tokens, bound.input_tokens),
            (self.output_tokens, bound.output_tokens),
            (self.seconds, bound.seconds),
            (self.characters, bound.characters),
        )
        return all(0 <= used <= _TIMES * most + _MORE for used, most in pairs)


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens, per minute of sound, and per million characters read aloud."""

    input_per_million: Decimal | None = None
    """None for a model that reads nothing by the token."""
    output_per_million: Decimal | None = None
    """None for a model that writes nothing."""
    per_minute: Decimal | None = None
    """None for a model that hears nothing."""
    characters_per_million: Decimal | None = None
    """None for a model that does not speak."""

    def cost(self, usage: TokenUsage) -> Decimal:
        """USD, rounded up to a billionth so that a reservation never falls short."""
        total = (
            usage.input_tokens * (self.input_per_million or 0)
            + usage.output_tokens * (self.output_per_million or 0)
            + usage.characters * (self.characters_per_million or 0)
        ) / _MILLION + usage.seconds * (self.per_minute or 0) / _SECONDS_A_MINUTE
        return total.quantize(_SMALLEST, rounding=ROUND_UP)


def most_tokens(text: str) -> int:
    """An upper bound of the tokens of `text` where the tokenizer is not known: its UTF-8 bytes."""
    return len(text.encode("utf-8", _ANY))


def about_tokens(text: str) -> int:
    """An estimate of the tokens of `text`, used where a provider reports none: bytes / 4, up."""
    return -(-most_tokens(text) // 4)
