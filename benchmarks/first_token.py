"""From a question to the first piece of its answer, over HTTP: the product and a bare script.

    python benchmarks/first_token.py [--questions 120]

The product: signed in by a token, a notebook of about 1,000 chunks, streaming over the POST, read
from a socket. The floor: the bare script of `floor.py` over the same texts, provider and
PostgreSQL, in a process of its own, too, without HTTP. Beside them, the commits that the
product must make before it may show a piece: the recorded question with its first call, the second
call, the piece itself. All take turns, in an order that changes. Exits 1 where the product takes
more than twice the floor plus the commits.

Shown and not judged: the least that can be written, with texts and vectors in memory, where
nothing survives, and each call made by hand.
"""

import argparse
import asyncio
import base64
import random
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from urllib.parse import urlsplit

import asyncpg
import httpx
import msgspec
import numpy as np
import numpy.typing as npt

from benchmarks import stage
from benchmarks.floor import DIMENSION, PROMPT, Floor, K, asked
from domain.ids import new_id
from domain.usecases.ingest_source import IngestSettings

SOURCES, COMMITS, AT_ONCE = 10, 3, 8
_WARM = 8
_WORDS_PER_SOURCE = 31_000


def texts() -> list[str]:
    """Of so many words that they make about 1,000 chunks, for both sides."""
    words = stage.words()
    starts = (n * _WORDS_PER_SOURCE % (len(words) - _WORDS_PER_SOURCE) for n in range(SOURCES))
    return [
        f"Part {n}. " + " ".join(words[start : start + _WORDS_PER_SOURCE])
        for n, start in enumerate(starts)
    ]


def fill(client: httpx.Client, parts: Sequence[str]) -> str:
    """A notebook of text sources that are ready: its id."""
    assert IngestSettings().max_words >= _WORDS_PER_SOURCE
    notebook = str(client.post("/notebooks", json={"title": "Benchmark"}).json()["id"])
    route = f"/notebooks/{notebook}/sources"
    for part in parts:
        client.post(route, json={"title": part[:8], "text": part}).raise_for_status()
    while True:
        sources = client.get(route).json()["items"]
        if all(source["status"] == "ready" for source in sources):
            chunks = sum(source["chunk_count"] for source in sources)
            print(f"product: {chunks} chunks of 1,024 dimensions in {len(sources)} sources")
            return notebook
        if any(source["status"] == "failed" for source in sources):
            sys.exit(str(sources))
        time.sleep(0.1)


class Reader:
    """Reads streamed answers of the product from a socket of its own.

    A client library would add its own millisecond to the product's.
    """

    def __init__(self, address: str, authorization: str) -> None:
        self._url = urlsplit(address)
        self._head = (
            f"POST {self._url.path} HTTP/1.1\r\nHost: {self._url.netloc}\r\n"
            f"Authorization: {authorization}\r\nAccept: text/event-stream\r\n"
            "Content-Type: application/json\r\n"
        )
        self._socket: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, question: str) -> float:
        """Milliseconds to the first piece; the answer is read to its end."""
        if self._socket is None:
            self._socket = await asyncio.open_connection(self._url.hostname, self._url.port)
        reader, writer = self._socket
        body = msgspec.json.encode({"question": question})
        seen, waited, started = b"", 0.0, time.perf_counter()
        writer.write(f"{self._head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        while not seen.endswith(b"\r\n0\r\n\r\n"):
            piece = await reader.read(65_536)
            seen += piece
            if not waited and b"event: delta" in seen:
                waited = (time.perf_counter() - started) * 1000
            if not piece or not seen.startswith(b"HTTP/1.1 200 "):
                break
        return waited or sys.exit(f"no piece came: {seen[:500]!r}")

    def close(self) -> None:
        """Close the socket."""
        if self._socket:
            self._socket[1].close()


@dataclass(frozen=True, slots=True)
class Least:
    """The least that answers: all texts and vectors in memory, calls made by hand."""

    provider: httpx.AsyncClient
    passages: Sequence[str]
    vectors: npt.NDArray[np.float32]

    @classmethod
    async def of(cls, floor: Floor, provider: httpx.AsyncClient) -> "Least":
        """With what the script has kept."""
        rows = await floor.pool.fetch(
            "select text, embedding from floor_vectors join floor_chunks on id = chunk_id"
        )
        return cls(provider, [row.text for row in rows], np.stack([row.embedding for row in rows]))

    async def ask(self, question: str) -> float:
        """Milliseconds to the first piece."""
        started = time.perf_counter()
        sent = {
            "model": stage.MODELS["EMBEDDING_MODEL"],
            "input": [question],
            "dimensions": DIMENSION,
            "encoding_format": "base64",
        }
        answer = await self.provider.post("embeddings", json=sent)
        [row] = msgspec.json.decode(answer.content)["data"]
        vector = np.frombuffer(base64.b64decode(row["embedding"]), "<f4")
        nearest = np.argsort(-(self.vectors @ vector))[:K]
        body = {
            "model": stage.MODELS["LLM_MODEL"],
            "stream": True,
            "messages": [
                {"role": "system", "content": PROMPT},
                {"role": "user", "content": asked(question, [self.passages[n] for n in nearest])},
            ],
        }
        seen, waited = b"", 0.0
        async with self.provider.stream("POST", "chat/completions", json=body) as response:
            async for piece in response.aiter_raw():
                seen += piece
                if not waited and b'"content":' in seen:
                    waited = (time.perf_counter() - started) * 1000
        return waited or sys.exit(f"no piece came: {seen[:500]!r}")


class Script:
    """The bare script in a process of its own, as the product has one."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: dict[int, asyncio.Future[float]] = {}
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    @asynccontextmanager
    async def running(cls, database_url: str, provider_url: str) -> AsyncIterator["Script"]:
        """Until the end of the block."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.floor", database_url, provider_url),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=stage.ROOT,
        )
        script = cls(process)
        try:
            yield script
        finally:
            script._listening.cancel()
            process.terminate()
            await process.wait()

    async def ask(self, question: str) -> float:
        """Milliseconds to the first piece, as the script has measured them."""
        assert self._process.stdin is not None
        number = len(self._waiting)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        self._process.stdin.write(msgspec.json.encode((number, question)) + b"\n")
        return await self._waiting[number]

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            number, waited = msgspec.json.decode(line, type=tuple[int, float])
            self._waiting[number].set_result(waited)


