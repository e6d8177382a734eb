"""The ports of the database: what one transaction can do.

Each store belongs to the unit of work that hands it out and is used inside it. Reads that take a
`user_id` answer None for what that user may not see, and raise Forbidden where their role there is
less than `at_least`.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Generic, Protocol, TypeVar
from uuid import UUID

from domain.access import Role, Thing, Visitor
from domain.account import ApiToken, Invitation, Session, User
from domain.audit import Act, AuditEntry
from domain.conversation import Answer, AnswerEvent, AnswerStatus, Citation, Feedback, Message
from domain.document import (
    Document,
    DocumentKind,
    DocumentProgress,
    NewDocument,
)
from domain.embedding_set import EmbeddingSet
from domain.errors import Problem
from domain.excerpts import Piece
from domain.export import Export, ExportPart
from domain.fetch import Fetch
from domain.ids import (
    AnswerId,
    CallId,
    ChunkId,
    DocumentId,
    ExportId,
    InvitationId,
    NotebookId,
    SessionId,
    SourceId,
    TokenId,
    UserId,
    VersionId,
)
from domain.jobs import JobKind
from domain.ledger import CallTotal, Intent, Settlement, UsageGroup, UsageRow
from domain.library import Shelved, Wanted
from domain.limits import LimitName
from domain.notebook import Holding, Notebook, Share
from domain.operations import FailedJob, ModelHealth, OpenCall, OwnedSource, QueueState
from domain.passage import Chunk, ChunkPlace, Passage
from domain.ports import Vectors
from domain.query import Query
from domain.retrieval import Hit, RetrievalSettings, Scope
from domain.source import Progress, Reading, Source, StoredFile
from domain.suggestions import Outline
from domain.summary import Summary, ToSummarise
from domain.transcript import Transcript
from domain.usage import CallKind, CallStatus, TokenUsage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list, and where the next part begins; None at the end."""

    items: tuple[T, ...]
    next_cursor: UUID | None


class Accounts(Protocol):
    """Users."""

    async def add(
        self,
        email: str,
        password_hash: str | None,
        credit: Decimal,
        *,
        only_first: bool = False,
    ) -> User:
        """A new account; the first one is the admin. `credit` is granted to it.

        Raises:
            Conflict: the address has an account.
            Forbidden: `only_first`, and somebody has an account.
        """
        ...

    async def grant(self, user_id: UserId, amount: Decimal, reason: str) -> Decimal:
        """Add so many USD to an account's credit: what it may spend then."""
        ...

    async def is_empty(self) -> bool:
        """True while nobody has an account."""
        ...

    async def by_email(self, email: str) -> tuple[User, str | None] | None:
        """The account and its password hash."""
        ...

    async def get(self, user_id: UserId) -> User | None: ...

    async def page(self, *, limit: int, after: UUID | None) -> Page[User]:
        """Every account, oldest first."""
        ...

    async def by_subject(self, issuer_subject: str) -> User | None:
        """Whose account an identity of the OpenID provider is linked to."""
        ...

    async def link_subject(self, user_id: UserId, issuer_subject: str) -> bool:
        """Link an identity of the OpenID provider; False where another one is linked."""
        ...

    async def set_password(self, user_id: UserId, password_hash: str | None) -> None:
        """None: nobody signs in to it with a password. Links to set one end."""
        ...

    async def set_admin(self, user_id: UserId, *, is_admin: bool) -> None: ...

    async def another_admin(self, user_id: UserId) -> bool:
        """True where another account is an admin's, and open; that stays so until commit."""
        ...

    async def set_disabled(self, user_id: UserId, *, is_disabled: bool) -> None:
        """Shut an account, or open it again; every stream of its person is told at commit."""
        ...

    async def set_limits(self, user_id: UserId, amounts: Mapping[LimitName, int | None]) -> None:
        """Set limits for that account alone; None takes one back."""
        ...

    async def leave(self, user_id: UserId) -> bool:
        """Mark an account as being deleted; False where it is the only admin's among others."""
        ...

    async def leaving(self) -> list[UserId]:
        """Accounts that are being deleted, for which no job is left."""
        ...

    async def delete(self, user_id: UserId) -> None:
        """With every row that is its own, and its name in the audit log."""
        ...

    async def set_preferences(
        self, user_id: UserId, *, pdf_capture: str | None, language: str | None
    ) -> None:
        """Change what is not None."""
        ...


