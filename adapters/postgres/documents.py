"""Rows of documents, of what they cite, and of what was paid for on the way."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from decimal import Decimal
from uuid import UUID

import msgspec

from adapters.postgres.document_rows import DOCUMENT, document_of, piece_of
from adapters.postgres.rows import Store, page_of
from domain.access import Role
from domain.channels import DOCUMENT_CHANGED
from domain.conversation import Citation
from domain.document import (
    Document,
    DocumentKind,
    DocumentProgress,
    NewDocument,
)
from domain.errors import Problem
from domain.excerpts import Piece
from domain.ids import ChunkId, DocumentId, NotebookId, SourceId, UserId
from domain.jobs import MAKE_DOCUMENT
from domain.stores import Page

_PIECES = """
select c.id as chunk_id, s.id as source_id, s.version_id, s.title as source_title, c.passage,
    c.page, c.start_at, c.language, least(c.end_at, coalesce(lead(c.start_at) over (
        partition by c.version_id, c.passage order by c.ordinal), c.end_at)) as end_at
from unnest(cast(:ids as uuid[])) with ordinality as wanted (id, place)
join sources s on s.id = wanted.id and s.kind <> 'generated'
join chunks c on c.version_id = s.version_id
order by wanted.place, c.ordinal
"""
_BLANK = (
    'update document_citations c set data = jsonb_set(c.data || \'{"source_title": ""}\','
    " '{mentions}', (select jsonb_agg(m || '{\"quote\": \"\"}')"
    " from jsonb_array_elements(c.data -> 'mentions') m))"
    " where c.source_id = any(cast(:ids as uuid[]))"
)


class PostgresDocuments(Store):
    """The `Documents` port."""

    async def hold_notebook(self, notebook_id: NotebookId) -> None:
        await self._run("select 1 from notebooks where id = :id for update", id=notebook_id)

    async def counts(self, notebook_id: NotebookId, kind: DocumentKind) -> tuple[int, int]:
        row = await self._one(
            "select count(*) filter (where status in ('queued', 'processing')) as running,"
            " count(*) as kept from documents where notebook_id = :id and kind = :kind",
            id=notebook_id,
            kind=kind.value,
        )
        return (row.running, row.kept) if row else (0, 0)

    async def count_of_day(self, user_id: UserId, kind: DocumentKind, day: date) -> int:
        row = await self._one(
            "insert into documents_of_day as d (user_id, kind, day, made)"
            " values (:user_id, :kind, :day, 1) on conflict (user_id, kind) do update"
            " set day = :day, made = case when d.day = :day then d.made + 1 else 1 end"
            " returning made",
            user_id=user_id,
            kind=kind.value,
            day=day,
        )
        return row.made if row else 0

    async def made_of_day(self, user_id: UserId, kind: DocumentKind, day: date) -> int:
        row = await self._one(
            "select made from documents_of_day"
            " where user_id = :user_id and kind = :kind and day = :day",
            user_id=user_id,
            kind=kind.value,
            day=day,
        )
        return row.made if row else 0

    async def add(self, document: NewDocument) -> None:
        await self._run(
            "insert into documents (id, notebook_id, owner_id, kind, title, is_titled, focus,"
            " language, voices, source_ids, status, created_at, updated_at) values (:id,"
            " :notebook_id, :owner_id, :kind, :title, :is_titled, :focus, :language, :voices,"
            " :source_ids, 'queued', now(), now())",
            id=document.id,
            notebook_id=document.notebook_id,
            owner_id=document.owner_id,
            kind=document.kind.value,
            title=document.title,
            is_titled=bool(document.title),
            focus=document.focus,
            language=document.language,
            voices=list(document.voices),
            source_ids=list(document.source_ids),
        )
        await self._tell(document.id)

    async def get(
        self, document_id: DocumentId, user_id: UserId, *, at_least: Role = Role.OWNER
    ) -> Document | None:
        row = await self._one(
            f"select d.*, a.role from ({DOCUMENT} where d.id = :id) d"
            " join document_access a on a.document_id = d.id where a.user_id = :user_id",
            id=document_id,
            user_id=user_id,
        )
        if row is None:
            return None
        Role(row.role).require(at_least)
        return document_of(row)

    async def find(self, document_id: DocumentId) -> Document | None:
        row = await self._one(f"{DOCUMENT} where d.id = :id", id=document_id)
        return document_of(row) if row else None

    async def page(
        self, notebook_id: NotebookId, *, limit: int, after: UUID | None
    ) -> Page[Document]:
        rows = await self._all(
            f"{DOCUMENT} where d.notebook_id = :id"
            " and (cast(:after as uuid) is null or d.id < :after) order by d.id desc limit :most",
            id=notebook_id,
            after=after,
            most=limit + 1,
        )
        return page_of(rows, limit, document_of)

    async def of_owner(self, user_id: UserId, *, limit: int, after: UUID | None) -> Page[Document]:
        rows = await self._all(
            f"{DOCUMENT} where d.owner_id = :id"
            " and (cast(:after as uuid) is null or d.id > :after) order by d.id limit :most",
            id=user_id,
            after=after,
            most=limit + 1,
        )
        return page_of(rows, limit, document_of)

    async def of_source(self, source_id: SourceId) -> Document | None:
        row = await self._one(f"{DOCUMENT} where d.source_id = :id", id=source_id)
        return document_of(row) if row else None

    async def rename(self, document_id: DocumentId, title: str) -> None:
        await self._run(
            "with named as (update documents set title = :title, is_titled = true where id = :id"
            " returning source_id) update sources set title = :title"
            " where id = (select source_id from named)",
            title=title,
            id=document_id,
        )
        await self._tell(document_id)

    async def delete(self, document_id: DocumentId) -> None:
        await self._tell(document_id)
        await self._run("delete from documents where id = :id", id=document_id)

    async def claim(self, document_id: DocumentId) -> tuple[Document, int] | None:
        claimed = await self._one(
            "update documents set status = 'processing', attempt = attempt + 1, tries = tries + 1,"
            " updated_at = now() where id = :id and status in ('queued', 'processing')"
            " returning tries",
            id=document_id,
        )
        found = await self.find(document_id) if claimed else None
        return (found, claimed.tries) if claimed and found else None

    async def still_mine(self, document_id: DocumentId, attempt: int) -> bool:
        row = await self._one(
            "select 1 from documents where id = :id and attempt = :attempt"
            " and status = 'processing' for no key update",
            id=document_id,
            attempt=attempt,
        )
        return row is not None

    async def show_progress(
        self, document_id: DocumentId, attempt: int, progress: DocumentProgress
    ) -> bool:
        shown = await self._run(
            "update documents set stage = :stage, done = :done, total = :total, updated_at = now()"
            " where id = :id and attempt = :attempt and status = 'processing'",
            stage=progress.stage.value,
            done=progress.done,
            total=progress.total,
            id=document_id,
            attempt=attempt,
        )
        await self._tell(document_id)
        return bool(shown)

    async def fail(self, document_id: DocumentId, attempt: int, problem: Problem) -> None:
        await self._run(
            "update documents set status = 'failed', stage = null, error = :detail,"
            " error_code = :code, updated_at = now()"
            " where id = :id and attempt = :attempt and status in ('queued', 'processing')",
            detail=problem.detail,
            code=problem.code,
            id=document_id,
            attempt=attempt,
        )
        await self._tell(document_id)

    async def requeue(self, document_id: DocumentId) -> int | None:
        row = await self._one(
            "update documents set status = 'queued', error = null, error_code = null, tries = 0,"
            " updated_at = now() where id = :id and status = 'failed' returning attempt",
            id=document_id,
        )
        await self._tell(document_id)
        return row.attempt if row else None

    async def stalled(self) -> list[tuple[DocumentId, int]]:
        rows = await self._all(
            "select d.id, d.attempt from documents d where d.status in ('queued', 'processing')"
            " and d.updated_at < now() - interval '30 seconds'"
            " and not exists (select from saq_jobs j where j.queue = :queue"
            " and starts_with(j.key, 'saq:job:' || :queue || ':' || :name || ':')"
            " and split_part(j.key, ':', 5) = cast(d.id as text)"
            " and j.status in ('queued', 'active'))",
            queue=MAKE_DOCUMENT.queue,
            name=MAKE_DOCUMENT.name,
        )
        return [(row.id, row.attempt) for row in rows]

    async def pieces(self, source_ids: Sequence[SourceId]) -> list[Piece]:
        return [piece_of(row) for row in await self._all(_PIECES, ids=list(source_ids))]

    async def texts(self, chunk_ids: Collection[ChunkId]) -> Mapping[ChunkId, str]:
        rows = await self._all(
            "select id, text from chunks where id = any(cast(:ids as uuid[]))", ids=list(chunk_ids)
        )
        return {row.id: row.text for row in rows}

    async def drafts(self, document_id: DocumentId) -> Mapping[bytes, str]:
        rows = await self._all(
            "select asked_hash, text from paid_drafts where document_id = :id", id=document_id
        )
        return {row.asked_hash: row.text for row in rows}

    async def keep_draft(self, document_id: DocumentId, asked_hash: bytes, text: str) -> None:
        await self._run(
            # Nothing is kept for a document that is gone, or that another attempt made ready.
            "insert into paid_drafts (document_id, asked_hash, text) select id, :asked_hash, :text"
            " from documents where id = :id and status <> 'ready' for no key update"
            " on conflict do nothing",
            id=document_id,
            asked_hash=asked_hash,
            text=text,
        )

    async def forget_drafts(self, document_id: DocumentId) -> None:
        await self._run("delete from paid_drafts where document_id = :id", id=document_id)

    async def keep_text(
        self, document_id: DocumentId, title: str, text: str, citations: Sequence[Citation]
    ) -> None:
        await self._run(
            "update documents set text = :text, updated_at = now(),"
            " title = case when is_titled then title else :title end where id = :id",
            text=text,
            title=title,
            id=document_id,
        )
        await self._run("delete from document_citations where document_id = :id", id=document_id)
        cited = {citation.source_id for citation in citations}
        kept = await self._all(
            "select id from sources where id = any(cast(:ids as uuid[])) order by id for key share",
            ids=list(cited),
        )
        await self._run(
            "insert into document_citations (document_id, marker, source_id, data) select :id, *"
            " from unnest(cast(:markers as int[]), cast(:sources as uuid[]),"
            " cast(:data as jsonb[]))",
            id=document_id,
            markers=[citation.marker for citation in citations],
            sources=[citation.source_id for citation in citations],
            data=[msgspec.json.encode(citation).decode() for citation in citations],
        )
        await self.blank_quotes([*(cited - {row.id for row in kept})])

    async def blank_quotes(self, source_ids: Sequence[SourceId]) -> None:
        """Forget what documents quoted from sources, and their titles, which may quote them too."""
        await self._run(_BLANK, ids=list(source_ids))

    async def speech(self, document_id: DocumentId) -> Mapping[bytes, bytes]:
        rows = await self._all(
            "select text_hash, audio from paid_speech where document_id = :id", id=document_id
        )
        return {row.text_hash: row.audio for row in rows}

    async def keep_speech(self, document_id: DocumentId, text_hash: bytes, audio: bytes) -> None:
        await self._run(
            "insert into paid_speech (document_id, text_hash, audio) select id, :text_hash, :audio"
            " from documents where id = :id and status <> 'ready' for no key update"
            " on conflict do nothing",
            id=document_id,
            text_hash=text_hash,
            audio=audio,
        )

    async def forget_speech(self, document_id: DocumentId) -> None:
        await self._run("delete from paid_speech where document_id = :id", id=document_id)

    async def publish(
        self, document_id: DocumentId, *, seconds: Decimal | None, size: int, source_id: SourceId
    ) -> None:
        await self._run(
            "update documents set status = 'ready', stage = null, error = null, error_code = null,"
            " seconds = :seconds, bytes = :size, source_id = :source_id, updated_at = now()"
            " where id = :id",
            seconds=seconds,
            size=size,
            source_id=source_id,
            id=document_id,
        )
        await self.forget_drafts(document_id)
        await self.forget_speech(document_id)
        await self._tell(document_id)

    async def link_secret(self) -> str:
        known = "select secret from server_secrets where name = 'links'"
        row = await self._one(known)
        if row is None:
            await self._run(
                "insert into server_secrets (name, secret) values ('links', :secret)"
                " on conflict do nothing",
                secret=secrets.token_urlsafe(32),
            )
            row = await self._one(known)
        assert row is not None  # noqa: S101 - by this transaction or one that was faster
        secret: str = row.secret
        return secret

    async def _tell(self, document_id: DocumentId) -> None:
        await self._run(
            "select pg_notify(:channel, cast(notebook_id as text)) from documents where id = :id",
            channel=DOCUMENT_CHANGED,
            id=document_id,
        )
