"""Put a file or a text into a notebook: stored once, queued once."""

import asyncio
import hashlib
import io
import unicodedata
from dataclasses import dataclass, replace
from typing import BinaryIO
from uuid import UUID

from domain.account import User
from domain.errors import NotFound, Rejected
from domain.ids import NotebookId, SourceId, new_id
from domain.jobs import INGEST_SOURCE
from domain.limits import LimitName, require_few_bytes
from domain.ports import BlobStore, Clock, Reader
from domain.sound import sound_type
from domain.source import CaptureMode, Source, SourceKind, SourceStatus
from domain.stores import Stores, UnitOfWork
from domain.text_gate import clean
from domain.web_address import web_address

_HEAD_BYTES = 4096
_BLOCK_BYTES = 1 << 20
_CONTAINERS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""How ZIP archives and old Office documents begin; what is inside shows at their end."""
_MAX_NAME = 300
_JOINERS = "\u200c\u200d"
_NEW, _KNOWN = "new", "known"
_MEDIA_TYPES = {
    SourceKind.PDF: "application/pdf",
    SourceKind.TEXT: "text/plain",
    SourceKind.MARKDOWN: "text/markdown",
    SourceKind.URL: "text/html",
    SourceKind.HTML: "text/html",
    SourceKind.DOCX: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    SourceKind.PPTX: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    SourceKind.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    SourceKind.CSV: "text/csv",
    SourceKind.EPUB: "application/epub+zip",
    SourceKind.IMAGE: "image/heic",
    SourceKind.AUDIO: "audio/mpeg",
}
_IMAGE_TYPES = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}
"""By how an image begins; the others are HEIC."""


@dataclass(frozen=True, slots=True)
class _Request:
    """A request that may come again."""

    key: str
    body_hash: bytes

    @classmethod
    def of(cls, key: str | None, *body: object) -> "_Request | None":
        """None where the client gave no key."""
        digest = hashlib.sha256(repr(("source", *body)).encode("utf-8", "replace")).digest()
        return cls(key, digest) if key else None


@dataclass(frozen=True, slots=True)
class AddSource:
    """Store a file and have it read; a file that the library has is only linked."""

    uow: UnitOfWork
    blobs: BlobStore
    reader: Reader
    clock: Clock
    max_bytes: int
    max_audio_bytes: int
    max_sources_per_notebook: int
    url_allow_hosts: tuple[str, ...] = ()

    async def __call__(  # noqa: PLR0913 - what a client may say about a file
        self,
        user: User,
        notebook_id: NotebookId,
        content: BinaryIO,
        name: str,
        *,
        title: str = "",
        kind: SourceKind | None = None,
        capture_mode: CaptureMode = CaptureMode.AUTO,
        idempotency_key: str | None = None,
    ) -> tuple[Source, bool]:
        """Keep `content`, link it and queue it.

        Args:
            content: the file, at its beginning; seekable.
            name: as the client calls it; decides nothing but Markdown or text.
            title: shown instead of the name.
            kind: what it is where that is known; otherwise its first bytes tell.
            capture_mode: how its pages are read if it is a PDF.

        Returns:
            The source, and True where the library did not have it yet.

        Raises:
            NotFound, Rejected, TooLarge, UnsupportedType, Conflict.
        """
        await self._require_notebook(user, notebook_id)
        name = _clean_name(name)
        size = content.seek(0, io.SEEK_END)
        if not size:
            raise Rejected(f"{name} is empty.")
        content.seek(0)
        head = content.read(_HEAD_BYTES)
        recording = sound_type(head)
        most = user.limit(LimitName.FILE_BYTES, self.max_bytes)
        if recording:
            most = user.limit(LimitName.AUDIO_BYTES, self.max_audio_bytes)
        require_few_bytes(name, size, most)
        telling = head + content.read() if head.startswith(_CONTAINERS) else head
        kind = kind or self.reader.kind_of(telling, name)
        if kind is not SourceKind.PDF:
            capture_mode = CaptureMode.TEXT  # one entry, whatever the mode for PDF is
        content.seek(0)
        digest = await asyncio.to_thread(_sha256, content)
        source = self._new(user, kind, name, title, digest, size, capture_mode)
        if kind is SourceKind.IMAGE:
            source = replace(source, media_type=_image_type(telling))
        if kind is SourceKind.AUDIO:
            source = replace(source, media_type=recording or source.media_type)
        request = _Request.of(idempotency_key, notebook_id, name, title, digest, capture_mode)
        async with self.uow() as tx:
            first = await self._first_answer(tx, user, request)
            if first:
                return first
            await tx.sources.hold_blob(user.id, digest)
            kept, is_new = await tx.sources.add(source)
            await tx.notebooks.link(notebook_id, kept.id, most=self._most_sources(user))
            if is_new:
                await tx.jobs.enqueue(
                    INGEST_SOURCE, f"{kept.id}:{kept.attempt}", source_id=str(kept.id)
                )
            await self._remember(tx, user, request, kept, is_new=is_new)
            # Last: whatever is refused above leaves no file behind.
            if not await self.blobs.has(source.blob_key):
                content.seek(0)
                await self.blobs.put(source.blob_key, content)
        return kept, is_new

    async def page(
        self,
        user: User,
        notebook_id: NotebookId,
        url: str,
        *,
        title: str = "",
        capture_mode: CaptureMode = CaptureMode.AUTO,
        idempotency_key: str | None = None,
    ) -> tuple[Source, bool]:
        """Have a web page fetched and read; an address that the library has is only linked.

        Args:
            title: shown instead of the page's own.
            capture_mode: of a PDF, if there is one behind the address.

        Raises:
            NotFound, TooLarge, Conflict.
            AddressRefused: no page may be fetched from there.
        """
        await self._require_notebook(user, notebook_id)
        address = str(web_address(url, self.url_allow_hosts))
        # No file has this hash: nothing is kept under it before the page is fetched.
        digest = hashlib.sha256(f"url\0{address}".encode()).digest()
        source = self._new(user, SourceKind.URL, address, title, digest, 0, capture_mode)
        source = replace(source, title=_one_line(title)[:_MAX_NAME] or address, url=address)
        request = _Request.of(idempotency_key, notebook_id, address, title, capture_mode)
        async with self.uow() as tx:
            first = await self._first_answer(tx, user, request)
            if first:
                return first
            kept, is_new = await tx.sources.add(source)
            await tx.notebooks.link(notebook_id, kept.id, most=self._most_sources(user))
            if is_new:
                await tx.jobs.enqueue(
                    INGEST_SOURCE, f"{kept.id}:{kept.attempt}", source_id=str(kept.id)
                )
            await self._remember(tx, user, request, kept, is_new=is_new)
        return kept, is_new

    async def link(
        self,
        user: User,
        notebook_id: NotebookId,
        source_id: SourceId,
        *,
        idempotency_key: str | None = None,
    ) -> tuple[Source, bool]:
        """Link an entry of the library into a notebook.

        Raises:
            NotFound: the notebook or the source is not that user's.
        """
        await self._require_notebook(user, notebook_id)
        request = _Request.of(idempotency_key, notebook_id, source_id)
        async with self.uow() as tx:
            first = await self._first_answer(tx, user, request)
            if first:
                return first
            source = await tx.sources.get(source_id, user.id)
            if source is None:
                raise NotFound("There is no such source in your library.")
            await tx.notebooks.link(notebook_id, source_id, most=self._most_sources(user))
            await self._remember(tx, user, request, source, is_new=False)
        return source, False

    def _most_sources(self, user: User) -> int:
        return user.limit(LimitName.SOURCES, self.max_sources_per_notebook)

    async def _first_answer(
        self, tx: Stores, user: User, request: "_Request | None"
    ) -> tuple[Source, bool] | None:
        """What the first request with this key gave; None where this is the first."""
        known = request and await tx.idempotency.recall(user.id, request.key, request.body_hash)
        if not known:
            return None
        kept, _, outcome = known.partition(" ")
        source = await tx.sources.get(SourceId(UUID(kept)), user.id)
        if source is None:
            raise NotFound("The source of this request was deleted.")
        return source, outcome == _NEW

    @staticmethod
    async def _remember(
        tx: Stores, user: User, request: "_Request | None", source: Source, *, is_new: bool
    ) -> None:
        if request:
            outcome = f"{source.id} {_NEW if is_new else _KNOWN}"
            await tx.idempotency.remember(user.id, request.key, request.body_hash, outcome)

    async def _require_notebook(self, user: User, notebook_id: NotebookId) -> None:
        async with self.uow() as tx:
            if await tx.notebooks.get(notebook_id, user.id) is None:
                raise NotFound("There is no such notebook.")

    def _new(
        self,
        user: User,
        kind: SourceKind,
        name: str,
        title: str,
        digest: bytes,
        size: int,
        capture_mode: CaptureMode,
    ) -> Source:
        return Source(
            id=SourceId(new_id()),
            owner_id=user.id,
            kind=kind,
            title=_one_line(title)[:_MAX_NAME] or name,
            name=name,
            sha256=digest,
            capture_mode=capture_mode,
            media_type=_MEDIA_TYPES[kind],
            bytes=size,
            status=SourceStatus.QUEUED,
            progress=None,
            error=None,
            attempt=0,
            version_id=None,
            language="",
            pages=None,
            words=None,
            chunk_count=0,
            skipped=(),
            created_at=self.clock.now(),
        )


def _image_type(head: bytes) -> str:
    found = (told for start, told in _IMAGE_TYPES.items() if head.startswith(start))
    return next(found, _MEDIA_TYPES[SourceKind.IMAGE])


def _sha256(content: BinaryIO) -> bytes:
    digest = hashlib.sha256()
    while block := content.read(_BLOCK_BYTES):
        digest.update(block)
    return digest.digest()


def _clean_name(name: str) -> str:
    """One line without path parts: what may be shown and sent as a file name."""
    line = _one_line(name.replace("\\", "/").rsplit("/", 1)[-1])
    return line[:_MAX_NAME] if line.strip(". ") else "untitled"


def _one_line(text: str) -> str:
    """One line that reads in the order it is stored: no controls, none of direction either."""
    line = " ".join(clean(text).split())
    return "".join(c for c in line if c in _JOINERS or unicodedata.category(c) != "Cf").strip()