class Credentials(Protocol):
    """Sessions, tokens and links that stand for a person. Secrets come in hashed.

    Where a session or a token ends, the streams of its person are told at commit.
    """

    async def by_session(self, secret_hash: bytes, about: Thing | None = None) -> Visitor | None:
        """Whose session this is, if it has not expired, and what they are to a thing."""
        ...

    async def by_token(self, secret_hash: bytes, about: Thing | None = None) -> Visitor | None:
        """Whose API token this is, if it has not expired, and what they are to a thing."""
        ...

    async def add_session(
        self, user_id: UserId, secret_hash: bytes, lifetime: timedelta, browser: str = ""
    ) -> None:
        """Remember a session.

        Raises:
            NotSignedIn: the account is shut.
        """
        ...

    async def end_session(self, secret_hash: bytes) -> None:
        """Forget a session."""
        ...

    async def sessions(
        self, user_id: UserId, *, limit: int, after: UUID | None
    ) -> Page[Session]: ...

    async def end_sessions(
        self,
        user_id: UserId,
        *,
        only: SessionId | None = None,
        but: SessionId | None = None,
    ) -> int:
        """Forget that user's sessions, or one of them, or all but one: how many there were."""
        ...

    async def add_token(
        self,
        user_id: UserId,
        name: str,
        secret_hash: bytes,
        scopes: Sequence[str],
        expires_at: datetime | None,
    ) -> ApiToken:
        """Remember a token.

        Raises:
            NotSignedIn: the account is shut.
        """
        ...

    async def tokens(self, user_id: UserId, *, limit: int, after: UUID | None) -> Page[ApiToken]:
        """That user's tokens, oldest first."""
        ...

    async def token(self, user_id: UserId, token_id: TokenId) -> ApiToken | None:
        """One of them."""
        ...

    async def end_token(self, user_id: UserId, token_id: TokenId) -> bool:
        """Forget a token; False where that user has no such token."""
        ...

    async def end_tokens(self, user_id: UserId) -> None:
        """Forget all tokens of that user."""
        ...

    async def add_invitation(
        self, by: UserId | None, secret_hash: bytes, lifetime: timedelta
    ) -> Invitation: ...

    async def invitations(self, *, limit: int, after: UUID | None) -> Page[Invitation]:
        """All of them, oldest first."""
        ...

    async def end_invitation(self, invitation_id: InvitationId) -> bool:
        """Forget an invitation that nobody used; False where there is none."""
        ...

    async def is_invitation(self, secret_hash: bytes) -> bool:
        """True where somebody may still use it."""
        ...

    async def use_invitation(self, secret_hash: bytes, user_id: UserId) -> bool:
        """Use it up; False where it is used, expired or unknown."""
        ...

    async def add_reset(self, user_id: UserId, secret_hash: bytes, lifetime: timedelta) -> None:
        """Remember a link for a new password, in place of earlier ones."""
        ...

    async def is_reset(self, secret_hash: bytes) -> bool:
        """True where somebody may still use that link."""
        ...

    async def use_reset(self, secret_hash: bytes) -> User | None:
        """Use a link for a new password up: whose it was."""
        ...


class Exports(Protocol):
    """Archives of accounts."""

    async def add(self, user_id: UserId, lifetime: timedelta) -> tuple[Export, bool]:
        """A new one, to be made; or the one that waits already, and False."""
        ...

    async def get(self, export_id: ExportId) -> Export | None: ...

    async def page(self, user_id: UserId, *, limit: int, after: UUID | None) -> Page[Export]:
        """Those that have not expired, newest first."""
        ...

    async def begin(self, export_id: ExportId) -> tuple[int, int] | None:
        """Begin a run, which fences every earlier one; holds the export until commit.

        Returns:
            The run's number, and how many began since a part was last added, this one included;
            None where the export is gone or needs none.
        """
        ...

    async def parts(self, export_id: ExportId) -> list[ExportPart]:
        """What is made of its archive, in order."""
        ...

    async def add_part(
        self, export_id: ExportId, attempt: int, number: int, part: ExportPart
    ) -> bool:
        """Record a part; False where that run was fenced, or the export is gone.

        Args:
            number: of parts before it.
        """
        ...

    async def again(self, export_id: ExportId, lifetime: timedelta) -> Export | None:
        """Let one that failed wait again; None where it did not fail."""
        ...

    async def finish(self, export_id: ExportId, size: int) -> None:
        """Its archive is there, with so many bytes; earlier ones of the account expire."""
        ...

    async def fail(self, export_id: ExportId, error: str) -> None:
        """Give it up, and forget its parts."""
        ...

    async def expired(self) -> list[Export]: ...

    async def forget(self, export_id: ExportId) -> None: ...

    async def stalled(self) -> list[Export]:
        """Those that wait, for which no job is left."""
        ...


