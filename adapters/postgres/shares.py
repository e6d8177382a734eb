"""Rows of who a notebook is shared with."""

from uuid import UUID

from adapters.postgres.connection import Row
from adapters.postgres.rows import Store, page_of
from domain.access import Role, Visitor
from domain.channels import ACCESS_CHANGED, ANSWER_STOPPED
from domain.ids import NotebookId, UserId
from domain.notebook import Share
from domain.stores import Page


def _share(row: Row) -> Share:
    return Share(row.user_id, row.email, Role(row.role), row.created_at)


class PostgresShares(Store):
    """The `Shares` port."""

    async def put(self, notebook_id: NotebookId, user_id: UserId, role: Role) -> Share:
        row = await self._one(
            "insert into notebook_shares as s (notebook_id, user_id, role, created_at)"
            " values (:notebook_id, :user_id, :role, now())"
            " on conflict (notebook_id, user_id) do update set role = excluded.role"
            " returning s.*, (select email from users where id = :user_id) as email",
            notebook_id=notebook_id,
            user_id=user_id,
            role=role.value,
        )
        assert row is not None  # noqa: S101 - inserted or updated
        return _share(row)

    async def page(self, notebook_id: NotebookId, *, limit: int, after: UUID | None) -> Page[Share]:
        rows = await self._all(
            "select s.*, u.email from notebook_shares s join users u on u.id = s.user_id"
            " where s.notebook_id = :notebook_id"
            " and (cast(:after as uuid) is null or s.user_id > :after)"
            " order by s.user_id limit :most",
            notebook_id=notebook_id,
            after=after,
            most=limit + 1,
        )
        return page_of(rows, limit, _share, cursor="user_id")

    async def end(self, notebook_id: NotebookId, user_id: UserId) -> bool:
        ended = await self._run(
            "delete from notebook_shares where notebook_id = :notebook_id and user_id = :user_id",
            notebook_id=notebook_id,
            user_id=user_id,
        )
        await self._run(
            "with asked as (update answers set stop_requested = true where user_id = :user_id"
            " and notebook_id = :notebook_id and status = 'streaming' returning id)"
            " select pg_notify(:channel, cast(id as text)) from asked",
            notebook_id=notebook_id,
            user_id=user_id,
            channel=ANSWER_STOPPED,
        )
        await self._run("select pg_notify(:channel, :id)", channel=ACCESS_CHANGED, id=str(user_id))
        return bool(ended)

    async def is_open_to(self, notebook_id: NotebookId, visitor: Visitor) -> bool:
        row = await self._one(
            "select 1 from notebook_access a join users u on u.id = a.user_id"
            " where a.notebook_id = :notebook_id and a.user_id = :user_id"
            " and u.disabled_at is null and case when cast(:token_id as uuid) is null"
            " then exists (select from sessions where id = :session_id and expires_at > now())"
            " else exists (select from api_tokens where id = :token_id"
            " and coalesce(expires_at > now(), true)) end",
            notebook_id=notebook_id,
            user_id=visitor.user.id,
            session_id=visitor.session_id,
            token_id=visitor.token_id,
        )
        return row is not None
