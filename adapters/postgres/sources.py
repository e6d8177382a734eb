"""Source, version and passage rows."""

import json
from collections.abc import Collection
from uuid import UUID

from adapters.postgres.answers import PostgresAnswers
from adapters.postgres.connection import Row
from adapters.postgres.documents import PostgresDocuments
from adapters.postgres.rows import page_of
from adapters.postgres.source_attempts import SourceAttempts
from adapters.postgres.source_rows import SOURCE, source_of
from domain.access import Role
from domain.ids import ChunkId, NotebookId, SourceId, UserId, VersionId
from domain.jobs import INGEST_SOURCE
from domain.library import Place, Shelved, Wanted
from domain.passage import ChunkPlace, Passage
from domain.source import (
    Reading,
    Source,
    StoredFile,
    blob_key,
)
from domain.stores import Page

_SHELVED = SOURCE.replace(
    "\nfrom",
    """, array(select cast(n.id as text) || n.title from notebook_sources l
    join notebooks n on n.id = l.notebook_id where l.source_id = s.id order by n.id) as places
from""",
)
_ID_LENGTH = 36


def _shelved(row: Row) -> Shelved:
    places = (
        Place(NotebookId(UUID(place[:_ID_LENGTH])), place[_ID_LENGTH:]) for place in row.places
    )
    return Shelved(source_of(row), tuple(places))


def _passage(row: Row) -> Passage:
    return Passage(
        row.ordinal,
        row.page,
        row.text,
        row.language,
        is_transcript=row.is_transcript,
        label=row.label,
    )


