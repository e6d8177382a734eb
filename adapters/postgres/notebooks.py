"""Notebook rows and the links of sources into them."""

from uuid import UUID

from adapters.postgres.connection import Row
from adapters.postgres.rows import Store, page_of
from domain.access import Role
from domain.channels import SOURCE_CHANGED
from domain.errors import TooLarge
from domain.ids import NotebookId, SourceId, UserId, new_id
from domain.notebook import Holding, Notebook
from domain.stores import Page

_NOTEBOOK = """
select n.id, n.owner_id, o.email as owner, a.role, n.title, n.language, n.created_at,
    count(s.id) as source_count,
    count(s.id) filter (where s.version_id is not null) as ready_count,
    count(s.id) filter (where s.status = 'failed') as failed_count,
    coalesce(sum(v.chunk_count), 0) as chunk_count
from notebook_access a
join notebooks n on n.id = a.notebook_id
join users o on o.id = n.owner_id
left join notebook_sources l on l.notebook_id = n.id
left join sources s on s.id = l.source_id
left join source_versions v on v.id = s.version_id
"""
_GROUPED = "group by n.id, o.email, a.role"


def _notebook(row: Row) -> Notebook:
    return Notebook(
        id=row.id,
        owner_id=row.owner_id,
        owner=row.owner,
        role=Role(row.role),
        title=row.title,
        language=row.language,
        source_count=row.source_count,
        ready_count=row.ready_count,
        failed_count=row.failed_count,
        chunk_count=row.chunk_count,
        created_at=row.created_at,
    )


class PostgresNotebooks(Store):
    """The `Notebooks` port."""

    async def add(self, owner_id: UserId, title: str, language: str) -> Notebook:
        row = await self._one(
            "insert into notebooks (id, owner_id, title, language, created_at)"
            " values (:id, :owner_id, :title, :language, now())"
            " returning *, (select email from users where id = :owner_id) as owner,"
            " 'owner' as role, 0 as source_count, 0 as ready_count, 0 as failed_count,"
            " 0 as chunk_count",
            id=new_id(),
            owner_id=owner_id,
            title=title,
            language=language,
        )
        assert row is not None  # noqa: S101 - an insert without a conflict clause returns its row
        return _notebook(row)

    async def get(
        self, notebook_id: NotebookId, user_id: UserId, *, at_least: Role = Role.OWNER
    ) -> Notebook | None:
        row = await self._one(
            f"{_NOTEBOOK} where a.notebook_id = :id and a.user_id = :user_id {_GROUPED}",
            id=notebook_id,
            user_id=user_id,
        )
        if row is None:
            return None
        Role(row.role).require(at_least)
        return _notebook(row)

    async def page(self, user_id: UserId, *, limit: int, after: UUID | None) -> Page[Notebook]:
        rows = await self._all(
            f"{_NOTEBOOK} where a.user_id = :user_id"
            " and (cast(:after as uuid) is null or a.notebook_id < :after)"
            f" {_GROUPED} order by n.id desc limit :most",
            user_id=user_id,
            after=after,
            most=limit + 1,
        )
        return page_of(rows, limit, _notebook)

    async def change(
        self, notebook_id: NotebookId, *, title: str | None, language: str | None
    ) -> None:
        await self._run(
            "update notebooks set title = coalesce(:title, title),"
            " language = coalesce(:language, language) where id = :id",
            title=title,
            language=language,
            id=notebook_id,
        )

    async def delete(self, notebook_id: NotebookId) -> None:
        await self._run("delete from notebooks where id = :id", id=notebook_id)

    async def link(self, notebook_id: NotebookId, source_id: SourceId, *, most: int | None) -> None:
        # The lock makes the count below true until commit.
        await self._run("select 1 from notebooks where id = :id for update", id=notebook_id)
        row = await self._one(
            "select count(*) filter (where s.kind <> 'generated') as linked,"
            " coalesce(bool_or(s.id = :source_id), false) as known from notebook_sources l"
            " join sources s on s.id = l.source_id where l.notebook_id = :id",
            id=notebook_id,
            source_id=source_id,
        )
        assert row is not None  # noqa: S101 - an aggregate always has a row
        if row.known:
            return
        if most is not None and row.linked >= most:
            raise TooLarge(
                f"This notebook has {row.linked} sources, and {most} is the limit."
                " Take one out or use another notebook."
            )
        await self._run(
            "insert into notebook_sources (notebook_id, source_id, added_at)"
            " values (:id, :source_id, now())",
            id=notebook_id,
            source_id=source_id,
        )
        await self._tell(notebook_id)

    async def unlink(self, notebook_id: NotebookId, source_id: SourceId) -> bool:
        # What was suggested to ask about it goes with it, and nobody suggests more meanwhile.
        await self._run("select 1 from notebooks where id = :id for key share", id=notebook_id)
        await self._run("delete from suggested_questions where notebook_id = :id", id=notebook_id)
        removed = await self._run(
            "delete from notebook_sources where notebook_id = :id and source_id = :source_id",
            id=notebook_id,
            source_id=source_id,
        )
        await self._tell(notebook_id)
        return bool(removed)

    async def _tell(self, notebook_id: NotebookId) -> None:
        await self._run(
            "select pg_notify(:channel, cast(owner_id as text)) from notebooks where id = :id",
            channel=SOURCE_CHANGED,
            id=notebook_id,
        )

    async def holdings(self, notebook_id: NotebookId) -> list[Holding]:
        rows = await self._all(
            "select s.id, coalesce(d.kind, s.kind) as kind, s.title, v.language"
            " from notebook_sources l join sources s on s.id = l.source_id"
            " join source_versions v on v.id = s.version_id"
            " left join documents d on d.source_id = s.id"
            " where l.notebook_id = :id and s.version_id is not null order by l.added_at, s.id",
            id=notebook_id,
        )
        return [Holding(row.id, row.kind, row.title, row.language) for row in rows]
