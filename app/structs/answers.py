"""Searches, questions and answers as the JSON API has them."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

import msgspec

from app.errors import ProblemBody, stored_problem
from app.structs.accounts import money
from domain.conversation import Answer, Citation, Feedback, Mention, Rating
from domain.retrieval import Hit
from domain.suggestions import Suggestions
from domain.usage import TokenUsage


class SearchIn(msgspec.Struct, forbid_unknown_fields=True):
    """A search."""

    query: str
    k: int | None = None
    source_ids: list[str] | None = None
    mode: str | None = None


class HitOut(msgspec.Struct):
    """A chunk that was found; `cited` only stands in an answer's `retrieved`."""

    rank: int
    chunk_id: UUID
    source_id: UUID
    source_title: str
    page: int | None
    start: int
    end: int
    text: str
    similarity: float
    score: float
    cited: bool | msgspec.UnsetType = msgspec.UNSET

    @classmethod
    def of(cls, hit: Hit, *, cited: bool | msgspec.UnsetType = msgspec.UNSET) -> "HitOut":
        """From the domain."""
        return cls(
            rank=hit.rank,
            chunk_id=hit.chunk_id,
            source_id=hit.source_id,
            source_title=hit.source_title,
            page=hit.page,
            start=hit.start,
            end=hit.start + len(hit.text),
            text=hit.text,
            similarity=hit.similarity,
            score=hit.score,
            cited=cited,
        )


class SearchOut(msgspec.Struct):
    """Chunks, best first."""

    results: list[HitOut]


class QuestionIn(msgspec.Struct, forbid_unknown_fields=True):
    """A question; `source_ids` null means all sources, `[]` none."""

    question: str
    source_ids: list[str] | None = None
    about: str | None = None


class QuestionOut(msgspec.Struct):
    """A question that is being answered."""

    question_id: UUID
    answer_id: UUID
    events: str


class MentionOut(msgspec.Struct):
    """A place where the marker stands, and the sentence that bears the claim there."""

    answer_start: int
    answer_end: int
    quote: str
    start: int
    end: int

    @classmethod
    def of(cls, mention: Mention) -> "MentionOut":
        """From the domain."""
        return cls(
            mention.answer_start, mention.answer_end, mention.quote, mention.start, mention.end
        )


class CitationOut(msgspec.Struct):
    """What a marker stands for; quote, start and end are its first mention's."""

    marker: int
    chunk_id: UUID
    source_id: UUID
    source_title: str
    page: int | None
    quote: str
    start: int
    end: int
    similarity: float
    removed: bool
    mentions: list[MentionOut]

    @classmethod
    def of(cls, citation: Citation) -> "CitationOut":
        """From the domain."""
        first = citation.mentions[0]
        return cls(
            marker=citation.marker,
            chunk_id=citation.chunk_id,
            source_id=citation.source_id,
            source_title=citation.source_title,
            page=citation.page,
            quote=first.quote,
            start=first.start,
            end=first.end,
            similarity=citation.similarity,
            removed=citation.removed,
            mentions=[MentionOut.of(mention) for mention in citation.mentions],
        )


class AnswerUsage(msgspec.Struct):
    """Tokens and USD of an answer's model calls."""

    input_tokens: int
    output_tokens: int
    estimated: bool
    cost: str


class CheckOut(msgspec.Struct):
    """A doubt about the answer's text from `start` to `end`."""

    start: int
    end: int
    kind: str
    detail: str


class FeedbackIn(msgspec.Struct, forbid_unknown_fields=True):
    """What somebody thinks of an answer; null takes it back."""

    rating: Rating | None
    comment: str = ""

    @property
    def feedback(self) -> Feedback:
        """For the domain."""
        return Feedback(self.rating, self.comment)


class SuggestionsOut(msgspec.Struct):
    """Questions to begin with; a POST may have a model write better ones, once."""

    questions: list[str]
    is_written: bool
    can_be_written: bool

    @classmethod
    def of(cls, suggestions: Suggestions) -> "SuggestionsOut":
        """From the domain."""
        return cls(list(suggestions.questions), suggestions.is_written, suggestions.can_be_written)


class AnswerOut(msgspec.Struct):
    """An answer; `checks` and `stripped_markers` are there once it has ended.

    `left_out`: what stands behind a minus in the question; no chunk that holds it was retrieved,
    but for words like "the", which no search looks for.
    """

    id: UUID
    notebook_id: UUID
    question: str
    status: str
    mode: str
    refused: bool
    text: str
    citations: list[CitationOut]
    retrieved: list[HitOut]
    left_out: tuple[str, ...]
    checks: list[CheckOut]
    stripped_markers: int
    feedback: FeedbackIn | None
    usage: AnswerUsage
    error: ProblemBody | None
    created_at: datetime

    @classmethod
    def of(cls, answer: Answer, usage: TokenUsage, cost: Decimal) -> "AnswerOut":
        """From the domain."""
        cited = {citation.rank for citation in answer.citations}
        return cls(
            id=answer.id,
            notebook_id=answer.notebook_id,
            question=answer.question,
            status=answer.status.value,
            mode=answer.mode.value,
            refused=answer.refused,
            text=answer.text,
            citations=[CitationOut.of(citation) for citation in answer.citations],
            retrieved=[HitOut.of(hit, cited=hit.rank in cited) for hit in answer.retrieved],
            left_out=answer.left_out,
            checks=[CheckOut(c.start, c.end, c.kind.value, c.detail) for c in answer.checks],
            stripped_markers=answer.stripped_markers,
            feedback=FeedbackIn(answer.feedback.rating, answer.feedback.comment)
            if answer.feedback
            else None,
            usage=AnswerUsage(
                usage.input_tokens, usage.output_tokens, usage.estimated, money(cost)
            ),
            error=stored_problem(answer.error) if answer.error else None,
            created_at=answer.created_at,
        )
