"""Zip archives in parts, each made in a file beside the process."""

import asyncio
import json
import tempfile
import zipfile
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import IO

from domain.ports import FinishedPart, OpenPart

_PACKED = (".zip", ".docx", ".pptx", ".xlsx", ".epub", ".png", ".jpg", ".jpeg", ".webp", ".gif")
_PACKED_SOUND = (".mp3", ".m4a", ".mp4", ".aac", ".ogg", ".opus", ".flac", ".webm", ".heic")


class ZipArchives:
    """The `Archiver` port."""

    @asynccontextmanager
    async def part(self, first: int) -> AsyncIterator[OpenPart]:
        """A new part; its file goes with the block.

        What comes before it is a hole in that file, so that all offsets are the archive's.
        """
        with tempfile.TemporaryFile(prefix="beleg-export-") as file:
            file.seek(first)
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                yield _ZipPart(archive, file, first)


class _ZipPart:
    """The `OpenPart` port."""

    def __init__(self, archive: zipfile.ZipFile, file: IO[bytes], first: int) -> None:
        self._zip, self._file, self._first = archive, file, first

    async def add(self, name: str, blocks: AsyncIterable[bytes]) -> None:
        is_packed = name.lower().endswith(_PACKED + _PACKED_SOUND)
        entry = _entry(name, zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED)
        with self._zip.open(entry, "w", force_zip64=True) as inside:
            async for block in blocks:
                await asyncio.to_thread(inside.write, block)

    async def finished(self, before: Sequence[bytes] | None = None) -> FinishedPart:
        files = self._zip.infolist()
        directory, end = _written(files), self._file.tell()
        if before is not None:
            self._zip.filelist = [file for part in before for file in _read(part)] + files
        # It ends with a directory, which is the archive's where this part is the last one.
        await asyncio.to_thread(self._zip.close)
        if before is None:
            self._file.truncate(end)
        size = self._file.seek(0, 2) - self._first
        self._file.seek(self._first)
        return FinishedPart(size, self._file, directory)  # type: ignore[arg-type]  # a temporary file is one


def _entry(name: str, compression: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = 0o600 << 16
    entry.compress_type = compression
    return entry


def _written(files: Sequence[zipfile.ZipInfo]) -> bytes:
    """What a directory has to tell of a part's files."""
    return json.dumps(
        [
            (f.filename, f.compress_type, f.header_offset, f.CRC, f.compress_size, f.file_size)
            for f in files
        ]
    ).encode()


def _read(directory: bytes) -> list[zipfile.ZipInfo]:
    files = []
    for name, compression, offset, checksum, packed, size in json.loads(directory):
        file = _entry(name, compression)
        file.header_offset, file.CRC = offset, checksum
        file.compress_size, file.file_size = packed, size
        files.append(file)
    return files
