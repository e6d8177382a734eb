"""Read every open PDF and every hostile file by the reader alone: result, seconds, memory.

    python benchmarks/reader_table.py

Each in a process of its own, without the product; memory is that process's peak. A file with a
password is read again unlocked, as a person would. Exits 1 where a file ends otherwise than the
manifest wants, where a phrase is not on exactly its page, or where a limit is passed; 2 where the
data is absent.
"""

import asyncio
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from pypdf import PdfReader, PdfWriter

from adapters.extraction.pdf_process import PdfProcesses
from adapters.extraction.reader import FileReader
from benchmarks import stage
from benchmarks.files_table import MOST_SECONDS, Entry, entries, folded, hits, require_data
from domain.errors import BelegError
from domain.pdf_capture import composed
from domain.source import CaptureMode, Reading
from tests.conftest import SHARED_DATA

MOST_MEGABYTES = 1_200


@dataclass(frozen=True, slots=True)
class Outcome:
    """How reading one file ended; memory is the reading process's peak, in megabytes."""

    reading: Reading | None
    message: str
    seconds: float
    megabytes: float


async def outcome(content: bytes) -> Outcome:
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
        pdf = await reader.pdf_text(content, on_page=on_page)
        reading = composed(pdf, CaptureMode.TEXT, {}, sees=False)
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


def unlocked(content: bytes, password: str) -> bytes:
    """What a person does who is told that a file is protected."""
    out = BytesIO()
    PdfWriter(PdfReader(BytesIO(content), password=password)).write(out)
    return out.getvalue()


def phrases_hit(reading: Reading, entry: Entry) -> int:
    """How many of its phrases stand on exactly their page."""
    texts = [(passage.page or 0, folded(passage.text)) for passage in reading.passages]
    return hits(texts, entry.phrases)


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


async def open_files(listed: Sequence[Entry]) -> bool:
    """The table of the PDFs; True where all is as the manifest wants it."""
    right, found, sought = True, 0, 0
    for entry in listed:
        content = entry.path.read_bytes()
        got = await outcome(content)
        fine = _fine(got) and (
            got.reading is None and entry.cause in got.message if entry.cause else bool(got.reading)
        )
        reading = got.reading
        if entry.password:
            reading = (await outcome(unlocked(content, entry.password))).reading
        hit = phrases_hit(reading, entry) if reading else 0
        fine = fine and hit == len(entry.phrases)
        found, sought, right = found + hit, sought + len(entry.phrases), right and fine
        told = f"{hit}/{len(entry.phrases)}" if entry.phrases else ""
        expected = "failed" if entry.cause else "ready"
        print(row(entry.path.name, expected, got, told, right=fine))
    print(f"phrases on exactly their page: {found} of {sought}\n")
    return right


async def hostile_files(data: Path) -> bool:
    """The table of the hostile files; True where each ended within the limits."""
    right = True
    with tempfile.TemporaryDirectory() as folder:
        maker = [sys.executable, str(data / "safety/make_hostile.py"), folder]
        await (await asyncio.create_subprocess_exec(*maker, stdout=subprocess.DEVNULL)).wait()
        for path in _files(folder):
            got = await outcome(path.read_bytes())
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

    async def on_page(_done: int, _total: int) -> None:
        pass

    rates = []
    for _ in range(6):
        started = time.perf_counter()
        pdf = await reader.pdf_text(content, on_page=on_page)
        rates.append(len(pdf.pages) / (time.perf_counter() - started))
    await reader.aclose()
    print(f"{path.name}: {sorted(rates[1:])[2]:.0f} pages/s\n")


async def main() -> int:
    head = (
        "  file                              expect  result  page characters seconds     MB phrases"
    )
    print(head)
    right = await open_files(entries(stage.PDFS))
    print(head)
    right = await hostile_files(SHARED_DATA) and right
    longest = stage.PDFS / "freeculture-352p.pdf"
    await speed(longest, longest.read_bytes())
    print("all as expected" if right else "NOT as expected: see the rows marked !")
    return 0 if right else 1


if __name__ == "__main__":
    require_data()
    sys.exit(asyncio.run(main()))
