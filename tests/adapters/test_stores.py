"""The stores where their SQL decides something, on a real database."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from uuid import UUID, uuid4

import asyncpg
import numpy as np
import pytest
import pytest_asyncio

from adapters.postgres.connection import Row, open_pool, translated_errors
from adapters.postgres.listener import PostgresListener
from adapters.postgres.unit_of_work import PostgresUnitOfWork
from domain.account import User
from domain.channels import ALL, SOURCE_CHANGED
from domain.conversation import (
    Answer,
    AnswerEvent,
    AnswerMode,
    AnswerStatus,
    Citation,
    EventKind,
    Mention,
)
from domain.embedding_set import EmbeddingSet
from domain.errors import Conflict, OutOfCredit, Problem, TooLarge, Unavailable
from domain.ids import AnswerId, CallId, ChunkId, NotebookId, SourceId, VersionId, new_id
from domain.jobs import INGEST_SOURCE
from domain.ledger import NOT_SERVED, Intent, Settlement
from domain.notebook import Notebook, may_hold_answers
from domain.passage import Chunk, Passage
from domain.ports import Vectors
from domain.query import Query, search_query
from domain.retrieval import Hit, RetrievalMode, RetrievalSettings, Scope
from domain.source import (
    CaptureMode,
    Progress,
    Reading,
    Source,
    SourceKind,
    SourceStatus,
    Stage,
)
from domain.stores import Stores
from domain.terms import chunk_terms, weight
from domain.transcript import Transcript
from domain.usage import CallKind, CallStatus, Price, TokenUsage
from tests.conftest import migrated_database

pytestmark = pytest.mark.asyncio(loop_scope="session")

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
SOON = datetime.now(UTC) + timedelta(minutes=5)
ALIVE, DEAD = timedelta(minutes=5), timedelta(minutes=-5)
UP, EAST, NORTH = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0)
SETTINGS = RetrievalSettings(mode=RetrievalMode.VECTOR, k=8, floor=0.3)


@pytest.fixture(scope="session")
def stores_url(postgres: str) -> Iterator[str]:
    with migrated_database(postgres) as url:
        yield url


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def uow(stores_url: str) -> AsyncIterator[PostgresUnitOfWork]:
    async with open_pool(stores_url, size=8) as pool:
        yield PostgresUnitOfWork(pool)


async def _sql(uow: PostgresUnitOfWork, statement: str, *values: object) -> list[Row]:
    """What a statement of the test's own gives."""
    async with uow.pool.acquire() as connection:
        rows: list[Row] = await connection.fetch(statement, *values)
        return rows


async def _user(uow: PostgresUnitOfWork, credit: str = "1") -> User:
    async with uow() as tx:
        return await tx.accounts.add(f"{uuid4()}@example.org", None, Decimal(credit))


async def _again(uow: PostgresUnitOfWork, user: User) -> User:
    async with uow() as tx:
        found = await tx.accounts.by_email(user.email)
    assert found is not None
    return found[0]


async def _reserved(uow: PostgresUnitOfWork, user: User) -> Decimal:
    [row] = await _sql(uow, "select reserved from users where id = $1", user.id)
    return Decimal(row.reserved)


async def _notebook(uow: PostgresUnitOfWork, user: User) -> Notebook:
    async with uow() as tx:
        return await tx.notebooks.add(user.id, "Bridges", "")


def _new_source(user: User, content: str = "") -> Source:
    return Source(
        id=SourceId(new_id()),
        owner_id=user.id,
        kind=SourceKind.TEXT,
        title="A text",
        name="a.txt",
        sha256=hashlib.sha256((content or str(uuid4())).encode()).digest(),
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
        created_at=NOW,
    )


async def _source(uow: PostgresUnitOfWork, user: User, notebook: Notebook | None = None) -> Source:
    async with uow() as tx:
        source, _ = await tx.sources.add(_new_source(user))
        if notebook:
            await tx.notebooks.link(notebook.id, source.id, most=50)
        return source


@dataclass(frozen=True)
class Shelf:
    """A user's notebook with ready sources of one chunk a text."""

    uow: PostgresUnitOfWork
    user: User
    notebook: Notebook
    embedding_set: EmbeddingSet

    async def put(
        self, *chunks: tuple[str, Sequence[float]], ready: bool = True, language: str = "en"
    ) -> Source:
        source = await _source(self.uow, self.user, self.notebook)
        if ready:
            await self._publish(source, chunks, language)
        return source

    async def _publish(
        self, source: Source, chunks: Sequence[tuple[str, Sequence[float]]], language: str
    ) -> None:
        passages = [Passage(n, None, words, language) for n, (words, _) in enumerate(chunks)]
        cut = [
            Chunk(n, n, None, 0, len(words), words, language=language)
            for n, (words, _) in enumerate(chunks)
        ]
        postings: dict[str, tuple[list[int], list[float]]] = {}
        for chunk in cut:
            for term, frequency in chunk_terms(chunk.indexed_text, language).items():
                ordinals, weights = postings.setdefault(term, ([], []))
                ordinals.append(chunk.ordinal)
                weights.append(weight(frequency))
        vectors = np.array([_unit(vector) for _, vector in chunks], np.float32)
        version = VersionId(new_id())
        async with self.uow() as tx:
            assert await tx.sources.claim(source.id)
            await tx.sources.publish(
                source,
                version,
                Reading(tuple(passages), None),
                chunker="token-window-420-50",
                analyser="test",
                language=language,
                chunk_count=len(cut),
            )
            await tx.index.write(
                version,
                self.embedding_set.id,
                [(ChunkId(new_id()), chunk) for chunk in cut],
                vectors,
                [(term, *lists) for term, lists in postings.items()],
            )

    async def search(
        self,
        vector: Sequence[float],
        question: str = "",
        settings: RetrievalSettings = SETTINGS,
        *,
        source_ids: Sequence[SourceId] | None = None,
        about: SourceId | None = None,
    ) -> list[Hit]:
        query = search_query(question, "en", ("en",)) if question else Query()
        async with self.uow() as tx:
            return await tx.index.search(
                Scope(self.notebook.id, source_ids, about),
                self.embedding_set.id,
                _unit(vector),
                query,
                settings,
            )


def _unit(vector: Sequence[float]) -> Vectors:
    array = np.array(vector, np.float32)
    unit: Vectors = array / np.linalg.norm(array)
    return unit


@pytest_asyncio.fixture(loop_scope="session")
async def shelf(uow: PostgresUnitOfWork) -> Shelf:
    user = await _user(uow)
    async with uow() as tx:
        active = await tx.index.activate("test-model", 4, "token-window-420-50")
    return Shelf(uow, user, await _notebook(uow, user), active)


# --- transactions


