"""From a question to the first piece of its answer, over HTTP: the product and a bare script.

    python benchmarks/first_token.py [--questions 40]

The product: signed in by a token, a notebook of about 1,000 chunks, streaming over the POST, read
from a socket. The floor: one script that embeds the question, searches with numpy and reads the
first piece of a streamed chat, from the same provider. Beside them, the commits that the product
must make before it may show a piece: the recorded question with its first call, the second call,
the piece itself. All three take turns, in an order that changes.

Twice over. With a provider that answers at once, which decides: exits 1 where the product takes
more than twice that floor plus the commits. And, to see what another floor makes of it, with one
that pauses first, so that the floor takes the 9 to 11 ms of the machine the bound comes from.
"""

import argparse
import asyncio
import base64
import random
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from urllib.parse import urlsplit

import asyncpg
import httpx
import msgspec
import numpy as np
import numpy.typing as npt

from benchmarks import stage
from domain.ids import new_id
from domain.usecases.ingest_source import IngestSettings

CHUNKS, SOURCES, K = 1000, 10, 8
COMMITS = 3
PAUSE_S = 0.003
"""Before the vector and before the first piece."""
_WARM = 8
_WORDS_PER_SOURCE = 31_000


def fill(client: httpx.Client, words: Sequence[str]) -> str:
    """A notebook of text sources that are ready: its id."""
    assert IngestSettings().max_words >= _WORDS_PER_SOURCE
    notebook = str(client.post("/notebooks", json={"title": "Benchmark"}).json()["id"])
    for n in range(SOURCES):
        start = n * _WORDS_PER_SOURCE % max(1, len(words) - _WORDS_PER_SOURCE)
        body = f"Part {n}. " + " ".join(words[start : start + _WORDS_PER_SOURCE])
        route = f"/notebooks/{notebook}/sources"
        client.post(route, json={"title": f"Part {n}", "text": body}).raise_for_status()
    while True:
        sources = client.get(f"/notebooks/{notebook}/sources").json()["items"]
        if all(source["status"] == "ready" for source in sources):
            chunks = sum(source["chunk_count"] for source in sources)
            print(f"{chunks} chunks of 1,024 dimensions in {len(sources)} sources")
            return notebook
        if any(source["status"] == "failed" for source in sources):
            sys.exit(str(sources))
        time.sleep(0.1)


@dataclass(frozen=True, slots=True)
class Floor:
    """One script over the same provider; its passages are windows of the same words."""

    provider: httpx.AsyncClient
    passages: list[str]
    vectors: npt.NDArray[np.float32]

    @classmethod
    async def over(cls, provider: httpx.AsyncClient, words: Sequence[str]) -> "Floor":
        """With every passage embedded."""
        starts = (n * 310 % (len(words) - 360) for n in range(CHUNKS))
        passages = [" ".join(words[start : start + 360]) for start in starts]
        vectors = [
            vector
            for n in range(0, CHUNKS, 64)
            for vector in await _embed(provider, passages[n : n + 64])
        ]
        return cls(provider, passages, np.stack(vectors))

    async def ask(self, question: str) -> float:
        """Milliseconds to the first piece."""
        started = time.perf_counter()
        [vector] = await _embed(self.provider, [question])
        nearest = np.argsort(-(self.vectors @ vector))[:K]
        shown = "\n".join(
            f'<passage n="{n}">{self.passages[place]}</passage>'
            for n, place in enumerate(nearest, 1)
        )
        body = {
            "model": stage.MODELS["LLM_MODEL"],
            "stream": True,
            "messages": [
                {"role": "system", "content": "Answer from the passages and cite each as [n]."},
                {"role": "user", "content": f"{shown}\n\n{question}"},
            ],
        }
        seen, waited = b"", 0.0
        async with self.provider.stream("POST", "chat/completions", json=body) as response:
            async for piece in response.aiter_raw():
                seen += piece
                if not waited and b'"content":' in seen:
                    waited = (time.perf_counter() - started) * 1000
        return waited or sys.exit(f"no piece came: {seen[:500]!r}")


