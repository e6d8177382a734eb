"""Files in, passages out: every kind, every fault, and the process that does it."""

import asyncio
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time
import unicodedata
import zlib
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter
from small_pdf import bomb, line, pdf

from adapters.extraction.pdf_process import PdfProcesses
from adapters.extraction.reader import FileReader
from domain.errors import NotFound, Unavailable, Unreadable, UnsupportedType
from domain.pdf_capture import composed
from domain.ports import Box
from domain.source import CaptureMode, Reading, SourceKind

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("BELEG_TEST_DATA", ROOT / "../shared/data"))
with_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the shared test data (BELEG_TEST_DATA) is not here"
)


@pytest.fixture
async def processes() -> AsyncIterator[PdfProcesses]:
    pool = PdfProcesses()
    yield pool
    await pool.aclose()


@pytest.fixture
def reader(processes: PdfProcesses) -> FileReader:
    return FileReader(processes)


async def read(reader: FileReader, content: bytes, kind: SourceKind = SourceKind.PDF) -> Reading:
    async def on_page(done: int, total: int) -> None:
        assert 0 < done <= total

    if kind is not SourceKind.PDF:
        return await reader.read(content, kind)
    pdf_text = await reader.pdf_text(content, on_page=on_page)
    return composed(pdf_text, CaptureMode.TEXT, {}, sees=False)


def encrypted(content: bytes, *, user: str, owner: str) -> bytes:
    writer = PdfWriter(PdfReader(BytesIO(content)))
    writer.encrypt(user, owner, algorithm="AES-128")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


class TestKinds:
    @pytest.mark.parametrize(
        ("head", "name", "kind"),
        [
            (b"%PDF-1.7\n", "a.txt", SourceKind.PDF),
            (b"junk\n" * 100 + b"%PDF-1.4\n", "a", SourceKind.PDF),
            (b"%\xe2\xe3\xcf\xd3\n1 0 obj \n<<\n/Pages 2 0 R", "a.pdf", SourceKind.PDF),
            (b"\x89PNG\r\n\x1a\n\0\0", "a.pdf", SourceKind.IMAGE),
            (b"\xff\xd8\xff\xe0", "a", SourceKind.IMAGE),
            (b"GIF89a", "a.txt", SourceKind.IMAGE),
            (b"RIFF\0\0\0\0WEBPVP8 ", "a.webp", SourceKind.IMAGE),
            (b"\0\0\0\x18ftypheic", "a.heic", SourceKind.IMAGE),
            (b"Hello", "a.pdf", SourceKind.TEXT),
            (b"", "empty.txt", SourceKind.TEXT),
            ("Grüße".encode("utf-16"), "a.txt", SourceKind.TEXT),
            ("Grüße ohne Marke".encode("utf-16-le"), "a.txt", SourceKind.TEXT),
            ("„Grüße“".encode("cp1252"), "a.txt", SourceKind.TEXT),
            (b"abc\0def\n", "a.txt", SourceKind.TEXT),
            (b"# Title", "README.MD", SourceKind.MARKDOWN),
            (b"<p align=center>", "a.md", SourceKind.MARKDOWN),
        ],
    )
    def test_from_the_bytes(self, head: bytes, name: str, kind: SourceKind) -> None:
        assert FileReader().kind_of(head, name) is kind

    @pytest.mark.parametrize(
        ("head", "called"),
        [
            (b"\0\0\0\x18ftypavif", "AVIF"),
            (b"PK\x03\x04....a.txt", "ZIP"),
            (b"\x1f\x8b\x08", "gzip"),
            (b"\x7fELF\x02", "program"),
            (bytes(range(256)) * 4, "no text"),
        ],
    )
    def test_what_is_not_read_is_named(self, head: bytes, called: str) -> None:
        with pytest.raises(UnsupportedType, match=called):
            FileReader().kind_of(head, "a.pdf")