class Operations(Protocol):
    """What an admin looks at, across all accounts."""

    async def queues(self) -> list[QueueState]:
        """Queues in which something waits or runs."""
        ...

    async def failed(self, *, limit: int, after: UUID | None) -> Page[FailedJob]:
        """Newest first."""
        ...

    async def health(self) -> list[ModelHealth]:
        """By kind and model."""
        ...

    async def sources(self, *, limit: int, after: UUID | None) -> Page[OwnedSource]:
        """Newest first."""
        ...

    async def open_calls(self, *, limit: int, after: UUID | None) -> Page[OpenCall]:
        """Calls of unknown end, newest first."""
        ...


class Shares(Protocol):
    """Who may see a notebook besides its owner."""

    async def put(self, notebook_id: NotebookId, user_id: UserId, role: Role) -> Share:
        """Let somebody in, or give a guest another role."""
        ...

    async def page(
        self, notebook_id: NotebookId, *, limit: int, after: UUID | None
    ) -> Page[Share]: ...

    async def end(self, notebook_id: NotebookId, user_id: UserId) -> bool:
        """Let a guest out; False where they were none.

        At commit their streams are told, and answers being written for them there stop.
        """
        ...

    async def is_open_to(self, notebook_id: NotebookId, visitor: Visitor) -> bool:
        """True where they may see it, and what they came with still counts."""
        ...


class Audit(Protocol):
    """Acts that matter to security. What is written stays."""

    async def add(
        self,
        act: Act,
        actor: UserId | None,
        subject: UserId | None = None,
        *,
        peer: str = "",
        **detail: str,
    ) -> None: ...

    async def page(
        self, *, limit: int, after: UUID | None, of: UserId | None = None
    ) -> Page[AuditEntry]:
        """Newest first; where an account is named, what it did."""
        ...


class Notebooks(Protocol):
    """Notebooks and the sources linked into them."""

    async def add(self, owner_id: UserId, title: str, language: str) -> Notebook: ...

    async def get(
        self, notebook_id: NotebookId, user_id: UserId, *, at_least: Role = Role.OWNER
    ) -> Notebook | None: ...

    async def page(self, user_id: UserId, *, limit: int, after: UUID | None) -> Page[Notebook]:
        """That user's notebooks and those that are shared with them, newest first."""
        ...

    async def change(
        self, notebook_id: NotebookId, *, title: str | None, language: str | None
    ) -> None: ...

    async def delete(self, notebook_id: NotebookId) -> None:
        """With its questions and answers; its sources stay in the library."""
        ...

    async def link(self, notebook_id: NotebookId, source_id: SourceId, *, most: int | None) -> None:
        """Add a source; twice is harmless.

        Args:
            most: sources it may have, what was made here not counted; None where that is added.

        Raises:
            TooLarge: the notebook has `most` sources already.
        """
        ...

    async def unlink(self, notebook_id: NotebookId, source_id: SourceId) -> bool:
        """Take a source out; False where it was not in."""
        ...

    async def holdings(self, notebook_id: NotebookId) -> list[Holding]:
        """Its ready sources, in the order they were added."""
        ...


