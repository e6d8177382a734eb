"""Fetching: what a web address gives becomes the bytes that an attempt reads."""

import hashlib
import io
from dataclasses import dataclass, replace

from domain.capture import Attempt, Unchanged
from domain.errors import Unreachable
from domain.fetch import Fetch, kind_of_page
from domain.ports import BlobStore, Reader, WebFetcher
from domain.source import Source, blob_key
from domain.stores import Stores, UnitOfWork
from domain.web_address import name_in


@dataclass(frozen=True, slots=True)
class FetchPage:
    """Gets the page behind a source's address once, and keeps it until the source is ready.

    A retry reads what was fetched; the source itself stays with its last good bytes until then.
    """

    uow: UnitOfWork
    blobs: BlobStore
    reader: Reader
    web: WebFetcher

    async def __call__(self, attempt: Attempt) -> Source:
        """The source as it is with what its address gave.

        Raises:
            Unchanged: that is what the source is made of already.
            Superseded: another attempt took over.
            AddressRefused, Unreachable, TooLarge, UnsupportedType: it fails with this message.
        """
        source = attempt.source
        async with self.uow() as tx:
            fetch = await tx.fetches.of(source.id)
        fetch = fetch or await self._fetch(attempt, source.url or "")
        if source.version_id is not None and fetch.sha256 == source.sha256:
            raise Unchanged
        return replace(
            source,
            kind=fetch.kind,
            sha256=fetch.sha256,
            media_type=fetch.media_type,
            bytes=fetch.bytes,
        )

    async def _fetch(self, attempt: Attempt, url: str) -> Fetch:
        page = await self.web.fetch(url)
        if not page.content.strip():
            raise Unreachable("This address answers with an empty page.")
        told = self.reader.kind_of(page.content, name_in(page.url))
        digest = hashlib.sha256(page.content).digest()
        kind = kind_of_page(told, page.media_type)
        fetch = Fetch(kind, digest, page.media_type, len(page.content))
        source, key = attempt.source, blob_key(attempt.source.owner_id, digest)
        async with self.uow() as tx:
            await tx.sources.hold_blob(source.owner_id, digest)
            await attempt.require(tx)
            await tx.fetches.keep(source.id, fetch)
            if not await self.blobs.has(key):
                await self.blobs.put(key, io.BytesIO(page.content))
        return fetch

    async def adopt(self, tx: Stores, source: Source) -> None:
        """Make what was fetched the source's own; earlier bytes that nothing needs any more go.

        Args:
            source: as it was before.
        """
        await tx.sources.hold_blob(source.owner_id, source.sha256)
        await tx.fetches.adopt(source.id)
        if not await tx.sources.needs_blob(source.owner_id, source.sha256):
            await self.blobs.delete(source.blob_key)
            await self.blobs.delete(source.mp3_key)
