"""The ledger: one row per model call, written before it and settled after it."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from domain.ids import AnswerId, CallId, DocumentId, NotebookId, SourceId, UserId
from domain.usage import CallKind, CallStatus, Price, TokenUsage


@dataclass(frozen=True, slots=True)
class Intent:
    """A call about to be made.

    Args:
        bound: the most it may use; its cost is reserved until the call is settled.
    """

    id: CallId
    user_id: UserId
    kind: CallKind
    model: str
    price: Price
    bound: TokenUsage
    notebook_id: NotebookId | None = None
    source_id: SourceId | None = None
    answer_id: AnswerId | None = None
    document_id: DocumentId | None = None


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a call ended and what it used.

    Args:
        error: what the provider said where it went wrong.
    """

    status: CallStatus
    usage: TokenUsage
    error: str = ""


NOT_SERVED = Settlement(CallStatus.FAILED, TokenUsage(0, 0))
"""The provider did not serve the call; it costs nothing."""


@dataclass(frozen=True, slots=True)
class UsageRow:
    """A call as its user sees it.

    Prices are USD per million tokens, per minute of sound and per million characters read aloud;
    `cost` is USD.
    """

    id: CallId
    kind: CallKind
    model: str
    status: CallStatus
    input_tokens: int
    output_tokens: int
    seconds: Decimal | None
    """None for models that are paid by the token."""
    characters: int | None
    """Read aloud; None for models that do not speak."""
    estimated: bool
    input_price: Decimal
    output_price: Decimal
    minute_price: Decimal
    character_price: Decimal
    cost: Decimal
    created_at: datetime
    notebook_id: NotebookId | None
    source_id: SourceId | None
    answer_id: AnswerId | None
    document_id: DocumentId | None = None


@dataclass(frozen=True, slots=True)
class CallTotal:
    """Every user's calls of one kind, model and status, summed up."""

    kind: CallKind
    model: str
    status: CallStatus
    calls: int
    input_tokens: int
    output_tokens: int
    cost: Decimal


@dataclass(frozen=True, slots=True)
class UsageGroup:
    """Calls that share a day, kind, model or notebook (whichever was asked for), summed up."""

    key: tuple[tuple[str, str | None], ...]
    calls: int
    input_tokens: int
    output_tokens: int
    cost: Decimal
