"""Queue a document: every check before a row exists, and so before any spend."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from domain.account import User
from domain.document import Document, DocumentKind, NewDocument, valid_focus, valid_title
from domain.errors import Conflict, NotFound, NotSetUp, OverQuota, Rejected
from domain.ids import DocumentId, NotebookId, SourceId, new_id
from domain.jobs import MAKE_DOCUMENT
from domain.limits import LimitName
from domain.notebook import Notebook
from domain.ports import Clock
from domain.source import Source, SourceKind, SourceStatus
from domain.speech import LANGUAGES, Voice, default_voices, voice_named
from domain.stores import Stores, UnitOfWork

_MOST_VOICES = 2
_ROWS = 500
_LOOK_AGAIN_S = 60.0
NO_VOICE = (
    "Nothing here reads aloud: set TTS_PROVIDER, with the key of its provider, or install"
    " espeak-ng for a voice of this machine."
)
NO_WRITER = (
    "No model writes here: set INFERENCE_API_KEY, or LLM_BASE_URL and LLM_MODEL for a server of"
    " your own."
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody wants made.

    Args:
        source_ids: None for every ready source of the notebook that was not made here.
        voices: their names, one or two; None for the language's default.
        language: None for that of the voices, the notebook or most of the sources.
    """

    kind: DocumentKind
    title: str = ""
    focus: str = ""
    source_ids: Sequence[SourceId] | None = None
    voices: Sequence[str] | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Caps:
    """How many documents of a kind there may be, as the settings say it."""

    running: int
    kept: int
    of_day: int


@dataclass(frozen=True, slots=True)
class Room:
    """How many documents of a kind there are, and the limits in force for somebody.

    Args:
        of_day: made today (UTC), deleted ones included.
    """

    running: int
    kept: int
    of_day: int
    limits: Caps


@dataclass(frozen=True, slots=True)
class CreateDocument:
    """Queue a document that is made from sources of a notebook.

    Args:
        voices: those that can speak here; None where nothing does.
        can_write: False where no model writes.
        most_cost: USD that one may cost at most.
    """

    uow: UnitOfWork
    clock: Clock
    voices: frozenset[Voice] | None
    can_write: bool
    most_cost: Decimal
    caps: Caps

    async def __call__(
        self,
        user: User,
        notebook_id: NotebookId,
        wanted: Wanted,
        *,
        idempotency_key: str | None = None,
    ) -> Document:
        """One transaction; nothing is spent in it.

        A request that comes again with its key gets the document as it is now.

        Raises:
            NotFound: the notebook or a source is not that user's.
            Rejected: what is wanted cannot be made.
            NotSetUp: nothing here writes, or reads aloud.
            Conflict: a source is not ready, or the key was used for something else.
            OverQuota, OutOfCredit.
        """
        body = hashlib.sha256(
            repr(("document", notebook_id, wanted)).encode("utf-8", "replace")
        ).digest()
        async with self.uow() as tx:
            if idempotency_key:
                known = await tx.idempotency.recall(user.id, idempotency_key, body)
                if known is not None:
                    return await _existing(tx, DocumentId(UUID(known)), user)
            notebook = await tx.notebooks.get(notebook_id, user.id)
            if notebook is None:
                raise NotFound("There is no such notebook.")
            document = await self._checked(tx, user, notebook, wanted)
            await tx.documents.add(document)
            await tx.jobs.enqueue(MAKE_DOCUMENT, f"{document.id}:0", document_id=str(document.id))
            if idempotency_key:
                await tx.idempotency.remember(user.id, idempotency_key, body, str(document.id))
            return await _existing(tx, document.id, user)

    async def room(self, user: User, notebook_id: NotebookId, kind: DocumentKind) -> Room:
        """What is there, and what that user may still make in a notebook of theirs."""
        async with self.uow() as tx:
            running, kept = await tx.documents.counts(notebook_id, kind)
            made = await tx.documents.made_of_day(user.id, kind, self.clock.now().date())
        return Room(running, kept, made, self._caps(user))

    async def _checked(
        self, tx: Stores, user: User, notebook: Notebook, wanted: Wanted
    ) -> NewDocument:
        """Every check, in order: what is known without asking, the sources, the caps, credit."""
        title = valid_title(wanted.title) if wanted.title.strip() else ""
        focus = valid_focus(wanted.focus)
        named = _named(wanted)
        self._require_set_up(named)
        sources = await _selected(tx, notebook.id, wanted.source_ids)
        language = wanted.language or _language(named, notebook, sources, user)
        voices = named or default_voices(language)
        self._require_set_up(voices)
        await self._require_room(tx, user, notebook.id, wanted.kind)
        await tx.ledger.require(user.id, self.most_cost)
        return NewDocument(
            id=DocumentId(new_id()),
            notebook_id=notebook.id,
            owner_id=user.id,
            kind=wanted.kind,
            title=title,
            focus=focus,
            language=language,
            voices=tuple(voice.name for voice in voices),
            source_ids=tuple(source.id for source in sources),
        )

    def _require_set_up(self, voices: Sequence[Voice]) -> None:
        if self.voices is None:
            raise NotSetUp(NO_VOICE)
        for voice in voices:
            if voice not in self.voices:
                known = ", ".join(sorted(each.name for each in self.voices))
                raise Rejected(f"{voice.name} cannot be spoken by this provider: {known} can.")
        if not self.can_write:
            raise NotSetUp(NO_WRITER)

    async def _require_room(
        self, tx: Stores, user: User, notebook_id: NotebookId, kind: DocumentKind
    ) -> None:
        # Held until commit: of two requests the second one sees what the first one made.
        await tx.documents.hold_notebook(notebook_id)
        caps = self._caps(user)
        running, kept = await tx.documents.counts(notebook_id, kind)
        if running >= caps.running:
            raise OverQuota(
                f"{running} audio overviews are being made in this notebook, and {caps.running}"
                " is the limit. Wait until one is ready.",
                retry_after_s=_LOOK_AGAIN_S,
            )
        if kept >= caps.kept:
            raise Conflict(
                f"This notebook has {kept} audio overviews, and {caps.kept} is the limit. Delete"
                " one first."
            )
        made = await tx.documents.count_of_day(user.id, kind, self.clock.now().date())
        if made > caps.of_day:
            raise OverQuota(
                f"Your {caps.of_day} audio overviews of today are used up, deleted ones included."
                " Make another one tomorrow (UTC)."
            )

    def _caps(self, user: User) -> Caps:
        return Caps(
            running=user.limit(LimitName.RUNNING_AUDIO, self.caps.running),
            kept=user.limit(LimitName.AUDIO, self.caps.kept),
            of_day=user.limit(LimitName.AUDIO_OF_DAY, self.caps.of_day),
        )


