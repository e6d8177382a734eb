"""Archives made in parts: joined, they are one zip file for any program."""

import asyncio
import io
import shutil
import subprocess
import zipfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import IO

import pytest

from adapters.archive import ZipArchives

PARTS: list[dict[str, bytes]] = [
    {"README.txt": b"Read me.", "a/b.json": b"[]\n"},
    {"quelle/Brücke über die Spree.txt": "Die Brücke ist rot. ".encode() * 1000},
    {},
    {"quelle/bild.png": bytes(range(256)) * 5000, "leer.txt": b""},
    {"manifest.json": b"{}\n"},
]
FAR = 5 << 30
"""An offset that only zip64 can tell."""


async def blocks(content: bytes) -> AsyncIterator[bytes]:
    for first in range(0, len(content), 70_000):
        yield content[first : first + 70_000]


async def made(
    files: Mapping[str, bytes], first: int, before: list[bytes] | None = None
) -> tuple[bytes, bytes]:
    """A part and its directory, by an archiver of its own."""
    async with ZipArchives().part(first) as part:
        for name, content in files.items():
            await part.add(name, blocks(content))
        finished = await part.finished(before)
        content = finished.content.read()
    assert len(content) == finished.size
    return content, finished.directory


async def joined(parts: list[dict[str, bytes]]) -> bytes:
    whole, directories = b"", list[bytes]()
    for files in parts:
        is_last = files is parts[-1]
        content, directory = await made(files, len(whole), directories if is_last else None)
        whole += content
        directories.append(directory)
    return whole


def check(file: Path | IO[bytes], files: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == list(files)
        assert {name: archive.read(name) for name in files} == files


async def test_parts_joined_are_an_archive() -> None:
    whole = io.BytesIO(await joined(PARTS))
    check(whole, {name: content for files in PARTS for name, content in files.items()})


def test_another_program_takes_it(tmp_path: Path) -> None:
    unzip = shutil.which("unzip") or pytest.skip("unzip is not installed")
    path = tmp_path / "whole.zip"
    path.write_bytes(asyncio.run(joined(PARTS)))
    told = subprocess.run([unzip, "-t", path], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "No errors" in told.stdout


async def test_files_are_told_however_many_there_are(tmp_path: Path) -> None:
    count = 70_000  # sixteen bits cannot count them
    path = tmp_path / "many.zip"
    one, directory = await made({"one.txt": b"one"}, 0)
    end, _ = await made({"end.txt": b"end"}, len(one), [directory] * count)
    path.write_bytes(one + end)
    with zipfile.ZipFile(path) as archive:
        assert len(archive.namelist()) == count + 1
        # Newer Pythons read no file whose entry is told twice, as `one.txt` is here.
        assert archive.read("end.txt") == b"end"


async def test_parts_beyond_four_gigabytes_are_found(tmp_path: Path) -> None:
    path = tmp_path / "large.zip"
    near, near_directory = await made({"near.txt": b"near"}, 0)
    far, far_directory = await made({"far.txt": b"far"}, FAR)
    end, _ = await made({"end.txt": b"end"}, FAR + len(far), [near_directory, far_directory])
    with path.open("wb") as file:  # what lies between takes no room
        file.write(near)
        file.seek(FAR)
        file.write(far + end)
    check(path, {"near.txt": b"near", "far.txt": b"far", "end.txt": b"end"})


async def test_a_file_that_breaks_off_ends_the_part_and_nothing_else() -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionError

    with pytest.raises(ConnectionError):
        async with ZipArchives().part(100) as part:
            await part.add("half.txt", broken())
