"""What the admin looks at, across all accounts."""

from uuid import UUID

from adapters.postgres.ledger import usage_row
from adapters.postgres.rows import Store, page_of
from adapters.postgres.source_rows import SOURCE, source_of
from domain.operations import FailedJob, ModelHealth, OpenCall, OwnedSource, QueueState
from domain.stores import Page
from domain.usage import CallKind

_HEALTH = """
with recent as (
    select kind, model, status, error, created_at, settled_at,
        extract(epoch from settled_at - created_at) as took
    from model_calls where status <> 'pending' and created_at > now() - interval '1 day'
    order by id desc limit 1000
)
select kind, model, count(*) as calls, count(*) filter (where status = 'served') as served,
    percentile_cont(0.5) within group (order by took) filter (where status = 'served') as p50,
    percentile_cont(0.95) within group (order by took) filter (where status = 'served') as p95,
    max(created_at) as last_at,
    (array_agg(error order by settled_at desc) filter (where error is not null))[1] as last_error,
    max(settled_at) filter (where error is not null) as last_error_at
from recent group by kind, model order by kind, model
"""

_FAILED = """
select s.id, 'ingest_source' as kind, u.email as owner, s.title, s.error_code as code,
    s.error as reason, s.updated_at as at
from sources s join users u on u.id = s.owner_id where s.status = 'failed'
union all
select d.id, 'make_document', u.email, d.title, d.error_code, d.error, d.updated_at
from documents d join users u on u.id = d.owner_id where d.status = 'failed'
union all
select e.id, 'export_account', u.email, '', 'interrupted', e.error, e.created_at
from exports e join users u on u.id = e.user_id where e.status = 'failed'
"""


class PostgresOperations(Store):
    """The `Operations` port."""

    async def queues(self) -> list[QueueState]:
        rows = await self._all(
            "select queue, count(*) filter (where status = 'queued') as queued,"
            " count(*) filter (where status = 'queued'"
            " and scheduled <= extract(epoch from now())) as due,"
            " count(*) filter (where status = 'active') as active,"
            " max(extract(epoch from now()) - scheduled) filter (where status = 'queued'"
            " and scheduled <= extract(epoch from now())) as oldest"
            " from saq_jobs where status in ('queued', 'active') group by queue"
        )
        return [
            QueueState(
                *(row.queue, row.queued, row.due, row.active),
                None if row.oldest is None else float(row.oldest),
            )
            for row in rows
        ]

    async def failed(self, *, limit: int, after: UUID | None) -> Page[FailedJob]:
        rows = await self._all(
            f"select * from ({_FAILED}) f where cast(:after as uuid) is null or id < :after"
            " order by id desc limit :most",
            after=after,
            most=limit + 1,
        )
        return page_of(
            rows,
            limit,
            lambda row: FailedJob(
                *(row.id, row.kind, row.owner, row.title, row.code or "", row.reason or ""), row.at
            ),
        )

    async def health(self) -> list[ModelHealth]:
        return [
            ModelHealth(
                kind=CallKind(row.kind),
                model=row.model,
                calls=row.calls,
                served=row.served,
                p50_s=row.p50,
                p95_s=row.p95,
                last_at=row.last_at,
                last_error=row.last_error,
                last_error_at=row.last_error_at,
            )
            for row in await self._all(_HEALTH)
        ]

    async def sources(self, *, limit: int, after: UUID | None) -> Page[OwnedSource]:
        rows = await self._all(
            f"select s.*, u.email as owner from ({SOURCE}) s join users u on u.id = s.owner_id"
            " where cast(:after as uuid) is null or s.id < :after order by s.id desc limit :most",
            after=after,
            most=limit + 1,
        )
        return page_of(rows, limit, lambda row: OwnedSource(row.owner, source_of(row)))

    async def open_calls(self, *, limit: int, after: UUID | None) -> Page[OpenCall]:
        rows = await self._all(
            "select c.*, u.email as owner from model_calls c left join users u on u.id = c.user_id"
            " where c.status = 'unknown' and (cast(:after as uuid) is null or c.id < :after)"
            " order by c.id desc limit :most",
            after=after,
            most=limit + 1,
        )
        return page_of(rows, limit, lambda row: OpenCall(row.owner, usage_row(row)))