class Sources(Protocol):
    """The library: sources, their versions and passages."""

    async def add(self, source: Source) -> tuple[Source, bool]:
        """Keep a new source, or find the one with the same owner, content and capture mode.

        Returns:
            The entry, and True where it is new.
        """
        ...

    async def get(
        self, source_id: SourceId, user_id: UserId, *, at_least: Role = Role.OWNER
    ) -> Source | None: ...

    async def in_notebook(
        self, notebook_id: NotebookId, *, limit: int, after: UUID | None
    ) -> Page[Source]:
        """A notebook's sources, in the order they were added."""
        ...

    async def of_owner(self, user_id: UserId, *, limit: int, after: UUID | None) -> Page[Source]:
        """A library, oldest first."""
        ...

    async def shelf(
        self, user_id: UserId, wanted: Wanted, *, limit: int, after: UUID | None
    ) -> Page[Shelved]:
        """What is wanted of a library, newest first, and where it is used."""
        ...

    async def shelved(self, source_id: SourceId, user_id: UserId) -> Shelved | None:
        """An entry of that user's library, and where it is used."""
        ...

    async def claim(self, source_id: SourceId) -> tuple[Source, int] | None:
        """Begin an attempt, which fences every earlier one.

        Returns:
            The source as the attempt finds it (with the new `attempt`) and how many tries this
            makes since a person queued it; None where there is nothing to do: it is gone, ready
            or failed.
        """
        ...

    async def still_mine(self, source_id: SourceId, attempt: int) -> bool:
        """True while no newer attempt began and the source exists; holds that until commit."""
        ...

    async def show_progress(self, source_id: SourceId, attempt: int, progress: Progress) -> bool:
        """Publish how far it is; False where the attempt was superseded."""
        ...

    async def fail(self, source_id: SourceId, attempt: int, problem: Problem) -> None:
        """End as failed, unless the attempt was superseded."""
        ...

    async def stop(self, source_id: SourceId, problem: Problem) -> bool:
        """End what waits or is read, as `fail` does; False where there is nothing to end."""
        ...

    async def seal_password(self, source_id: SourceId, sealed: bytes) -> None:
        """Keep a sealed password until the source is ready, has failed or is gone."""
        ...

    async def sealed_password(self, source_id: SourceId) -> bytes | None:
        """What `seal_password` kept."""
        ...

    async def requeue(self, source_id: SourceId) -> int | None:
        """Queue a source again that failed, or whose refresh asks for a password.

        Returns:
            The attempt it stands at; None where it is neither.
        """
        ...

    async def publish(
        self,
        source: Source,
        version_id: VersionId,
        reading: Reading,
        *,
        chunker: str,
        analyser: str,
        language: str,
        chunk_count: int,
    ) -> None:
        """Write a new version with its passages, and make the source ready with it.

        The title that the file gives itself replaces its name, but none that a person gave.
        """
        ...

    async def passages(self, version_id: VersionId, *, page: int | None = None) -> list[Passage]:
        """A version's passages in order, or those of one page."""
        ...

    async def passage(self, version_id: VersionId, ordinal: int) -> Passage | None: ...

    async def chunk_place(self, source_id: SourceId, chunk_id: ChunkId) -> ChunkPlace | None:
        """Where a chunk stands; None where no version of that source has it."""
        ...

    async def hold(self, source_id: SourceId) -> None:
        """Until commit, nobody changes or deletes it, or a notebook that has or had it."""
        ...

    async def seen(self, source_ids: Collection[SourceId], user_id: UserId) -> set[SourceId]:
        """Those that this user may see."""
        ...

    async def still_there(self, source_ids: Collection[SourceId]) -> set[SourceId]:
        """Those that are not deleted; none of them is until commit."""
        ...

    async def delete(self, source_id: SourceId) -> None:
        """Remove its rows, and blank what answers and kept searches hold of it, its title too."""
        ...

    async def hold_blob(self, owner_id: UserId, sha256: bytes) -> None:
        """Until commit, nobody else who holds it adds or deletes that file or an entry of it."""
        ...

    async def needs_blob(self, owner_id: UserId, sha256: bytes) -> bool:
        """True where an entry of that library is read from these bytes."""
        ...

    async def unneeded(self, files: Collection[StoredFile]) -> list[StoredFile]:
        """Those that no entry, run, document or export needs as things stand."""
        ...

    async def stalled(self) -> list[tuple[SourceId, int]]:
        """Sources that wait or are read, for which no job is left, with their attempt."""
        ...


class Transcripts(Protocol):
    """Transcripts that attempts paid for, until their source is ready or gone."""

    async def paid(self, source_id: SourceId) -> dict[str, Transcript]:
        """What earlier attempts at a source paid for, by key."""
        ...

    async def keep(self, source_id: SourceId, key: str, transcript: Transcript) -> None:
        """Keep a transcript in the transaction that settles its call.

        Args:
            key: of what was transcribed and by which model, such as "<hash>:page:7:<model>:150".
        """
        ...

    async def forget(self, source_id: SourceId) -> None: ...