class TestText:
    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ("Grüße, 20 €".encode(), "Grüße, 20 €"),
            ("Grüße, 20 €".encode("utf-8-sig"), "Grüße, 20 €"),
            ("Grüße, 20 €".encode("utf-16"), "Grüße, 20 €"),
            ("Grüße, 20 €".encode("utf-16-be"), "Grüße, 20 €"),
            ("Grüße, 20 €".encode("utf-32"), "Grüße, 20 €"),
            ("Grüße, Straße, 20 EUR.".encode("latin-1"), "Grüße, Straße, 20 EUR."),
            ("„Grüße“ – 20 €.".encode("cp1252"), "„Grüße“ – 20 €."),
            (b"abc\0def\r\n", "abcdef\n"),
            (b"abc\xed\xa0\x80def\n", "abcdef\n"),
        ],
    )
    async def test_encodings(self, reader: FileReader, content: bytes, expected: str) -> None:
        reading = await read(reader, content, SourceKind.TEXT)
        assert [passage.text for passage in reading.passages] == [expected]
        assert reading.pages is None
        assert reading.passages[0].page is None

    @pytest.mark.parametrize(
        ("text", "encoding"),
        [
            ("Привет, мир! Сегодня хорошая погода, и мы идём гулять в парк. " * 5, "cp1251"),
            ("Příliš žluťoučký kůň úpěl ďábelské ódy, řekl strýc z města. " * 5, "cp1250"),
            ("今日は良い天気ですから、公園へ散歩に行きましょう。" * 5, "shift_jis"),
        ],
    )
    async def test_legacy_encodings(self, reader: FileReader, text: str, encoding: str) -> None:
        reading = await read(reader, text.encode(encoding), SourceKind.TEXT)
        assert reading.passages[0].text == text

    @pytest.mark.parametrize("content", [b"", b" \n\t", b"\xef\xbb\xbf", b"\0\0"])
    async def test_an_empty_file_says_so(self, reader: FileReader, content: bytes) -> None:
        with pytest.raises(Unreadable, match="only white space" if content else "empty"):
            await read(reader, content, SourceKind.TEXT)

    async def test_markdown_keeps_its_headings(self, reader: FileReader) -> None:
        content = "Vorwort\r\n\r\n# Eins\r\nText\r\n\r\nZwei\r\n---\r\n```\r\n# nein\r\n```\r\n"
        reading = await read(reader, content.encode(), SourceKind.MARKDOWN)
        (passage,) = reading.passages
        assert [(passage.text[h.start :][:4], h.path) for h in passage.headings] == [
            ("# Ei", ("Eins",)),
            ("Zwei", ("Eins", "Zwei")),
        ]
        assert reading.title == "Eins"

    async def test_twenty_megabytes_are_read_in_seconds(self, reader: FileReader) -> None:
        started = time.perf_counter()
        reading = await read(reader, b"wort " * 4_000_000, SourceKind.TEXT)
        assert len(reading.passages[0].text) == 20_000_000
        assert time.perf_counter() - started < 20


class TestPdf:
    async def test_a_passage_a_page(self, reader: FileReader) -> None:
        reading = await read(reader, pdf([line("Erste Seite."), b"", line("Dritte (3)")]))
        assert [(p.ordinal, p.page, p.text) for p in reading.passages] == [
            (0, 1, "Erste Seite."),
            (1, 3, "Dritte (3)"),
        ]
        assert reading.pages == 3
        assert [(s.page, s.reason) for s in reading.skipped] == [(2, "has no text layer")]

    @pytest.mark.parametrize(
        ("given", "title"),
        [
            ("Über  ﬁsche\n", "Über fische"),
            ("untitled", ""),
            ("Microsoft Word - Rechnung.doc", ""),
            ("report.pdf", ""),
            ("<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"),
        ],
    )
    async def test_its_title(self, reader: FileReader, given: str, title: str) -> None:
        assert (await read(reader, pdf([line("x")], title=given))).title == title

    async def test_the_gate_is_passed(self, reader: FileReader) -> None:
        codes = {0x41: "ﬁ", 0x42: "\U0001d400", 0x43: "u\u0308"}
        content = pdf([line("ABC und", font="G") + line("mehr", y=680)], to_unicode=codes)
        (passage,) = (await read(reader, content)).passages
        assert passage.text == "fi\U0001d400ü und\nmehr"

    async def test_words_cut_at_a_lines_end_are_rejoined(self, reader: FileReader) -> None:
        content = pdf([line("Die Verbin-") + line("dung steht.", y=686)])
        assert (await read(reader, content)).passages[0].text == "Die Verbindung steht."

    async def test_progress_is_told_at_most_twice_a_second(self, reader: FileReader) -> None:
        told: list[tuple[int, int]] = []

        async def on_page(done: int, total: int) -> None:
            told.append((done, total))
            await asyncio.sleep(0)

        started = time.perf_counter()
        pages = [b"".join(line("Wort " * 15, y=y, size=5) for y in range(20, 780, 6))] * 600
        await reader.pdf_text(pdf(pages), on_page=on_page)
        assert told
        assert len(told) <= 2 * (time.perf_counter() - started) + 1
        assert told == sorted(told)
        assert {total for _, total in told} == {600}

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"%PDF-1.7\n%%EOF\n", "broken"),
            (pdf([]), "no page|broken"),
            (pdf([b""]), r'"text".*text layer'),
            (pdf([b"", b""]), "None of its 2 pages has a text layer"),
            (pdf([line("Ab", font="G")], to_unicode={0x41: "\x01", 0x62: "\x02"}), "codes"),
            (pdf([line("Uif dpnnjuuff nfu po Uvftebz boe efdjefe " * 3, size=4)]), "scrambled"),
            (pdf([b""] * 2001), "2,000"),
            (encrypted(pdf([line("x")]), user="geheim", owner="o"), "password"),
            (b"", "empty"),
        ],
    )
    async def test_what_is_not_read_says_why(
        self, reader: FileReader, content: bytes, message: str
    ) -> None:
        with pytest.raises(Unreadable, match=message):
            await read(reader, content)

    async def test_an_owners_password_is_no_lock(self, reader: FileReader) -> None:
        content = encrypted(pdf([line("Offen.")]), user="", owner="o")
        assert (await read(reader, content)).passages[0].text == "Offen."

    @pytest.mark.parametrize("claim", [1, 9])
    async def test_a_lying_page_count_is_found_out(self, reader: FileReader, claim: int) -> None:
        pages = [line("Eins"), line("Zwei"), line("Drei")]
        reading = await read(reader, pdf(pages, count=claim))
        assert reading.pages == 3
        assert [passage.text for passage in reading.passages] == ["Eins", "Zwei", "Drei"]


