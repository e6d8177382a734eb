"""Questions, answers, and the events an answer's stream is made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from domain.errors import Problem
from domain.ids import AnswerId, ChunkId, NotebookId, SourceId, UserId, VersionId
from domain.query import left_out
from domain.retrieval import Hit


class Role(StrEnum):
    """Who speaks in a prompt."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

    role: Role
    content: str


class AnswerStatus(StrEnum):
    """Where an answer stands."""

    STREAMING = "streaming"
    COMPLETE = "complete"
    STOPPED = "stopped"
    FAILED = "failed"


class AnswerMode(StrEnum):
    """What an answer is made from."""

    SOURCES = "sources"
    """A model writes from passages of the sources."""
    GENERAL = "general"
    """A model writes without any source."""
    EXTRACTIVE = "extractive"
    """Sentences of the sources, quoted; no model writes."""


@dataclass(frozen=True, slots=True)
class Mention:
    """One place where an answer shows a marker, and the sentence that bears the claim there.

    Args:
        answer_start, answer_end: code points of the marker in the answer's text.
        quote: the sentence, verbatim; "" once its source was removed.
        start, end: code points of the quote in its passage's text.
    """

    answer_start: int
    answer_end: int
    quote: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Citation:
    """What a marker stands for: a snapshot of the version that was read.

    Args:
        marker: the number shown, from 1.
        rank: the hit it cites.
        removed: True once its source left the notebook or the library.
    """

    marker: int
    rank: int
    chunk_id: ChunkId
    source_id: SourceId
    version_id: VersionId
    source_title: str
    passage: int
    page: int | None
    similarity: float
    mentions: tuple[Mention, ...]
    removed: bool = False


class CheckKind(StrEnum):
    """What is doubtful about a stretch of an answer."""

    UNCITED = "uncited"
    """A sentence that no marker vouches for."""
    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    NEGATION = "negation"
    """It says the opposite of its passage, or leaves a "not" out."""


@dataclass(frozen=True, slots=True)
class Check:
    """A doubt about the answer's text from `start` to `end`, in code points.

    Args:
        detail: one English sentence; it quotes the answer, never a passage.
    """

    start: int
    end: int
    kind: CheckKind
    detail: str


class Rating(StrEnum):
    """Whether an answer helped."""

    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Feedback:
    """What the person who asked thinks of an answer; empty where they took it back."""

    rating: Rating | None
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A question and what came of it."""

    id: AnswerId
    notebook_id: NotebookId
    user_id: UserId
    question: str
    source_ids: tuple[SourceId, ...] | None
    about: SourceId | None
    mode: AnswerMode
    status: AnswerStatus
    refused: bool
    text: str
    error: Problem | None
    created_at: datetime
    citations: tuple[Citation, ...] = ()
    retrieved: tuple[Hit, ...] = ()
    checks: tuple[Check, ...] = ()
    """What it says that its cited passages do not; known once it is finished."""
    stripped_markers: int = 0
    """Numbers of the model that named no passage and were left out."""
    feedback: Feedback | None = None

    @property
    def left_out(self) -> tuple[str, ...]:
        """What stands behind a minus in the question: no chunk that holds it was sought."""
        return () if self.mode is AnswerMode.GENERAL else left_out(self.question)


class EventKind(StrEnum):
    """The kinds of event of an answer's stream."""

    DELTA = "delta"
    CITATION = "citation"
    DONE = "done"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """One event of an answer's stream.

    Args:
        id: from 1, growing by one.
        data: `{"text": …}` of a delta, the citation with its first mention, nothing for `done`,
            `{"code", "detail"}` of an error.
    """

    id: int
    kind: EventKind
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_last(self) -> bool:
        """True where no event follows."""
        return self.kind in {EventKind.DONE, EventKind.ERROR}
