"""What an archive of an account holds, step by step: each step is a part that is made at once."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from domain.account import ApiToken, User
from domain.document import Document, DocumentStatus
from domain.export import (
    READ_ME,
    account_entry,
    answer_entry,
    audit_entry,
    document_entry,
    notebook_entry,
    original_name,
    passage_entry,
    source_entry,
    to_json,
    usage_entry,
)
from domain.ids import DocumentId, SourceId
from domain.notebook import Notebook
from domain.ports import BlobStore, OpenPart
from domain.source import Source
from domain.stores import Page, Stores, UnitOfWork

T = TypeVar("T")
Counts = Mapping[str, int]
_ROWS = 200
_BEGINNING, _END = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Step:
    """A part of an archive, to be made.

    Args:
        name: the same in every run, and of no other step.
        fill: adds its files; returns how many there are of what the manifest counts.
    """

    name: str
    fill: Callable[[OpenPart], Awaitable[Counts]]


@dataclass(frozen=True, slots=True)
class AccountContents:
    """Reads everything of an account; what is read is as of the moment of its step."""

    uow: UnitOfWork
    blobs: BlobStore

    async def steps(self, user: User) -> AsyncGenerator[Step, None]:
        """Everything but the manifest. Whatever an account gets to hold needs a step here."""
        yield Step("account", partial(self._add_account, user))
        yield Step("notebooks", partial(self._add_notebooks, user))
        async for source in self._sources(user):
            yield Step(f"source {source.id}", partial(self._add_source, user, source.id))
        async for notebook in self._notebooks(user):
            yield Step(f"chat {notebook.id}", partial(self._add_chat, user, notebook))
        async for document in self._documents(user):
            yield Step(f"document {document.id}", partial(self._add_document, document.id))
        yield Step("usage", partial(self._add_usage, user))
        yield Step("audit", partial(self._add_audit, user))

    async def _add_account(self, user: User, part: OpenPart) -> Counts:
        await part.add("README.txt", once(READ_ME.encode()))
        tokens = [token async for token in self._tokens(user)]
        await part.add("account.json", once(to_json(account_entry(user, tokens))))
        return {}

    async def _add_notebooks(self, user: User, part: OpenPart) -> Counts:
        async def entries() -> AsyncIterator[Mapping[str, Any]]:
            async for notebook in self._notebooks(user):
                yield await self._notebook_entry(user, notebook)

        return {"notebooks": await _add_rows(part, "notebooks.json", entries())}

    async def _add_source(self, user: User, source_id: SourceId, part: OpenPart) -> Counts:
        async with self.uow() as tx:
            source = await tx.sources.get(source_id, user.id)
            if source is None:  # deleted since it was listed
                return {}
            passages = await tx.sources.passages(source.version_id) if source.version_id else []
        folder = f"sources/{source.id}"
        await part.add(f"{folder}/source.json", once(to_json(source_entry(source))))
        if source.version_id:
            read = to_json([passage_entry(passage) for passage in passages])
            await part.add(f"{folder}/passages.json", once(read))
        # A web page that was never fetched has none.
        if await self.blobs.has(source.blob_key):
            name = f"{folder}/original/{original_name(source)}"
            await part.add(name, self.blobs.stream(source.blob_key))
        return {"sources": 1}

    async def _add_chat(self, user: User, notebook: Notebook, part: OpenPart) -> Counts:
        answers = self._every(
            lambda tx, after: tx.answers.page(notebook.id, user.id, limit=_ROWS, after=after)
        )
        entries = (answer_entry(answer) async for answer in answers)
        return {"answers": await _add_rows(part, f"chats/{notebook.id}.json", entries)}

    async def _add_document(self, document_id: DocumentId, part: OpenPart) -> Counts:
        async with self.uow() as tx:
            document = await tx.documents.find(document_id)
        if document is None:  # deleted since it was listed
            return {}
        folder = f"documents/{document.id}"
        await part.add(f"{folder}/document.json", once(to_json(document_entry(document))))
        if document.status is DocumentStatus.READY and await self.blobs.has(document.key):
            await part.add(f"{folder}/audio.mp3", self.blobs.stream(document.key))
        return {"documents": 1}

    async def _add_usage(self, user: User, part: OpenPart) -> Counts:
        rows = self._every(
            lambda tx, after: tx.ledger.rows(
                user.id, start=_BEGINNING, end=_END, limit=_ROWS, after=after
            )
        )
        return {"calls": await _add_rows(part, "usage.json", (usage_entry(r) async for r in rows))}

    async def _add_audit(self, user: User, part: OpenPart) -> Counts:
        acts = self._every(lambda tx, after: tx.audit.page(limit=_ROWS, after=after, of=user.id))
        await _add_rows(part, "audit.json", (audit_entry(act) async for act in acts))
        return {}

    async def _notebook_entry(self, user: User, notebook: Notebook) -> Mapping[str, Any]:
        sources = self._every(
            lambda tx, after: tx.sources.in_notebook(notebook.id, limit=_ROWS, after=after)
        )
        shares = self._every(
            lambda tx, after: tx.shares.page(notebook.id, limit=_ROWS, after=after)
        )
        is_own = notebook.owner_id == user.id
        guests = [share async for share in shares] if is_own else []
        return notebook_entry(notebook, [source async for source in sources], guests)

    def _tokens(self, user: User) -> AsyncIterator[ApiToken]:
        return self._every(
            lambda tx, after: tx.credentials.tokens(user.id, limit=_ROWS, after=after)
        )

    def _notebooks(self, user: User) -> AsyncIterator[Notebook]:
        return self._every(lambda tx, after: tx.notebooks.page(user.id, limit=_ROWS, after=after))

    def _sources(self, user: User) -> AsyncIterator[Source]:
        return self._every(lambda tx, after: tx.sources.of_owner(user.id, limit=_ROWS, after=after))

    def _documents(self, user: User) -> AsyncIterator[Document]:
        return self._every(
            lambda tx, after: tx.documents.of_owner(user.id, limit=_ROWS, after=after)
        )

    async def _every(
        self, page: Callable[[Stores, UUID | None], Awaitable[Page[T]]]
    ) -> AsyncIterator[T]:
        """Every row of a list, however many there are; none is read while one is used.

        Args:
            page: reads the rows after a cursor.
        """
        after = None
        while True:
            async with self.uow() as tx:
                found = await page(tx, after)
            for row in found.items:
                yield row
            if (after := found.next_cursor) is None:
                return


async def once(content: bytes) -> AsyncIterator[bytes]:
    """A file's content in one block."""
    yield content


async def _add_rows(part: OpenPart, name: str, rows: AsyncIterator[Mapping[str, Any]]) -> int:
    """Add a JSON array, a block a row: how many there are."""
    count = 0

    async def blocks() -> AsyncIterator[bytes]:
        nonlocal count
        async for row in rows:
            yield (b",\n" if count else b"[\n") + to_json(row)
            count += 1
        yield b"\n]\n" if count else b"[]\n"

    await part.add(name, blocks())
    return count
