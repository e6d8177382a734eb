"""Read web pages, office files, tables, books and the hostile ones among them: a line each.

    python benchmarks/document_table.py

By the reader alone, each in a process of its own, whose peak memory is told. Files are made here;
web pages and hostile files come from the test data, where it is there. Exits 1 where one ends
otherwise than it should, where the articles are found worse than they must be, or where a limit
is passed.
"""

import asyncio
import gzip
import io
import json
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import docx
import openpyxl
import pptx

from adapters.extraction.pdf_process import PdfProcesses
from adapters.extraction.reader import FileReader
from domain.errors import BelegError
from domain.source import SourceKind
from tests.adapters.test_articles import precision_and_recall
from tests.conftest import SHARED_DATA

MOST_SECONDS = 120.0
MOST_MEGABYTES = 1_024
LEAST_F1 = 0.95
HEAD = "  file                         expect  result  pages characters seconds     MB  message"
WORDS = b"Die Br\xc3\xbccke wurde 1932 gebaut und ist seither rot. "
DOCUMENT = b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
SHEET = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'


@dataclass(frozen=True, slots=True)
class Case:
    """A file and what must become of it: `told` is in its message; "" where it must be read."""

    name: str
    content: bytes
    told: str | None = ""
    """None: either is right, within the limits."""
    kind: SourceKind | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of it; memory is the reading process's peak, in megabytes."""

    text: str
    pages: int | None
    message: str
    seconds: float
    megabytes: float


async def outcome(case: Case) -> Outcome:
    """Read one file in a process of its own."""
    pool, peak = PdfProcesses(wall_s=MOST_SECONDS), 0.0

    async def watch() -> None:
        nonlocal peak
        while True:
            peak = max([peak, *map(_peak_megabytes, pool.pids)])
            await asyncio.sleep(0.01)

    reader = FileReader(pool)
    watching = asyncio.create_task(watch())
    started = time.perf_counter()
    text, pages, message = "", None, ""
    try:
        kind = case.kind or reader.kind_of(case.content, case.name)
        reading = await reader.read(case.content, kind)
        text, pages = "\n".join(p.text for p in reading.passages), reading.pages
    except BelegError as error:
        message = f"{type(error).__name__}: {error.message}"
    seconds = time.perf_counter() - started
    watching.cancel()
    await reader.aclose()
    return Outcome(text, pages, message, seconds, peak)


def _peak_megabytes(pid: int) -> float:
    try:
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text("ascii"))
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0


def packed(parts: Mapping[str, bytes | str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return out.getvalue()


def saved(document: object, **changed: bytes) -> bytes:
    """A document of one of the libraries, with a part put in by its name ("__" for a slash)."""
    out = io.BytesIO()
    document.save(out)  # type: ignore[attr-defined] # of three libraries
    with zipfile.ZipFile(out) as archive:
        parts: dict[str, bytes | str] = {name: archive.read(name) for name in archive.namelist()}
    return packed(parts | {f"{k.replace('__', '/')}.xml": part for k, part in changed.items()})


def word(body: bytes) -> bytes:
    whole = DOCUMENT + b"<w:body>" + body + b"</w:body></w:document>"
    return saved(docx.Document(), word__document=whole)


def workbook(rows: bytes) -> bytes:
    whole = SHEET + rows + b"</sheetData></worksheet>"
    return saved(openpyxl.Workbook(), xl__worksheets__sheet1=whole)


def book(chapters: int, **more: str) -> bytes:
    ids = range(chapters)
    items = "".join(
        f'<item id="c{n}" href="c{n}.xhtml" media-type="application/xhtml+xml"/>' for n in ids
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in ids)
    package = f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>"
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfile full-path="c.opf"/></container>',
        "c.opf": package,
        **{f"c{n}.xhtml": f"<html><h1>{n}</h1><p>Text {n}</p></html>" for n in ids},
        **{name.replace("__", "/"): part for name, part in more.items()},
    }
    return packed(parts)


def slides(count: int) -> bytes:
    show = pptx.Presentation()
    for number in range(count):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number}"
    return saved(show)


