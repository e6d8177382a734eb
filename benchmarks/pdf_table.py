"""Read every file of the test data and every hostile file, and print what became of each.

    python benchmarks/pdf_table.py [data folder]

The folder is BELEG_TEST_DATA or ../shared/data. Expected results come from its manifest. Exits 1
where a file ends otherwise, where a phrase is not on exactly its page, or where a limit is passed.
"""

import asyncio
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unicodedata
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from pypdf import PdfReader, PdfWriter

from adapters.extraction.pdf_process import PdfProcesses
from adapters.extraction.reader import FileReader
from domain.errors import BelegError
from domain.source import Reading

ROOT = Path(__file__).resolve().parents[1]
MOST_SECONDS = 120.0
MOST_MEGABYTES = 1_200
# What the manifest calls a kind of file that has no text to read, and what the message must name.
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


@dataclass(frozen=True, slots=True)
class Outcome:
    """How reading one file ended; memory is the reading process's peak, in megabytes."""

    reading: Reading | None
    message: str
    seconds: float
    megabytes: float


async def outcome(path: Path, content: bytes) -> Outcome:
    """Read one file in a process of its own."""
    pool, peak = PdfProcesses(wall_s=MOST_SECONDS), 0.0
    reader = FileReader(pool)

    async def watch() -> None:
        nonlocal peak
        while True:
            peak = max([peak, *map(_peak_megabytes, pool.pids)])
            await asyncio.sleep(0.01)

    async def on_page(_done: int, _total: int) -> None:
        pass

    watching = asyncio.create_task(watch())
    started = time.perf_counter()
    reading, message = None, ""
    try:
        kind = reader.kind_of(content[:4096], path.name)
        reading = await reader.read(content, kind, on_page=on_page)
    except BelegError as error:
        message = f"{type(error).__name__}: {error.message}"
    seconds = time.perf_counter() - started
    peak = max([peak, *map(_peak_megabytes, pool.pids)])
    watching.cancel()
    await reader.aclose()
    return Outcome(reading, message, seconds, peak)


def _peak_megabytes(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text("ascii")
    except OSError:
        return 0.0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0


def folded(text: str) -> str:
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text).replace("\u00ad", ""))


def unlocked(content: bytes, password: str) -> bytes:
    """What a person does who is told that a file is protected."""
    out = BytesIO()
    PdfWriter(PdfReader(BytesIO(content), password=password)).write(out)
    return out.getvalue()


def hits(reading: Reading, needles: list[tuple[int, str]]) -> int:
    """How many phrases stand on exactly their page."""
    texts = [(passage.page, folded(passage.text)) for passage in reading.passages]
    return sum([page for page, text in texts if phrase in text] == [at] for at, phrase in needles)


def row(name: str, expected: str, found: Outcome, hit: str, *, right: bool) -> str:
    reading = found.reading
    pages = reading.pages or "-" if reading else "-"
    characters = sum(len(p.text) for p in reading.passages) if reading else 0
    result = "ready" if reading else "failed"
    note = found.message or (
        f"left out or marked: {len(reading.skipped)}" if reading and reading.skipped else ""
    )
    mark = " " if right else "!"
    return (
        f"{mark} {name[:33]:33} {expected:7} {result:7} {pages!s:>4} {characters:>9,}"
        f" {found.seconds:>7.2f} {found.megabytes:>6.0f} {hit:>6}  {note[:150]}"
    )


async def open_files(data: Path) -> bool:
    """The table of the PDFs; True where all is as the manifest wants it."""
    needles: dict[str, list[tuple[int, str]]] = {}
    for text in (data / "pdfs/needles.jsonl").read_text().splitlines():
        needle = json.loads(text)
        needles.setdefault(needle["file"], []).append((needle["page"], needle["text"]))
    right, found, sought = True, 0, 0
    with (data / "pdfs/manifest.tsv").open(newline="") as file:
        for entry in csv.DictReader(file, delimiter="\t"):
            path = data / "pdfs" / entry["file"]
            content = path.read_bytes()
            wanted = needles.get(path.name, [])
            names = [what for kind, what in FAILS.items() if re.search(kind, entry["kind"])]
            got = await outcome(path, content)
            fine = _fine(got) and (
                (got.reading is None and names[0] in got.message) if names else bool(got.reading)
            )
            reading = got.reading
            if entry["password"]:
                reading = (await outcome(path, unlocked(content, entry["password"]))).reading
            hit = hits(reading, wanted) if reading else 0
            fine = fine and hit == len(wanted)
            found, sought, right = found + hit, sought + len(wanted), right and fine
            told = f"{hit}/{len(wanted)}" if wanted else ""
            print(row(path.name, "failed" if names else "ready", got, told, right=fine))
    print(f"phrases on exactly their page: {found} of {sought}\n")
    return right


async def hostile_files(data: Path) -> bool:
    """The table of the hostile files; True where each ended within the limits."""
    right = True
    with tempfile.TemporaryDirectory() as folder:
        maker = [sys.executable, str(data / "safety/make_hostile.py"), folder]
        await (await asyncio.create_subprocess_exec(*maker, stdout=subprocess.DEVNULL)).wait()
        for path in _files(folder):
            got = await outcome(path, path.read_bytes())
            fine = _fine(got)
            right = right and fine
            print(row(path.name, "bounded", got, "", right=fine))
    return right


def _files(folder: str) -> list[Path]:
    return sorted(path for path in Path(folder).iterdir() if path.name != "manifest.tsv")


def _fine(found: Outcome) -> bool:
    return found.seconds < MOST_SECONDS and found.megabytes < MOST_MEGABYTES


async def speed(path: Path, content: bytes) -> None:
    """Pages a second of a long file, process start not counted: the median of five."""
    pool = PdfProcesses()
    reader = FileReader(pool)
    kind = reader.kind_of(content[:4096], path.name)

    async def on_page(_done: int, _total: int) -> None:
        pass

    rates = []
    for _ in range(6):
        started = time.perf_counter()
        reading = await reader.read(content, kind, on_page=on_page)
        rates.append((reading.pages or 0) / (time.perf_counter() - started))
    await reader.aclose()
    print(f"{path.name}: {sorted(rates[1:])[2]:.0f} pages/s\n")


async def main(data: Path) -> int:
    head = (
        "  file                              expect  result  page characters seconds     MB phrases"
    )
    print(head)
    right = await open_files(data)
    print(head)
    right = await hostile_files(data) and right
    longest = data / "pdfs/freeculture-352p.pdf"
    await speed(longest, longest.read_bytes())
    print("all as expected" if right else "NOT as expected: see the rows marked !")
    return 0 if right else 1


if __name__ == "__main__":
    given = sys.argv[1:2] or [os.environ.get("BELEG_TEST_DATA", ROOT / "../shared/data")]
    sys.exit(asyncio.run(main(Path(given[0]))))
