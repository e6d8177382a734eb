"""Attempts at reading a source: begun, fenced, shown, ended."""

from adapters.postgres.rows import Store
from adapters.postgres.source_rows import SOURCE, source_of
from domain.channels import SOURCE_CHANGED
from domain.errors import Problem
from domain.ids import SourceId
from domain.source import Progress, Source


class SourceAttempts(Store):
    """The part of the `Sources` port that a job uses while it reads."""

    async def claim(self, source_id: SourceId) -> tuple[Source, int] | None:
        claimed = await self._one(
            "update sources set status = 'processing', attempt = attempt + 1, tries = tries + 1,"
            " updated_at = now() where id = :id and status in ('queued', 'processing')"
            " returning tries",
            id=source_id,
        )
        if claimed is None:
            return None
        row = await self._one(f"{SOURCE} where s.id = :id", id=source_id)
        assert row is not None  # noqa: S101 - the update above holds it
        return source_of(row), claimed.tries

    async def still_mine(self, source_id: SourceId, attempt: int) -> bool:
        row = await self._one(
            "select 1 from sources where id = :id and attempt = :attempt"
            " and status = 'processing' for share",
            id=source_id,
            attempt=attempt,
        )
        return row is not None

    async def show_progress(self, source_id: SourceId, attempt: int, progress: Progress) -> bool:
        row = await self._one(
            "with shown as (update sources set stage = :stage, total = :total, updated_at = now(),"
            " done = case when stage = :stage and total = :total then greatest(done, :done)"
            " else :done end where id = :id and attempt = :attempt and status = 'processing'"
            " returning owner_id) select pg_notify(:channel, cast(owner_id as text)) from shown",
            stage=progress.stage.value,
            done=progress.done,
            total=progress.total,
            id=source_id,
            attempt=attempt,
            channel=SOURCE_CHANGED,
        )
        return row is not None

    async def fail(self, source_id: SourceId, attempt: int, problem: Problem) -> None:
        failed = await self._run(
            # What was read before, such as a web page's last good text, stays of use.
            "update sources set stage = null,"
            " status = case when version_id is null then 'failed' else 'ready' end,"
            " error = :detail, error_code = :code, updated_at = now()"
            " where id = :id and attempt = :attempt and status in ('queued', 'processing')",
            detail=problem.detail,
            code=problem.code,
            id=source_id,
            attempt=attempt,
        )
        if failed:
            await self._forget_password(source_id)
        await self._tell(source_id)

    async def stop(self, source_id: SourceId, problem: Problem) -> bool:
        row = await self._one(
            "select attempt from sources where id = :id and status in ('queued', 'processing')"
            " for update",
            id=source_id,
        )
        if row is None:
            return False
        await self.fail(source_id, row.attempt, problem)
        return True

    async def seal_password(self, source_id: SourceId, sealed: bytes) -> None:
        await self._run(
            "insert into sealed_passwords (source_id, sealed) values (:id, :sealed)"
            " on conflict (source_id) do update set sealed = :sealed",
            id=source_id,
            sealed=sealed,
        )

    async def sealed_password(self, source_id: SourceId) -> bytes | None:
        row = await self._one(
            "select sealed from sealed_passwords where source_id = :id", id=source_id
        )
        return row.sealed if row else None

    async def _forget_password(self, source_id: SourceId) -> None:
        await self._run("delete from sealed_passwords where source_id = :id", id=source_id)

    async def requeue(self, source_id: SourceId) -> int | None:
        row = await self._one(
            "update sources set status = 'queued', error = null, error_code = null, tries = 0,"
            " updated_at = now() where id = :id and (status = 'failed'"
            " or status = 'ready' and error_code = 'password_needed') returning attempt",
            id=source_id,
        )
        await self._tell(source_id)
        return row.attempt if row else None

    async def _tell(self, source_id: SourceId) -> None:
        await self._run(
            "select pg_notify(:channel, cast(owner_id as text)) from sources where id = :id",
            channel=SOURCE_CHANGED,
            id=source_id,
        )
