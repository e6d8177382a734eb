"""Hundreds of open pages on one web process: memory, idle time, pages and news meanwhile.

    python benchmarks/streams.py [--streams 1000]

Every open page holds a stream of its sources and one of its studio; half of them stand on a
notebook in which a source is then added. Exits 1 where a stream takes more than 100 kB, where a
page takes more than twice as long beside them as alone, or where somebody does not hear the news.
"""

import argparse
import asyncio
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from app.security import COOKIE, csrf_token
from benchmarks import stage

SOURCES, PAGES, AT_A_TIME, IDLE_S, NEWS_S = 20, 40, 50, 10, 30
MOST_KB, MOST_SLOWER = 100.0, 2.0


@dataclass(slots=True)
class Stream:
    """A stream that is read as it comes."""

    opened: asyncio.Event = field(default_factory=asyncio.Event)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    heard_at: float = 0.0
    """When the last event came, by `time.perf_counter`."""

    async def follow(self, address: str, path: str, session: str) -> None:
        """Read to the end, or until cancelled."""
        url = urlsplit(address)
        reader, writer = await asyncio.open_connection(url.hostname, url.port)
        writer.write(
            f"GET {path} HTTP/1.1\r\nHost: {url.netloc}\r\nAccept: text/event-stream\r\n"
            f"Cookie: {COOKIE}={session}\r\n\r\n".encode()
        )
        try:
            while piece := await reader.read(65_536):
                if piece.startswith(b"HTTP/1.1 200 "):
                    self.opened.set()
                if b"id: " in piece:
                    self.heard_at = time.perf_counter()
                    self.news.set()
        finally:
            writer.close()


def notebook(client: httpx.Client, title: str) -> str:
    """A notebook of sources that are ready: its id."""
    made = str(client.post("/api/v1/notebooks", json={"title": title}).json()["id"])
    route = f"/api/v1/notebooks/{made}/sources"
    for n in range(SOURCES):
        text = f"Part {n} of {title}. " * 40
        client.post(route, json={"title": f"Part {n}", "text": text}).raise_for_status()
    while any(source["status"] != "ready" for source in client.get(route).json()["items"]):
        time.sleep(0.1)
    return made


@dataclass(frozen=True, slots=True)
class Visit:
    """A browser's session, and the process it speaks to."""

    address: str
    session: str
    process: int

    async def pages_ms(self, path: str) -> list[float]:
        """Milliseconds of one page after the other."""
        taken = []
        async with httpx.AsyncClient(
            base_url=self.address, cookies={COOKIE: self.session}, timeout=60
        ) as client:
            for n in range(PAGES + 5):
                started = time.perf_counter()
                (await client.get(path)).raise_for_status()
                if n >= 5:
                    taken.append((time.perf_counter() - started) * 1000)
        return taken

    @asynccontextmanager
    async def following(self, paths: Sequence[str], count: int) -> AsyncIterator[list[Stream]]:
        """So many streams, opened a few at a time, on these paths in turn."""
        streams = [Stream() for _ in range(count)]
        tasks = []
        for first in range(0, count, AT_A_TIME):
            some = streams[first : first + AT_A_TIME]
            for n, stream in enumerate(some, first):
                path = paths[n % len(paths)]
                following = stream.follow(self.address, path, self.session)
                tasks.append(asyncio.create_task(following))
            if not await _all_set([stream.opened for stream in some]):
                sys.exit("Streams do not open.")
        try:
            yield streams
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def memory_kb(self) -> float:
        """Resident memory of the process."""
        return (
            int(Path(f"/proc/{self.process}/statm").read_text().split()[1])
            * os.sysconf("SC_PAGE_SIZE")
            / 1000
        )

    def busy_s(self) -> float:
        """CPU seconds of the process so far."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _all_set(events: Sequence[asyncio.Event]) -> bool:
    """Whether all of them are set within half a minute."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    _, late = await asyncio.wait(waiting, timeout=NEWS_S)
    for task in late:
        task.cancel()
    return not late


async def measure(visit: Visit, client: httpx.Client, count: int) -> bool:
    changing, still = notebook(client, "News"), notebook(client, "Calm")
    page = f"/notebooks/{changing}"
    paths = [
        f"/notebooks/{made}/{list_}/events"
        for made in (changing, still)
        for list_ in ("sources", "documents")
    ]
    alone = await visit.pages_ms(page)
    before = visit.memory_kb()
    started = time.perf_counter()
    async with visit.following(paths, count) as streams:
        seconds = time.perf_counter() - started
        each = (visit.memory_kb() - before) / count
        print(f"{count} streams opened in {seconds:.1f} s, {each:.0f} kB each")
        await asyncio.sleep(IDLE_S)
        busy = visit.busy_s()
        await asyncio.sleep(IDLE_S)
        print(f"idle: {(visit.busy_s() - busy) / IDLE_S:.1%} of a core")
        beside = await visit.pages_ms(page)
        readers = streams[:: len(paths)]
        for stream in readers:
            stream.news.clear()
        started = time.perf_counter()
        source = {"title": "News", "text": "It has just come in. " * 20}
        await asyncio.to_thread(client.post, f"/api/v1{page}/sources", json=source)
        await _all_set([stream.news for stream in readers])
        news = [(s.heard_at - started) * 1000 for s in readers if s.news.is_set()]
    for name, times in (("page alone", alone), ("page beside them", beside), ("news", news)):
        print(
            f"{name:16} p50 {statistics.median(times):6.1f} ms"
            f"  p95 {stage.percentile(times, 0.95):6.1f} ms"
        )
    return all(
        [
            stage.verdict("kB a stream", each, MOST_KB),
            stage.verdict("page beside them, times alone", stage.ratio(beside, alone), MOST_SLOWER),
            stage.verdict("share that heard the news", len(news) / len(readers), 1, least=True),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=1000)
    arguments = parser.parse_args()
    stage.heading("Open pages on one web process")
    with stage.with_models(BELEG_LOCAL="1") as (beleg, _):
        web, address = beleg.web()
        beleg.worker()
        with closing(httpx.Client(base_url=address, timeout=60)) as client:
            client.get("/").raise_for_status()
            session = str(client.cookies[COOKIE])
            client.headers["X-CSRF-Token"] = csrf_token(session)
            holds = asyncio.run(
                measure(Visit(address, session, web.pid), client, arguments.streams)
            )
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
