"""Everything of an account in one archive, made by a worker in parts and kept for a week."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from uuid import UUID

from domain.account import User
from domain.account_contents import Counts, Step, once
from domain.audit import Act
from domain.errors import NotFound, Unavailable
from domain.export import (
    EXPORT_LIFETIME,
    Export,
    ExportPart,
    ExportStatus,
    key_prefix,
    manifest,
    part_key,
    to_json,
)
from domain.ids import ExportId, UserId
from domain.jobs import EXPORT_ACCOUNT
from domain.ports import Archiver, BlobStore, Clock, OpenPart
from domain.stores import Page, UnitOfWork

_MOST_TRIES = 8
_GONE = "There is no such archive (any more). Ask for a new one."
_GAVE_UP = "Making this archive was interrupted again and again. Ask for a new one."


@dataclass(slots=True)
class _Run:
    """One of the runs that make an archive.

    Args:
        parts: what is made, by this run and earlier ones.
    """

    user: User
    export: Export
    attempt: int
    parts: list[ExportPart]

    @property
    def size(self) -> int:
        """What is made, in bytes."""
        return sum(part.size for part in self.parts)


@dataclass(frozen=True, slots=True)
class ExportAccount:
    """Make archives of accounts and hand them out to their owners.

    Args:
        steps: what an account's archive holds, in the same order in every run.
    """

    uow: UnitOfWork
    blobs: BlobStore
    archiver: Archiver
    clock: Clock
    steps: Callable[[User], AsyncGenerator[Step, None]]

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
            raise NotFound(_GONE)
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
        async with self.uow(at_once=True) as tx:
            parts = await tx.exports.parts(export_id)
        if sum(part.size for part in parts) != export.bytes:  # it expired at this moment
            raise NotFound(_GONE)
        return export, self._joined(parts)

    async def expire(self) -> None:
        """Delete archives whose time has come, finished or not."""
        async with self.uow(at_once=True) as tx:
            expired = await tx.exports.expired()
        for export in expired:
            # In one transaction: no run adds a part any more, and a kill leaves the row.
            async with self.uow() as tx:
                await tx.exports.forget(export.id)
                await self._delete_files(export.user_id, export.id)

    async def __call__(self, user_id: UserId, export_id: ExportId) -> None:
        """Make the parts that are not made yet.

        A second run goes on where the first one ended. If that one is still alive, it ends at its
        next part: only the run that began last adds any.

        Raises:
            Unavailable: worth another run later.
        """
        run = await self._begin(user_id, export_id)
        if run is None:
            return
        made = {part.name for part in run.parts}
        async with aclosing(self.steps(run.user)) as steps:
            async for step in steps:
                if step.name not in made and not await self._make(run, step):
                    return

        async def fill(part: OpenPart) -> Counts:
            told = manifest(run.user, run.export, run.parts, self.clock.now())
            await part.add("manifest.json", once(to_json(told)))
            return {}

        await self._make(run, Step("manifest", fill), is_last=True)

    async def _begin(self, user_id: UserId, export_id: ExportId) -> _Run | None:
        """Begin another run; None where nothing is left to make.

        Files that earlier runs did not come to record go, while no other run can begin.
        """
        async with self.uow() as tx:
            begun = await tx.exports.begin(export_id)
            if begun and begun[1] > _MOST_TRIES:
                await tx.exports.fail(export_id, _GAVE_UP)
            parts = await tx.exports.parts(export_id)
            user, export = await tx.accounts.get(user_id), await tx.exports.get(export_id)
            if begun or export is None:
                await self._delete_files(user_id, export_id, but=parts)
        if begun and user and export and export.status is ExportStatus.QUEUED:
            return _Run(user, export, begun[0], parts)
        return None

    async def _make(self, run: _Run, step: Step, *, is_last: bool = False) -> bool:
        """Make a part; False where a newer run has begun, or the export is gone."""
        key = part_key(run.export, len(run.parts), run.attempt)
        async with self.archiver.part(run.size) as part:
            counts = await step.fill(part)
            before = [one.directory for one in run.parts] if is_last else None
            finished = await part.finished(before)
            await self.blobs.put(key, finished.content)
        run.parts.append(ExportPart(step.name, key, finished.size, finished.directory, counts))
        async with self.uow() as tx:
            is_mine = await tx.exports.add_part(
                run.export.id, run.attempt, len(run.parts) - 1, run.parts[-1]
            )
            if is_mine and is_last:
                await tx.exports.finish(run.export.id, run.size)
        if not is_mine:
            await self.blobs.delete(key)
        return is_mine

    async def _joined(self, parts: Sequence[ExportPart]) -> AsyncGenerator[bytes, None]:
        for part in parts:
            async with aclosing(self.blobs.stream(part.key)) as blocks:
                async for block in blocks:
                    yield block

    async def _delete_files(
        self, user_id: UserId, export_id: ExportId, *, but: Sequence[ExportPart] = ()
    ) -> None:
        kept = {part.key for part in but}
        for key in await self.blobs.keys(key_prefix(user_id, export_id)):
            if key not in kept:
                await self.blobs.delete(key)


def _arguments(export: Export) -> dict[str, str]:
    return {"user_id": str(export.user_id), "export_id": str(export.id)}