async def test_what_raises_leaves_nothing(uow: PostgresUnitOfWork) -> None:
    email = f"{uuid4()}@example.org"

    async def fail() -> None:
        async with uow() as tx:
            await tx.accounts.add(email, None, Decimal(1))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    async with uow() as tx:
        assert await tx.accounts.by_email(email) is None


async def test_a_lost_connection_is_unavailable_and_the_next_one_works(
    uow: PostgresUnitOfWork,
) -> None:
    async def lose() -> None:
        async with uow() as tx:
            connection = tx.accounts._connection  # noqa: SLF001 - to know which one to end
            pid = await connection.fetchval("select pg_backend_pid()")
            await _sql(uow, "select pg_terminate_backend($1)", pid)
            await tx.accounts.by_email("x")

    with pytest.raises(Unavailable):
        await lose()
    assert await uow.is_ready()


@pytest.mark.parametrize(
    "error",
    [
        asyncpg.InternalClientError("cannot switch to state 15"),  # a server that restarts
        asyncpg.InterfaceError("connection is closed"),
        asyncpg.AdminShutdownError("terminating connection"),
        asyncpg.ReadOnlySQLTransactionError("cannot execute UPDATE in a read-only transaction"),
        asyncpg.DiskFullError("could not extend file"),
        asyncpg.PostgresIOError("could not read block 7"),
        ConnectionResetError(),
    ],
)
async def test_whatever_the_driver_says_of_a_lost_connection_is_unavailable(
    error: Exception,
) -> None:
    with pytest.raises(Unavailable), translated_errors():
        raise error


# --- accounts


async def test_of_two_first_accounts_one_is_the_admin(postgres: str) -> None:
    with migrated_database(postgres) as url:
        async with open_pool(url, size=4) as pool:
            users = await asyncio.gather(*(_user(PostgresUnitOfWork(pool)) for _ in range(4)))
    assert sorted(user.is_admin for user in users) == [False, False, False, True]


async def test_an_address_has_one_account(uow: PostgresUnitOfWork) -> None:
    user = await _user(uow)
    with pytest.raises(Conflict):
        async with uow() as tx:
            await tx.accounts.add(user.email, None, Decimal(1))


async def test_an_expired_session_is_nobody_s(uow: PostgresUnitOfWork) -> None:
    user = await _user(uow)
    async with uow() as tx:
        await tx.credentials.add_session(user.id, b"lives", timedelta(minutes=1))
        await tx.credentials.add_session(user.id, b"over", timedelta(minutes=-1))
        found = await tx.credentials.by_session(b"lives")
        assert found is not None
        assert found.user == user
        assert await tx.credentials.by_session(b"over") is None


# --- notebooks


async def test_links_at_once_do_not_pass_the_limit(uow: PostgresUnitOfWork) -> None:
    user = await _user(uow)
    notebook = await _notebook(uow, user)
    sources = [await _source(uow, user) for _ in range(6)]

    async def link(source: Source) -> bool:
        try:
            async with uow() as tx:
                await tx.notebooks.link(notebook.id, source.id, most=2)
        except TooLarge:
            return False
        return True

    assert sum(await asyncio.gather(*map(link, sources))) == 2
    async with uow() as tx:
        linked = await tx.sources.in_notebook(notebook.id, limit=9, after=None)
        await tx.notebooks.link(notebook.id, linked.items[0].id, most=2)


async def test_sources_of_a_notebook_are_in_the_order_they_were_added(
    uow: PostgresUnitOfWork,
) -> None:
    user = await _user(uow)
    notebook = await _notebook(uow, user)
    old, middle, new = [await _source(uow, user) for _ in range(3)]
    for source in (middle, new, old):
        async with uow() as tx:
            await tx.notebooks.link(notebook.id, source.id, most=None)
    async with uow() as tx:
        first = await tx.sources.in_notebook(notebook.id, limit=2, after=None)
        rest = await tx.sources.in_notebook(notebook.id, limit=2, after=first.next_cursor)
        await tx.notebooks.unlink(notebook.id, new.id)
        again = await tx.sources.in_notebook(notebook.id, limit=2, after=first.next_cursor)
        beyond = await tx.sources.in_notebook(notebook.id, limit=2, after=UUID(int=2**128 - 1))
    assert [s.id for s in first.items] == [middle.id, new.id]
    assert [s.id for s in rest.items] == [old.id]
    assert old.id in [s.id for s in again.items], "none is missed"
    assert not beyond.items


# --- sources


async def test_the_same_content_at_once_is_one_entry(uow: PostgresUnitOfWork) -> None:
    user = await _user(uow)

    async def add() -> tuple[Source, bool]:
        async with uow() as tx:
            return await tx.sources.add(_new_source(user, "the same"))

    added = await asyncio.gather(*(add() for _ in range(5)))
    assert len({source.id for source, _ in added}) == 1
    assert [is_new for _, is_new in added].count(True) == 1


async def test_the_same_content_of_another_owner_is_another_entry(
    uow: PostgresUnitOfWork,
) -> None:
    one, other = await _user(uow), await _user(uow)
    async with uow() as tx:
        first, _ = await tx.sources.add(_new_source(one, "shared"))
        second, is_new = await tx.sources.add(_new_source(other, "shared"))
        assert is_new
        assert first.id != second.id
        assert await tx.sources.get(first.id, other.id) is None


async def test_an_attempt_fences_every_earlier_one(uow: PostgresUnitOfWork) -> None:
    user = await _user(uow)
    source = await _source(uow, user)
    async with uow() as tx:
        first = await tx.sources.claim(source.id)
        second = await tx.sources.claim(source.id)
    assert first is not None
    assert second is not None
    assert (first[0].attempt, first[1], second[0].attempt, second[1]) == (1, 1, 2, 2)
    async with uow() as tx:
        assert not await tx.sources.still_mine(source.id, 1)
        assert not await tx.sources.show_progress(source.id, 1, Progress(Stage.READING, 9, 9))
        await tx.sources.fail(source.id, 1, Problem("old", "An old attempt."))
        assert await tx.sources.still_mine(source.id, 2)
        assert await tx.sources.show_progress(source.id, 2, Progress(Stage.READING, 1, 9))
        found = await tx.sources.get(source.id, user.id)
    assert found is not None
    assert (found.status, found.error) == (SourceStatus.PROCESSING, None)
    assert found.progress == Progress(Stage.READING, 1, 9)


async def test_progress_never_falls_within_a_stage(uow: PostgresUnitOfWork) -> None:
    user = await _user(uow)
    source = await _source(uow, user)
    shown = []
    async with uow() as tx:
        await tx.sources.claim(source.id)
        for progress in (
            *(Progress(Stage.READING, 5, 9), Progress(Stage.READING, 3, 9)),
            *(Progress(Stage.EMBEDDING, 0, 4), Progress(Stage.EMBEDDING, 2, 4)),
        ):
            await tx.sources.show_progress(source.id, 1, progress)
            found = await tx.sources.get(source.id, user.id)
            assert found is not None
            assert found.progress is not None
            shown.append((found.progress.stage, found.progress.done))
    assert shown == [
        *((Stage.READING, 5), (Stage.READING, 5)),
        *((Stage.EMBEDDING, 0), (Stage.EMBEDDING, 2)),
    ]