async def _existing(tx: Stores, document_id: DocumentId, user: User) -> Document:
    document = await tx.documents.get(document_id, user.id)
    if document is None:
        raise NotFound("The document of this request was deleted.")
    return document


def _named(wanted: Wanted) -> tuple[Voice, ...]:
    """The voices that are wanted by name; none where none are named."""
    if wanted.language is not None and wanted.language not in LANGUAGES:
        raise Rejected(f"language is one of {', '.join(LANGUAGES)}.")
    if wanted.voices is None:
        return ()
    voices = tuple(map(voice_named, wanted.voices))
    if not 1 <= len(voices) <= _MOST_VOICES or len(set(voices)) < len(voices):
        raise Rejected("voices are one voice, or two different ones.")
    languages = {voice.language for voice in voices}
    if len(languages) > 1 or languages != {wanted.language or voices[0].language}:
        raise Rejected(
            "These voices do not all read the language of the overview: choose voices of one"
            " language, and that one."
        )
    return voices


async def _selected(
    tx: Stores, notebook_id: NotebookId, chosen: Sequence[SourceId] | None
) -> list[Source]:
    """The sources it is made from: all ready ones, or the chosen ones, each once."""
    everything = await _sources(tx, notebook_id)
    uploads = {s.id: s for s in everything if s.kind is not SourceKind.GENERATED}
    if chosen is None:
        found = [source for source in uploads.values() if source.version_id]
    else:
        made = {source.id for source in everything} - uploads.keys()
        found = [_chosen(uploads, made, source_id) for source_id in dict.fromkeys(chosen)]
    if not found:
        raise Rejected("No source is selected that is ready. Add one, or select one.")
    return found


async def _sources(tx: Stores, notebook_id: NotebookId) -> list[Source]:
    found: list[Source] = []
    after = None
    while True:
        page = await tx.sources.in_notebook(notebook_id, limit=_ROWS, after=after)
        found += page.items
        if (after := page.next_cursor) is None:
            return found


def _chosen(uploads: Mapping[SourceId, Source], made: set[SourceId], source_id: SourceId) -> Source:
    if source_id in made:
        raise Rejected("What was made from sources is no source of another document.")
    source = uploads.get(source_id)
    if source is None:
        raise NotFound("A selected source is not in this notebook.")
    if source.version_id is None:
        state = "failed to be read" if source.status is SourceStatus.FAILED else "is not ready yet"
        raise Conflict(f"“{source.title}” {state}. Leave it out, or come back when it is ready.")
    return source


def _language(
    voices: Sequence[Voice], notebook: Notebook, sources: Sequence[Source], user: User
) -> str:
    """The first that is known and can be read aloud."""
    often = Counter(source.language for source in sources).most_common()
    known = (
        *(voice.language for voice in voices),
        notebook.language.partition("-")[0],
        *(language for language, _ in often),
        user.language,
    )
    return next((language for language in known if language in LANGUAGES), "en")
