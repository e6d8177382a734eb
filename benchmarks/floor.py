"""The bare script that the product is measured beside: it reads PDFs and answers, and no more.

    python -m benchmarks.floor DATABASE_URL PROVIDER_URL

It is written with the product's own libraries, in the straightest way: PDFium, windows cut by a
regex, the OpenAI SDK to the same provider, rows in the same PostgreSQL with fsync on, the plainest
exact search over them. It speaks no HTTP, knows no accounts and no notebooks, detects no language,
has no keyword side, keeps no ledger and no history, maps no citation and survives no kill.

As a process it reads numbered questions, a line of JSON each, and tells for each number how many
milliseconds the first piece of its answer took.
"""

import asyncio
import base64
import re
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg
import msgspec
import numpy as np
import numpy.typing as npt
import pypdfium2
from openai import AsyncOpenAI
from sqlalchemy.engine import make_url

from adapters.postgres.connection import open_pool
from app.settings import read_settings
from benchmarks import stage
from domain.ids import new_id

TOKENS, OVERLAP, K, DIMENSION = 420, 50, 8, 1024
BATCH = read_settings({}).embedding_batch_items
PROMPT = "Answer from the passages and cite each as [n]."
_TOKEN = re.compile(r"\w+|[^\w\s]")
_TABLES = """
create table if not exists floor_chunks (id uuid primary key, source uuid, page int, start_at int,
    end_at int, text text not null);
create table if not exists floor_vectors (chunk_id uuid not null, embedding halfvec not null);
alter table floor_vectors alter column embedding set storage plain;
create index if not exists floor_vectors_chunk on floor_vectors (chunk_id);
"""
_NEAREST = """
select text from (
    select chunk_id, embedding <=> $1 as distance from floor_vectors order by distance limit $2
) as nearest join floor_chunks on id = chunk_id order by distance
"""
Vector = npt.NDArray[np.float32]
Window = tuple[int, int, int, str]
"""Page, start, end, text."""


@dataclass(frozen=True, slots=True)
class Floor:
    """The bare script."""

    pool: asyncpg.Pool
    models: AsyncOpenAI

    @classmethod
    @asynccontextmanager
    async def opened(cls, database_url: str, provider_url: str) -> AsyncIterator["Floor"]:
        """Connected, with its tables made."""
        url = make_url(database_url).render_as_string(hide_password=False)
        async with (
            open_pool(url, size=8) as pool,
            AsyncOpenAI(base_url=provider_url, api_key="test", max_retries=0) as models,
        ):
            await pool.execute(_TABLES)
            yield cls(pool, models)

    async def read(self, pdf: bytes) -> None:
        """Read, cut and keep one PDF."""
        file = pypdfium2.PdfDocument(pdf)
        texts = (
            file[number].get_textpage().get_text_range().replace("\0", "")
            for number in range(len(file))
        )
        windows = [window for page, text in enumerate(texts, 1) for window in _windows(page, text)]
        file.close()
        await self._keep(windows)

    async def take(self, text: str) -> int:
        """Cut and keep a text: how many chunks it has."""
        windows = list(_windows(1, text))
        await self._keep(windows)
        return len(windows)

    async def answer(self, question: str) -> AsyncIterator[str]:
        """The pieces of an answer from what was kept, as they come."""
        [vector] = await self._embedded([question])
        rows = await self.pool.fetch(_NEAREST, vector, K)
        stream = await self.models.chat.completions.create(
            model=stage.MODELS["LLM_MODEL"],
            messages=[
                {"role": "system", "content": PROMPT},
                {"role": "user", "content": asked(question, [row[0] for row in rows])},
            ],
            stream=True,
        )
        async for chunk in stream:
            if chunk.choices and (piece := chunk.choices[0].delta.content):
                yield piece

    async def first_piece_ms(self, question: str) -> float:
        """Milliseconds to the first piece of an answer, which is taken to its end."""
        started, waited = time.perf_counter(), 0.0
        async for _ in self.answer(question):
            waited = waited or (time.perf_counter() - started) * 1000
        return waited or sys.exit("no piece came")

    async def _keep(self, windows: Sequence[Window]) -> None:
        source = new_id()
        chunks = [(new_id(), source, *window) for window in windows]
        vectors = [
            vector
            for n in range(0, len(chunks), BATCH)
            for vector in await self._embedded([chunk[-1] for chunk in chunks[n : n + BATCH]])
        ]
        async with self.pool.acquire() as connection, connection.transaction():
            await connection.copy_records_to_table("floor_chunks", records=chunks)
            await connection.copy_records_to_table(
                "floor_vectors",
                records=[(c[0], v) for c, v in zip(chunks, vectors, strict=True)],
            )

    async def _embedded(self, texts: list[str]) -> list[Vector]:
        made = await self.models.embeddings.create(
            model=stage.MODELS["EMBEDDING_MODEL"],
            input=texts,
            dimensions=DIMENSION,
            encoding_format="base64",
        )
        return [np.frombuffer(base64.b64decode(str(row.embedding)), "<f4") for row in made.data]


def asked(question: str, passages: Sequence[str]) -> str:
    """What the model is asked."""
    shown = "\n".join(f'<passage n="{n}">{text}</passage>' for n, text in enumerate(passages, 1))
    return f"{shown}\n\n{question}"


def _windows(page: int, text: str) -> Iterator[Window]:
    spans = [match.span() for match in _TOKEN.finditer(text)]
    for first in range(0, max(len(spans) - OVERLAP, min(len(spans), 1)), TOKENS - OVERLAP):
        start, end = spans[first][0], spans[min(first + TOKENS, len(spans)) - 1][1]
        yield page, start, end, text[start:end]


async def run(database_url: str, provider_url: str) -> None:
    """Answer what comes on standard input, several questions at a time, to its end."""
    loop, questions = asyncio.get_running_loop(), asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(questions), sys.stdin)
    async with Floor.opened(database_url, provider_url) as floor, asyncio.TaskGroup() as answering:

        async def tell(number: int, question: str) -> None:
            sys.stdout.buffer.write(
                msgspec.json.encode((number, await floor.first_piece_ms(question))) + b"\n"
            )
            sys.stdout.buffer.flush()

        async for line in questions:
            answering.create_task(tell(*msgspec.json.decode(line, type=tuple[int, str])))


if __name__ == "__main__":
    asyncio.run(run(*sys.argv[1:]))
