"""The rows that searches run over: a notebook in the product's tables and in the textbook's."""

import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import asyncpg
import numpy as np
import numpy.typing as npt

from adapters.postgres.connection import open_pool
from adapters.postgres.unit_of_work import PostgresUnitOfWork
from domain.ids import ChunkId, NotebookId, SourceId, UserId, VersionId, new_id
from domain.passage import Chunk, Passage
from domain.source import CaptureMode, Reading, Source, SourceKind, SourceStatus
from domain.stores import Stores
from domain.usecases.ingest_source import postings_of

DIMENSION = 1024
WORDS = 360
Matrix = npt.NDArray[np.float32]

TEXTBOOK = """
create table textbook (
    id uuid primary key,
    notebook_id uuid not null,
    text text not null,
    embedding vector(1024) not null,
    words tsvector generated always as (to_tsvector('english', text)) stored
);
create index on textbook (notebook_id);
create index on textbook using gin (words)
"""


@dataclass(frozen=True, slots=True)
class Filled:
    """A notebook as both sides hold it; row n of `vectors` is the n-th chunk of `places`."""

    notebook_id: NotebookId
    vectors: Matrix
    places: list[tuple[VersionId, int]]
    textbook_ids: list[ChunkId]


class Vectors:
    """Unit vectors with topics, as embeddings of documents have them."""

    def __init__(self, seed: int) -> None:
        self._chance = np.random.default_rng(seed)
        self._lift = self._chance.standard_normal((48, DIMENSION)).astype(np.float32) / 7
        self._topics = self._chance.standard_normal((400, 48)).astype(np.float32)

    def notebook(self, count: int) -> Matrix:
        """Where that many chunks about six topics stand among the topics."""
        six = self._chance.choice(len(self._topics), 6, replace=False)
        around = self._chance.standard_normal((count, 48)).astype(np.float32)
        return np.asarray(self._topics[self._chance.choice(six, count)] + 0.7 * around)

    def of(self, latent: Matrix) -> Matrix:
        """The vectors at those places, with the noise that every text has."""
        noise = self._chance.standard_normal((len(latent), DIMENSION)).astype(np.float32)
        rows = latent @ self._lift + 0.25 * noise
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)

    def near(self, latent: Matrix, count: int) -> Matrix:
        """Questions near some of the chunks."""
        picked = latent[self._chance.integers(0, len(latent), count)]
        return self.of(picked + 0.5 * self._chance.standard_normal(picked.shape).astype(np.float32))


class Texts:
    """Chunks spliced from runs of running text, so that every chunk is its own."""

    def __init__(self, corpus: Sequence[str], seed: int, *, words: int = WORDS) -> None:
        self._corpus = corpus
        self._runs = words // 60
        self._chance = np.random.default_rng(seed)

    def one(self) -> str:
        """A chunk's text."""
        starts = self._chance.integers(0, len(self._corpus) - 60, self._runs)
        return " ".join(" ".join(self._corpus[start : start + 60]) for start in starts)


async def fill(
    pool: asyncpg.Pool,
    owner: UserId,
    set_id: int,
    texts: Texts,
    vectors: Matrix,
    sources: int,
    *,
    textbook: bool = True,
) -> Filled:
    """Write a notebook through the product's stores, and the same rows into the textbook."""
    uow = PostgresUnitOfWork(pool)
    places: list[tuple[VersionId, int]] = []
    ids: list[ChunkId] = []
    async with uow() as tx:
        notebook = await tx.notebooks.add(owner, "Benchmark", "")
    for rows in np.array_split(vectors, sources):
        source = _source(owner)
        chunks = [_chunk(n, texts.one()) for n in range(len(rows))]
        passages = [Passage(c.ordinal, c.page, c.text, "en") for c in chunks]
        async with uow() as tx:
            version_id, keyed = await _publish(
                tx, source, notebook.id, set_id, passages, chunks, rows
            )
        places += [(version_id, n) for n in range(len(rows))]
        ids += [key for key, _ in keyed]
        if textbook:
            await _fill_textbook(pool, notebook.id, keyed, rows)
    return Filled(notebook.id, vectors, places, ids)


async def ready_source(
    pool: asyncpg.Pool,
    owner: UserId,
    notebook_id: NotebookId,
    set_id: int,
    passages: Sequence[Passage],
    chunks: Sequence[Chunk],
    vectors: Matrix,
) -> SourceId:
    """Write a source with these chunks through the product's stores."""
    source = _source(owner)
    async with PostgresUnitOfWork(pool)() as tx:
        await _publish(tx, source, notebook_id, set_id, passages, chunks, vectors)
    return source.id


async def _publish(
    tx: Stores,
    source: Source,
    notebook_id: NotebookId,
    set_id: int,
    passages: Sequence[Passage],
    chunks: Sequence[Chunk],
    vectors: Matrix,
) -> tuple[VersionId, list[tuple[ChunkId, Chunk]]]:
    version_id = VersionId(new_id())
    keyed = [(ChunkId(new_id()), chunk) for chunk in chunks]
    await tx.sources.add(source)
    await tx.notebooks.link(notebook_id, source.id, most=10_000)
    await tx.sources.publish(
        source,
        version_id,
        Reading(tuple(passages), len(passages)),
        chunker="bench",
        analyser="bench",
        language=passages[0].language,
        chunk_count=len(chunks),
    )
    await tx.index.write(version_id, set_id, keyed, vectors, postings_of(chunks))
    return version_id, keyed


def _source(owner: UserId) -> Source:
    identity = new_id()
    return Source(
        id=SourceId(identity),
        owner_id=owner,
        kind=SourceKind.TEXT,
        title="Text",
        name="text.txt",
        sha256=identity.bytes,
        capture_mode=CaptureMode.TEXT,
        media_type="text/plain",
        bytes=1,
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
        created_at=datetime.now(UTC),
    )


def _chunk(ordinal: int, written: str) -> Chunk:
    return Chunk(ordinal, ordinal, ordinal + 1, 0, len(written), written, language="en")


async def _fill_textbook(
    pool: asyncpg.Pool,
    notebook_id: NotebookId,
    chunks: Sequence[tuple[ChunkId, Chunk]],
    rows: Matrix,
) -> None:
    await pool.copy_records_to_table(
        "textbook",
        columns=("id", "notebook_id", "text", "embedding"),
        records=[
            (key, notebook_id, chunk.text, row)
            for (key, chunk), row in zip(chunks, rows, strict=True)
        ],
    )


@asynccontextmanager
async def open_both(url: str) -> AsyncIterator[asyncpg.Pool]:
    """The product's pool, whose connection sends the textbook's `vector` in binary as well."""
    async with open_pool(url, size=1) as pool:
        async with pool.acquire() as connection:
            await connection.set_type_codec(
                "vector", schema="public", encoder=_encode, decoder=_decode, format="binary"
            )
        yield pool


def _encode(vector: Matrix) -> bytes:
    return struct.pack(">HH", len(vector), 0) + vector.astype(">f4").tobytes()


def _decode(data: bytes) -> Matrix:
    return np.frombuffer(data, ">f4", offset=4).astype(np.float32)