async def test_only_what_waits_is_claimed_and_only_what_failed_is_queued_again(
    shelf: Shelf,
) -> None:
    ready = await shelf.put(("A text.", UP))
    failed = await shelf.put(ready=False)
    async with shelf.uow() as tx:
        assert await tx.sources.claim(SourceId(uuid4())) is None
        assert await tx.sources.claim(ready.id) is None
        assert await tx.sources.requeue(ready.id) is None
        assert await tx.sources.requeue(failed.id) is None
        await tx.sources.claim(failed.id)
        await tx.sources.fail(failed.id, 1, Problem("unreadable", "Nothing to read."))
        assert await tx.sources.claim(failed.id) is None
        assert await tx.sources.requeue(failed.id) == 1
        claimed = await tx.sources.claim(failed.id)
    assert claimed is not None
    assert (claimed[0].attempt, claimed[1], claimed[0].error) == (2, 1, None)


async def test_a_deleted_source_leaves_no_row(shelf: Shelf) -> None:
    source = await shelf.put(("The bridge is red.", UP), ("It is old.", EAST))
    kept = await shelf.put(("The tower is white.", NORTH))
    tables = ("sources", "source_versions", "passages", "chunks", "chunk_vectors", "postings")

    async def rows() -> dict[str, int]:
        return {
            table: (await _sql(shelf.uow, f"select count(*) as n from {table}"))[0].n
            for table in (*tables, "paid_embeddings", "notebook_sources")
        }

    async with shelf.uow() as tx:
        other = await tx.sources.get(kept.id, shelf.user.id)
    before = await rows()
    async with shelf.uow() as tx:
        await tx.sources.delete(source.id)
    after = await rows()
    assert before["chunks"] - after["chunks"] == 2
    assert before["chunk_vectors"] - after["chunk_vectors"] == 2
    assert all(after[table] < before[table] for table in (*tables, "notebook_sources"))
    async with shelf.uow() as tx:
        assert await tx.sources.get(source.id, shelf.user.id) is None
        assert await tx.sources.get(kept.id, shelf.user.id) == other
        assert not await tx.sources.needs_blob(shelf.user.id, source.sha256)
        assert await tx.sources.needs_blob(shelf.user.id, kept.sha256)


async def _is_free(uow: PostgresUnitOfWork, table: str, row_id: UUID) -> bool:
    """True where no other transaction holds that row."""
    lock = f"select 1 from {table} where id = $1 for update skip locked"
    return bool(await _sql(uow, lock, row_id))


async def test_an_entry_that_is_found_is_held_until_commit(uow: PostgresUnitOfWork) -> None:
    user = await _user(uow)
    async with uow() as tx:
        first, _ = await tx.sources.add(_new_source(user, "held"))
    assert await _is_free(uow, "sources", first.id)
    async with uow() as tx:
        assert await tx.sources.add(_new_source(user, "held")) == (first, False)
        assert not await _is_free(uow, "sources", first.id)


async def test_a_file_is_held_by_one_at_a_time(uow: PostgresUnitOfWork) -> None:
    user, other = await _user(uow), await _user(uow)
    order = []

    async def second() -> None:
        async with uow() as tx:
            await tx.sources.hold_blob(user.id, b"one")
            order.append("second")

    async with uow() as tx:
        await tx.sources.hold_blob(user.id, b"one")
        waiting = asyncio.create_task(second())
        async with uow() as elsewhere:
            await elsewhere.sources.hold_blob(user.id, b"two")
            await elsewhere.sources.hold_blob(other.id, b"one")
        await asyncio.wait([waiting], timeout=0.1)
        order.append("first")
    await waiting
    assert order == ["first", "second"]


@pytest.mark.parametrize("clearing", [False, True])
async def test_a_source_s_deletion_waits_for_its_notebook_s_and_holds_nothing_meanwhile(
    shelf: Shelf, *, clearing: bool
) -> None:
    source = await shelf.put(("The bridge is red.", UP))
    await _answered(shelf)

    async def delete() -> None:
        async with shelf.uow() as tx:
            await tx.sources.delete(source.id)

    async with shelf.uow() as tx:
        if clearing:
            await tx.answers.clear(shelf.notebook.id, shelf.user.id)
        else:
            await tx.notebooks.delete(shelf.notebook.id)
        waiting = asyncio.create_task(delete())
        await asyncio.wait([waiting], timeout=0.2)
        assert not waiting.done()
        assert await _is_free(shelf.uow, "sources", source.id)
    await waiting
    async with shelf.uow() as tx:
        assert await tx.sources.get(source.id, shelf.user.id) is None


async def test_a_change_of_a_source_wakes_its_owner_s_pages_alone(
    shelf: Shelf, stores_url: str
) -> None:
    stranger = await _user(shelf.uow)
    ready, failing = await shelf.put(("A text.", UP)), await shelf.put(ready=False)

    def steps(tx: Stores) -> list[Callable[[], Awaitable[object]]]:
        sources, problem = tx.sources, Problem("unreadable", "Nothing to read.")
        return [
            partial(sources.show_progress, failing.id, 1, Progress(Stage.READING, 1, 2)),
            partial(sources.fail, failing.id, 1, problem),
            partial(sources.requeue, failing.id),
            partial(sources.delete, ready.id),
        ]

    async with (
        PostgresListener(stores_url, ALL) as listener,
        listener.waiting(SOURCE_CHANGED, str(shelf.user.id)) as own,
        listener.waiting(SOURCE_CHANGED, str(stranger.id)) as foreign,
    ):
        foreign.clear()
        async with shelf.uow() as tx:
            await tx.sources.claim(failing.id)
        for n in range(4):
            own.clear()
            async with shelf.uow() as tx:
                await steps(tx)[n]()
            async with asyncio.timeout(5):
                await own.wait()
        own.clear()
        await shelf.put(("Another text.", UP))
        async with asyncio.timeout(5):
            await own.wait()
        assert not foreign.is_set()


@pytest.mark.parametrize(
    ("given", "read", "shown"),
    [
        ("a.txt", "A title inside", "A title inside"),
        ("a.txt", "", "a.txt"),
        ("A text", "A title inside", "A text"),
    ],
)
async def test_a_file_s_own_title_replaces_its_name_and_no_title_that_was_given(
    uow: PostgresUnitOfWork, given: str, read: str, shown: str
) -> None:
    user = await _user(uow)
    async with uow() as tx:
        source, _ = await tx.sources.add(replace(_new_source(user), title=given))
        await tx.sources.claim(source.id)
        await tx.sources.publish(
            source,
            VersionId(new_id()),
            Reading((Passage(0, None, "Words.", "en"),), None, title=read),
            chunker="c",
            analyser="a",
            language="en",
            chunk_count=0,
        )
        found = await tx.sources.get(source.id, user.id)
    assert found is not None
    assert found.title == shown


