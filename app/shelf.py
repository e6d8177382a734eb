"""What a notebook's studio shows: what was made, what may be, and what of it has changed."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from app.services import Services
from domain.access import Role
from domain.account import User
from domain.document import Document, DocumentKind
from domain.ids import DocumentId, NotebookId, new_id, parse_id
from domain.notebook import Notebook
from domain.speech import LANGUAGES, VOICES
from domain.usecases.create_document import Room

_MOST_DOCUMENTS = 500


@dataclass(frozen=True, slots=True)
class Offer:
    """What may be made in a notebook, and what stands against it.

    Args:
        voices: by language, the default first; empty where nothing reads aloud.
        language: the one that is chosen at first.
        most_cost: USD.
    """

    room: Room
    voices: Mapping[str, Sequence[str]]
    language: str
    can_write: bool
    most_cost: Decimal

    @property
    def missing(self) -> list[str]:
        """What has to be set up before anything can be made: "voice", "writer"."""
        there = {"voice": bool(self.voices), "writer": self.can_write}
        return [name for name, is_there in there.items() if not is_there]

    @property
    def obstacle(self) -> str:
        """The limit by which nothing more can be made for now: "kept", "day", "running", or ""."""
        room, most = self.room, self.room.limits
        reached = {
            "kept": room.kept >= most.kept,
            "day": room.of_day >= most.of_day,
            "running": room.running >= most.running,
        }
        return next((name for name, is_reached in reached.items() if is_reached), "")

    @property
    def most(self) -> int:
        """How many that limit is."""
        limits = self.room.limits
        return {"kept": limits.kept, "day": limits.of_day}.get(self.obstacle, limits.running)

    @property
    def left_today(self) -> int:
        """How many that person may still make today."""
        return max(0, self.room.limits.of_day - self.room.of_day)

    @property
    def left_here(self) -> int:
        """How many the notebook has room for."""
        return max(0, self.room.limits.kept - self.room.kept)


@dataclass(frozen=True, slots=True)
class Shelf:
    """What was made in a notebook, newest first, and what may be.

    Args:
        offer: None for guests, who make nothing.
        state: what is shown of each, for the stream of changes.
        key: makes the next one once, however often it is sent.
    """

    documents: Sequence[Document]
    state: str
    offer: Offer | None
    key: UUID


async def shelf_of(services: Services, user: User, notebook: Notebook, language: str) -> Shelf:
    """The studio of a notebook, as somebody sees it.

    Args:
        language: of the page.
    """
    documents = await documents_of(services, user, notebook.id)
    offer = None
    if notebook.role is Role.OWNER:
        offer = await offer_of(services, user, notebook, language)
    return Shelf(documents, written(states_of(documents)), offer, new_id())


async def documents_of(
    services: Services, user: User, notebook_id: NotebookId
) -> Sequence[Document]:
    """What was made in a notebook, newest first."""
    found = await services.documents.page(user, notebook_id, limit=_MOST_DOCUMENTS, after=None)
    return found.items


async def offer_of(services: Services, user: User, notebook: Notebook, language: str) -> Offer:
    """What somebody may make in a notebook of theirs."""
    create = services.create_document
    room = await create.room(user, notebook.id, DocumentKind.AUDIO_OVERVIEW)
    able = [voice for voice in VOICES if voice in (create.voices or ())]
    voices = {
        language: names
        for language in LANGUAGES
        if (names := [voice.name for voice in able if voice.language == language])
    }
    wanted = (notebook.language.partition("-")[0], language, *voices)
    chosen = next((one for one in wanted if one in voices), "")
    return Offer(room, voices, chosen, create.can_write, create.most_cost)


def states_of(documents: Sequence[Document]) -> dict[DocumentId, str]:
    """A fingerprint of what is shown of each."""
    return {document.id: _fingerprint(document) for document in documents}


def _fingerprint(document: Document) -> str:
    shown = (document.title, document.status, document.progress, document.error)
    has = (document.text is not None, document.source_id, document.cost)
    return hashlib.blake2s(repr((shown, has)).encode(), digest_size=4).hexdigest()


def written(states: Mapping[DocumentId, str]) -> str:
    """Fingerprints as one word, which a page sends back."""
    return ",".join(f"{document_id}:{state}" for document_id, state in states.items())


def read(states: str) -> dict[DocumentId, str]:
    """Fingerprints that a page sent; what is malformed was not seen."""
    parts = (part.partition(":") for part in states.split(","))
    return {DocumentId(found): state for one, _, state in parts if (found := parse_id(one))}