async def commits(connection: asyncpg.Connection) -> float:
    """Milliseconds of the commits alone, each of one small row."""
    started = time.perf_counter()
    for _ in range(COMMITS):
        async with connection.transaction():
            await connection.execute(
                "insert into floor_commits values ($1, $2)", new_id(), "x" * 500
            )
    return (time.perf_counter() - started) * 1000


async def at_once(
    askers: Sequence[Callable[[str], Awaitable[float]]], questions: Sequence[str]
) -> list[float]:
    """Milliseconds of every question, asked by all of them at the same time."""
    waiting, taken = list(questions), []

    async def go_on(ask: Callable[[str], Awaitable[float]]) -> None:
        while waiting:
            taken.append(await ask(waiting.pop()))

    await asyncio.gather(*map(go_on, askers))
    return taken


def shown(name: str, times: Sequence[float]) -> None:
    print(
        f"{name:10} p50 {statistics.median(times):6.1f} ms"
        f"  p95 {stage.percentile(times, 0.95):6.1f} ms"
    )


async def in_turn(
    sides: Mapping[str, Callable[[str], Awaitable[float]]], questions: Sequence[str]
) -> dict[str, float]:
    """Median milliseconds of every side, one question at a time."""
    chance = random.Random(23)
    taken: dict[str, list[float]] = {side: [] for side in sides}
    for n, question in enumerate([*questions[:_WARM], *questions]):
        for side in chance.sample(list(sides), len(sides)):
            waited = await sides[side](f"{question} {n}")
            if n >= _WARM:
                taken[side].append(waited)
    for side, times in taken.items():
        shown(side, times)
    return {side: statistics.median(times) for side, times in taken.items()}


@dataclass(frozen=True, slots=True)
class Sides:
    """Where both sides are asked, and what they stand on."""

    product: str
    authorization: str
    provider_url: str
    database_url: str

    async def compare(self, texts: Sequence[str], questions: Sequence[str]) -> bool:
        """Whether the bound holds."""
        readers = [Reader(self.product, self.authorization) for _ in range(AT_ONCE)]
        async with (
            Floor.opened(self.database_url, self.provider_url) as floor,
            Script.running(self.database_url, self.provider_url) as script,
            httpx.AsyncClient(base_url=self.provider_url, timeout=60) as provider,
        ):
            print(f"floor: {sum([await floor.take(text) for text in texts])} chunks\n")
            least = await Least.of(floor, provider)
            async with floor.pool.acquire() as connection:
                await connection.execute("create table floor_commits (id uuid primary key, t text)")
                ms = await in_turn(
                    {
                        "product": readers[0].ask,
                        f"{COMMITS} commits": lambda _: commits(connection),
                        "floor": script.ask,
                        "least": least.ask,
                    },
                    questions,
                )
            print(f"\n{AT_ONCE} at once")
            crowd = [f"{question} !" for question in questions]
            shown("product", await at_once([reader.ask for reader in readers], crowd))
            shown("floor", await at_once([script.ask] * AT_ONCE, crowd))
        for reader in readers:
            reader.close()
        product, durable, *others = ms.values()
        of_floor, of_least = (product / (2 * other + durable) for other in others)
        print(f"\nshare of twice the least plus the commits, not judged: {of_least:.3f}")
        return stage.verdict(
            "first piece, share of twice the floor plus the commits", of_floor, 1.0
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=120)
    arguments = parser.parse_args()
    stage.heading("First piece: the product and a bare script")
    with stage.with_models() as (beleg, provider):
        _, address = beleg.web()
        beleg.worker()
        parts = texts()
        with closing(stage.account(address)) as client:
            product = f"{client.base_url}notebooks/{fill(client, parts)}/questions"
            sides = Sides(product, client.headers["Authorization"], provider, beleg.database_url)
            questions = stage.questions(" ".join(parts).split(), arguments.questions, seed=17)
            holds = asyncio.run(sides.compare(parts, questions))
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