async def test_what_lost_its_job_is_found_without_comparing_each_source_with_each_job(
    postgres: str,
) -> None:
    with migrated_database(postgres) as url:
        async with open_pool(url, size=2) as pool:
            uow = PostgresUnitOfWork(pool)
            user = await _user(uow)
            lost = await _source(uow, user)
            await _sql(uow, _MANY_SOURCES)
            await _sql(uow, _THEIR_JOBS, lost.id)
            await _sql(uow, "analyze sources, saq_jobs")
            asked: list[asyncpg.LoggedQuery] = []
            async with uow() as tx:
                connection = tx.sources._connection  # noqa: SLF001 - to see what is sent
                connection.add_query_logger(asked.append)
                assert await tx.sources.stalled() == [(lost.id, 0)]
                connection.remove_query_logger(asked.append)
            [stalled] = asked
            rows = await _sql(uow, f"explain {stalled.query}", *stalled.args)
            plan = "\n".join(row[0] for row in rows)
    assert "Hash" in plan
    assert "Nested Loop" not in plan


_MANY_SOURCES = """
insert into sources (id, owner_id, kind, title, name, sha256, capture_mode, media_type, bytes,
    status, created_at, updated_at)
select gen_random_uuid(), owner_id, kind, title, name, cast(cast(n as text) as bytea),
    capture_mode, media_type, bytes, status, created_at, updated_at
from sources, generate_series(1, 3000) n
"""
_THEIR_JOBS = """
with old as (update sources set updated_at = now() - interval '1 minute' returning id)
insert into saq_jobs (key, job, queue, status)
select concat_ws(':', 'saq:job:ingest:ingest_source', id, 0), '', 'ingest', 'queued'
from old where id <> $1
"""


async def test_the_version_that_a_source_shows_is_indexed(uow: PostgresUnitOfWork) -> None:
    # Deleting a version asks which source shows it: without an index, all of them are read.
    async with uow.pool.acquire() as connection, connection.transaction():
        await connection.execute("set local enable_seqscan = off")
        plan = await connection.fetch(
            "explain select 1 from sources where version_id = $1", uuid4()
        )
    assert "sources_version_id_idx" in str(plan)


# --- answers


def _answer(shelf: Shelf, question: str = "Which colour?") -> Answer:
    return Answer(
        id=AnswerId(new_id()),
        notebook_id=shelf.notebook.id,
        user_id=shelf.user.id,
        question=question,
        source_ids=None,
        about=None,
        mode=AnswerMode.SOURCES,
        status=AnswerStatus.STREAMING,
        refused=False,
        text="",
        error=None,
        created_at=NOW,
    )


def _citation(hit: Hit, marker: int = 1) -> Citation:
    return Citation(
        marker=marker,
        rank=hit.rank,
        chunk_id=hit.chunk_id,
        source_id=hit.source_id,
        version_id=hit.version_id,
        source_title=hit.source_title,
        passage=hit.passage,
        page=hit.page,
        similarity=hit.similarity,
        mentions=(Mention(0, 3, hit.text, 0, len(hit.text)), Mention(5, 8, hit.text, 0, 4)),
    )


async def _answered(shelf: Shelf) -> Answer:
    """An answer that cites every hit, with its events."""
    hits = await shelf.search((1, 1, 1, 0))
    answer = _answer(shelf)
    citations = tuple(_citation(hit, n) for n, hit in enumerate(hits, 1))
    async with shelf.uow() as tx:
        await tx.turns.add(answer, ALIVE, messages=12)
        await tx.answers.keep_retrieved(answer.id, hits)
        events = [
            AnswerEvent(n, EventKind.CITATION, _as_json(citation))
            for n, citation in enumerate(citations, 1)
        ]
        await tx.answers.append(answer.id, events, ALIVE)
        done = replace(
            answer,
            status=AnswerStatus.COMPLETE,
            text="[1], [1]",
            citations=citations,
            stripped_markers=3,
        )
        await tx.answers.finish(done)
    return done


def _as_json(citation: Citation) -> dict[str, object]:
    return {
        **{name: getattr(citation, name) for name in ("marker", "rank", "passage", "page")},
        **{name: str(getattr(citation, name)) for name in ("chunk_id", "source_id", "version_id")},
        "source_title": citation.source_title,
        "similarity": citation.similarity,
        "mentions": [
            {
                name: getattr(mention, name)
                for name in ("answer_start", "answer_end", "quote", "start", "end")
            }
            for mention in citation.mentions[:1]
        ],
    }


async def _read(shelf: Shelf, answer: Answer) -> Answer:
    async with shelf.uow() as tx:
        found = await tx.answers.get(answer.id, shelf.user.id)
    assert found is not None
    return found


async def test_an_answer_comes_back_as_it_was_stored(shelf: Shelf) -> None:
    await shelf.put(("The bridge is red.", UP), ("It is old.", EAST))
    answer = await _answered(shelf)
    found = await _read(shelf, answer)
    assert found.citations == answer.citations
    assert found.stripped_markers == 3
    assert [hit.text for hit in found.retrieved] == ["The bridge is red.", "It is old."]
    stranger = await _user(shelf.uow)
    async with shelf.uow() as tx:
        assert await tx.answers.get(answer.id, stranger.id) is None


async def test_a_deleted_source_takes_its_quotes_and_leaves_the_text(shelf: Shelf) -> None:
    gone = await shelf.put(("The bridge is red.", UP))
    kept = await shelf.put(("The tower is white.", EAST))
    answer = await _answered(shelf)
    async with shelf.uow() as tx:
        await tx.sources.delete(gone.id)
    found = await _read(shelf, answer)
    assert found.text == answer.text
    for citation in found.citations:
        removed = citation.source_id == gone.id
        assert citation.removed is removed
        quotes = {mention.quote for mention in citation.mentions}
        assert quotes == ({""} if removed else {"The tower is white."})
        assert [m.answer_start for m in citation.mentions] == [0, 5]
    texts = {hit.source_id: hit.text for hit in found.retrieved}
    assert texts == {gone.id: "", kept.id: "The tower is white."}
    async with shelf.uow() as tx:
        events = await tx.answers.events(answer.id, 0)
        recorded = await tx.answers.recorded_citations(answer.id)
    assert "is red" not in str(events)
    assert "white" in str(events)
    assert {c.source_id: c.removed for c in recorded} == {gone.id: True, kept.id: False}


