"""Rows of the audit log; the database itself refuses to change them."""

import json
from uuid import UUID

from adapters.postgres.connection import Row
from adapters.postgres.rows import Store, page_of
from domain.audit import Act, AuditEntry
from domain.ids import UserId, new_id
from domain.stores import Page


def _entry(row: Row) -> AuditEntry:
    detail = json.loads(row.detail) if isinstance(row.detail, str) else row.detail
    return AuditEntry(
        *(row.id, row.at, row.act, row.actor_id, row.actor, row.subject_id, row.subject),
        *(row.peer, detail),
    )


class PostgresAudit(Store):
    """The `Audit` port."""

    async def add(
        self,
        act: Act,
        actor: UserId | None,
        subject: UserId | None = None,
        *,
        peer: str = "",
        **detail: str,
    ) -> None:
        await self._run(
            "insert into audit_log (id, at, act, actor_id, subject_id, peer, detail)"
            " values (:id, now(), :act, :actor, :subject, :peer, cast(:detail as jsonb))",
            id=new_id(),
            act=act.value,
            actor=actor,
            subject=subject,
            peer=peer,
            detail=json.dumps(detail),
        )

    async def page(
        self, *, limit: int, after: UUID | None, of: UserId | None = None
    ) -> Page[AuditEntry]:
        rows = await self._all(
            "select l.*, a.email as actor, s.email as subject from audit_log l"
            " left join users a on a.id = l.actor_id left join users s on s.id = l.subject_id"
            " where (cast(:after as uuid) is null or l.id < :after)"
            " and (cast(:of as uuid) is null or l.actor_id = :of) order by l.id desc limit :most",
            after=after,
            of=of,
            most=limit + 1,
        )
        return page_of(rows, limit, _entry)
