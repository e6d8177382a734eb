"""What reads files and reads aloud, run as a user whose limit of processes counts.

Root's does not, and most tests run as root in containers.
"""

import os
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import openpyxl
import pytest

from tests.adapters.made_sound import tone, wav
from tests.conftest import ROOT

NOBODY = 65534
SOUND = """
async def main(content):
    async def blocks():
        yield content
    async with SoundProcesses().opened(blocks()) as recording:
        print(recording.sound.format)
"""
PICTURE = """
async def main(content):
    reader = FileReader(PdfProcesses(size=1))
    print((await reader.picture(content, most_pixels=1_000)).width > 0)
    await reader.aclose()
"""
PAGE = """
async def main(content):
    reader = FileReader(PdfProcesses(size=1))
    print((await reader.read(content, SourceKind.HTML)).passages[0].text.strip())
    await reader.aclose()
"""
WORKBOOK = """
async def main(content):
    reader = FileReader(PdfProcesses(size=1))
    print("red" in (await reader.read(content, SourceKind.XLSX)).passages[0].text)
    await reader.aclose()
"""
VOICE = """
async def main(content):
    speech = installed_voices(SoundProcesses())
    voice = next(voice for voice in VOICES if voice.language == "de")
    print(len((await speech.speak([Line(voice, content.decode())])).audio) > 1_000)
"""
BEFORE = f"""
import asyncio, sys
sys.path.insert(0, {str(ROOT)!r})
from adapters.extraction.pdf_process import PdfProcesses
from adapters.extraction.reader import FileReader
from adapters.extraction.sound_process import SoundProcesses
from adapters.speech.local import installed_voices
from domain.source import SourceKind
from domain.speech import VOICES, Line
"""


def as_nobody(script: str, content: bytes) -> str:
    """What `script` prints, run by a user without privileges."""
    code = f"{BEFORE}{script}\nasyncio.run(main(sys.stdin.buffer.read()))"
    user = NOBODY if os.geteuid() == 0 else None
    command = [sys.executable, "-c", code]
    try:
        done = subprocess.run(
            command, input=content, capture_output=True, cwd="/", user=user, check=False
        )
    except PermissionError:
        pytest.skip("only root may use this Python")
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


def test_a_recording_is_opened() -> None:
    assert as_nobody(SOUND, wav(tone(1))) == "wav"


def test_a_web_page_is_opened() -> None:
    page = b"<html><body><article><p>The bridge is red and long.</p></article></body></html>"
    assert as_nobody(PAGE, page) == "The bridge is red and long."


def test_a_workbook_is_opened() -> None:
    book, out = openpyxl.Workbook(), BytesIO()
    book.worksheets[0].append(["bridge", "red"])
    book.save(out)
    assert as_nobody(WORKBOOK, out.getvalue()) == "True"


def test_a_heic_picture_is_opened(shared_data: Path) -> None:
    content = (shared_data / "media" / "images" / "heic-arrow.heic").read_bytes()
    assert as_nobody(PICTURE, content) == "True"


@pytest.mark.skipif(not shutil.which("espeak-ng"), reason="espeak-ng is not installed")
def test_a_line_is_read_aloud() -> None:
    assert as_nobody(VOICE, "Die Brücke ist rot und lang.".encode()) == "True"