class Fetches(Protocol):
    """What web addresses gave, until their source is ready with it or gone."""

    async def of(self, source_id: SourceId) -> Fetch | None: ...

    async def keep(self, source_id: SourceId, fetch: Fetch) -> None:
        """Keep what the source's next version is made of, in place of an earlier one."""
        ...

    async def adopt(self, source_id: SourceId) -> None:
        """Make it the source's own."""
        ...

    async def forget(self, source_id: SourceId) -> None: ...

    async def again(self, source_id: SourceId) -> int | None:
        """Queue a web page that is ready or failed, to be fetched anew.

        Returns:
            The attempt it stands at; None where it is no page, or is being read.
        """
        ...

    async def settle(self, source_id: SourceId) -> None:
        """End as ready with the version it has; a password that was kept for the run goes."""
        ...


class Index(Protocol):
    """Chunks, vectors and postings, and the search over them."""

    async def active_set(self) -> EmbeddingSet | None:
        """The set that questions and new sources use."""
        ...

    async def activate(self, model: str, dimension: int, chunker: str) -> EmbeddingSet:
        """Make this the active set, new or known."""
        ...

    async def is_empty(self, set_id: int) -> bool:
        """True where the set has no vectors."""
        ...

    async def paid(self, source_id: SourceId, set_id: int) -> dict[bytes, Vectors]:
        """Vectors that earlier attempts paid for, by the hash of their texts."""
        ...

    async def keep_paid(
        self, source_id: SourceId, set_id: int, texts_hash: bytes, vectors: Vectors
    ) -> None:
        """Keep the vectors of a batch until the source is ready."""
        ...

    async def write(
        self,
        version_id: VersionId,
        set_id: int,
        chunks: Sequence[tuple[ChunkId, Chunk]],
        vectors: Vectors,
        postings: Sequence[tuple[str, list[int], list[float]]],
    ) -> None:
        """Everything of a version that is searched.

        Args:
            vectors: a row a chunk.
            postings: (term, ordinals of the chunks that hold it, its weight in each).
        """
        ...

    async def forget_paid(self, source_id: SourceId) -> None: ...

    async def vectors(self, version_id: VersionId, set_id: int) -> tuple[list[Chunk], Vectors]:
        """The chunks of a version in order, and a row a chunk; nothing where it has none."""
        ...

    async def search(
        self,
        scope: Scope,
        set_id: int,
        vector: Vectors,
        query: Query,
        settings: RetrievalSettings,
    ) -> list[Hit]:
        """The best chunks of the scope, best first, in one statement.

        Args:
            vector: the question's, shape (dimension,).
        """
        ...


@dataclass(frozen=True, slots=True)
class Turn:
    """What a question finds in its notebook.

    Args:
        asked: how many that user asked there that day, this one and cleared ones included.
        holdings: what the notebook holds that is ready, in the order it was added.
        history: the last messages before the question, oldest first.
    """

    asked: int
    holdings: tuple[Holding, ...]
    history: tuple[Message, ...]


class Turns(Protocol):
    """Questions as they are asked."""

    async def add(self, answer: Answer, lease: timedelta, *, messages: int) -> Turn | None:
        """Count a question and keep it, about to be answered; its run is alive for so long.

        Others that ask there wait for this transaction's end.

        Args:
            messages: of the history, at most.

        Returns:
            None where that user may not ask there.
        """
        ...


