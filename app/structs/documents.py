"""Documents as the JSON API has them."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

import msgspec

from app.structs.accounts import money
from app.structs.answers import CitationOut
from app.structs.sources import ProgressOut
from domain.account import User
from domain.document import Document
from domain.file_link import FileLink
from domain.ids import DocumentId


class DocumentOptions(msgspec.Struct, forbid_unknown_fields=True):
    """One voice or two, by their names; the language of the voices by default."""

    voices: list[str] | None = None
    language: str | None = None


class DocumentIn(msgspec.Struct, forbid_unknown_fields=True):
    """What to make; `kind` is audio_overview.

    `source_ids` null means every source that is ready; `focus` says what you want of it.
    """

    kind: str
    title: str | None = None
    focus: str | None = None
    source_ids: list[str] | None = None
    options: DocumentOptions | None = None


class DocumentChange(msgspec.Struct, forbid_unknown_fields=True):
    """What to change."""

    title: str


class DocumentOut(msgspec.Struct):
    """A document; `audio_url` is there once it is ready, and good until `audio_expires_at`.

    Citations are those of the transcript. No search found them: their similarity is 0. What it
    cost is its owner's to know; to guests it is null.
    """

    id: UUID
    notebook_id: UUID
    kind: str
    title: str
    status: str
    progress: ProgressOut | None
    error: str | None
    error_code: str | None
    focus: str
    language: str
    voices: list[str]
    source_ids: list[UUID]
    transcript: str | None
    citations: list[CitationOut]
    seconds: float | None
    bytes: int | None
    audio_url: str | None
    audio_expires_at: datetime | None
    source_id: UUID | None
    cost: str | None
    created_at: datetime

    @classmethod
    def of(
        cls, document: Document, links: Mapping[DocumentId, FileLink], user: User
    ) -> "DocumentOut":
        """From the domain, as that user may see it."""
        progress, error, link = document.progress, document.error, links.get(document.id)
        return cls(
            id=document.id,
            notebook_id=document.notebook_id,
            kind=document.kind.value,
            title=document.title,
            status=document.status.value,
            progress=ProgressOut(progress.stage.value, progress.done, progress.total)
            if progress
            else None,
            error=error.detail if error else None,
            error_code=error.code if error else None,
            focus=document.focus,
            language=document.language,
            voices=list(document.voices),
            source_ids=list(document.source_ids),
            transcript=document.text,
            citations=[CitationOut.of(citation) for citation in document.citations],
            seconds=None if document.seconds is None else float(document.seconds),
            bytes=document.bytes,
            audio_url=audio_url(document.id, link) if link else None,
            audio_expires_at=link.expires_at if link else None,
            source_id=document.source_id,
            cost=money(document.cost) if document.owner_id == user.id else None,
            created_at=document.created_at,
        )


def audio_url(document_id: DocumentId, link: FileLink) -> str:
    """Where a file is played from, by whoever has this address."""
    return (
        f"/api/v1/documents/{document_id}/audio?expires={link.expires}&signature={link.signature}"
    )