async def _embed(
    provider: httpx.AsyncClient, texts: Sequence[str]
) -> list[npt.NDArray[np.float32]]:
    answer = await provider.post(
        "embeddings",
        json={
            "model": stage.MODELS["EMBEDDING_MODEL"],
            "input": texts,
            "dimensions": 1024,
            "encoding_format": "base64",
        },
    )
    rows = msgspec.json.decode(answer.content)["data"]
    return [np.frombuffer(base64.b64decode(row["embedding"]), "<f4") for row in rows]


class Reader:
    """Reads streamed answers of the product from a socket of its own.

    A client library would add its own millisecond to the product's.
    """

    def __init__(self, address: str, notebook: str, authorization: str) -> None:
        self._url = urlsplit(address)
        self._head = (
            f"POST /api/v1/notebooks/{notebook}/questions HTTP/1.1\r\nHost: {self._url.netloc}\r\n"
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
        f"{name:28} p50 {statistics.median(times):6.1f} ms"
        f"  p95 {stage.percentile(times, 0.95):6.1f} ms"
    )


@dataclass(frozen=True, slots=True)
class Sides:
    """The product, the script and the commits beside them."""

    readers: Sequence[Reader]
    floor: Floor
    connection: asyncpg.Connection

    async def share(self, questions: Sequence[str], name: str) -> float:
        """The product's time as a share of twice the floor's plus the commits', by medians."""
        chance = random.Random(23)
        taken: dict[str, list[float]] = {"floor": [], f"{COMMITS} commits": [], "product": []}
        asked: list[Callable[[str], Awaitable[float]]] = [
            *(self.floor.ask, lambda _: commits(self.connection), self.readers[0].ask)
        ]
        turns = dict(zip(taken, asked, strict=True))
        for n, question in enumerate([*questions[:_WARM], *questions]):
            for side in chance.sample(list(turns), len(turns)):
                waited = await turns[side](f"{question} {name} {n}")
                if n >= _WARM:
                    taken[side].append(waited)
        print(f"\n{name}, one question at a time")
        for side, times in taken.items():
            shown(side, times)
        bare, durable, whole = map(statistics.median, taken.values())
        return whole / (2 * bare + durable)

    async def crowded(self, questions: Sequence[str]) -> None:
        """Eight questions at once."""
        print(f"\n{len(self.readers)} at once")
        asked = [self.floor.ask] * len(self.readers)
        shown("floor", await at_once(asked, [f"{q} !" for q in questions]))
        asked = [reader.ask for reader in self.readers]
        shown("product", await at_once(asked, [f"{q} !!" for q in questions]))


async def measure(sides: Sides, models: httpx.AsyncClient, questions: Sequence[str]) -> bool:
    bare = await sides.share(questions, "a provider that answers at once")
    await sides.crowded(questions)
    pauses = {"embedding_delay_s": PAUSE_S, "token_delay_s": PAUSE_S}
    (await models.post(models.base_url.join("/control"), json=pauses)).raise_for_status()
    paced = await sides.share(questions, f"a provider that pauses {PAUSE_S * 1000:g} ms")
    print()
    print(f"share of twice a floor of 9 to 11 ms plus the commits, not judged: {paced:.3f}")
    return stage.verdict("first piece, share of twice the floor plus the commits", bare, 1.0)


async def run(address: str, client: httpx.Client, provider: str, url: str, count: int) -> bool:
    words = stage.words()
    notebook = await asyncio.to_thread(fill, client, words)
    authorization = client.headers["Authorization"]
    readers = [Reader(address, notebook, authorization) for _ in range(8)]
    async with httpx.AsyncClient(base_url=provider, timeout=60) as models:
        floor = await Floor.over(models, words)
        connection = await asyncpg.connect(url)
        await connection.execute("create table floor_commits (id uuid primary key, body text)")
        questions = stage.questions(words, count, seed=17)
        holds = await measure(Sides(readers, floor, connection), models, questions)
        await connection.close()
    for reader in readers:
        reader.close()
    return holds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=40)
    asked = parser.parse_args()
    stage.heading("First piece: the product and a bare script")
    with (
        stage.folder() as data,
        stage.database(data) as url,
        stage.provider() as provider,
        stage.product(url, data, INFERENCE_BASE_URL=provider, **stage.MODELS) as beleg,
    ):
        _, address = beleg.web()
        beleg.worker()
        with closing(stage.account(address)) as client:
            holds = asyncio.run(run(address, client, provider, url, asked.questions))
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