class PostgresSources(SourceAttempts):
    """The `Sources` port."""

    async def add(self, source: Source) -> tuple[Source, bool]:
        known_by = (
            "(owner_id, sha256, capture_mode) where url is null"
            if source.url is None
            else "(owner_id, url, capture_mode) where url is not null"
        )
        row = await self._one(
            "insert into sources (id, owner_id, kind, title, name, sha256, capture_mode,"
            " media_type, bytes, url, status, created_at, updated_at)"
            " values (:id, :owner_id, :kind, :title, :name, :sha256, :capture_mode, :media_type,"
            " :bytes, :url, 'queued', now(), now())"
            # Changes nothing, but holds the entry that is found: nobody deletes it until commit.
            f" on conflict {known_by}"
            " do update set updated_at = sources.updated_at returning id",
            id=source.id,
            owner_id=source.owner_id,
            kind=source.kind.value,
            title=source.title,
            name=source.name,
            sha256=source.sha256,
            capture_mode=source.capture_mode.value,
            media_type=source.media_type,
            bytes=source.bytes,
            url=source.url,
        )
        assert row is not None  # noqa: S101 - inserted or found
        kept = await self._one(f"{SOURCE} where s.id = :id", id=row.id)
        assert kept is not None  # noqa: S101 - the statement above holds it
        return source_of(kept), row.id == source.id

    async def get(
        self, source_id: SourceId, user_id: UserId, *, at_least: Role = Role.OWNER
    ) -> Source | None:
        row = await self._one(
            f"select s.*, a.role from ({SOURCE} where s.id = :id) s join source_access a"
            # Of several roles "owner" sorts before "read".
            " on a.source_id = s.id where a.user_id = :user_id order by a.role limit 1",
            id=source_id,
            user_id=user_id,
        )
        if row is None:
            return None
        Role(row.role).require(at_least)
        return source_of(row)

    async def in_notebook(
        self, notebook_id: NotebookId, *, limit: int, after: UUID | None
    ) -> Page[Source]:
        rows = await self._all(
            f"{SOURCE} join notebook_sources l on l.source_id = s.id"
            " where l.notebook_id = :notebook_id"
            " and (cast(:after as uuid) is null or (l.added_at, s.id) > (coalesce("
            "(select a.added_at from notebook_sources a"
            " where a.notebook_id = :notebook_id and a.source_id = :after),"
            " to_timestamp(cast(:made_s as float8))), cast(:after as uuid)))"
            " order by l.added_at, s.id limit :most",
            notebook_id=notebook_id,
            after=after,
            # One that was taken out was added after its id was made: some repeat, none is missed.
            made_s=(after.int >> 80) / 1000 if after else None,
            most=limit + 1,
        )
        return page_of(rows, limit, source_of)

    async def of_owner(self, user_id: UserId, *, limit: int, after: UUID | None) -> Page[Source]:
        rows = await self._all(
            f"{SOURCE} where s.owner_id = :user_id"
            " and (cast(:after as uuid) is null or s.id > :after) order by s.id limit :most",
            user_id=user_id,
            after=after,
            most=limit + 1,
        )
        return page_of(rows, limit, source_of)

    async def shelf(
        self, user_id: UserId, wanted: Wanted, *, limit: int, after: UUID | None
    ) -> Page[Shelved]:
        rows = await self._all(
            f"{_SHELVED} where s.owner_id = :user_id"
            " and (cast(:after as uuid) is null or s.id < :after)"
            " and strpos(lower(concat_ws(' ', s.title, s.name, s.url)), lower(:words)) > 0"
            " and (cast(:kind as text) is null or s.kind = :kind)"
            " and (cast(:status as text) is null or s.status = :status)"
            " and not exists (select from notebook_sources o"
            " where o.source_id = s.id and o.notebook_id = :outside)"
            " order by s.id desc limit :most",
            user_id=user_id,
            after=after,
            words=wanted.words,
            kind=wanted.kind,
            status=wanted.status,
            outside=wanted.outside,
            most=limit + 1,
        )
        return page_of(rows, limit, _shelved)

    async def shelved(self, source_id: SourceId, user_id: UserId) -> Shelved | None:
        row = await self._one(
            f"{_SHELVED} where s.id = :id and s.owner_id = :user_id", id=source_id, user_id=user_id
        )
        return _shelved(row) if row else None

    async def publish(
        self,
        source: Source,
        version_id: VersionId,
        reading: Reading,
        *,
        chunker: str,
        analyser: str,
        language: str,
        chunk_count: int,
    ) -> None:
        await self._run(
            "insert into source_versions (id, source_id, number, chunker, analyser, language,"
            " pages, words, chunk_count, skipped, created_at)"
            " select :id, :source_id, coalesce(max(number), 0) + 1, :chunker, :analyser, :language,"
            " :pages, :words, :chunk_count, cast(:skipped as jsonb), now()"
            " from source_versions where source_id = :source_id",
            id=version_id,
            source_id=source.id,
            chunker=chunker,
            analyser=analyser,
            language=language,
            pages=reading.pages,
            words=reading.words,
            chunk_count=chunk_count,
            skipped=json.dumps([[page.page, page.reason] for page in reading.skipped]),
        )
        await self._copy(
            "passages",
            ("version_id", "ordinal", "page", "language", "text", "is_transcript", "label"),
            [
                (
                    *(version_id, p.ordinal, p.page, p.language, p.text),
                    *(p.is_transcript, p.label),
                )
                for p in reading.passages
            ],
        )
        await self._run(
            "update sources set status = 'ready', version_id = :version_id, stage = null,"
            " title = case when title = :known then :title else title end, error = null,"
            " error_code = null, updated_at = now() where id = :id",
            version_id=version_id,
            # A title that a person gave stays, and so does one given while this was read.
            known=source.title,
            title=(source.title == source.name and reading.title) or source.title,
            id=source.id,
        )
        await self._forget_password(source.id)
        await self._tell(source.id)

    async def passages(self, version_id: VersionId, *, page: int | None = None) -> list[Passage]:
        rows = await self._all(
            "select ordinal, page, language, text, is_transcript, label from passages"
            " where version_id = :id and (cast(:page as int) is null or page = :page)"
            " order by ordinal",
            id=version_id,
            page=page,
        )
        return [_passage(row) for row in rows]

    async def passage(self, version_id: VersionId, ordinal: int) -> Passage | None:
        row = await self._one(
            "select ordinal, page, language, text, is_transcript, label from passages"
            " where version_id = :id and ordinal = :ordinal",
            id=version_id,
            ordinal=ordinal,
        )
        return _passage(row) if row else None

    async def chunk_place(self, source_id: SourceId, chunk_id: ChunkId) -> ChunkPlace | None:
        row = await self._one(
            "select c.page, c.start_at, c.end_at from chunks c"
            " join source_versions v on v.id = c.version_id"
            " where c.id = :chunk_id and v.source_id = :source_id",
            chunk_id=chunk_id,
            source_id=source_id,
        )
        return ChunkPlace(row.page, row.start_at, row.end_at) if row else None

    async def hold(self, source_id: SourceId) -> None:
        # Its notebooks before all else, as where one of them is deleted: nobody waits in a ring.
        await self._run(
            "select 1 from notebooks where id in"
            " (select notebook_id from notebook_sources where source_id = :id union"
            " select a.notebook_id from answers a join answer_passages p on p.answer_id = a.id"
            " where p.source_id = :id) order by id for key share",
            id=source_id,
        )
        # Locked: an answer that ends now is waited for, and one that ends later sees it gone.
        await self._run("select 1 from sources where id = :id for update", id=source_id)

    async def seen(self, source_ids: Collection[SourceId], user_id: UserId) -> set[SourceId]:
        rows = await self._all(
            "select distinct source_id from source_access"
            " where source_id = any(cast(:ids as uuid[])) and user_id = :user_id",
            ids=list(source_ids),
            user_id=user_id,
        )
        return {row.source_id for row in rows}

    async def still_there(self, source_ids: Collection[SourceId]) -> set[SourceId]:
        rows = await self._all(
            "select id from sources where id = any(cast(:ids as uuid[])) order by id for key share",
            ids=list(source_ids),
        )
        return {row.id for row in rows}

    async def delete(self, source_id: SourceId) -> None:
        await self._tell(source_id)
        await PostgresAnswers(self._connection).blank_quotes(source_id)
        await PostgresDocuments(self._connection).blank_quotes([source_id])
        # Searches that were kept for their idempotency keys hold its text too.
        await self._run(
            "delete from idempotency_keys where resource like '[%' and strpos(resource, :id) > 0",
            id=str(source_id),
        )
        await self._run(
            "delete from suggested_questions where notebook_id in"
            " (select notebook_id from notebook_sources where source_id = :id)",
            id=source_id,
        )
        await self._run("update sources set version_id = null where id = :id", id=source_id)
        await self._run("delete from sources where id = :id", id=source_id)

    async def hold_blob(self, owner_id: UserId, sha256: bytes) -> None:
        await self._run(
            "select pg_advisory_xact_lock(hashtextextended(:lock, 0))",
            lock=blob_key(owner_id, sha256),
        )

    async def needs_blob(self, owner_id: UserId, sha256: bytes) -> bool:
        row = await self._one(
            "select 1 from sources where owner_id = :owner_id and sha256 = :sha256 union all"
            " select 1 from fetches f join sources s on s.id = f.source_id"
            " where f.sha256 = :sha256 and s.owner_id = :owner_id limit 1",
            owner_id=owner_id,
            sha256=sha256,
        )
        return row is not None

    async def unneeded(self, files: Collection[StoredFile]) -> list[StoredFile]:
        rows = await self._all(
            "select f.key from unnest(cast(:keys as text[]), cast(:owners as uuid[]),"
            " cast(:hashes as bytea[]), cast(:rows as uuid[]))"
            " as f (key, owner_id, sha256, row_id)"
            " where not exists (select from sources s where s.owner_id = f.owner_id"
            " and s.sha256 = f.sha256) and not exists (select from fetches t"
            " join sources s on s.id = t.source_id"
            " where t.sha256 = f.sha256 and s.owner_id = f.owner_id)"
            " and not exists (select from sealed_passwords p where p.source_id = f.row_id)"
            " and not exists (select from documents d where d.id = f.row_id)"
            " and not exists (select from exports e where e.id = f.row_id)",
            keys=[file.key for file in files],
            owners=[file.owner_id for file in files],
            hashes=[file.sha256 for file in files],
            rows=[file.row_id for file in files],
        )
        found = {row.key for row in rows}
        return [file for file in files if file.key in found]

    async def stalled(self) -> list[tuple[SourceId, int]]:
        rows = await self._all(
            "select s.id, s.attempt from sources s where s.status in ('queued', 'processing')"
            " and s.updated_at < now() - interval '30 seconds'"
            # Equal, not alike: such a condition is hashed, and no row meets every job.
            " and not exists (select from saq_jobs j where j.queue = :queue"
            " and starts_with(j.key, 'saq:job:' || :queue || ':' || :name || ':')"
            " and split_part(j.key, ':', 5) = cast(s.id as text)"
            " and j.status in ('queued', 'active'))",
            queue=INGEST_SOURCE.queue,
            name=INGEST_SOURCE.name,
        )
        return [(row.id, row.attempt) for row in rows]
