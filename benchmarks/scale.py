"""Search among a million rows: the latency depends on the notebook, not on the table.

    python -m benchmarks.scale [--rows 1000000] [--notebooks 1000 10000 100000] [--questions 20]
    python -m benchmarks.scale --real

Three notebooks are filled through the product's stores, in two databases; in one of them the table
grows to a million vectors of 1,024 dimensions by notebooks of other people. Both are searched in
turn. The eight nearest are compared with brute force over the stored vectors, for questions near
the notebook's topics and for questions off them. `--real` does the latter with 5,000 sentences of
the open abstracts and the local model (minutes of CPU, then kept in the temporary folder).
Needs 4 GB of disk. Exits 1 on a miss.
"""

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import asyncpg
import numpy as np
import psycopg
from sqlalchemy.engine import make_url

from adapters.inference.local import LOCAL_DIMENSION
from adapters.postgres.connection import open_pool
from adapters.postgres.migrate import upgrade
from adapters.postgres.unit_of_work import PostgresUnitOfWork
from benchmarks import stage
from benchmarks.real_vectors import OFF_TOPIC, ON_TOPIC, SENTENCES, real_vectors
from benchmarks.search_rows import DIMENSION, Filled, Matrix, Texts, Vectors, fill
from domain.ids import UserId, VersionId, new_id
from domain.language import detect_question
from domain.query import search_query
from domain.retrieval import RetrievalMode, RetrievalSettings, Scope

K = 8
SOURCES = 50
OTHERS = 1_000
"""Rows of each source of other people."""
MOST_SLOWER = 1.25
LEAST_RECALL = 0.99
WARM = 6
"""Questions that are not timed."""
ROUNDS = 3
Question = tuple[str, Matrix]

OTHER_SOURCES = """
with made as (
    insert into sources (id, owner_id, kind, title, name, sha256, capture_mode, media_type, bytes,
        status, created_at, updated_at)
    select id, $1, 'text', 'Text', 'text.txt', uuid_send(id), 'text', 'text/plain', 1, 'ready',
        now(), now()
    from unnest($2::uuid[]) as id
    returning id
)
insert into source_versions (id, source_id, number, chunker, analyser, language, words,
    chunk_count, skipped, created_at)
select id, id, 1, 'bench', 'bench', 'en', 1, 1, '[]', now() from unnest($2::uuid[]) as id
"""