async def test_a_source_that_left_the_notebook_is_marked_and_keeps_its_quotes(
    shelf: Shelf,
) -> None:
    source = await shelf.put(("The bridge is red.", UP))
    answer = await _answered(shelf)
    async with shelf.uow() as tx:
        assert await tx.notebooks.unlink(shelf.notebook.id, source.id)
        assert not await tx.notebooks.unlink(shelf.notebook.id, source.id)
    [citation] = (await _read(shelf, answer)).citations
    assert citation.removed
    assert citation.mentions[0].quote == "The bridge is red."
    async with shelf.uow() as tx:
        await tx.notebooks.link(shelf.notebook.id, source.id, most=50)
    [citation] = (await _read(shelf, answer)).citations
    assert not citation.removed


async def test_a_run_that_was_ended_by_another_hand_hears_of_it(shelf: Shelf) -> None:
    answer = _answer(shelf)
    delta = AnswerEvent(1, EventKind.DELTA, {"text": "It's"})
    async with shelf.uow() as tx:
        await tx.turns.add(answer, ALIVE, messages=12)
        assert await tx.answers.append(answer.id, [delta], ALIVE) is False
        await tx.answers.request_stop(answer.id)
        assert await tx.answers.append(answer.id, [], ALIVE) is True
        # The same event again is the same event.
        again = AnswerEvent(1, EventKind.DELTA, {"text": "other"})
        assert await tx.answers.append(answer.id, [again], ALIVE) is True
        assert await tx.answers.events(answer.id, 0) == [delta]
        assert await tx.answers.events(answer.id, 1) == []
        await tx.answers.finish(replace(answer, status=AnswerStatus.STOPPED, text="It's"))
        assert await tx.answers.append(answer.id, [], ALIVE) is None
        assert await tx.answers.append(AnswerId(uuid4()), [delta], ALIVE) is None


async def test_only_answers_past_their_lease_are_abandoned_and_one_process_takes_each(
    shelf: Shelf,
) -> None:
    dead, alive, ended = _answer(shelf), _answer(shelf), _answer(shelf)
    async with shelf.uow() as tx:
        await tx.turns.add(dead, DEAD, messages=12)
        await tx.turns.add(alive, ALIVE, messages=12)
        await tx.turns.add(ended, DEAD, messages=12)
        await tx.answers.finish(replace(ended, status=AnswerStatus.COMPLETE, text="It is."))
    async with shelf.uow() as first, shelf.uow() as second:
        abandoned = await first.answers.abandoned()
        assert dead.id in abandoned
        assert not {alive.id, ended.id} & set(abandoned)
        assert await first.answers.take_abandoned(alive.id) is None
        assert await first.answers.take_abandoned(dead.id) == dead
        assert await second.answers.take_abandoned(dead.id) is None


async def test_clearing_leaves_what_is_being_written(shelf: Shelf) -> None:
    done = _answer(shelf, "Done?")
    await asyncio.sleep(0.002)  # ids sort by the millisecond
    running = _answer(shelf, "Running?")
    async with shelf.uow() as tx:
        await tx.turns.add(done, ALIVE, messages=12)
        await tx.answers.finish(replace(done, status=AnswerStatus.COMPLETE, text="Yes."))
        turn = await tx.turns.add(running, ALIVE, messages=12)
        await tx.answers.clear(shelf.notebook.id, shelf.user.id)
        page = await tx.answers.page(shelf.notebook.id, shelf.user.id, limit=9, after=None)
    assert turn is not None
    assert [message.content for message in turn.history] == ["Done?", "Yes."]
    assert [answer.id for answer in page.items] == [running.id]


# --- ledger


def _intent(
    user: User, tokens: int, price: str = "1000000", answer_id: AnswerId | None = None
) -> Intent:
    """A call whose bound costs `tokens` USD where the price is left as it is."""
    return Intent(
        id=CallId(new_id()),
        user_id=user.id,
        kind=CallKind.EMBEDDING,
        model="a-model",
        price=Price(Decimal(price)),
        bound=TokenUsage(tokens, 0, estimated=True),
        answer_id=answer_id,
    )


def _served(tokens: int) -> Settlement:
    return Settlement(CallStatus.SERVED, TokenUsage(tokens))


async def _rows(uow: PostgresUnitOfWork, user: User) -> list[str]:
    """A line a call, sorted: its status and what it cost."""
    async with uow() as tx:
        page = await tx.ledger.rows(
            user.id, start=NOW - timedelta(days=999), end=SOON, limit=99, after=None
        )
    return sorted(f"{row.status} {row.cost.normalize():f}" for row in page.items)


async def test_a_call_reserves_its_bound_and_costs_what_it_used(uow: PostgresUnitOfWork) -> None:
    user = await _user(uow, "10")
    call = _intent(user, 6)
    async with uow() as tx:
        await tx.ledger.open(call, ALIVE)
    assert (await _again(uow, user)).credit == 4
    assert await _rows(uow, user) == ["pending 0"]
    async with uow() as tx:
        await tx.ledger.settle(call, _served(2))
        await tx.ledger.settle(call, _served(5))  # the first settlement stands
    assert (await _again(uow, user)).credit == 8
    assert await _reserved(uow, user) == 0
    assert await _rows(uow, user) == ["served 2"]


async def test_characters_read_aloud_are_reserved_kept_and_charged(uow: PostgresUnitOfWork) -> None:
    user = await _user(uow, "10")
    price = Price(Decimal(0), characters_per_million=Decimal(15))
    bound = TokenUsage(0, estimated=True, characters=200_000)
    call = replace(_intent(user, 0), kind=CallKind.TTS, price=price, bound=bound)
    async with uow() as tx:
        await tx.ledger.open(call, ALIVE)
        found, status = await tx.ledger.find(call.id) or (call, CallStatus.FAILED)
    assert (found.bound, status) == (bound, CallStatus.PENDING)
    assert found.price.cost(bound) == 3
    assert (await _again(uow, user)).credit == 7
    async with uow() as tx:
        await tx.ledger.settle(
            call, Settlement(CallStatus.SERVED, TokenUsage(0, characters=100_000))
        )
        page = await tx.ledger.rows(
            user.id, start=NOW - timedelta(days=999), end=SOON, limit=9, after=None
        )
    (row,) = page.items
    assert (row.characters, row.cost) == (100_000, Decimal("1.5"))
    assert row.character_price == 15


async def test_a_call_needs_the_credit_of_those_that_follow_it(uow: PostgresUnitOfWork) -> None:
    user = await _user(uow, "0.5")
    for bound, besides in ((0, "0.6"), (0, "0.500000001"), (1, "0")):
        async with uow() as tx:
            with pytest.raises(OutOfCredit):
                await tx.ledger.open(_intent(user, bound), ALIVE, besides=Decimal(besides))
    async with uow() as tx:
        await tx.ledger.open(_intent(user, 0), ALIVE, besides=Decimal("0.5"))
    assert await _reserved(uow, user) == 0


