"""Put every open PDF of the test data through the product, and print what became of each.

    python benchmarks/pdf_table.py

Real processes, the test provider, uploads over HTTP. A row says how a file ended, its pages, what
was left out, how long it took, and how many of its phrases `/passages` shows on exactly their
page. Expected results come from the manifest; a file with a password must fail and name it, so
its phrases cannot be reached. Exits 1 where anything is otherwise, 2 where the data is absent.
"""

import csv
import json
import re
import sys
import time
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from benchmarks import stage

MOST_SECONDS = 120.0
FAILS = {
    r"wrong unicode map": "scrambled",
    r"no unicode map": "codes",
    r"^scanned(?! with OCR)": "text layer",
    r"^blank": "text layer",
    r"^forms; no page text": "text layer",
    r"^huge page image": "text layer",
    r"^encrypted-with-password": "password",
    r"^broken beyond repair": "broken",
    r"^not a PDF": "broken",
}
"""What the manifest calls a kind of file without text to read, and what the message must name."""
HEAD = "  file                              expect  result   pages chunks seconds phrases  message"
Phrase = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the manifest; `cause` is what a failure must name, "" where it must be ready."""

    path: Path
    pages: str
    cause: str
    password: str
    phrases: tuple[Phrase, ...]


def require_data() -> None:
    """End with 2 where the test data is absent."""
    if not (stage.PDFS / "manifest.tsv").is_file():
        print(f"The shared test data is not at {stage.PDFS.parent}; set BELEG_TEST_DATA to it.")
        sys.exit(2)


def entries(pdfs: Path) -> list[Entry]:
    """Every open PDF with its phrases."""
    phrases: dict[str, list[Phrase]] = {}
    for line in (pdfs / "needles.jsonl").read_text("utf-8").splitlines():
        needle = json.loads(line)
        phrases.setdefault(needle["file"], []).append((needle["page"], folded(needle["text"])))
    with (pdfs / "manifest.tsv").open(encoding="utf-8", newline="") as file:
        return [
            Entry(
                path=pdfs / row["file"],
                pages=row["pages"],
                cause=next(
                    (cause for kind, cause in FAILS.items() if re.search(kind, row["kind"])), ""
                ),
                password=row["password"],
                phrases=tuple(phrases.get(row["file"], ())),
            )
            for row in csv.DictReader(file, delimiter="\t")
        ]


def folded(text: str) -> str:
    """As phrases are compared."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text).replace("\u00ad", ""))


def hits(texts: Sequence[Phrase], phrases: Sequence[Phrase]) -> int:
    """How many phrases stand on exactly their page of these folded (page, text)."""
    return sum([page for page, text in texts if phrase in text] == [at] for at, phrase in phrases)


def through_the_product(client: httpx.Client, notebook: str, path: Path) -> dict[str, Any]:
    """The source that the file became, with the `seconds` from upload to its end.

    A refused upload has failed with the problem's words, like a reading that failed.
    """
    started = time.perf_counter()
    with path.open("rb") as file:
        answer = client.post(f"/notebooks/{notebook}/sources", files={"file": (path.name, file)})
    source: dict[str, Any] = answer.json()
    if answer.is_error:
        source = {"status": "failed", "error": source["detail"], "pages": None}
        source |= {"chunk_count": 0, "skipped": []}
    while source["status"] not in {"ready", "failed"}:
        if time.perf_counter() - started > MOST_SECONDS:
            break
        time.sleep(0.05)
        source = client.get(f"/sources/{source['id']}").raise_for_status().json()
    return {**source, "seconds": time.perf_counter() - started}


def phrases_hit(client: httpx.Client, source: Mapping[str, Any], entry: Entry) -> int:
    """How many of its phrases the API shows on exactly their page."""
    if source["status"] != "ready" or not entry.phrases:
        return 0
    passages = client.get(f"/sources/{source['id']}/passages").raise_for_status().json()
    return hits([(row["page"], folded(row["text"])) for row in passages], entry.phrases)


def is_right(entry: Entry, source: Mapping[str, Any], hit: int) -> bool:
    """Whether the file ended as its entry wants it."""
    if source["seconds"] >= MOST_SECONDS:
        return False
    if entry.cause:
        return source["status"] == "failed" and entry.cause in source["error"]
    return (
        source["status"] == "ready"
        and str(source["pages"]) == entry.pages
        and hit == len(entry.phrases)
    )


def row(entry: Entry, source: Mapping[str, Any], hit: int, *, right: bool) -> str:
    """A line of the table."""
    skipped = [f"page {page['page']}: {page['reason']}" for page in source["skipped"]]
    more = f" (and {len(skipped) - 1} more)" if len(skipped) > 1 else ""
    message = source["error"] or "".join(skipped[:1]) + more
    phrases = f"{hit}/{len(entry.phrases)}" if entry.phrases and not entry.password else ""
    expected, pages = "failed" if entry.cause else "ready", source["pages"] or "-"
    return (
        f"{' ' if right else '!'} {entry.path.name[:33]:33}"
        f" {expected:7} {source['status']:7} {pages!s:>6}"
        f" {source['chunk_count']:>6} {source['seconds']:>7.2f} {phrases:>7}  {message[:150]}"
    )


def table(client: httpx.Client, listed: Sequence[Entry]) -> bool:
    """Print it; True where every file ended as it should."""
    notebook = client.post("/notebooks", json={"title": "Open PDFs"}).json()["id"]
    wrong, found, sought = 0, 0, 0
    unreachable: list[str] = []
    print(HEAD)
    for entry in listed:
        source = through_the_product(client, notebook, entry.path)
        hit = phrases_hit(client, source, entry)
        right = is_right(entry, source, hit)
        print(row(entry, source, hit, right=right), flush=True)
        wrong += not right
        if entry.password:
            unreachable += [f"  {entry.path.name}, page {at}: {text}" for at, text in entry.phrases]
        else:
            found, sought = found + hit, sought + len(entry.phrases)
    print(f"\n{len(listed)} files, {len(listed) - wrong} as expected")
    print(f"phrases on exactly their page: {found} of {sought}")
    print(
        f"not reachable, for their file needs a password: {len(unreachable)}",
        *unreachable,
        sep="\n",
    )
    return not wrong and found == sought


def main() -> None:
    require_data()
    stage.heading("Every open PDF through the product")
    listed = entries(stage.PDFS)
    with (
        stage.folder() as data,
        stage.database(data) as url,
        stage.provider() as provider,
        stage.product(url, data, INFERENCE_BASE_URL=provider, **stage.MODELS) as beleg,
    ):
        web, address = beleg.web()
        worker = beleg.worker()
        with closing(stage.account(address)) as client:
            right = table(client, listed)
        if alive := web.poll() is None and worker.poll() is None:
            print("no process of the product ended")
    print("all as expected" if right and alive else "NOT as expected: see the rows marked !")
    sys.exit(0 if right and alive else 1)


if __name__ == "__main__":
    main()