def picture(png: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height and rows of RGB."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack_from(">II", png, 16)
    at, data = 8, b""
    while at < len(png):
        (size,) = struct.unpack_from(">I", png, at)
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + size]
        at += 12 + size
    raw = zlib.decompress(data)
    step = len(raw) // height
    assert step == 3 * width + 1
    return width, height, [raw[y * step + 1 : (y + 1) * step] for y in range(height)]


def ink(png: bytes, box: Box) -> tuple[int, int]:
    """Dark pixels inside a box, and outside it."""
    width, height, rows = picture(png)
    inside = outside = 0
    for y, row in enumerate(rows):
        for x in range(width):
            if row[3 * x] < 128:
                across = box.left - 0.005 <= x / width <= box.left + box.width + 0.005
                down = box.top - 0.005 <= y / height <= box.top + box.height + 0.005
                inside, outside = inside + (across and down), outside + (not (across and down))
    return inside, outside


class TestPictures:
    @pytest.mark.parametrize("rotation", [0, 90, 180, 270])
    @pytest.mark.parametrize("crop", [b"", b"/CropBox[50 600 400 750]"])
    async def test_boxes_lie_on_the_words(
        self, reader: FileReader, rotation: int, crop: bytes
    ) -> None:
        page = b"/MediaBox[0 0 612 792]/Rotate %d" % rotation + crop
        content = pdf([line("Nur diese Worte.")], page=page)
        (box,) = await reader.highlights(content, 1, 0, 16)
        png = await reader.page_image(content, 1, width_px=600)
        inside, outside = ink(png, box)
        assert inside > 50
        assert outside == 0
        assert box.width * box.height < 0.2

    async def test_a_box_a_line_and_only_the_words_asked_for(self, reader: FileReader) -> None:
        content = pdf([line("Anfang der ﬁne".replace("ﬁ", "fi")) + line("zweiten Zeile", y=680)])
        text = (await read(reader, content)).passages[0].text
        first, second = await reader.highlights(
            content, 1, text.index("der"), text.index("zweiten") + 7
        )
        assert first.top < second.top
        assert first.left > second.left
        assert second.left == pytest.approx(72 / 612, abs=0.005)

    async def test_offsets_after_what_the_gate_changed(self, reader: FileReader) -> None:
        codes = {0x41: "ﬃ", 0x42: "\U0001d400", 0x43: "\x00"}
        content = pdf([line("ABCAB Ziel", font="G")], to_unicode=codes)
        text = (await read(reader, content)).passages[0].text
        start = text.index("Ziel")
        (box,) = await reader.highlights(content, 1, start, start + 4)
        plain = pdf([line("ABCAB Ziel")])
        (expected,) = await reader.highlights(plain, 1, 6, 10)
        assert box.left == pytest.approx(expected.left, abs=0.01)
        assert box.width == pytest.approx(expected.width, abs=0.01)

    async def test_its_width_is_as_asked(self, reader: FileReader) -> None:
        png = await reader.page_image(pdf([line("x")]), 1, width_px=333)
        assert picture(png)[:2] == (333, 431)

    async def test_a_page_too_long_is_not_drawn(self, reader: FileReader) -> None:
        content = pdf([line("x")], page=b"/MediaBox[0 0 10 14000]")
        with pytest.raises(Unreadable, match="too long"):
            await reader.page_image(content, 1, width_px=800)

    @pytest.mark.parametrize("page", [0, 2, -1])
    async def test_a_page_that_is_not_there(self, reader: FileReader, page: int) -> None:
        content = pdf([line("x")])
        with pytest.raises(NotFound):
            await reader.page_image(content, page, width_px=100)
        with pytest.raises(NotFound):
            await reader.highlights(content, page, 0, 1)

    @pytest.mark.parametrize(("start", "end"), [(5, 5), (90, 99), (3, 1), (-5, 0)])
    async def test_nothing_to_mark(self, reader: FileReader, start: int, end: int) -> None:
        assert await reader.highlights(pdf([line("abcdef")]), 1, start, end) == []