class Answers(Protocol):
    """Answers, their events, and who is writing them."""

    async def get(self, answer_id: AnswerId, user_id: UserId) -> Answer | None:
        """That user's whole answer; citations of sources that left are marked removed."""
        ...

    async def status(self, answer_id: AnswerId) -> AnswerStatus | None:
        """Where it stands; None where it was deleted."""
        ...

    async def page(
        self, notebook_id: NotebookId, user_id: UserId, *, limit: int, after: UUID | None
    ) -> Page[Answer]:
        """What that user asked in a notebook, newest first."""
        ...

    async def clear(self, notebook_id: NotebookId, user_id: UserId) -> None:
        """Forget what that user asked in a notebook, but what is being answered."""
        ...

    async def keep_retrieved(self, answer_id: AnswerId, hits: Sequence[Hit]) -> None: ...

    async def append(
        self, answer_id: AnswerId, events: Sequence[AnswerEvent], lease: timedelta
    ) -> bool | None:
        """Add events and renew the lease from now on; every listener is told at commit.

        Returns:
            None where the run was ended by another hand, else whether a stop was asked for.
        """
        ...

    async def finish(self, answer: Answer) -> None:
        """Write text, status and citations."""
        ...

    async def rate(self, answer_id: AnswerId, user_id: UserId, feedback: Feedback) -> None:
        """Keep what somebody thinks of an answer, in place of what they said before."""
        ...

    async def events(self, answer_id: AnswerId, after: int) -> list[AnswerEvent]:
        """The events with a greater id, in order."""
        ...

    async def request_stop(self, answer_id: AnswerId) -> None:
        """Ask whoever writes the answer to stop; a finished one is left as it is."""
        ...

    async def abandoned(self) -> list[AnswerId]:
        """Answers whose run is dead."""
        ...

    async def take_abandoned(self, answer_id: AnswerId) -> Answer | None:
        """An answer whose run is dead, locked until commit; None where another hand ends it."""
        ...

    async def recorded_citations(self, answer_id: AnswerId) -> list[Citation]:
        """The citations that an unfinished answer's events announced."""
        ...


class Ledger(Protocol):
    """One row per model call, and the credit it draws on."""

    async def require(self, user_id: UserId, amount: Decimal) -> None:
        """Check that credit covers so many USD, before any of it is spent.

        Raises:
            OutOfCredit: it does not.
        """
        ...

    async def open(
        self, intent: Intent, lease: timedelta, *, besides: Decimal = Decimal(0)
    ) -> None:
        """Write a call before it is made and reserve its bound, until the lease ends unrenewed.

        Args:
            besides: USD that credit must cover as well, for calls that follow.

        Raises:
            OutOfCredit: the account is being deleted, or the user's credit does not cover that.
        """
        ...

    async def settle(self, call: Intent, settlement: Settlement) -> None:
        """Record how it ended, release the reservation and take the cost off the credit.

        Settling twice is harmless: the first settlement stands, except that one which arrives
        late replaces `unknown`.
        """
        ...

    async def renew(self, calls: Sequence[CallId], lease: timedelta) -> None:
        """Their process lives: those that are in flight stay so for so long from now on."""
        ...

    async def abandon(
        self,
        *,
        source_id: SourceId | None = None,
        answer_id: AnswerId | None = None,
        document_id: DocumentId | None = None,
        kind: CallKind | None = None,
    ) -> None:
        """Mark calls whose process died as `unknown`, charged at their bound.

        Those in flight for the source, answer or document; without any, every call whose lease has
        run out, but for those of answers that are being written: the run's own lease is theirs.
        Where a kind is named, those of that kind alone.
        """
        ...

    async def find(self, call_id: CallId) -> tuple[Intent, CallStatus] | None:
        """A call and where it stands, held until commit."""
        ...

    async def forget(self, user_id: UserId) -> None:
        """Keep that user's calls, but not whose they were nor what for."""
        ...

    async def rows(
        self, user_id: UserId, *, start: datetime, end: datetime, limit: int, after: UUID | None
    ) -> Page[UsageRow]:
        """That user's calls, oldest first."""
        ...

    async def grouped(
        self, user_id: UserId, *, start: datetime, end: datetime, by: Sequence[str]
    ) -> list[UsageGroup]:
        """Sums by any of day, kind, model, notebook."""
        ...

    async def totals(self) -> list[CallTotal]:
        """Sums of all calls by kind, model and status, whoever made them."""
        ...

    async def of_answers(
        self, answer_ids: Sequence[AnswerId]
    ) -> dict[AnswerId, tuple[TokenUsage, Decimal]]:
        """Tokens and cost of each answer's calls; zero where it made none."""
        ...


class Summaries(Protocol):
    """What is told of each version of a source in a paragraph."""

    async def begin(self, version_id: VersionId) -> ToSummarise | None:
        """Count another try; None where it has a summary or serves its source no more."""
        ...

    async def is_wanted(self, version_id: VersionId) -> bool:
        """True while it serves its source and has no summary; holds that until commit."""
        ...

    async def keep(self, version_id: VersionId, summary: Summary) -> None:
        """Its summary, or why it has none. The first one stands; a version that went has none."""
        ...


