"""Rows of what web addresses gave."""

from adapters.postgres.rows import Store
from domain.channels import SOURCE_CHANGED
from domain.fetch import Fetch
from domain.ids import SourceId
from domain.source import SourceKind


class PostgresFetches(Store):
    """The `Fetches` port."""

    async def of(self, source_id: SourceId) -> Fetch | None:
        row = await self._one("select * from fetches where source_id = :id", id=source_id)
        return Fetch(SourceKind(row.kind), row.sha256, row.media_type, row.bytes) if row else None

    async def keep(self, source_id: SourceId, fetch: Fetch) -> None:
        await self._run(
            "insert into fetches (source_id, kind, sha256, media_type, bytes)"
            " values (:id, :kind, :sha256, :media_type, :bytes) on conflict (source_id) do update"
            " set kind = :kind, sha256 = :sha256, media_type = :media_type, bytes = :bytes",
            id=source_id,
            kind=fetch.kind.value,
            sha256=fetch.sha256,
            media_type=fetch.media_type,
            bytes=fetch.bytes,
        )

    async def adopt(self, source_id: SourceId) -> None:
        await self._run(
            "update sources s set kind = f.kind, sha256 = f.sha256, media_type = f.media_type,"
            " bytes = f.bytes from fetches f where s.id = :id and f.source_id = s.id",
            id=source_id,
        )
        await self.forget(source_id)

    async def forget(self, source_id: SourceId) -> None:
        await self._run("delete from fetches where source_id = :id", id=source_id)

    async def again(self, source_id: SourceId) -> int | None:
        row = await self._one(
            "update sources set status = 'queued', error = null, error_code = null, tries = 0,"
            " updated_at = now() where id = :id and url is not null"
            " and status in ('ready', 'failed') returning attempt, owner_id",
            id=source_id,
        )
        if row is None:
            return None
        await self._run(
            "select pg_notify(:channel, :owner)", channel=SOURCE_CHANGED, owner=str(row.owner_id)
        )
        attempt: int = row.attempt
        return attempt

    async def settle(self, source_id: SourceId) -> None:
        await self._run(
            "update sources set status = 'ready', stage = null, error = null, error_code = null,"
            " updated_at = now() where id = :id",
            id=source_id,
        )
        await self._run("delete from sealed_passwords where source_id = :id", id=source_id)
        await self._run(
            "select pg_notify(:channel, cast(owner_id as text)) from sources where id = :id",
            channel=SOURCE_CHANGED,
            id=source_id,
        )