@dataclass(frozen=True, slots=True)
class Bench:
    """A database with notebooks to search."""

    pool: asyncpg.Pool
    owner: UserId
    set_id: int

    async def search(
        self, filled: Filled, question: Question, settings: RetrievalSettings
    ) -> list[tuple[VersionId, int]]:
        """The places of what is found, best first."""
        text, vector = question
        query = search_query(text, detect_question(text), ("en",))
        async with PostgresUnitOfWork(self.pool)() as tx:
            hits = await tx.index.search(
                Scope(filled.notebook_id), self.set_id, vector, query, settings
            )
        return [(hit.version_id, hit.passage) for hit in hits]

    async def time_ms(self, filled: Filled, question: Question) -> float:
        """Of the default search."""
        started = time.perf_counter()
        await self.search(filled, question, RetrievalSettings(floor=-1.0))
        return (time.perf_counter() - started) * 1000

    async def recall(self, filled: Filled, questions: Sequence[Question]) -> float:
        """The share of the eight nearest that the vector side finds."""
        near = RetrievalSettings(mode=RetrievalMode.VECTOR, floor=-1.0, diversity=0.0)
        stored = filled.vectors.astype(np.float16).astype(np.float64)
        stored /= np.linalg.norm(stored, axis=1, keepdims=True)
        shares = []
        for question in questions:
            found = await self.search(filled, question, near)
            # The question travels as half floats, too.
            cosines = stored @ question[1].astype(np.float16).astype(np.float64)
            best = {filled.places[n] for n in np.argsort(-cosines, kind="stable")[:K]}
            shares.append(len(best & set(found)) / K)
        return statistics.mean(shares)

    async def add_others(self, vectors: Vectors, rows: int) -> None:
        """Sources of other people, vectors alone: neither texts nor postings."""
        for _ in range(rows // OTHERS):
            version = new_id()
            await self.pool.execute(OTHER_SOURCES, self.owner, [version])
            made = vectors.of(vectors.notebook(OTHERS))
            await self.pool.copy_records_to_table(
                "chunk_vectors",
                columns=("version_id", "ordinal", "set_id", "embedding"),
                records=[(version, n, self.set_id, row) for n, row in enumerate(made)],
            )

    async def settle(self) -> None:
        """Have statistics and hint bits in order, as autovacuum would."""
        await self.pool.execute("vacuum analyze")

    async def size(self) -> tuple[int, int]:
        """Rows of the table of vectors, and its bytes."""
        row = await self.pool.fetchrow(
            "select count(*) as rows, pg_table_size('chunk_vectors') as bytes from chunk_vectors"
        )
        return row["rows"], row["bytes"]


def another(url: str) -> str:
    """A second database on the same server."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create database small")
    small = make_url(url).set(database="small").render_as_string(hide_password=False)
    upgrade(small)
    return small


async def opened(pool: asyncpg.Pool, dimension: int) -> Bench:
    async with PostgresUnitOfWork(pool)() as tx:
        owner = (await tx.accounts.add("bench@example.org", None, Decimal(0))).id
        in_force = (await tx.index.activate("bench", dimension, "bench")).id
    return Bench(pool, owner, in_force)


@dataclass(frozen=True, slots=True)
class Asked:
    """A notebook in one database, and the questions that are put to it."""

    filled: Filled
    near: list[Question]
    off: list[Question]


async def three_notebooks(bench: Bench, asked: argparse.Namespace) -> dict[int, Asked]:
    """The same ones for every database, by their number of chunks."""
    corpus = stage.words()
    texts, vectors, elsewhere = Texts(corpus, 3, words=60), Vectors(7), Vectors(8)
    made = {}
    for count in asked.notebooks:
        latent = vectors.notebook(count)
        rows = vectors.of(latent)
        filled = await fill(
            bench.pool, bench.owner, bench.set_id, texts, rows, SOURCES, textbook=False
        )
        words = stage.questions(corpus, asked.questions, seed=count)
        near = vectors.near(latent, asked.questions)
        far = elsewhere.of(elsewhere.notebook(asked.questions))
        made[count] = Asked(
            filled, list(zip(words, near, strict=True)), list(zip(words, far, strict=True))
        )
    return made


async def in_turn(
    small: tuple[Bench, Asked], large: tuple[Bench, Asked]
) -> list[tuple[float, float]]:
    """Milliseconds of each question in both databases, one right after the other."""
    pairs = []
    (first, one), (second, other) = small, large
    for n, question in enumerate([*one.near[:WARM], *one.near * ROUNDS]):
        if n % 2:
            large_ms = await second.time_ms(other.filled, question)
            small_ms = await first.time_ms(one.filled, question)
        else:
            small_ms = await first.time_ms(one.filled, question)
            large_ms = await second.time_ms(other.filled, question)
        if n >= WARM:
            pairs.append((small_ms, large_ms))
    return pairs


async def synthetic(small_url: str, large_url: str, asked: argparse.Namespace) -> bool:
    async with open_pool(small_url, size=1) as few, open_pool(large_url, size=1) as many:
        small, large = await opened(few, DIMENSION), await opened(many, DIMENSION)
        here, there = await three_notebooks(small, asked), await three_notebooks(large, asked)
        rows, _ = await large.size()
        await large.add_others(Vectors(9), asked.rows - rows)
        for bench in (small, large):
            await bench.settle()
            rows, size = await bench.size()
            print(f"table of {rows:,} vectors, {size / 1e9:.2f} GB", flush=True)
        holds = []
        for count, one in here.items():
            name = f"{count:,} chunks"
            pairs = await in_turn((small, one), (large, there[count]))
            for table, times in zip(("small", "large"), zip(*pairs, strict=True), strict=True):
                median, fastest = statistics.median(times), min(times)
                print(f"{name}, {table} table: median {median:.1f} ms, fastest {fastest:.1f} ms")
            slower = statistics.median(large_ms / small_ms for small_ms, large_ms in pairs)
            holds.append(stage.verdict(f"{name}, large table / small", slower, MOST_SLOWER))
            for kind, questions in (("near", one.near), ("off its topics", one.off)):
                found = await large.recall(there[count].filled, questions)
                holds.append(
                    stage.verdict(f"{name}, recall@8 {kind}", found, LEAST_RECALL, least=True)
                )
    return all(holds)


async def real(url: str) -> bool:
    made = await real_vectors()
    async with open_pool(url, size=1) as pool:
        bench = await opened(pool, LOCAL_DIMENSION)
        texts = Texts(stage.words(), 3, words=60)
        rows = made[SENTENCES]
        filled = await fill(pool, bench.owner, bench.set_id, texts, rows, 10, textbook=False)
        holds = []
        for kind in (ON_TOPIC, OFF_TOPIC):
            questions = [("", vector) for vector in made[kind]]
            found = await bench.recall(filled, questions)
            name = f"{len(rows):,} real vectors, recall@8 of {len(questions)} questions {kind}"
            holds.append(stage.verdict(name, found, LEAST_RECALL, least=True))
    return all(holds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--notebooks", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--real", action="store_true", help="real vectors of 384 dimensions")
    asked = parser.parse_args()
    stage.heading("Search among a million rows")
    with stage.folder() as data, stage.database(data) as url:
        work = real(url) if asked.real else synthetic(another(url), url, asked)
        holds = asyncio.run(work)
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
