"""Documents: what is made from sources, its kinds, and how far making it has come."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from domain.conversation import Citation
from domain.errors import Problem, Rejected
from domain.ids import DocumentId, NotebookId, SourceId, UserId
from domain.text_gate import clean

_MAX_TITLE = 300
_MAX_FOCUS = 2_000


class DocumentKind(StrEnum):
    """What can be made."""

    AUDIO_OVERVIEW = "audio_overview"
    """One or two voices tell what the sources say."""


class DocumentStatus(StrEnum):
    """Where a document stands."""

    QUEUED = "queued"
    PROCESSING = "processing"
    READY = "ready"
    FAILED = "failed"


class DocumentStage(StrEnum):
    """What is being done for a document that is processing."""

    WRITING = "writing"
    SPEAKING = "speaking"
    JOINING = "joining"


@dataclass(frozen=True, slots=True)
class DocumentProgress:
    """`done` of `total` texts (writing), requests (speaking) or files (joining)."""

    stage: DocumentStage
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Document:
    """Something that is made from sources of a notebook, at its owner's expense.

    Args:
        title: "" until a person or the model gives one.
        is_titled: a person gave it: nothing replaces it.
        focus: what its owner wants of it; the one instruction that is theirs.
        voices: the names of those that speak, in order.
        source_ids: what it is made from, as it was chosen.
        attempt: fences writes: only the newest attempt may write.
        text: what was written, with its markers; None until then.
        seconds: how long it plays; None until it is ready, or where it makes no sound.
        bytes: of its file, once it is ready.
        source_id: the source as which it is asked about.
        cost: USD, of all its model calls so far.
    """

    id: DocumentId
    notebook_id: NotebookId
    owner_id: UserId
    kind: DocumentKind
    title: str
    is_titled: bool
    focus: str
    language: str
    voices: tuple[str, ...]
    source_ids: tuple[SourceId, ...]
    status: DocumentStatus
    progress: DocumentProgress | None
    error: Problem | None
    attempt: int
    text: str | None
    citations: tuple[Citation, ...]
    seconds: Decimal | None
    bytes: int | None
    source_id: SourceId | None
    cost: Decimal
    created_at: datetime

    @property
    def key(self) -> str:
        """Where its file is kept."""
        return document_key(self.owner_id, self.id)


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document that is about to be queued; see `Document`."""

    id: DocumentId
    notebook_id: NotebookId
    owner_id: UserId
    kind: DocumentKind
    title: str
    focus: str
    language: str
    voices: tuple[str, ...]
    source_ids: tuple[SourceId, ...]


def document_key(owner_id: UserId, document_id: DocumentId) -> str:
    """The storage key of a document's file: prefixed by its owner."""
    return f"{owner_id}/document-{document_id}"


def document_kind(name: object) -> DocumentKind:
    """The kind of that name.

    Raises:
        Rejected: there is none; the message names those there are.
    """
    try:
        return DocumentKind(str(name))
    except ValueError:
        raise Rejected(f"kind is one of {', '.join(DocumentKind)}.") from None


def valid_title(title: str) -> str:
    """A title as it is kept: one line.

    Raises:
        Rejected: it is empty or too long.
    """
    text = " ".join(clean(title).split())
    if not text:
        raise Rejected("A document needs a title.")
    if len(text) > _MAX_TITLE:
        raise Rejected(f"A title has at most {_MAX_TITLE} characters.")
    return text


def valid_focus(focus: str) -> str:
    """What a person wants of a document, as it is kept.

    Raises:
        Rejected: it is too long.
    """
    text = clean(focus).strip()
    if len(text) > _MAX_FOCUS:
        raise Rejected(f"The focus has {len(text):,} characters; {_MAX_FOCUS:,} is the limit.")
    return text
