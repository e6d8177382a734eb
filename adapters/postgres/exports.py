"""Rows of account archives."""

import json
from datetime import timedelta
from uuid import UUID

from adapters.postgres.connection import Row
from adapters.postgres.rows import Store, page_of
from domain.export import Export, ExportPart, ExportStatus
from domain.ids import ExportId, UserId, new_id
from domain.stores import Page


def _export(row: Row) -> Export:
    return Export(
        id=row.id,
        user_id=row.user_id,
        status=ExportStatus(row.status),
        bytes=row.bytes,
        error=row.error,
        created_at=row.created_at,
        expires_at=row.expires_at,
    )


class PostgresExports(Store):
    """The `Exports` port."""

    async def add(self, user_id: UserId, lifetime: timedelta) -> tuple[Export, bool]:
        # The account's row makes two requests at once take turns.
        await self._run("select 1 from users where id = :id for no key update", id=user_id)
        waiting = await self._one(
            "select * from exports where user_id = :id and status = 'queued'", id=user_id
        )
        if waiting:
            return _export(waiting), False
        row = await self._one(
            "insert into exports (id, user_id, status, created_at, expires_at)"
            " values (:id, :user_id, 'queued', now(), now() + cast(:lifetime as interval))"
            " returning *",
            id=new_id(),
            user_id=user_id,
            lifetime=lifetime,
        )
        assert row is not None  # noqa: S101 - inserted
        return _export(row), True

    async def get(self, export_id: ExportId) -> Export | None:
        row = await self._one("select * from exports where id = :id", id=export_id)
        return _export(row) if row else None

    async def page(self, user_id: UserId, *, limit: int, after: UUID | None) -> Page[Export]:
        rows = await self._all(
            "select * from exports where user_id = :user_id and expires_at > now()"
            " and (cast(:after as uuid) is null or id < :after) order by id desc limit :most",
            user_id=user_id,
            after=after,
            most=limit + 1,
        )
        return page_of(rows, limit, _export)

    async def begin(self, export_id: ExportId) -> tuple[int, int] | None:
        row = await self._one(
            "update exports set attempt = attempt + 1, tries = tries + 1"
            " where id = :id and status = 'queued' returning attempt, tries",
            id=export_id,
        )
        return (row.attempt, row.tries) if row else None

    async def parts(self, export_id: ExportId) -> list[ExportPart]:
        rows = await self._all(
            "select name, key, bytes as size, directory, counts from export_parts"
            " where export_id = :id order by number",
            id=export_id,
        )
        return [
            ExportPart(row.name, row.key, row.size, row.directory, json.loads(row.counts))
            for row in rows
        ]

    async def add_part(
        self, export_id: ExportId, attempt: int, number: int, part: ExportPart
    ) -> bool:
        is_mine = await self._run(
            "update exports set tries = 0"
            " where id = :id and attempt = :attempt and status = 'queued'",
            id=export_id,
            attempt=attempt,
        )
        if is_mine:
            await self._run(
                "insert into export_parts (export_id, number, name, key, bytes, directory, counts)"
                " values (:id, :number, :name, :key, :size, :directory, cast(:counts as json))",
                id=export_id,
                number=number,
                name=part.name,
                key=part.key,
                size=part.size,
                directory=part.directory,
                counts=json.dumps(dict(part.counts)),
            )
        return is_mine == 1

    async def again(self, export_id: ExportId, lifetime: timedelta) -> Export | None:
        row = await self._one(
            "update exports set status = 'queued', tries = 0, error = null,"
            " expires_at = now() + cast(:lifetime as interval)"
            " where id = :id and status = 'failed' returning *",
            id=export_id,
            lifetime=lifetime,
        )
        return _export(row) if row else None

    async def finish(self, export_id: ExportId, size: int) -> None:
        await self._run(
            "with made as (update exports set status = 'ready', bytes = :size where id = :id"
            " returning user_id) update exports e set expires_at = now() from made"
            " where e.user_id = made.user_id and e.id <> :id and e.status <> 'queued'",
            id=export_id,
            size=size,
        )

    async def fail(self, export_id: ExportId, error: str) -> None:
        await self._run(
            "update exports set status = 'failed', error = :error where id = :id",
            id=export_id,
            error=error,
        )
        await self._run("delete from export_parts where export_id = :id", id=export_id)

    async def expired(self) -> list[Export]:
        rows = await self._all("select * from exports where expires_at <= now() limit 1000")
        return [_export(row) for row in rows]

    async def forget(self, export_id: ExportId) -> None:
        await self._run("delete from exports where id = :id", id=export_id)

    async def stalled(self) -> list[Export]:
        rows = await self._all(
            "select e.* from exports e where e.status = 'queued'"
            " and e.created_at < now() - interval '30 seconds' and not exists (select from"
            " saq_jobs j where j.key = 'saq:job:ingest:export_account:' || cast(e.id as text)"
            " and j.status in ('queued', 'active'))"
        )
        return [_export(row) for row in rows]
