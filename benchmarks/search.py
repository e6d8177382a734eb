"""Search 10,000 chunks of 1,024 dimensions: the product's layout and statement, the textbook's.

    python benchmarks/search.py [--chunks 10000] [--sources 50] [--questions 30] [--plan]

Both sides hold the same rows in one database in the same order, other notebooks' rows before and
after them, and answer the same questions in turn, through the same driver. Exits 1 on a miss.
"""

import argparse
import asyncio
import re
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import asyncpg
import numpy as np

from adapters.postgres.rows import numbered, statement
from adapters.postgres.unit_of_work import PostgresUnitOfWork
from benchmarks import stage
from benchmarks.search_rows import (
    DIMENSION,
    TEXTBOOK,
    Filled,
    Matrix,
    Texts,
    Vectors,
    fill,
    open_both,
)
from domain.language import detect_question
from domain.query import search_query
from domain.retrieval import RetrievalSettings, Scope
from domain.terms import question_terms

K = 8

TEXTBOOK_VECTORS = """
select id, 1 - (embedding <=> cast(:vector as vector)) as similarity from textbook
where notebook_id = :notebook_id
order by embedding <=> cast(:vector as vector) limit 8
"""
TEXTBOOK_SEARCH = """
with query as (
    select cast(replace(cast(websearch_to_tsquery('english', :question) as text), '&', '|')
        as tsquery) as q
),
near as (
    select id, row_number() over (order by distance) as place from (
        select id, embedding <=> cast(:vector as vector) as distance from textbook
        where notebook_id = :notebook_id order by distance limit 30
    ) as nearest
),
lexical as (
    select id, row_number() over (order by score desc) as place from (
        select id, ts_rank_cd(words, q) as score from textbook, query
        where notebook_id = :notebook_id and words @@ q order by score desc limit 30
    ) as best
)
select t.id, t.text, coalesce(1.0 / (60 + near.place), 0)
    + coalesce(1.0 / (60 + lexical.place), 0) as score
from near full join lexical using (id) join textbook t using (id)
order by score desc limit 8
"""


def _ours_near() -> str:
    """The product's own vector side: its statement up to where the keyword side begins."""
    sql = statement("search")
    head, found, _ = sql.partition(",\nsize as materialized")
    assert found, "search.sql no longer has the vector side first"
    return (
        f"{head} select version_id, ordinal, similarity from near"
        " order by similarity desc, version_id, ordinal limit 8"
    )


@dataclass(frozen=True, slots=True)
class Sides:
    """The four things that are timed, each from a question to its rows."""

    pool: asyncpg.Pool
    filled: Filled
    set_id: int

    async def rows(self, sql: str, **values: Any) -> Sequence[Any]:  # noqa: ANN401 - column values
        """What a statement gives, in a transaction of its own."""
        text, names = numbered(sql)
        async with self.pool.acquire() as connection, connection.transaction():
            rows: list[Any] = await connection.fetch(text, *[values[name] for name in names])
            return rows

    async def our_vectors(self, _question: str, vector: Matrix) -> Sequence[Any]:
        """The product's nearest chunks."""
        return await self.rows(
            _ours_near(),
            notebook_id=self.filled.notebook_id,
            source_ids=None,
            about=None,
            set_id=self.set_id,
            vector=vector,
        )

    async def textbook_vectors(self, _question: str, vector: Matrix) -> Sequence[Any]:
        """The nearest chunks by pgvector's default layout."""
        return await self.rows(TEXTBOOK_VECTORS, notebook_id=self.filled.notebook_id, vector=vector)

    async def our_search(self, question: str, vector: Matrix) -> Sequence[Any]:
        """The product's search, its terms made in Python included."""
        async with PostgresUnitOfWork(self.pool)() as tx:
            return await tx.index.search(
                Scope(self.filled.notebook_id),
                self.set_id,
                vector,
                search_query(question, detect_question(question), ("en",)),
                RetrievalSettings(floor=-1.0),
            )

    async def textbook_search(self, question: str, vector: Matrix) -> Sequence[Any]:
        """Both sides over one table, by reciprocal rank fusion."""
        return await self.rows(
            TEXTBOOK_SEARCH,
            notebook_id=self.filled.notebook_id,
            vector=vector,
            question=question,
        )


Side = Callable[[str, Matrix], Awaitable[Sequence[Any]]]


async def timed(
    ours: Side, theirs: Side, asked: Sequence[tuple[str, Matrix]]
) -> tuple[list[float], list[float], list[Any], list[Any]]:
    """Milliseconds and rows of both sides, question by question, in turn; warm."""
    times: tuple[list[float], list[float]] = ([], [])
    rows: tuple[list[Any], list[Any]] = ([], [])
    warm = 8  # past the executions after which PostgreSQL chooses a generic plan
    for n, (question, vector) in enumerate([*asked[:warm], *asked]):
        for side, run in enumerate((ours, theirs)):
            started = time.perf_counter()
            found = await run(question, vector)
            if n >= min(warm, len(asked)):
                times[side].append((time.perf_counter() - started) * 1000)
                rows[side].append(found)
    return *times, *rows


def truth(vectors: Matrix, question: Matrix) -> set[int]:
    """The nearest rows, by brute force in double precision."""
    return set(np.argsort(-(vectors.astype(np.float64) @ question.astype(np.float64)))[:K].tolist())


