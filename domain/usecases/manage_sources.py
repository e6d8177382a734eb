"""List, read, retry, unlink and delete sources."""

import asyncio
import hashlib
import secrets
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from io import BytesIO
from uuid import UUID

from domain.access import Role
from domain.account import User
from domain.errors import Conflict, NotFound, Problem
from domain.ids import ChunkId, NotebookId, SourceId
from domain.jobs import INGEST_SOURCE
from domain.library import Shelved, Wanted
from domain.passage import Passage
from domain.ports import BlobStore, Box, Reader
from domain.sealed import PAD_BYTES, seal
from domain.source import Source, SourceKind, blob_key, mp3_key
from domain.stores import Page, Stores, UnitOfWork

_VIEWED_PIXELS = 4_000_000
_STOPPED = Problem("stopped", "You stopped this. Press Retry to go on where it stood.")


@dataclass(frozen=True, slots=True)
class ManageSources:
    """What a person does with the entries of their library."""

    uow: UnitOfWork
    blobs: BlobStore
    reader: Reader

    async def get(self, user: User, source_id: SourceId) -> Source:
        """One entry.

        Raises:
            NotFound: that user may not see such a source.
        """
        async with self.uow() as tx:
            return await self._seen(tx, user, source_id)

    async def library(self, user: User, *, limit: int, after: UUID | None) -> Page[Source]:
        """Everything that user ever added."""
        async with self.uow() as tx:
            return await tx.sources.of_owner(user.id, limit=limit, after=after)

    async def in_notebook(
        self, user: User, notebook_id: NotebookId, *, limit: int, after: UUID | None
    ) -> Page[Source]:
        """A notebook's sources."""
        async with self.uow() as tx:
            if await tx.notebooks.get(notebook_id, user.id, at_least=Role.READ) is None:
                raise NotFound("There is no such notebook.")
            return await tx.sources.in_notebook(notebook_id, limit=limit, after=after)

    async def shelf(
        self, user: User, wanted: Wanted, *, limit: int, after: UUID | None
    ) -> Page[Shelved]:
        """What that user looks for among everything they ever added, newest first."""
        async with self.uow() as tx:
            return await tx.sources.shelf(user.id, wanted, limit=limit, after=after)

    async def shelved(self, user: User, source_id: SourceId) -> Shelved:
        """One entry of their library.

        Raises:
            NotFound: they have no such source.
        """
        async with self.uow() as tx:
            found = await tx.sources.shelved(source_id, user.id)
        if found is None:
            raise NotFound("There is no such source.")
        return found

    async def stop(self, user: User, source_id: SourceId) -> Source:
        """End the reading of a source; what was paid for is kept for a retry.

        Raises:
            Conflict: it is not being read.
        """
        async with self.uow() as tx:
            source = await self._own(tx, user, source_id)
            if not await tx.sources.stop(source_id, _STOPPED):
                raise Conflict("Only a source that waits or is being read can be stopped.")
            await self.blobs.delete(source.pad_key)
            return await self._own(tx, user, source_id)

    async def unlink(self, user: User, notebook_id: NotebookId, source_id: SourceId) -> None:
        """Take a source out of a notebook; the library keeps it."""
        async with self.uow() as tx:
            if await tx.notebooks.get(notebook_id, user.id) is None:
                raise NotFound("There is no such notebook.")
            if not await tx.notebooks.unlink(notebook_id, source_id):
                raise NotFound("That source is not in this notebook.")

    async def delete(self, user: User, source_id: SourceId) -> None:
        """Remove a source with everything made from it; a running job ends quietly."""
        while not await self._delete(user, source_id):
            pass

    async def _delete(self, user: User, source_id: SourceId) -> bool:
        """False where its job brought in another file at this moment."""
        async with self.uow() as tx:
            source, hashes = await self._files(tx, user, source_id)
            for digest in hashes:
                await tx.sources.hold_blob(source.owner_id, digest)
            if made := await tx.documents.of_source(source_id):
                await tx.documents.hold_notebook(made.notebook_id)
            await tx.sources.hold(source_id)
            if (await self._files(tx, user, source_id))[1] != hashes:
                return False
            if made:
                await tx.documents.delete(made.id)
                await self.blobs.delete(made.key)
            await tx.sources.delete(source_id)
            await self.blobs.delete(source.pad_key)
            # Before the commit: who adds this file now waits for it, and then misses the file.
            for digest in hashes:
                if not await tx.sources.needs_blob(source.owner_id, digest):
                    await self.blobs.delete(blob_key(source.owner_id, digest))
                    await self.blobs.delete(mp3_key(source.owner_id, digest))
        return True

    @classmethod
    async def _files(
        cls, tx: Stores, user: User, source_id: SourceId
    ) -> tuple[Source, list[bytes]]:
        """A source, and the hashes of what it is and will be read from, in order."""
        source = await cls._own(tx, user, source_id)
        fetch = await tx.fetches.of(source_id)
        return source, sorted({source.sha256, *([fetch.sha256] if fetch else [])})

    async def retry(
        self,
        user: User,
        source_id: SourceId,
        *,
        password: str = "",
        idempotency_key: str | None = None,
    ) -> Source:
        """Read a failed source again; what was paid for is not paid for again.

        So is one that is ready, but whose address now gives a locked PDF.
        A request that comes again with its key gets the source as it is now.

        Args:
            password: opens a PDF; kept for this run only, and sealed.

        Raises:
            Conflict: it has not failed, or the key was used for something else.
            Rejected: no PDF has such a password.
        """
        pad = secrets.token_bytes(PAD_BYTES)
        sealed = seal(password, pad) if password else None
        request = await asyncio.to_thread(_retry_hash, source_id, password)
        async with self.uow() as tx:
            source = await self._own(tx, user, source_id)
            if idempotency_key and await tx.idempotency.recall(user.id, idempotency_key, request):
                return await self._own(tx, user, source_id)
            attempt = await tx.sources.requeue(source_id)
            if attempt is None:
                raise Conflict("Only a source that failed can be read again.")
            if sealed:
                await tx.sources.seal_password(source_id, sealed)
                await self.blobs.put(source.pad_key, BytesIO(pad))
            await tx.jobs.enqueue(INGEST_SOURCE, f"{source_id}:{attempt}", source_id=str(source_id))
            if idempotency_key:
                await tx.idempotency.remember(user.id, idempotency_key, request, str(source_id))
            return await self._own(tx, user, source_id)

    async def refresh(
        self, user: User, source_id: SourceId, *, idempotency_key: str | None = None
    ) -> Source:
        """Fetch a web page anew; its last good text serves until the new one is ready.

        A request that comes again with its key gets the source as it is now.

        Raises:
            Conflict: it is no web page, it is being read, or the key was used for something else.
        """
        request = hashlib.sha256(repr(("refresh", source_id)).encode()).digest()
        async with self.uow() as tx:
            source = await self._own(tx, user, source_id)
            if idempotency_key and await tx.idempotency.recall(user.id, idempotency_key, request):
                return source
            if source.url is None:
                raise Conflict("Only a web page can be fetched again.")
            if (fetch := await tx.fetches.of(source_id)) is not None:
                await tx.sources.hold_blob(source.owner_id, fetch.sha256)
            attempt = await tx.fetches.again(source_id)
            if attempt is None:
                raise Conflict("This page is being read already.")
            await tx.fetches.forget(source_id)
            await tx.jobs.enqueue(INGEST_SOURCE, f"{source_id}:{attempt}", source_id=str(source_id))
            if idempotency_key:
                await tx.idempotency.remember(user.id, idempotency_key, request, str(source_id))
            if fetch and not await tx.sources.needs_blob(source.owner_id, fetch.sha256):
                await self.blobs.delete(blob_key(source.owner_id, fetch.sha256))
                await self.blobs.delete(mp3_key(source.owner_id, fetch.sha256))
            return await self._own(tx, user, source_id)

    async def original(
        self, user: User, source_id: SourceId
    ) -> tuple[Source, AsyncGenerator[bytes, None]]:
        """The file as it was uploaded, in blocks.

        Raises:
            NotFound: it is not that user's, or not in the storage.
        """
        source = await self.get(user, source_id)
        if not await self.blobs.has(source.blob_key):
            raise NotFound("The file is no longer in the storage.")
        return source, self.blobs.stream(source.blob_key)

    async def sound(
        self, user: User, source_id: SourceId
    ) -> tuple[int, str, Callable[[int], AsyncGenerator[bytes, None]]]:
        """A recording to listen to, as it was converted where it was.

        Returns:
            Bytes in all, the media type, and what gives the blocks from a byte on.

        Raises:
            NotFound: it is no recording, not that user's, or not in the storage.
        """
        source = await self.get(user, source_id)
        if source.kind is not SourceKind.AUDIO:
            raise NotFound("This source is no recording.")
        if await self.blobs.has(source.mp3_key):
            key, media_type = source.mp3_key, "audio/mpeg"
        else:
            key, media_type = source.blob_key, source.media_type
        return (
            await self.blobs.size(key),
            media_type,
            lambda first: self.blobs.stream(key, first=first),
        )

    async def passages(
        self, user: User, source_id: SourceId, *, page: int | None = None
    ) -> list[Passage]:
        """What was read from it, or from one of its pages."""
        async with self.uow() as tx:
            source = await self._seen(tx, user, source_id)
            if source.version_id is None:
                return []
            return await tx.sources.passages(source.version_id, page=page)

    async def page_image(
        self, user: User, source_id: SourceId, page: int, *, width_px: int
    ) -> bytes:
        """A page of a PDF, or an image, which has page 1 alone.

        Returns:
            PNG; an image that is large may be JPEG.
        """
        source = await self._pictured(user, source_id)
        content = await self.blobs.get(source.blob_key)
        if source.kind is SourceKind.PDF:
            return await self.reader.page_image(content, page, width_px=width_px)
        if page != 1:
            raise NotFound("An image has one page.")
        picture = await self.reader.picture(content, most_pixels=_VIEWED_PIXELS)
        return picture.content

    async def highlights(
        self, user: User, source_id: SourceId, page: int, start: int, end: int
    ) -> list[Box]:
        """Where a quote stands on a page of a PDF; nowhere where it was read off a picture."""
        source = await self._pictured(user, source_id)
        read = await self.passages(user, source_id, page=page)
        if source.kind is not SourceKind.PDF or any(passage.is_transcript for passage in read):
            return []
        content = await self.blobs.get(source.blob_key)
        return await self.reader.highlights(content, page, start, end)

    async def require_open(self, user: User, source_id: SourceId, page: int) -> None:
        """See whether a page of a PDF can be drawn.

        Raises:
            PasswordNeeded: its password was kept for the reading only.
            NotFound: there is no such page.
        """
        source = await self._pictured(user, source_id)
        await self.reader.highlights(await self.blobs.get(source.blob_key), page, 0, 0)

    async def chunk_highlights(
        self, user: User, source_id: SourceId, page: int, chunk_id: ChunkId
    ) -> list[Box]:
        """Where a chunk, of whichever version of the source, stands on a page of a PDF.

        Raises:
            NotFound: the source has no such chunk on that page.
        """
        async with self.uow() as tx:
            await self._seen(tx, user, source_id)
            place = await tx.sources.chunk_place(source_id, chunk_id)
        if place is None or place.page != page:
            raise NotFound("This source has no such chunk on that page.")
        return await self.highlights(user, source_id, page, place.start, place.end)

    async def _pictured(self, user: User, source_id: SourceId) -> Source:
        source = await self.get(user, source_id)
        if source.kind not in {SourceKind.PDF, SourceKind.IMAGE}:
            raise NotFound("Only PDF and image sources have page images.")
        return source

    @classmethod
    async def _own(cls, tx: Stores, user: User, source_id: SourceId) -> Source:
        return await cls._seen(tx, user, source_id, Role.OWNER)

    @staticmethod
    async def _seen(
        tx: Stores, user: User, source_id: SourceId, at_least: Role = Role.READ
    ) -> Source:
        source = await tx.sources.get(source_id, user.id, at_least=at_least)
        if source is None:
            raise NotFound("There is no such source.")
        return source


def _retry_hash(source_id: SourceId, password: str) -> bytes:
    """Tells requests apart without telling the password: slow, since some are easily guessed."""
    salt = source_id.bytes
    return hashlib.scrypt(password.encode("utf-8", "replace"), salt=salt, n=1 << 13, r=8, p=1)[:32]
