"""The store of documents where its SQL decides something, on a real database."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import uuid4

import numpy as np
import pytest
import pytest_asyncio

from adapters.postgres.connection import open_pool
from adapters.postgres.unit_of_work import PostgresUnitOfWork
from domain.document import (
    DocumentKind,
    DocumentProgress,
    DocumentStage,
    DocumentStatus,
    NewDocument,
)
from domain.errors import Problem
from domain.ids import ChunkId, DocumentId, NotebookId, SourceId, UserId, VersionId, new_id
from domain.passage import Chunk, Passage
from domain.source import CaptureMode, Reading, Source, SourceKind, SourceStatus
from domain.stores import Stores
from tests.conftest import migrated_database

pytestmark = pytest.mark.asyncio(loop_scope="session")

KIND = DocumentKind.AUDIO_OVERVIEW
TODAY, TOMORROW = date(2026, 6, 1), date(2026, 6, 2)
WRITING = DocumentProgress(DocumentStage.WRITING, 0, 1)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def uow(postgres: str) -> AsyncIterator[PostgresUnitOfWork]:
    with migrated_database(postgres) as url:
        async with open_pool(url, size=4) as pool:
            yield PostgresUnitOfWork(pool)


async def an_owner(tx: Stores) -> tuple[UserId, NotebookId]:
    user = await tx.accounts.add(f"{uuid4()}@example.org", None, Decimal(1))
    return user.id, (await tx.notebooks.add(user.id, "Bridges", "")).id


async def added(tx: Stores, owner: UserId, notebook: NotebookId, title: str = "") -> DocumentId:
    document = DocumentId(new_id())
    voices = ("willow",)
    await tx.documents.add(
        NewDocument(document, notebook, owner, KIND, title, "", "en", voices, ())
    )
    return document


async def test_a_day_counts_for_itself(uow: PostgresUnitOfWork) -> None:
    async with uow() as tx:
        owner, _ = await an_owner(tx)
        counted = [await tx.documents.count_of_day(owner, KIND, TODAY) for _ in range(3)]
        assert counted == [1, 2, 3]
        assert await tx.documents.count_of_day(owner, KIND, TOMORROW) == 1


async def test_only_the_newest_attempt_writes(uow: PostgresUnitOfWork) -> None:
    async with uow() as tx:
        owner, notebook = await an_owner(tx)
        document = await added(tx, owner, notebook)
        assert await tx.documents.counts(notebook, KIND) == (1, 1)
        first, tries = await tx.documents.claim(document) or pytest.fail("not claimed")
        assert (first.attempt, tries, first.status) == (1, 1, DocumentStatus.PROCESSING)
        assert await tx.documents.show_progress(document, 1, WRITING)
        second, tries = await tx.documents.claim(document) or pytest.fail("not claimed")
        assert (second.attempt, tries, second.progress) == (2, 2, WRITING)
        assert not await tx.documents.still_mine(document, 1)
        assert not await tx.documents.show_progress(document, 1, WRITING)
        await tx.documents.fail(document, 1, Problem("late", "Too late."))
        assert await tx.documents.still_mine(document, 2)
        await tx.documents.fail(document, 2, Problem("failed", "It failed."))
        assert await tx.documents.claim(document) is None
        assert await tx.documents.counts(notebook, KIND) == (0, 1)
        assert await tx.documents.requeue(document) == 2
        assert await tx.documents.requeue(document) is None
        third, tries = await tx.documents.claim(document) or pytest.fail("not claimed")
        assert (third.attempt, tries, third.error) == (3, 1, None)


async def test_what_was_paid_for_is_kept_until_it_is_gone(uow: PostgresUnitOfWork) -> None:
    async with uow() as tx:
        owner, notebook = await an_owner(tx)
        document = await added(tx, owner, notebook)
        for _ in range(2):  # a settlement that comes twice is harmless
            await tx.documents.keep_draft(document, b"asked again", "the second")
            await tx.documents.keep_draft(document, b"asked", "the first")
            await tx.documents.keep_speech(document, b"hash", b"sound")
        assert await tx.documents.drafts(document) == {
            b"asked": "the first",
            b"asked again": "the second",
        }
        assert await tx.documents.speech(document) == {b"hash": b"sound"}
        await tx.documents.forget_drafts(document)
        assert await tx.documents.drafts(document) == {}
        await tx.documents.delete(document)
        await tx.documents.keep_draft(document, b"asked", "nobody's")
        await tx.documents.keep_speech(document, b"hash", b"sound")
        assert await tx.documents.drafts(document) == {}
        assert await tx.documents.speech(document) == {}


async def test_a_given_title_stays(uow: PostgresUnitOfWork) -> None:
    async with uow() as tx:
        owner, notebook = await an_owner(tx)
        named = await added(tx, owner, notebook, "Mine")
        unnamed = await added(tx, owner, notebook)
        for document in (named, unnamed):
            await tx.documents.keep_text(document, "The model's", "A text.", ())
        titles = [(await tx.documents.find(each)) for each in (named, unnamed)]
        assert [each and each.title for each in titles] == ["Mine", "The model's"]
        await tx.documents.rename(unnamed, "Renamed")
        await tx.documents.keep_text(unnamed, "The model's", "Another.", ())
        found = await tx.documents.find(unnamed)
        assert found
        assert (found.title, found.text) == ("Renamed", "Another.")


async def test_a_title_given_while_its_source_is_read_stays(uow: PostgresUnitOfWork) -> None:
    async with uow() as tx:
        owner, notebook = await an_owner(tx)
        document = await added(tx, owner, notebook)
        made = _source(owner, "spoken", SourceKind.GENERATED)
        await tx.sources.add(made)
        await tx.documents.publish(document, seconds=Decimal(9), size=1, source_id=made.id)
        assert await tx.sources.claim(made.id)
        await tx.documents.rename(document, "Mine")
        await tx.sources.publish(
            *(made, VersionId(new_id()), Reading((Passage(0, None, "Hi.", "en"),), None)),
            chunker="c",
            analyser="a",
            language="en",
            chunk_count=1,
        )
        source = await tx.sources.get(made.id, owner)
        assert source
        assert source.title == "Mine"


async def test_a_job_that_was_lost_is_noticed_after_a_while(uow: PostgresUnitOfWork) -> None:
    async with uow() as tx:
        document = await added(tx, *(await an_owner(tx)))
        assert document not in dict(await tx.documents.stalled())
    async with uow.pool.acquire() as connection:
        await connection.execute(
            "update documents set updated_at = now() - interval '31 seconds' where id = $1",
            document,
        )
    async with uow() as tx:
        assert (document, 0) in await tx.documents.stalled()


async def test_pieces_are_chunks_without_their_overlap(uow: PostgresUnitOfWork) -> None:
    text = "One two three four five six."
    async with uow() as tx:
        owner, _ = await an_owner(tx)
        source = _source(owner, "overlapping")
        await tx.sources.add(source)
        assert await tx.sources.claim(source.id)
        version = VersionId(new_id())
        reading = Reading((Passage(0, 4, text, "en"), Passage(1, 5, "Seven.", "en")), 5)
        await tx.sources.publish(
            *(source, version, reading),
            chunker="c",
            analyser="a",
            language="en",
            chunk_count=3,
        )
        cut = [
            Chunk(0, 0, 4, 0, 18, text[:18], language="en"),
            Chunk(1, 0, 4, 8, 28, text[8:], language="en"),
            Chunk(2, 1, 5, 0, 6, "Seven.", language="en"),
        ]
        ids = [ChunkId(new_id()) for _ in cut]
        active = await tx.index.activate("m", 2, "c")
        vectors = np.eye(3, 2, dtype=np.float32)
        await tx.index.write(version, active.id, list(zip(ids, cut, strict=True)), vectors, [])
        made = _source(owner, "made", SourceKind.GENERATED)
        await tx.sources.add(made)
        pieces = await tx.documents.pieces([made.id, source.id, SourceId(new_id())])
        assert [(p.chunk_id, p.page, p.start, p.end) for p in pieces] == [
            (ids[0], 4, 0, 8),
            (ids[1], 4, 8, 28),
            (ids[2], 5, 0, 6),
        ]
        assert await tx.documents.texts([ids[0], ChunkId(new_id())]) == {ids[0]: text[:18]}


def _source(owner: UserId, content: str, kind: SourceKind = SourceKind.TEXT) -> Source:
    return Source(
        id=SourceId(new_id()),
        owner_id=owner,
        kind=kind,
        title="A text",
        name="a.txt",
        sha256=content.encode(),
        capture_mode=CaptureMode.TEXT,
        media_type="text/plain",
        bytes=5,
        status=SourceStatus.QUEUED,
        progress=None,
        error=None,
        attempt=0,
        version_id=None,
        language="",
        pages=None,
        words=None,
        chunk_count=0,
        skipped=(),
        created_at=datetime(2026, 6, 1, tzinfo=UTC),
    )


async def test_links_are_signed_with_one_secret(uow: PostgresUnitOfWork) -> None:
    async def secret() -> str:
        async with uow() as tx:
            return await tx.documents.link_secret()

    made = await asyncio.gather(*(secret() for _ in range(4)))
    assert len(set(made)) == 1
    assert len(made[0]) > 40
