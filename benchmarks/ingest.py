"""Ingest text PDFs through the whole product, and through a bare script: pages per second.

    python benchmarks/ingest.py [--rounds 5]

The product: files over HTTP into a web process, read by a worker, as their own processes. The
floor: the bare script of `floor.py`. Both commit with fsync. Rounds take turns. Exits 1 below half
of the floor.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pypdfium2

from benchmarks import stage
from benchmarks.floor import Floor
from domain.channels import SOURCE_CHANGED

FILES = (
    *("paper-rag-2005.11401", "paper-alce", "paper-tracemonkey", "pdkids-55p", "redbook-18p"),
    "wordprocessor-5p",
)


def papers(scratch: Path) -> list[Path]:
    """The open PDFs, or made-up ones of as many pages where they are absent."""
    if stage.PDFS.is_dir():
        return [stage.PDFS / f"{name}.pdf" for name in FILES]
    words, made = iter(stage.words()), []
    for n in range(6):
        path = scratch / f"made-{n}.pdf"
        path.write_bytes(_pdf([[next(words) for _ in range(450)] for _ in range(22)]))
        made.append(path)
    return made


def _pdf(pages: Sequence[Sequence[str]]) -> bytes:
    """A PDF with a text layer: each page a list of words, ten a line, each put in its place."""
    bodies = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1"]
    bodies[2] += b" /BaseFont /Helvetica >>"
    kids = []
    for words in pages:
        shown = "".join(
            f"1 0 0 1 {40 + n % 10 * 50} {800 - n // 10 * 14} Tm ({word}) Tj "
            for n, word in enumerate(words)
        )
        content = f"BT /F1 9 Tf {shown}ET".encode("ascii")
        kids.append(len(bodies) + 1)
        bodies.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % (len(bodies) + 2)
        )
        bodies.append(b"<< /Length %d >> stream\n%b\nendstream" % (len(content), content))
    listed = " ".join(f"{kid} 0 R" for kid in kids)
    bodies[1] = f"<< /Type /Pages /Kids [{listed}] /Count {len(kids)} >>".encode()
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(bodies) + 1)
    tail = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF"
    return out + head + table + tail % (len(bodies) + 1, len(out))


def pages_of(paths: Sequence[Path]) -> int:
    count = 0
    for path in paths:
        file = pypdfium2.PdfDocument(path)
        count += len(file)
        file.close()
    return count


async def through_the_floor(database_url: str, provider_url: str, paths: Sequence[Path]) -> float:
    """Seconds from the first file's bytes to the last commit."""
    async with Floor.opened(database_url, provider_url) as floor:
        started = time.perf_counter()
        for path in paths:
            await floor.read(path.read_bytes())
        return time.perf_counter() - started


def through_the_product(address: str, paths: Sequence[Path], database_url: str) -> float:
    """Seconds from the first upload until every source is ready, for an account of its own."""
    with (
        closing(stage.account(address)) as client,
        psycopg.connect(database_url, autocommit=True) as news,
    ):
        news.execute(f"listen {SOURCE_CHANGED}")
        notebook = client.post("/notebooks", json={"title": "Papers"}).json()["id"]
        route = f"/notebooks/{notebook}/sources"
        contents = [(path.name, path.read_bytes()) for path in paths]
        started = time.perf_counter()
        for file in contents:
            added = client.post(route, files={"file": file}, data={"pdf_capture": "text"})
            added.raise_for_status()
        _wait_until_read(news)
        sources = client.get(route).json()["items"]
        seconds = time.perf_counter() - started
    for source in sources:
        if source["status"] != "ready":
            sys.exit(f"{source['title']} is {source['status']}: {source['error']}")
    return seconds


def _wait_until_read(news: psycopg.Connection[Any]) -> None:
    """Return as soon as no source is waiting or read; each change is told as it is committed.

    Asking the API again and again would take the product's time from it.
    """
    unread = "select 1 from sources where status in ('queued', 'processing') limit 1"
    deadline = time.perf_counter() + 60
    while news.execute(unread).fetchone():
        if time.perf_counter() > deadline:
            sys.exit("Nothing is ready after a minute.")
        next(news.notifies(timeout=0.05, stop_after=1), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    stage.heading("Ingest: the product and a bare script")
    with (
        tempfile.TemporaryDirectory() as scratch,
        stage.with_models() as (beleg, provider),
    ):
        url = beleg.database_url
        paths = papers(Path(scratch))
        pages = pages_of(paths)
        _, address = beleg.web()
        beleg.worker()
        print(f"{len(paths)} files, {pages} pages, {asked.rounds} rounds")
        ours, theirs = [], []
        for n in range(asked.rounds + 1):
            bare = pages / asyncio.run(through_the_floor(url, provider, paths))
            whole = pages / through_the_product(address, paths, url)
            if n:  # the first round warms both
                theirs.append(bare)
                ours.append(whole)
            print(
                f"{'round' if n else 'warm '} {n}: floor {bare:6.1f}  product {whole:6.1f} pages/s"
            )
        print(
            f"floor {statistics.median(theirs):.1f}, product {statistics.median(ours):.1f} pages/s"
        )
        holds = stage.verdict(
            "pages/s, share of the floor's", stage.ratio(ours, theirs), 0.5, least=True
        )
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