class SuggestedQuestions(Protocol):
    """First questions that a model wrote for a notebook, and what they are made from."""

    async def outlines(self, notebook_id: NotebookId) -> tuple[list[Outline], str]:
        """How its ready sources begin, what was made here left out, and a state of them all.

        The state is another one whenever a ready source comes, goes or is read anew.
        """
        ...

    async def written(self, notebook_id: NotebookId, language: str, state: str) -> list[str] | None:
        """What a model wrote about that state; None where none was asked."""
        ...

    async def claim(self, notebook_id: NotebookId, language: str, state: str) -> bool:
        """Ask for them in that state; False where somebody did before."""
        ...

    async def keep(
        self, notebook_id: NotebookId, language: str, state: str, questions: Sequence[str]
    ) -> None:
        """What came of it, unless the sources changed meanwhile."""
        ...

    async def release(self, notebook_id: NotebookId, language: str, state: str) -> None:
        """Let somebody else ask: nothing came, and nothing was paid."""
        ...


class Documents(Protocol):
    """What is made from sources, and what was paid for on the way."""

    async def hold_notebook(self, notebook_id: NotebookId) -> None:
        """Until commit, nobody else who holds it adds a document to it, or ends or deletes one."""
        ...

    async def counts(self, notebook_id: NotebookId, kind: DocumentKind) -> tuple[int, int]:
        """How many of a kind a notebook has that wait or are being made, and in all."""
        ...

    async def count_of_day(self, user_id: UserId, kind: DocumentKind, day: date) -> int:
        """Count one more; how many that user made that day, deleted ones included.

        Others that count wait for this transaction's end.
        """
        ...

    async def made_of_day(self, user_id: UserId, kind: DocumentKind, day: date) -> int:
        """How many that user made that day, deleted ones included."""
        ...

    async def add(self, document: NewDocument) -> None:
        """Keep a document that is about to be made."""
        ...

    async def get(
        self, document_id: DocumentId, user_id: UserId, *, at_least: Role = Role.OWNER
    ) -> Document | None: ...

    async def find(self, document_id: DocumentId) -> Document | None:
        """That document, whoever asks."""
        ...

    async def page(
        self, notebook_id: NotebookId, *, limit: int, after: UUID | None
    ) -> Page[Document]:
        """A notebook's documents, newest first."""
        ...

    async def of_owner(self, user_id: UserId, *, limit: int, after: UUID | None) -> Page[Document]:
        """Everything that was made for a person, oldest first."""
        ...

    async def of_source(self, source_id: SourceId) -> Document | None:
        """The document that is asked about as that source."""
        ...

    async def rename(self, document_id: DocumentId, title: str) -> None:
        """Give it a title, by which it is known as a source, too; nothing replaces that."""
        ...

    async def delete(self, document_id: DocumentId) -> None: ...

    async def claim(self, document_id: DocumentId) -> tuple[Document, int] | None:
        """Begin an attempt, which fences every earlier one.

        Returns:
            The document (with the new `attempt`), and how many tries this makes since a person
            queued it; None where there is nothing to do: it is gone, ready or failed.
        """
        ...

    async def still_mine(self, document_id: DocumentId, attempt: int) -> bool:
        """True while no newer attempt began and it exists; holds that until commit."""
        ...

    async def show_progress(
        self, document_id: DocumentId, attempt: int, progress: DocumentProgress
    ) -> bool:
        """Publish how far it is; False where the attempt was superseded."""
        ...

    async def fail(self, document_id: DocumentId, attempt: int, problem: Problem) -> None:
        """End as failed, unless the attempt was superseded."""
        ...

    async def requeue(self, document_id: DocumentId) -> int | None:
        """Queue a document again that failed: the attempt it stands at; None where it did not."""
        ...

    async def stalled(self) -> list[tuple[DocumentId, int]]:
        """Documents that wait or are being made, for which no job is left, with their attempt."""
        ...

    async def pieces(self, source_ids: Sequence[SourceId]) -> list[Piece]:
        """What those sources say as they are read now, in the order of the ids.

        Generated ones say nothing here: nothing is made from what was made.
        """
        ...

    async def texts(self, chunk_ids: Collection[ChunkId]) -> Mapping[ChunkId, str]:
        """The texts of those chunks; one that is gone is left out."""
        ...

    async def drafts(self, document_id: DocumentId) -> Mapping[bytes, str]:
        """What a model wrote for it and was paid for, by the hash of what it was asked."""
        ...

    async def keep_draft(self, document_id: DocumentId, asked_hash: bytes, text: str) -> None:
        """Keep what a model wrote, in the transaction that settles its call."""
        ...

    async def forget_drafts(self, document_id: DocumentId) -> None: ...

    async def keep_text(
        self, document_id: DocumentId, title: str, text: str, citations: Sequence[Citation]
    ) -> None:
        """Keep what it says. The title replaces none that a person gave.

        Of sources that were deleted meanwhile, and of those that are later, no quote is kept.
        """
        ...

    async def speech(self, document_id: DocumentId) -> Mapping[bytes, bytes]:
        """The recordings that were paid for, by the hash of what they say."""
        ...

    async def keep_speech(self, document_id: DocumentId, text_hash: bytes, audio: bytes) -> None:
        """Keep a recording, in the transaction that settles its call."""
        ...

    async def forget_speech(self, document_id: DocumentId) -> None: ...

    async def publish(
        self, document_id: DocumentId, *, seconds: Decimal | None, size: int, source_id: SourceId
    ) -> None:
        """Make it ready, and forget what was kept on the way.

        Args:
            size: bytes of its file.
            source_id: the source as which it is asked about.
        """
        ...

    async def link_secret(self) -> str:
        """What links to files are signed with: the same for every process, made at first use."""
        ...