def made() -> Iterator[Case]:
    """Documents of every kind, large and hostile ones too."""
    paragraph = b"<w:p><w:r><w:t>" + WORDS * 4 + b"</w:t></w:r></w:p>"
    nested = b"<w:tbl><w:tr><w:tc>%b</w:tc></w:tr></w:tbl>"
    yield Case("pages.docx", word(paragraph * 500))
    yield Case("unpacks-to-120-MB.docx", word(paragraph * 520_000), "more text")
    yield Case("28-MB-of-empty.docx", word(b"<w:p/>" * 4_800_000), "no text")
    deep = b"<w:p/>"
    for _ in range(500):
        deep = nested.replace(b"%b", deep)
    yield Case("500-tables-deep.docx", word(deep), "damaged")
    yield Case("macros.docm", packed({"word/vbaProject.bin": b"x"}), "macros")
    yield Case("slip.docx", packed({"word/x": b"", "../../x": b""}), "outside")
    yield Case("300-slides.pptx", slides(300))
    cells = b"".join(
        b'<row r="%d"><c r="A%d"><v>%d</v></c><c r="B%d"><v>1</v></c></row>' % (n, n, n, n)
        for n in range(1, 50_001)
    )
    yield Case("100-000-cells.xlsx", workbook(cells))
    far = b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>'
    yield Case("row-999-999-999.xlsx", workbook(far % (1, 1) + far % (999_999_999, 999_999_999)))
    wide = b"".join(far % (n, n) for n in range(1, 20_000))
    yield Case("20-000-rows-to-the-edge.xlsx", workbook(wide), "more cells")
    yield Case("3-000-chapters.epub", book(3_000), kind=SourceKind.EPUB)
    drm = {"META-INF__rights.xml": "<rights/>"}
    yield Case("protected.epub", book(1, **drm), "DRM", SourceKind.EPUB)
    yield Case("12-MB.csv", b"a;b;c\n" + b"1;wert;3.5\n" * 1_000_000)
    yield Case("open-quote.csv", b'a,"' + b"x\n" * 9_000_000)
    yield Case("one-line-of-20-MB.csv", b"wort " * 4_000_000)
    yield Case("one-paragraph-of-19-MB.html", b"<html><p>" + WORDS * 370_000)
    yield Case("a-million-links.html", b"<html>" + b"<a href=x>abc</a> " * 1_000_000, None)
    yield Case("tables-100-000-deep.html", b"<html>" + b"<table><tr><td>" * 100_000, "no text")
    old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2_000)
    yield Case("old.doc", old + "WordDocument".encode("utf-16-le"), ".docx")
    yield Case("locked.xlsx", old + "EncryptedPackage".encode("utf-16-le"), "password")


def hostile() -> Iterator[Case]:
    """What the test data's maker makes, but PDFs, which the other tables read."""
    with tempfile.TemporaryDirectory() as folder:
        maker = [sys.executable, str(SHARED_DATA / "safety/make_hostile.py"), folder]
        subprocess.run(maker, check=True, stdout=subprocess.DEVNULL)
        for path in sorted(Path(folder).iterdir()):
            if path.suffix not in {".pdf", ".tsv"}:
                yield Case(path.name, path.read_bytes(), None)


def line(case: Case, found: Outcome) -> tuple[str, bool]:
    """A row of the table, and whether all of it is right."""
    ended = case.told is None or (
        case.told in found.message if case.told else not found.message and bool(found.text)
    )
    right = ended and found.seconds < MOST_SECONDS and found.megabytes < MOST_MEGABYTES
    expected = "bounded" if case.told is None else "failed" if case.told else "ready"
    told = (
        f"{' ' if right else '!'} {case.name[:28]:28} {expected:7}"
        f" {'failed' if found.message else 'ready':7} {found.pages or '-'!s:>5}"
        f" {len(found.text):>10,} {found.seconds:>7.2f} {found.megabytes:>6.0f}"
        f"  {found.message[:110]}"
    )
    return told, right


async def articles() -> tuple[str, bool]:
    """The measure of scrapinghub's article-extraction benchmark over the open web pages."""
    reader = FileReader(PdfProcesses())
    scores = []
    for row in (SHARED_DATA / "web/gold.jsonl").read_text("utf-8").splitlines():
        page = json.loads(row)
        content = (SHARED_DATA / f"web/pages/{page['id']}.html.gz").read_bytes()
        reading = await reader.read(gzip.decompress(content), SourceKind.URL)
        scores.append(precision_and_recall(page["text"], reading.passages[0].text))
    await reader.aclose()
    precision, recall = (mean(column) for column in zip(*scores, strict=True))
    f1 = 2 * precision * recall / (precision + recall)
    told = f"{len(scores)} web pages: F1 {f1:.3f} (precision {precision:.3f}, recall {recall:.3f})"
    return f"{' ' if f1 >= LEAST_F1 else '!'} {told}, at least {LEAST_F1}", f1 >= LEAST_F1


async def rows() -> list[tuple[str, bool]]:
    """Every line of the table, printed as it comes, and whether it is right."""
    print(HEAD)
    found = []
    has_data = SHARED_DATA.is_dir()
    for case in [*made(), *(hostile() if has_data else ())]:
        found.append(line(case, await outcome(case)))
        print(found[-1][0], flush=True)
    if has_data:
        found.append(await articles())
        print(found[-1][0])
    return found


if __name__ == "__main__":
    is_right = all(right for _, right in asyncio.run(rows()))
    print("all as expected" if is_right else "NOT as expected: see the rows marked !")
    sys.exit(0 if is_right else 1)