async def test_an_account_that_leaves_makes_no_more_calls(uow: PostgresUnitOfWork) -> None:
    user = await _user(uow, "5")
    async with uow() as tx:
        assert await tx.accounts.leave(user.id)
    for bound in (0, 1):
        async with uow() as tx:
            with pytest.raises(OutOfCredit):
                await tx.ledger.open(_intent(user, bound), ALIVE)
    assert await _sql(uow, "select 1 from model_calls where user_id = $1", user.id) == []


async def test_what_credit_does_not_cover_is_neither_opened_nor_written(
    uow: PostgresUnitOfWork,
) -> None:
    user = await _user(uow, "5")
    with pytest.raises(OutOfCredit, match="6 USD"):
        async with uow() as tx:
            await tx.ledger.open(_intent(user, 6), ALIVE)
    with pytest.raises(OutOfCredit):
        async with uow() as tx:
            await tx.ledger.require(user.id, Decimal("5.000000001"))
    async with uow() as tx:
        await tx.ledger.require(user.id, Decimal(5))
        await tx.ledger.open(_intent(user, 5), ALIVE)
    assert len(await _rows(uow, user)) == 1


async def test_calls_at_once_cannot_overspend(uow: PostgresUnitOfWork) -> None:
    user = await _user(uow, "5")

    async def call() -> bool:
        try:
            async with uow() as tx:
                await tx.ledger.open(_intent(user, 2), ALIVE)
        except OutOfCredit:
            return False
        return True

    assert sum(await asyncio.gather(*(call() for _ in range(8)))) == 2
    assert await _reserved(uow, user) == 4


async def test_a_call_that_was_not_served_costs_nothing(uow: PostgresUnitOfWork) -> None:
    user = await _user(uow, "5")
    call = _intent(user, 5)
    async with uow() as tx:
        await tx.ledger.open(call, ALIVE)
        await tx.ledger.settle(call, NOT_SERVED)
    assert (await _again(uow, user)).credit == 5
    assert await _rows(uow, user) == ["failed 0"]


async def test_an_overrun_is_never_a_debt_and_takes_nothing_from_other_calls(
    uow: PostgresUnitOfWork,
) -> None:
    user = await _user(uow, "5")
    over, other = _intent(user, 2), _intent(user, 3)
    async with uow() as tx:
        await tx.ledger.open(over, ALIVE)
        await tx.ledger.open(other, ALIVE)
        await tx.ledger.settle(over, _served(100))
    assert (await _again(uow, user)).credit == 0
    assert await _reserved(uow, user) == 3
    async with uow() as tx:
        await tx.ledger.settle(other, _served(1))
    assert (await _again(uow, user)).credit == 2
    assert await _rows(uow, user) == ["served 1", "served 100"]


async def test_a_dead_process_s_call_stands_at_its_bound_until_it_is_settled_late(
    uow: PostgresUnitOfWork,
) -> None:
    user = await _user(uow, "10")
    answer = AnswerId(uuid4())
    dead, alive = _intent(user, 6, answer_id=answer), _intent(user, 1)
    async with uow() as tx:
        await tx.ledger.open(dead, ALIVE)
        await tx.ledger.open(alive, ALIVE)
        await tx.ledger.abandon(answer_id=answer)
        await tx.ledger.abandon(answer_id=answer)  # twice is harmless
    assert await _rows(uow, user) == ["pending 0", "unknown 6"]
    assert (await _again(uow, user)).credit == 3
    assert await _reserved(uow, user) == 1
    async with uow() as tx:
        await tx.ledger.settle(dead, _served(2))
    assert (await _again(uow, user)).credit == 7
    assert await _reserved(uow, user) == 1
    assert await _rows(uow, user) == ["pending 0", "served 2"]


async def test_without_a_subject_every_call_past_its_lease_is_abandoned(
    uow: PostgresUnitOfWork,
) -> None:
    one, other = await _user(uow, "5"), await _user(uow, "5")
    async with uow() as tx:
        for user, lease in ((one, DEAD), (one, DEAD), (other, DEAD), (other, ALIVE)):
            await tx.ledger.open(_intent(user, 1), lease)
        await tx.ledger.abandon()
    assert await _rows(uow, one) == ["unknown 1", "unknown 1"]
    assert await _rows(uow, other) == ["pending 0", "unknown 1"]
    assert (await _again(uow, one)).credit == 3
    assert (await _again(uow, other)).credit == 3


async def test_a_renewed_call_outlives_its_first_lease_unless_it_has_ended(
    uow: PostgresUnitOfWork,
) -> None:
    user = await _user(uow, "5")
    renewed, ended, dead = (_intent(user, 1) for _ in range(3))
    async with uow() as tx:
        for call in (renewed, ended, dead):
            await tx.ledger.open(call, DEAD)
        await tx.ledger.settle(ended, _served(1))
        await tx.ledger.renew((renewed.id, ended.id), ALIVE)
        await tx.ledger.abandon()
    assert await _rows(uow, user) == ["pending 0", "served 1", "unknown 1"]


async def test_renewing_waits_for_nobody_who_settles(uow: PostgresUnitOfWork) -> None:
    user = await _user(uow, "5")
    call = _intent(user, 1)
    async with uow() as tx:
        await tx.ledger.open(call, DEAD)
    async with uow() as settling:
        await settling.ledger.settle(call, _served(1))
        async with asyncio.timeout(5), uow() as tx:
            await tx.ledger.renew((call.id,), ALIVE)
    assert await _rows(uow, user) == ["served 1"]


async def test_a_call_of_an_answer_lives_as_long_as_the_run_that_writes_it(shelf: Shelf) -> None:
    running, deleted = _answer(shelf), AnswerId(uuid4())
    async with shelf.uow() as tx:
        await tx.turns.add(running, ALIVE, messages=12)
        for answer_id in (running.id, deleted):
            await tx.ledger.open(_intent(shelf.user, 1, "500000", answer_id), DEAD)
        await tx.ledger.abandon()
    assert await _rows(shelf.uow, shelf.user) == ["pending 0", "unknown 0.5"]


async def test_a_free_call_is_written_also_without_credit(uow: PostgresUnitOfWork) -> None:
    user = await _user(uow, "0")
    call = _intent(user, 9, price="0")
    async with uow() as tx:
        await tx.ledger.require(user.id, Decimal(0))
        await tx.ledger.open(call, ALIVE)
        await tx.ledger.settle(call, _served(9))
    assert await _rows(uow, user) == ["served 0"]


async def test_sums_leave_pending_calls_out_and_add_up(uow: PostgresUnitOfWork) -> None:
    user = await _user(uow, "10")
    period = {"start": NOW - timedelta(days=999), "end": SOON}
    async with uow() as tx:
        for tokens in (1, 2):
            call = _intent(user, 3)
            await tx.ledger.open(call, ALIVE)
            await tx.ledger.settle(call, _served(tokens))
        await tx.ledger.open(_intent(user, 3), ALIVE)
        [group] = await tx.ledger.grouped(user.id, **period, by=["day", "kind", "notebook"])
        totals = await tx.ledger.totals()
    assert (group.calls, group.input_tokens) == (2, 3)
    assert group.cost == 3
    assert dict(group.key)["kind"] == "embedding"
    assert dict(group.key)["notebook"] is None
    assert sum(total.calls for total in totals if total.status is CallStatus.SERVED) >= 2