class Jobs(Protocol):
    """The queue, inside the transaction: a rollback enqueues nothing."""

    async def enqueue(self, kind: JobKind, key: str, **arguments: str) -> None:
        """Have a worker run it after commit; a key that waits or runs already is left alone."""
        ...


KEY_LEASE = timedelta(seconds=15)
"""A request at work whose key was not renewed for so long belongs to a dead process."""


class Idempotency(Protocol):
    """What a client's idempotency keys stood for."""

    async def recall(self, user_id: UserId, key: str, body_hash: bytes) -> str | None:
        """What the first request with this key made; a second one waits for the first's commit.

        Returns:
            None where it is the first (or the first one died at work: its lease ended), "" where
            the first one is still at work.

        Raises:
            Conflict: the key was used with another body.
        """
        ...

    async def remember(self, user_id: UserId, key: str, body_hash: bytes, resource: str) -> None:
        """Keep what a request made; "" says that it is at work, and is replaced later."""
        ...

    async def renew(self, user_id: UserId, key: str) -> None:
        """Begin a new lease for a request at work, to be done every few seconds."""
        ...

    async def forget(self, user_id: UserId, key: str) -> None:
        """Let a request that failed at work be tried again with its key."""
        ...

    async def forget_old(self) -> None:
        """Forget every key that nobody repeats any more: those older than a week."""
        ...


class Stores(Protocol):
    """Everything one transaction can reach."""

    @property
    def accounts(self) -> Accounts: ...

    @property
    def credentials(self) -> Credentials: ...

    @property
    def exports(self) -> Exports: ...

    @property
    def operations(self) -> Operations: ...

    @property
    def shares(self) -> Shares: ...

    @property
    def audit(self) -> Audit: ...

    @property
    def notebooks(self) -> Notebooks: ...

    @property
    def sources(self) -> Sources: ...

    @property
    def transcripts(self) -> Transcripts: ...

    @property
    def fetches(self) -> Fetches: ...

    @property
    def index(self) -> Index: ...

    @property
    def turns(self) -> Turns: ...

    @property
    def answers(self) -> Answers: ...

    @property
    def ledger(self) -> Ledger: ...

    @property
    def summaries(self) -> Summaries: ...

    @property
    def suggestions(self) -> SuggestedQuestions: ...

    @property
    def documents(self) -> Documents: ...

    @property
    def jobs(self) -> Jobs: ...

    @property
    def idempotency(self) -> Idempotency: ...


class UnitOfWork(Protocol):
    """Begins transactions."""

    def __call__(self, *, at_once: bool = False) -> AbstractAsyncContextManager[Stores]:
        """A transaction: commits at the end of the block, rolls back where it raises.

        Args:
            at_once: no transaction; every statement commits by itself, which saves two trips to
                the database. For a block of one statement, or of reads that need not agree.

        Raises:
            Unavailable: the database does not answer.
        """
        ...
