"""From a question to the first piece of its answer, over HTTP: the product and a bare script.

    python benchmarks/first_token.py [--questions 40]

The product: signed in by a token, a notebook of about 1,000 chunks, streaming over the POST. The
floor: one script that embeds the question, searches with numpy and reads the first piece of a
streamed chat, from the same provider. Beside them, the commits that the product must make before
it may show a piece: the recorded question with its first call, the second call, the piece itself.
All three take turns. Exits 1 where the product takes more than twice the floor plus the commits.
"""

import argparse
import asyncio
import base64
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

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
        return await _first(self.provider, "chat/completions", body, b'"content":', started)


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


async def _first(
    client: httpx.AsyncClient, path: str, body: object, mark: bytes, started: float
) -> float:
    """Milliseconds until `mark` is in the streamed response, which is then read to its end."""
    seen, waited = b"", 0.0
    headers = {"Accept": "text/event-stream"}
    async with client.stream("POST", path, json=body, headers=headers) as response:
        response.raise_for_status()
        async for piece in response.aiter_raw():
            if not waited:
                seen += piece
                if mark in seen:
                    waited = (time.perf_counter() - started) * 1000
    if not waited:
        sys.exit(f"no piece came: {seen[:500]!r}")
    return waited


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
    ask: Callable[[str], Awaitable[float]], questions: Sequence[str], readers: int
) -> list[float]:
    """Milliseconds of every question, asked by so many readers at a time."""
    waiting, taken = list(questions), []

    async def reader() -> None:
        while waiting:
            taken.append(await ask(waiting.pop()))

    await asyncio.gather(*(reader() for _ in range(readers)))
    return taken


def shown(name: str, times: Sequence[float]) -> None:
    print(
        f"{name:28} p50 {statistics.median(times):6.1f} ms"
        f"  p95 {stage.percentile(times, 0.95):6.1f} ms"
    )


async def measure(
    floor: Floor, product: httpx.AsyncClient, notebook: str, url: str, questions: Sequence[str]
) -> bool:
    async def ask(question: str) -> float:
        path = f"notebooks/{notebook}/questions"
        body = {"question": question}
        return await _first(product, path, body, b"event: delta", time.perf_counter())

    connection = await asyncpg.connect(url)
    await connection.execute("create table floor_commits (id uuid primary key, body text)")
    for question in questions[:8]:
        await ask(f"{question} (warm)")
        await floor.ask(f"{question} (warm)")
        await commits(connection)
    bare, durable, whole = [], [], []
    for question in questions:
        bare.append(await floor.ask(f"{question} ?"))
        durable.append(await commits(connection))
        whole.append(await ask(question))
    await connection.close()
    print("\none question at a time")
    shown("floor", bare)
    shown(f"{COMMITS} commits", durable)
    shown("product", whole)
    print("\n8 at once")
    shown("floor", await at_once(floor.ask, [f"{q} !" for q in questions], 8))
    shown("product", await at_once(ask, [f"{q} !!" for q in questions], 8))
    allowed = 2 * statistics.median(bare) + statistics.median(durable)
    print()
    return stage.verdict(
        "first piece, share of twice the floor plus the commits",
        statistics.median(whole) / allowed,
        1.0,
    )


async def run(address: str, client: httpx.Client, provider: str, url: str, count: int) -> bool:
    words = stage.words()
    notebook = await asyncio.to_thread(fill, client, words)
    headers = {"Authorization": client.headers["Authorization"]}
    async with (
        httpx.AsyncClient(base_url=provider, timeout=60) as models,
        httpx.AsyncClient(base_url=f"{address}/api/v1", headers=headers, timeout=60) as product,
    ):
        floor = await Floor.over(models, words)
        questions = stage.questions(words, count, seed=17)
        return await measure(floor, product, notebook, url, questions)


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