# --- idempotency


async def test_a_second_request_waits_for_the_first_and_gets_what_it_made(
    uow: PostgresUnitOfWork,
) -> None:
    user = await _user(uow)
    first_holds, order = asyncio.Event(), []

    async def first() -> None:
        async with uow() as tx:
            assert await tx.idempotency.recall(user.id, "k", b"body") is None
            first_holds.set()
            await asyncio.sleep(0.2)
            await tx.idempotency.remember(user.id, "k", b"body", "made")
            order.append("first")

    async def second() -> str | None:
        await first_holds.wait()
        async with uow() as tx:
            found = await tx.idempotency.recall(user.id, "k", b"body")
            order.append("second")
            return found

    _, found = await asyncio.gather(first(), second())
    assert (found, order) == ("made", ["first", "second"])
    with pytest.raises(Conflict):
        async with uow() as tx:
            await tx.idempotency.recall(user.id, "k", b"other")
    stranger = await _user(uow)
    async with uow() as tx:
        assert await tx.idempotency.recall(stranger.id, "k", b"other") is None


async def test_a_request_that_failed_left_its_key_free(uow: PostgresUnitOfWork) -> None:
    user = await _user(uow)

    async def fail() -> None:
        async with uow() as tx:
            await tx.idempotency.remember(user.id, "k", b"body", "made")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    async with uow() as tx:
        assert await tx.idempotency.recall(user.id, "k", b"other") is None


async def test_a_request_at_work_holds_its_key_until_it_ends_or_its_process_died(
    uow: PostgresUnitOfWork,
) -> None:
    user = await _user(uow)
    async with uow() as tx:
        await tx.idempotency.remember(user.id, "k", b"body", "")
        assert await tx.idempotency.recall(user.id, "k", b"body") == ""
        await tx.idempotency.forget(user.id, "k")
        assert await tx.idempotency.recall(user.id, "k", b"body") is None
        await tx.idempotency.remember(user.id, "k", b"body", "")
    silent = "update idempotency_keys set created_at = now() - interval '16 s' where user_id = $1"
    await _sql(uow, silent, user.id)
    async with uow() as tx:
        await tx.idempotency.renew(user.id, "k")
        assert await tx.idempotency.recall(user.id, "k", b"body") == ""
    await _sql(uow, silent, user.id)
    async with uow() as tx:
        assert await tx.idempotency.recall(user.id, "k", b"body") is None
        await tx.idempotency.remember(user.id, "k", b"body", "made")
        await tx.idempotency.forget(user.id, "k")  # what was made is never forgotten
        assert await tx.idempotency.recall(user.id, "k", b"body") == "made"


async def test_keys_are_forgotten_after_a_week(uow: PostgresUnitOfWork) -> None:
    user = await _user(uow)
    async with uow() as tx:
        for key in ("young", "old"):
            await tx.idempotency.remember(user.id, key, b"body", "made")
    await _sql(
        uow,
        "update idempotency_keys set created_at = now() - case key"
        " when 'old' then interval '169 hours' else interval '167 hours' end where user_id = $1",
        user.id,
    )
    async with uow() as tx:
        await tx.idempotency.forget_old()
        assert await tx.idempotency.recall(user.id, "young", b"body") == "made"
        assert await tx.idempotency.recall(user.id, "old", b"body") is None


# --- jobs


async def test_a_job_that_waits_is_not_enqueued_twice_and_a_rollback_enqueues_nothing(
    uow: PostgresUnitOfWork,
) -> None:
    key = str(uuid4())

    async def waiting() -> int:
        like = "select count(*) as n from saq_jobs where key like '%' || $1"
        [row] = await _sql(uow, like, key)
        return int(row.n)

    async def fail() -> None:
        async with uow() as tx:
            await tx.jobs.enqueue(INGEST_SOURCE, key, source_id="x")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    assert await waiting() == 0
    for _ in range(2):
        async with uow() as tx:
            await tx.jobs.enqueue(INGEST_SOURCE, key, source_id="x")
    assert await waiting() == 1


# --- search


async def test_a_search_sees_the_notebook_s_ready_sources_alone(
    shelf: Shelf, uow: PostgresUnitOfWork
) -> None:
    inside = await shelf.put(("The bridge is red.", UP))
    other = Shelf(uow, shelf.user, await _notebook(uow, shelf.user), shelf.embedding_set)
    await other.put(("The bridge of the other notebook.", UP))
    stranger = await _user(uow)
    foreign = Shelf(uow, stranger, await _notebook(uow, stranger), shelf.embedding_set)
    theirs = await foreign.put(("The stranger's bridge.", UP))
    waiting = await shelf.put(ready=False)
    assert [hit.source_id for hit in await shelf.search(UP, "bridge")] == [inside.id]
    for ids in ([theirs.id], [waiting.id], [SourceId(uuid4())], []):
        assert await shelf.search(UP, "bridge", source_ids=ids) == []
    chosen = [theirs.id, inside.id, waiting.id, SourceId(uuid4()), inside.id]
    found = await shelf.search(UP, "bridge", source_ids=chosen)
    assert [hit.source_id for hit in found] == [inside.id]
    assert await shelf.search(UP, "bridge", about=theirs.id) == []
    async with uow() as tx:
        documents = await tx.notebooks.holdings(shelf.notebook.id)
    in_scope = partial(may_hold_answers, documents)
    assert in_scope(None, None)
    assert in_scope([inside.id], None)
    assert in_scope(None, inside.id)
    assert not in_scope([], None)
    for source in (theirs, waiting):
        assert not in_scope([source.id], None)
        assert not in_scope(None, source.id)


async def test_an_empty_notebook_is_searched_for_nothing(shelf: Shelf) -> None:
    for mode in RetrievalMode:
        assert await shelf.search(UP, "bridge", replace(SETTINGS, mode=mode)) == []


async def test_the_vector_mode_ranks_by_cosine_and_cuts_at_the_floor(shelf: Shelf) -> None:
    await shelf.put(
        ("Near.", (1, 0.1, 0, 0)), ("Nearer.", UP), ("Far.", (0.2, 1, 0, 0)), ("Off.", NORTH)
    )
    # Words count for nothing here.
    hits = await shelf.search(UP, "off far")
    assert [hit.text for hit in hits] == ["Nearer.", "Near."]
    assert [hit.rank for hit in hits] == [1, 2]
    assert hits[0].similarity == pytest.approx(1, abs=1e-3)
    assert hits[1].similarity == pytest.approx(1 / np.sqrt(1.01), abs=1e-3)
    everything = await shelf.search(UP, "", replace(SETTINGS, floor=-1))
    assert [hit.text for hit in everything] == ["Nearer.", "Near.", "Far.", "Off."]


