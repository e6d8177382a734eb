"""Zip archives, made in a file beside the process and read from there."""

import asyncio
import tempfile
import zipfile
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from typing import IO, BinaryIO

from domain.ports import OpenArchive

_PACKED = (".zip", ".docx", ".pptx", ".xlsx", ".epub", ".png", ".jpg", ".jpeg", ".webp", ".gif")
_PACKED_SOUND = (".mp3", ".m4a", ".mp4", ".aac", ".ogg", ".opus", ".flac", ".webm", ".heic")


class ZipArchives:
    """The `Archiver` port."""

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[OpenArchive]:
        """A new archive; its file goes with the block."""
        with tempfile.TemporaryFile(prefix="beleg-export-") as file:
            yield _OpenZip(file)


class _OpenZip:
    """The `OpenArchive` port."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)

    async def add(self, name: str, blocks: AsyncIterable[bytes]) -> None:
        entry = zipfile.ZipInfo(name)
        entry.external_attr = 0o600 << 16
        is_packed = name.lower().endswith(_PACKED + _PACKED_SOUND)
        entry.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
        with self._zip.open(entry, "w", force_zip64=True) as inside:
            async for block in blocks:
                await asyncio.to_thread(inside.write, block)

    async def finished(self) -> tuple[int, BinaryIO]:
        await asyncio.to_thread(self._zip.close)
        size = self._file.seek(0, 2)
        self._file.seek(0)
        return size, self._file  # type: ignore[return-value]  # a temporary file is one
