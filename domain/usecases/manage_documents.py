"""List, read, rename, retry and delete documents, and hand out their files by links."""

import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from domain.access import Role
from domain.account import User
from domain.document import Document, DocumentStatus, valid_title
from domain.errors import Conflict, NotFound
from domain.file_link import FileLink, require_valid, signed
from domain.ids import DocumentId, NotebookId, SourceId
from domain.limits import LimitName
from domain.making import queue_again
from domain.ports import BlobStore, Clock
from domain.stores import Page, Stores, UnitOfWork

_ROWS = 100

Opened = Callable[[int], AsyncGenerator[bytes, None]]
"""The bytes of a file from the one counted so on."""


@dataclass(frozen=True, slots=True)
class ManageDocuments:
    """What a person does with what was made from sources.

    Args:
        delete_source: deletes a source with everything made from it.
        most_running: of a kind and notebook, as the settings say it.
    """

    uow: UnitOfWork
    blobs: BlobStore
    clock: Clock
    delete_source: Callable[[User, SourceId], Awaitable[None]]
    most_running: int

    async def get(self, user: User, document_id: DocumentId) -> Document:
        """One document.

        Raises:
            NotFound: that user may not see such a document.
        """
        async with self.uow() as tx:
            return await _seen(tx, user, document_id)

    async def page(
        self, user: User, notebook_id: NotebookId, *, limit: int, after: UUID | None
    ) -> Page[Document]:
        """A notebook's documents, newest first."""
        async with self.uow() as tx:
            if await tx.notebooks.get(notebook_id, user.id, at_least=Role.READ) is None:
                raise NotFound("There is no such notebook.")
            return await tx.documents.page(notebook_id, limit=limit, after=after)

    async def rename(self, user: User, document_id: DocumentId, title: str) -> Document:
        """Give it a title, which nothing replaces.

        Raises:
            NotFound, Rejected.
        """
        named = valid_title(title)
        async with self.uow() as tx:
            document = await _seen(tx, user, document_id, Role.OWNER)
            await tx.documents.hold_notebook(document.notebook_id)
            await tx.documents.rename(document_id, named)
            return await _seen(tx, user, document_id)

    async def retry(
        self, user: User, document_id: DocumentId, *, idempotency_key: str | None = None
    ) -> Document:
        """Make a failed document again; what was paid for is not paid for again.

        A request that comes again with its key gets the document as it is now.

        Raises:
            Conflict: it has not failed, or the key was used for something else.
            OverQuota: others are being made.
        """
        body = hashlib.sha256(repr(("document retry", document_id)).encode()).digest()
        async with self.uow() as tx:
            document = await _seen(tx, user, document_id, Role.OWNER)
            if idempotency_key and await tx.idempotency.recall(user.id, idempotency_key, body):
                return await _seen(tx, user, document_id)
            most = user.limit(LimitName.RUNNING_AUDIO, self.most_running)
            await queue_again(tx, document, most_running=most)
            if idempotency_key:
                await tx.idempotency.remember(user.id, idempotency_key, body, str(document_id))
            return await _seen(tx, user, document_id)

    async def delete(self, user: User, document_id: DocumentId) -> None:
        """Remove it with its file and the source it is asked about as; a job ends quietly.

        Raises:
            NotFound: that user has no such document.
        """
        async with self.uow() as tx:
            document = await _seen(tx, user, document_id, Role.OWNER)
            await tx.documents.hold_notebook(document.notebook_id)
            # Once more, now that no job makes it ready.
            document = await _seen(tx, user, document_id, Role.OWNER)
            if document.source_id is None:
                await tx.documents.delete(document_id)
                await self.blobs.delete(document.key)
        if document.source_id is not None:
            with suppress(NotFound):  # by another hand
                await self.delete_source(user, document.source_id)  # with which it goes

    async def delete_all(self, user: User, notebook_id: NotebookId) -> None:
        """Remove every document of a notebook."""
        while True:
            async with self.uow() as tx:
                page = await tx.documents.page(notebook_id, limit=_ROWS, after=None)
            if not page.items:
                return
            for document in page.items:
                with suppress(NotFound):
                    await self.delete(user, document.id)

    async def links(self, documents: Sequence[Document]) -> dict[DocumentId, FileLink]:
        """Links to the files of those that are ready, good for ten minutes."""
        ready = [each.id for each in documents if each.status is DocumentStatus.READY]
        if not ready:
            return {}
        async with self.uow() as tx:
            secret = await tx.documents.link_secret()
        now = self.clock.now()
        return {document_id: signed(secret, document_id, now) for document_id in ready}

    async def file(self, document_id: DocumentId, link: FileLink) -> tuple[Document, Opened]:
        """The file behind a link, whoever asks: the document, and what gives its bytes.

        Raises:
            Forbidden: nobody made this link here.
            Expired: its time is over.
            NotFound: the document is gone.
        """
        async with self.uow() as tx:
            require_valid(await tx.documents.link_secret(), document_id, link, self.clock.now())
            document = await tx.documents.find(document_id)
        if document is None:
            raise NotFound("This document was deleted.")
        return document, await self._opened(document)

    async def content(self, user: User, document_id: DocumentId) -> tuple[Document, Opened]:
        """The file of a document: the document, and what gives its bytes.

        Raises:
            NotFound: that user may not see such a document.
            Conflict: it is not ready.
        """
        document = await self.get(user, document_id)
        return document, await self._opened(document)

    async def _opened(self, document: Document) -> Opened:
        if document.status is not DocumentStatus.READY:
            raise Conflict("This document is not ready.")
        if not await self.blobs.has(document.key):
            raise NotFound("The file is no longer in the storage.")
        return lambda first: self.blobs.stream(document.key, first=first)

    async def sources(self, document: Document) -> list[str]:
        """The titles of the sources it was made from that its notebook still has."""
        async with self.uow(at_once=True) as tx:
            holdings = await tx.notebooks.holdings(document.notebook_id)
        titles = {holding.id: holding.title for holding in holdings}
        return [titles[source_id] for source_id in document.source_ids if source_id in titles]


async def _seen(
    tx: Stores, user: User, document_id: DocumentId, at_least: Role = Role.READ
) -> Document:
    document = await tx.documents.get(document_id, user.id, at_least=at_least)
    if document is None:
        raise NotFound("There is no such document.")
    return document
