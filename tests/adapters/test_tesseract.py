"""The local reader of pictures, where tesseract is installed."""

import re
from collections import Counter
from pathlib import Path

import pytest

from adapters.extraction.pdf_process import PdfProcesses
from adapters.extraction.reader import FileReader
from adapters.inference.tesseract import TesseractVision, installed_tesseract
from domain.errors import ModelRefused
from domain.ports import Picture, Seen

found = installed_tesseract()
pytestmark = pytest.mark.skipif(found is None, reason="tesseract is not installed")


@pytest.fixture
def tesseract() -> TesseractVision:
    assert found is not None
    return found


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


async def test_it_reads_a_scan_nearly_whole(tesseract: TesseractVision, shared_data: Path) -> None:
    reader = FileReader(PdfProcesses())
    scan = (shared_data / "pdfs" / "scan-linn.pdf").read_bytes()
    [page] = await reader.pdf_pictures(scan, [1], dpi=tesseract.dpi)
    await reader.aclose()
    assert page is not None
    gold = words((shared_data / "pdfs" / "scan-linn.gold.txt").read_text("utf-8"))
    read = words((await tesseract.transcribe(page, Seen.PAGE)).text)
    recall = (gold & read).total() / gold.total()
    print(f"word recall {recall:.3f}")
    assert recall >= 0.95


async def test_it_turns_what_is_upside_down(tesseract: TesseractVision, shared_data: Path) -> None:
    reader = FileReader(PdfProcesses())
    content = (shared_data / "media" / "images" / "made-text-upside-down.png").read_bytes()
    image = await reader.picture(content, most_pixels=4_000_000)
    await reader.aclose()
    transcript = await tesseract.transcribe(image, Seen.IMAGE)
    assert "Docling bundles PDF document conversion" in transcript.text
    assert "for its text alone" in transcript.problem


async def test_what_is_no_picture_is_refused(tesseract: TesseractVision) -> None:
    with pytest.raises(ModelRefused):
        await tesseract.transcribe(Picture(b"no picture", "image/png", 10, 10), Seen.PAGE)