@pytest.mark.parametrize("mode", [RetrievalMode.RRF, RetrievalMode.WEIGHTED])
async def test_a_word_lifts_a_chunk_over_the_floor(shelf: Shelf, mode: RetrievalMode) -> None:
    await shelf.put(("Towers are tall.", UP), ("The zeppelin landed.", NORTH), ("Else.", NORTH))
    settings = replace(SETTINGS, mode=mode)
    with_word = await shelf.search(UP, "When did the zeppelin land?", settings)
    assert {hit.text for hit in with_word} == {"Towers are tall.", "The zeppelin landed."}
    similarities = {hit.text: hit.similarity for hit in with_word}
    assert similarities["The zeppelin landed."] == pytest.approx(0, abs=1e-3)
    without = await shelf.search(UP, "What is it like?", settings)
    assert [hit.text for hit in without] == ["Towers are tall."]


async def test_reciprocal_ranks_add_up(shelf: Shelf) -> None:
    await shelf.put(("The red bridge.", (1, 0.5, 0, 0)), ("Nothing of it.", UP))
    settings = replace(SETTINGS, mode=RetrievalMode.RRF, rrf_k=50)
    first, second = await shelf.search(UP, "Where is the red bridge?", settings)
    assert first.text == "The red bridge."
    assert first.score == pytest.approx(1 / 52 + 1 / 51)
    assert second.score == pytest.approx(1 / 51)


async def test_a_question_gets_k_chunks_and_one_source_alone_twelve_without_a_floor(
    shelf: Shelf,
) -> None:
    many = [(f"Chunk number {n}.", (1, n / 10, 0, 0)) for n in range(10)]
    source = await shelf.put(*many, *[(f"Far away {n}.", NORTH) for n in range(10)])
    await shelf.put(*[(f"Another {n}.", UP) for n in range(3)])
    assert len(await shelf.search(UP)) == 8
    assert len(await shelf.search(UP, settings=replace(SETTINGS, k=3))) == 3
    alone = await shelf.search(UP, about=source.id)
    assert len(alone) == 12
    assert {hit.source_id for hit in alone} == {source.id}
    assert sum(hit.text.startswith("Far") for hit in alone) == 2


@pytest.mark.parametrize(
    "question",
    [
        *("'", "''; drop table chunks; --", '"', "\\", "%", "_", ":notebook_id", "$1", "{}", "&|!"),
        *("the", "?", "bridge's", "O'Hara's \"red\" bridge", "Brücke", "桥", "🌉", "a" * 3000),
    ],
)
async def test_no_question_breaks_the_statement(shelf: Shelf, question: str) -> None:
    await shelf.put(('The bridge\'s deck is red: 100 % "steel".', UP))
    for mode in RetrievalMode:
        hits = await shelf.search(UP, question, replace(SETTINGS, mode=mode))
        assert len(hits) == 1 or (mode is RetrievalMode.KEYWORD and not hits)


async def test_vectors_of_another_set_are_never_searched(shelf: Shelf) -> None:
    await shelf.put(("The bridge is red.", UP))
    async with shelf.uow() as tx:
        other = await tx.index.activate("another-model", 4, "token-window-420-50")
        assert await tx.index.is_empty(other.id)
        assert not await tx.index.is_empty(shelf.embedding_set.id)
        again = await tx.index.activate("test-model", 4, "token-window-420-50")
        assert again == shelf.embedding_set
        assert await tx.index.active_set() == shelf.embedding_set
    elsewhere = replace(shelf, embedding_set=other)
    assert await elsewhere.search(UP, "bridge") == []


async def test_paid_vectors_are_kept_until_the_source_is_ready(shelf: Shelf) -> None:
    source = await shelf.put(ready=False)
    vectors = np.array([UP, EAST], np.float32)
    set_id = shelf.embedding_set.id
    async with shelf.uow() as tx:
        await tx.index.keep_paid(source.id, set_id, b"texts", vectors)
        await tx.index.keep_paid(source.id, set_id, b"texts", vectors * 0)
        paid = await tx.index.paid(source.id, set_id)
        assert list(paid) == [b"texts"]
        assert np.array_equal(paid[b"texts"], vectors)
        await tx.index.forget_paid(source.id)
        assert await tx.index.paid(source.id, set_id) == {}


async def test_paid_transcripts_are_kept_until_the_source_is_ready(shelf: Shelf) -> None:
    source = await shelf.put(ready=False)
    ready = await shelf.put(("The bridge is red.", UP))
    whole, cut = Transcript("Page seven."), Transcript("Page ei", problem="was cut off")
    async with shelf.uow() as tx:
        await tx.transcripts.keep(source.id, "page:7:m:150", whole)
        await tx.transcripts.keep(source.id, "page:7:m:150", cut)
        await tx.transcripts.keep(source.id, "page:8:m:150", cut)
        await tx.transcripts.keep(ready.id, "page:1:m:150", whole)
        paid = await tx.transcripts.paid(source.id)
        assert paid == {"page:7:m:150": whole, "page:8:m:150": cut}
        assert await tx.transcripts.paid(ready.id) == {}
        await tx.transcripts.forget(source.id)
        assert await tx.transcripts.paid(source.id) == {}
        await tx.transcripts.keep(source.id, "page:9:m:150", whole)
        await tx.sources.delete(source.id)
        await tx.transcripts.keep(source.id, "page:9:m:150", whole)
        assert await tx.transcripts.paid(source.id) == {}


async def test_a_sealed_password_goes_when_its_run_ends(shelf: Shelf) -> None:
    source = await shelf.put(ready=False)
    async with shelf.uow() as tx:
        claimed = await tx.sources.claim(source.id)
        assert claimed is not None
        await tx.sources.seal_password(source.id, b"one")
        await tx.sources.seal_password(source.id, b"two")
        assert await tx.sources.sealed_password(source.id) == b"two"
        await tx.sources.fail(source.id, claimed[0].attempt - 1, Problem("x", "superseded"))
        assert await tx.sources.sealed_password(source.id) == b"two"
        await tx.sources.fail(source.id, claimed[0].attempt, Problem("x", "failed"))
        assert await tx.sources.sealed_password(source.id) is None


async def test_a_notebook_belongs_to_its_owner(uow: PostgresUnitOfWork) -> None:
    owner, stranger = await _user(uow), await _user(uow)
    notebook = await _notebook(uow, owner)
    async with uow() as tx:
        assert await tx.notebooks.get(notebook.id, stranger.id) is None
        assert await tx.notebooks.get(NotebookId(uuid4()), owner.id) is None
        assert (await tx.notebooks.page(stranger.id, limit=9, after=None)).items == ()