def recall(found: Sequence[set[int]], expected: Sequence[set[int]]) -> float:
    return sum(len(a & b) for a, b in zip(found, expected, strict=True)) / (K * len(found))


def rounded(vectors: Matrix) -> Matrix:
    """What is left of vectors once they are stored as halfvec."""
    half = vectors.astype(np.float16).astype(np.float64)
    return np.asarray(half / np.linalg.norm(half, axis=1, keepdims=True))


async def measure(sides: Sides, asked: Sequence[tuple[str, Matrix]]) -> bool:
    filled = sides.filled
    print("\nvector side, 8 nearest")
    ours, theirs, near, textbook = await timed(sides.our_vectors, sides.textbook_vectors, asked)
    place = {key: n for n, key in enumerate(filled.places)}
    number = {key: n for n, key in enumerate(filled.textbook_ids)}
    found = [{place[row.version_id, row.ordinal] for row in rows} for rows in near]
    stored = [truth(rounded(filled.vectors), rounded(v[None])[0]) for _, v in asked]
    exact = [truth(filled.vectors, v) for _, v in asked]
    print_times("ours", ours)
    print_times("textbook", theirs)
    default = recall([{number[row.id] for row in rows} for rows in textbook], exact)
    print(f"recall of the textbook on the vectors as they came: {default:.4f}")
    holds = [
        stage.verdict("recall on the stored vectors", recall(found, stored), 1.0, least=True),
        stage.verdict("recall on the vectors as they came", recall(found, exact), 1.0, least=True),
        stage.verdict(
            "vector side, share of the textbook's time", stage.ratio(ours, theirs), 1 / 3
        ),
    ]
    print("\nwhole search statement")
    ours, theirs, _, _ = await timed(sides.our_search, sides.textbook_search, asked)
    print_times("ours", ours)
    print_times("textbook", theirs)
    holds.append(
        stage.verdict("search, share of the textbook's time", stage.ratio(ours, theirs), 1 / 5)
    )
    return all(holds)


def print_times(name: str, times: Sequence[float]) -> None:
    print(
        f"{name:9} median {statistics.median(times):7.2f} ms"
        f"  p95 {stage.percentile(times, 0.95):7.2f} ms"
    )


async def show_plan(sides: Sides, question: str, vector: Matrix) -> None:
    """How PostgreSQL runs the product's statement."""
    variants = [
        (term, n)
        for n, word in enumerate(question_terms(question, "en", ("en",)))
        for term in word.variants
    ]
    values: dict[str, Any] = {
        "notebook_id": sides.filled.notebook_id,
        "source_ids": None,
        "about": None,
        "set_id": sides.set_id,
        "vector": vector,
        "terms": [term for term, _ in variants],
        "words": [n for _, n in variants],
        "shares": [1.0 for _ in variants],
        "required": [],
        "parts": [],
        "numbers": [],
        "sizes": [],
        "patterns": [],
        "excludes": [],
        "reach": 200,
        "generated_slots": 2,
        "diversity": 2.0,
        "mode": "weighted",
        "candidates": 30,
        "rrf_k": 50,
        "floor": -1.0,
        "k": K,
    }
    explain = f"explain (analyze, costs, buffers off) {statement('search')}"
    for line in await sides.rows(explain, **values):
        print(re.sub(r"'\[[^']*'", "'[…]'", line[0])[:180])


@asynccontextmanager
async def filled(
    url: str, asked: argparse.Namespace
) -> AsyncIterator[tuple[Sides, list[tuple[str, Matrix]]]]:
    """The notebook that is searched amid others, and questions with their vectors."""
    corpus = stage.words()
    texts, vectors = Texts(corpus, 3), Vectors(7)
    async with open_both(url) as pool:
        async with PostgresUnitOfWork(pool)() as tx:
            owner = (await tx.accounts.add("bench@example.org", None, Decimal(0))).id
            in_force = (await tx.index.activate("bench", DIMENSION, "bench")).id
        await pool.execute(TEXTBOOK)

        async def others() -> None:
            for _ in range(3):
                rows = vectors.of(vectors.notebook(asked.chunks // 10))
                await fill(pool, owner, in_force, texts, rows, 5)

        await others()
        latent = vectors.notebook(asked.chunks)
        rows = vectors.of(latent)
        one = await fill(pool, owner, in_force, texts, rows, asked.sources)
        near = vectors.near(latent, asked.questions)
        await others()
        await pool.execute("vacuum analyze")
        questions = stage.questions(corpus, asked.questions, seed=11)
        yield Sides(pool, one, in_force), list(zip(questions, near, strict=True))


async def run(asked: argparse.Namespace) -> bool:
    with stage.folder() as data, stage.database(data) as url:
        async with filled(url, asked) as (sides, pairs):
            print(f"{asked.chunks} chunks in {asked.sources} sources, {len(pairs)} questions")
            holds = await measure(sides, pairs)
            if asked.plan:
                await show_plan(sides, *pairs[0])
    return holds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--sources", type=int, default=50)
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--plan", action="store_true", help="print how the statement is run")
    asked = parser.parse_args()
    stage.heading("Search: the product and the textbook")
    sys.exit(0 if asyncio.run(run(asked)) else 1)


if __name__ == "__main__":
    main()
