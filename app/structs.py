"""The JSON API's bodies, and how domain objects become them."""

from datetime import datetime
from decimal import Decimal
from typing import Generic, TypeVar
from uuid import UUID

import msgspec

from app.errors import ProblemBody, stored_problem
from domain.account import ApiToken, User
from domain.conversation import Answer, Citation, Mention
from domain.ledger import UsageGroup, UsageRow
from domain.notebook import Notebook
from domain.passage import Passage
from domain.retrieval import Hit
from domain.source import Source
from domain.usage import TokenUsage

T = TypeVar("T")


class ListBody(msgspec.Struct, Generic[T]):
    """A part of a list; `next_cursor` is null at its end."""

    items: list[T]
    next_cursor: UUID | None


class SignUpIn(msgspec.Struct, forbid_unknown_fields=True):
    """An address and a password."""

    email: str
    password: str


class TokenIn(msgspec.Struct, forbid_unknown_fields=True):
    """A name, and an address with a password where the caller is not signed in."""

    name: str = "token"
    email: str | None = None
    password: str | None = None


class UserOut(msgspec.Struct):
    """An account."""

    id: UUID
    email: str
    is_admin: bool
    created_at: datetime

    @classmethod
    def of(cls, user: User) -> "UserOut":
        """From the domain."""
        return cls(user.id, user.email, user.is_admin, user.created_at)


class Preferences(msgspec.Struct):
    """What a person chose."""

    pdf_capture: str
    language: str


class PreferencesIn(msgspec.Struct, forbid_unknown_fields=True):
    """What to change."""

    pdf_capture: str | None = None
    language: str | None = None


class MeIn(PreferencesIn, forbid_unknown_fields=True):
    """What to change, bare or under `preferences` as the account shows it."""

    preferences: PreferencesIn | None = None


class UsageTotal(msgspec.Struct):
    """Calls, tokens and USD."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost: str


class MeOut(msgspec.Struct):
    """The signed-in account."""

    id: UUID
    email: str
    is_admin: bool
    created_at: datetime
    preferences: Preferences
    credit: str
    usage_today: UsageTotal


class AccountOut(msgspec.Struct):
    """A new account and its first token, which is shown this once."""

    user: UserOut
    token: str


class TokenOut(msgspec.Struct):
    """A new token; its secret is shown this once."""

    token: str
    id: UUID


class TokenRow(msgspec.Struct):
    """A token without its secret."""

    id: UUID
    name: str
    created_at: datetime

    @classmethod
    def of(cls, token: ApiToken) -> "TokenRow":
        """From the domain."""
        return cls(token.id, token.name, token.created_at)


class NotebookIn(msgspec.Struct, forbid_unknown_fields=True):
    """A new notebook."""

    title: str
    language: str = ""


class NotebookChange(msgspec.Struct, forbid_unknown_fields=True):
    """What to change."""

    title: str | None = None
    language: str | None = None


class NotebookOut(msgspec.Struct):
    """A notebook."""

    id: UUID
    title: str
    language: str
    source_count: int
    ready_count: int
    chunk_count: int
    created_at: datetime

    @classmethod
    def of(cls, notebook: Notebook) -> "NotebookOut":
        """From the domain."""
        return cls(
            id=notebook.id,
            title=notebook.title,
            language=notebook.language,
            source_count=notebook.source_count,
            ready_count=notebook.ready_count,
            chunk_count=notebook.chunk_count,
            created_at=notebook.created_at,
        )


class SourceIn(msgspec.Struct, forbid_unknown_fields=True):
    """One of: a text with its title, or an entry of the library."""

    title: str = ""
    text: str | None = None
    source_id: str | None = None
    url: str | None = None


class ProgressOut(msgspec.Struct):
    """`done` of `total` pages or chunks."""

    stage: str
    done: int
    total: int


class SkippedOut(msgspec.Struct):
    """A page that gave no text, and why."""

    page: int
    reason: str


class SourceOut(msgspec.Struct):
    """A source."""

    id: UUID
    kind: str
    title: str
    name: str
    status: str
    progress: ProgressOut | None
    error: str | None
    error_code: str | None
    language: str
    pages: int | None
    words: int | None
    chunk_count: int
    skipped: list[SkippedOut]
    summary: str | None
    bytes: int
    media_type: str
    created_at: datetime

    @classmethod
    def of(cls, source: Source) -> "SourceOut":
        """From the domain."""
        progress, error = source.progress, source.error
        return cls(
            id=source.id,
            kind=source.kind.value,
            title=source.title,
            name=source.name,
            status=source.status.value,
            progress=ProgressOut(progress.stage.value, progress.done, progress.total)
            if progress
            else None,
            error=error.detail if error else None,
            error_code=error.code if error else None,
            language=source.language,
            pages=source.pages,
            words=source.words,
            chunk_count=source.chunk_count,
            skipped=[SkippedOut(page.page, page.reason) for page in source.skipped],
            summary=None,
            bytes=source.bytes,
            media_type=source.media_type,
            created_at=source.created_at,
        )


class PassageOut(msgspec.Struct):
    """A page's text; `page` is null where the kind has no pages."""

    page: int | None
    text: str

    @classmethod
    def of(cls, passage: Passage) -> "PassageOut":
        """From the domain."""
        return cls(passage.page, passage.text)


class BoxOut(msgspec.Struct):
    """A rectangle, as fractions of the page."""

    left: float
    top: float
    width: float
    height: float


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


class AnswerOut(msgspec.Struct):
    """An answer. `checks` is empty: sentences are not compared with their passages yet."""

    id: UUID
    notebook_id: UUID
    question: str
    status: str
    mode: str
    refused: bool
    text: str
    citations: list[CitationOut]
    retrieved: list[HitOut]
    checks: list[CheckOut]
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
            checks=[],
            usage=AnswerUsage(
                usage.input_tokens, usage.output_tokens, usage.estimated, money(cost)
            ),
            error=stored_problem(answer.error) if answer.error else None,
            created_at=answer.created_at,
        )


class UnitPrice(msgspec.Struct):
    """USD per million tokens."""

    input: str
    output: str


class UsageRowOut(msgspec.Struct):
    """A model call."""

    id: UUID
    kind: str
    model: str
    status: str
    input_tokens: int
    output_tokens: int
    seconds: float | None
    characters: int | None
    estimated: bool
    unit_price: UnitPrice
    cost: str
    created_at: datetime
    notebook_id: UUID | None
    source_id: UUID | None
    answer_id: UUID | None
    document_id: UUID | None

    @classmethod
    def of(cls, row: UsageRow) -> "UsageRowOut":
        """From the domain."""
        return cls(
            id=row.id,
            kind=row.kind.value,
            model=row.model,
            status=row.status.value,
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            seconds=None,
            characters=None,
            estimated=row.estimated,
            unit_price=UnitPrice(money(row.input_price), money(row.output_price)),
            cost=money(row.cost),
            created_at=row.created_at,
            notebook_id=row.notebook_id,
            source_id=row.source_id,
            answer_id=row.answer_id,
            document_id=None,
        )


class UsageGroupsOut(msgspec.Struct):
    """Sums, each with the keys that were asked for."""

    items: list[dict[str, str | int | None]]


def usage_group(group: UsageGroup) -> dict[str, str | int | None]:
    """A sum with its keys."""
    return {
        **dict(group.key),
        "calls": group.calls,
        "input_tokens": group.input_tokens,
        "output_tokens": group.output_tokens,
        "cost": money(group.cost),
    }


def money(amount: Decimal) -> str:
    """USD as a plain decimal string."""
    return f"{amount.normalize():f}"