def is_running(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii")
    except (ProcessLookupError, FileNotFoundError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


async def gone(pid: int) -> bool:
    for _ in range(100):
        if not is_running(pid):
            return True
        await asyncio.sleep(0.05)
    return False


class TestProcess:
    async def test_one_serves_many_files(self, reader: FileReader, processes: PdfProcesses) -> None:
        await read(reader, pdf([line("x")]))
        first = processes.pids
        with pytest.raises(Unreadable):
            await read(reader, b"%PDF-broken")
        with pytest.raises(NotFound):
            await reader.page_image(pdf([line("x")]), 5, width_px=10)
        await read(reader, b"text", SourceKind.TEXT)
        assert processes.pids == first
        assert len(first) == 1

    async def test_a_bomb_is_contained(self, reader: FileReader) -> None:
        with pytest.raises(Unreadable, match="memory"):
            await read(reader, bomb(1_500))
        assert (await read(reader, pdf([line("Danach.")]))).passages[0].text == "Danach."

    async def test_a_process_killed_between_files_is_replaced(
        self, reader: FileReader, processes: PdfProcesses
    ) -> None:
        await read(reader, pdf([line("x")]))
        os.kill(processes.pids[0], signal.SIGKILL)
        assert (await read(reader, pdf([line("y")]))).passages[0].text == "y"

    async def test_a_process_killed_twice_is_no_fault_of_the_file(
        self, reader: FileReader, processes: PdfProcesses
    ) -> None:
        async def kill() -> None:
            killed: set[int] = set()
            while len(killed) < 2:
                for pid in set(processes.pids) - killed:
                    await asyncio.sleep(0.4)
                    os.kill(pid, signal.SIGKILL)
                    killed.add(pid)
                await asyncio.sleep(0.01)

        killing = asyncio.create_task(kill())
        slow = pdf([b"".join(line("Wort " * 15, y=y, size=5) for y in range(20, 780, 4))] * 1900)
        with pytest.raises(Unavailable):
            await read(reader, slow)
        await killing

    async def test_too_slow_is_ended(self) -> None:
        pool = PdfProcesses(wall_s=0.001)
        with pytest.raises(Unreadable, match="too long"):
            await read(FileReader(pool), pdf([line("x")]))
        assert pool.pids == []
        await pool.aclose()

    async def test_cancelling_ends_it(self, reader: FileReader, processes: PdfProcesses) -> None:
        await read(reader, pdf([line("x")]))
        (pid,) = processes.pids
        reading = asyncio.create_task(read(reader, bomb(900)))
        await asyncio.sleep(0.2)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert await gone(pid)
        assert processes.pids == []

    async def test_requests_wait_their_turn(
        self, reader: FileReader, processes: PdfProcesses
    ) -> None:
        readings = await asyncio.gather(*(read(reader, pdf([line(f"n{i}")])) for i in range(8)))
        assert [reading.passages[0].text for reading in readings] == [f"n{i}" for i in range(8)]
        assert len(processes.pids) == 1

    async def test_closing_leaves_none(self, reader: FileReader, processes: PdfProcesses) -> None:
        await read(reader, pdf([line("x")]))
        (pid,) = processes.pids
        await reader.aclose()
        assert await gone(pid)

    async def test_closing_ends_what_is_being_read(
        self, reader: FileReader, processes: PdfProcesses
    ) -> None:
        reading = asyncio.create_task(read(reader, bomb(900)))
        await asyncio.sleep(0.3)
        (pid,) = processes.pids
        await reader.aclose()
        with pytest.raises(Unavailable):
            await reading
        assert await gone(pid)

    async def test_it_dies_with_its_parent(self, tmp_path: Path) -> None:
        program = (
            "import asyncio\n"
            "from adapters.extraction.reader import FileReader\n"
            "from adapters.extraction.pdf_process import PdfProcesses\n"
            "from domain.source import SourceKind\n"
            "async def main():\n"
            "    pool = PdfProcesses()\n"
            "    await FileReader(pool).read(b'x', SourceKind.TEXT)\n"
            "    print(*pool.pids, flush=True)\n"
            "    await asyncio.sleep(60)\n"
            "asyncio.run(main())\n"
        )
        parent = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", program),
            stdout=subprocess.PIPE,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert parent.stdout is not None
        pid = int(await parent.stdout.readline())
        parent.kill()
        await parent.wait()
        assert await gone(pid)

    async def test_it_sees_nothing_of_our_environment(
        self, reader: FileReader, processes: PdfProcesses, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("BELEG_SECRET", "geheim")
        await read(reader, pdf([line("x")]))
        program = await asyncio.create_subprocess_exec(
            *("ps", "e", "-ww", "-o", "command", "-p", str(processes.pids[0])),
            stdout=subprocess.PIPE,
        )
        environment, _ = await program.communicate()
        assert b"pdf_child" in environment
        assert b"geheim" not in environment


def folded(text: str) -> str:
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text).replace("\u00ad", ""))


def passwords() -> dict[str, str]:
    header, *rows = (
        row.split("\t") for row in (DATA / "pdfs/manifest.tsv").read_text().splitlines()
    )
    return {row[0]: row[header.index("password")] for row in rows}


def unlocked(content: bytes, password: str) -> bytes:
    """What a person does who is told that the file is protected."""
    if not password:
        return content
    out = BytesIO()
    PdfWriter(PdfReader(BytesIO(content), password=password)).write(out)
    return out.getvalue()


@with_data
class TestRealFiles:
    async def test_every_phrase_is_on_exactly_its_page(self, reader: FileReader) -> None:
        needles = [
            json.loads(row) for row in (DATA / "pdfs/needles.jsonl").read_text().splitlines()
        ]
        for name in dict.fromkeys(needle["file"] for needle in needles):
            content = (DATA / "pdfs" / name).read_bytes()
            reading = await read(reader, unlocked(content, passwords()[name]))
            for needle in (needle for needle in needles if needle["file"] == name):
                pages = [p.page for p in reading.passages if needle["text"] in folded(p.text)]
                assert pages == [needle["page"]], needle

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("paper-sbert-2pages-badmap.pdf", "scrambled"),
            ("de-nomap-shifted.pdf", "scrambled"),
            ("nomap-type3.pdf", "codes"),
            ("scan-linn.pdf", "scanned"),
            ("enc-256.pdf", "password"),
            ("truncated-187b.pdf", "broken"),
        ],
    )
    async def test_what_cannot_be_read_says_why(
        self, reader: FileReader, name: str, message: str
    ) -> None:
        with pytest.raises(Unreadable, match=message):
            await read(reader, (DATA / "pdfs" / name).read_bytes())

    async def test_a_forms_placeholder_is_named_as_such(self, reader: FileReader) -> None:
        reading = await read(reader, (DATA / "pdfs/form-xfa.pdf").read_bytes())
        ((page, reason),) = [(skipped.page, skipped.reason) for skipped in reading.skipped]
        assert page == 1
        assert "placeholder" in reason

    async def test_what_only_pypdf_reads(self, reader: FileReader) -> None:
        content = (DATA / "pdfs/junk-before-header.pdf").read_bytes()
        assert (await read(reader, content)).passages[0].text == "Bug 1606566"
        assert await reader.highlights(content, 1, 0, 5) == []
        with pytest.raises(Unreadable):
            await reader.page_image(content, 1, width_px=100)
