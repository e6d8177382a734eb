"""Everything of an account in one archive, made by a worker and kept for a week."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from domain.account import ApiToken, User
from domain.audit import Act
from domain.errors import NotFound, Unavailable
from domain.export import (
    EXPORT_LIFETIME,
    FORMAT,
    FORMAT_VERSION,
    READ_ME,
    Export,
    ExportStatus,
    account_entry,
    answer_entry,
    audit_entry,
    export_key,
    notebook_entry,
    original_name,
    passage_entry,
    source_entry,
    to_json,
    usage_entry,
)
from domain.ids import ExportId, UserId
from domain.jobs import EXPORT_ACCOUNT
from domain.notebook import Notebook
from domain.ports import Archiver, BlobStore, Clock, OpenArchive
from domain.source import Source
from domain.stores import Page, Stores, UnitOfWork

T = TypeVar("T")
_ROWS = 200
_MOST_TRIES = 8
_BEGINNING, _END = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
_GAVE_UP = "Making this archive was interrupted again and again. Ask for a new one."


@dataclass(frozen=True, slots=True)
class ExportAccount:
    """Make archives of accounts and hand them out to their owners."""

    uow: UnitOfWork
    blobs: BlobStore
    archiver: Archiver
    clock: Clock

    async def request(self, user: User, *, peer: str) -> Export:
        """Have an archive made; the one that is being made already, where there is one."""
        async with self.uow() as tx:
            export, is_new = await tx.exports.add(user.id, EXPORT_LIFETIME)
            if is_new:
                await tx.jobs.enqueue(EXPORT_ACCOUNT, str(export.id), **_arguments(export))
                await tx.audit.add(Act.EXPORTED, user.id, user.id, peer=peer)
        return export

    async def of(self, user: User, *, limit: int, after: UUID | None) -> Page[Export]:
        """That user's archives, newest first."""
        async with self.uow(at_once=True) as tx:
            return await tx.exports.page(user.id, limit=limit, after=after)

    async def get(self, user: User, export_id: ExportId) -> Export:
        """One of them.

        Raises:
            NotFound: that user has no such archive, or it has expired.
        """
        async with self.uow(at_once=True) as tx:
            export = await tx.exports.get(export_id)
        if export is None or export.user_id != user.id or export.expires_at <= self.clock.now():
            raise NotFound("There is no such archive (any more). Ask for a new one.")
        return export

    async def download(
        self, user: User, export_id: ExportId
    ) -> tuple[Export, AsyncGenerator[bytes, None]]:
        """An archive in blocks.

        Raises:
            NotFound: there is none, or it has expired.
            Unavailable: it is not ready yet.
        """
        export = await self.get(user, export_id)
        if export.status is not ExportStatus.READY:
            raise Unavailable(export.error or "This archive is still being made. Try again soon.")
        return export, self.blobs.stream(export.key)

    async def expire(self) -> None:
        """Delete archives whose time has come."""
        async with self.uow(at_once=True) as tx:
            expired = await tx.exports.expired()
        for export in expired:
            await self.blobs.delete(export.key)
            async with self.uow(at_once=True) as tx:
                await tx.exports.forget(export.id)

    async def __call__(self, user_id: UserId, export_id: ExportId) -> None:
        """Make the archive: whole or not at all; a second run makes it anew.

        Raises:
            Unavailable: worth another run later.
        """
        async with self.uow() as tx:
            tries = await tx.exports.begin(export_id)
            user = await tx.accounts.get(user_id)
            if tries and tries > _MOST_TRIES:
                await tx.exports.fail(export_id, _GAVE_UP)
        if tries is not None and tries <= _MOST_TRIES and user:
            async with self.archiver.opened() as archive:
                await self._fill(archive, user)
                size, content = await archive.finished()
                await self.blobs.put(export_key(user_id, export_id), content)
            async with self.uow() as tx:
                await tx.exports.finish(export_id, size)
        # Its account may have gone meanwhile, and nobody else knows of the file.
        async with self.uow(at_once=True) as tx:
            is_there = await tx.exports.get(export_id) is not None
        if not is_there:
            await self.blobs.delete(export_key(user_id, export_id))

    async def _fill(self, archive: OpenArchive, user: User) -> None:
        counts = {"notebooks": 0, "sources": 0, "answers": 0, "calls": 0}
        await archive.add("README.txt", _once(READ_ME.encode()))
        tokens = [token async for token in self._tokens(user)]
        await archive.add("account.json", _once(to_json(account_entry(user, tokens))))
        await archive.add("notebooks.json", _array(self._notebook_entries(user, counts)))
        async for source in self._sources(user):
            counts["sources"] += 1
            await self._add_source(archive, source)
        async for notebook in self._notebooks(user):
            name = f"chats/{notebook.id}.json"
            await archive.add(name, _array(self._answers(user, notebook, counts)))
        await archive.add("usage.json", _array(self._usage(user, counts)))
        await archive.add("audit.json", _array(self._acts(user)))
        manifest = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "account": user.email,
            "made_at": self.clock.now(),
            **counts,
        }
        await archive.add("manifest.json", _once(to_json(manifest)))

    async def _add_source(self, archive: OpenArchive, source: Source) -> None:
        folder = f"sources/{source.id}"
        await archive.add(f"{folder}/source.json", _once(to_json(source_entry(source))))
        if source.version_id:
            async with self.uow() as tx:
                passages = await tx.sources.passages(source.version_id)
            read = to_json([passage_entry(passage) for passage in passages])
            await archive.add(f"{folder}/passages.json", _once(read))
        # A web page that was never fetched has none.
        if await self.blobs.has(source.blob_key):
            name = f"{folder}/original/{original_name(source)}"
            await archive.add(name, self.blobs.stream(source.blob_key))

    async def _every(
        self, page: Callable[[Stores, UUID | None], Awaitable[Page[T]]]
    ) -> AsyncIterator[T]:
        """Every row of a list, however many there are.

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

    def _tokens(self, user: User) -> AsyncIterator[ApiToken]:
        return self._every(
            lambda tx, after: tx.credentials.tokens(user.id, limit=_ROWS, after=after)
        )

    def _notebooks(self, user: User) -> AsyncIterator[Notebook]:
        return self._every(lambda tx, after: tx.notebooks.page(user.id, limit=_ROWS, after=after))

    def _sources(self, user: User) -> AsyncIterator[Source]:
        return self._every(lambda tx, after: tx.sources.of_owner(user.id, limit=_ROWS, after=after))

    async def _notebook_entries(
        self, user: User, counts: dict[str, int]
    ) -> AsyncIterator[Mapping[str, Any]]:
        async for notebook in self._notebooks(user):
            counts["notebooks"] += 1
            yield await self._notebook_entry(user, notebook)

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

    async def _answers(
        self, user: User, notebook: Notebook, counts: dict[str, int]
    ) -> AsyncIterator[Mapping[str, Any]]:
        async for answer in self._every(
            lambda tx, after: tx.answers.page(notebook.id, user.id, limit=_ROWS, after=after)
        ):
            counts["answers"] += 1
            yield answer_entry(answer)

    async def _usage(self, user: User, counts: dict[str, int]) -> AsyncIterator[Mapping[str, Any]]:
        async for row in self._every(
            lambda tx, after: tx.ledger.rows(
                user.id, start=_BEGINNING, end=_END, limit=_ROWS, after=after
            )
        ):
            counts["calls"] += 1
            yield usage_entry(row)

    async def _acts(self, user: User) -> AsyncIterator[Mapping[str, Any]]:
        async for entry in self._every(
            lambda tx, after: tx.audit.page(limit=_ROWS, after=after, of=user.id)
        ):
            yield audit_entry(entry)


def _arguments(export: Export) -> dict[str, str]:
    return {"user_id": str(export.user_id), "export_id": str(export.id)}


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def _array(rows: AsyncIterator[Mapping[str, Any]]) -> AsyncIterator[bytes]:
    """A JSON array, a piece a row."""
    before = b"["
    async for row in rows:
        yield before + b"\n" + to_json(row)
        before = b","
    yield b"[]\n" if before == b"[" else b"\n]\n"
