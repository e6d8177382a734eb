"""Files on disk, by key."""

import asyncio
import os
import shutil
import stat
import tempfile
from collections.abc import AsyncGenerator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from domain.errors import NotFound, Unavailable

_BLOCK = 1 << 20
_PART = ".part"
_GONE = "The file is no longer in the storage."


class DiskBlobStore:
    """The `BlobStore` port on a folder that only the server's user can read."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder.resolve()

    async def put(self, key: str, content: BinaryIO) -> None:
        """Written beside its place, synced, then renamed: whole or not at all."""
        try:
            await asyncio.to_thread(self._put, self._path(key), content)
        except OSError as error:
            reason = error.strerror or "it broke off"
            message = f"The storage did not take this file: {reason}. Try again later."
            raise Unavailable(message) from error

    async def has(self, key: str) -> bool:
        """True where something is kept under `key`."""
        return await asyncio.to_thread(self._path(key).is_file)

    async def get(self, key: str) -> bytes:
        """The bytes kept under `key`."""
        try:
            return await asyncio.to_thread(self._path(key).read_bytes)
        except FileNotFoundError:
            raise NotFound(_GONE) from None

    async def size(self, key: str) -> int:
        """How many bytes are kept under `key`."""
        try:
            return (await asyncio.to_thread(self._path(key).stat)).st_size
        except FileNotFoundError:
            raise NotFound(_GONE) from None

    async def stream(self, key: str, *, first: int = 0) -> AsyncGenerator[bytes, None]:
        """The bytes kept under `key` from `first` on, in blocks of at most a megabyte."""
        try:
            file = await asyncio.to_thread(self._path(key).open, "rb")
        except FileNotFoundError:
            raise NotFound(_GONE) from None
        with file:
            file.seek(first)
            while block := await asyncio.to_thread(file.read, _BLOCK):
                yield block

    async def delete(self, key: str) -> None:
        """Forget `key`."""
        path = self._path(key)
        await asyncio.to_thread(path.unlink, missing_ok=True)

    async def keys(self, prefix: str) -> list[str]:
        """Every key that starts with `prefix`, sorted."""
        return await asyncio.to_thread(self._keys, prefix)

    async def written_before(self, moment: datetime) -> list[str]:
        """Every key written before then; half-written files as old are removed."""
        return await asyncio.to_thread(self._written_before, moment.timestamp())

    def _path(self, key: str) -> Path:
        path = (self._folder / key).resolve()
        if not path.is_relative_to(self._folder):
            raise NotFound
        return path

    def _keys(self, prefix: str) -> list[str]:
        folder = self._path(prefix.rpartition("/")[0])
        found = (p for p in folder.rglob("*") if p.is_file() and p.suffix != _PART)
        keys = (str(path.relative_to(self._folder)) for path in found)
        return sorted(key for key in keys if key.startswith(prefix))

    def _written_before(self, moment: float) -> list[str]:
        found = []
        for path in self._folder.rglob("*"):
            with suppress(FileNotFoundError):  # somebody else's deletion
                status = path.stat()
                if not stat.S_ISREG(status.st_mode) or status.st_mtime > moment:
                    continue
                if path.suffix == _PART:
                    path.unlink()
                else:
                    found.append(str(path.relative_to(self._folder)))
        return sorted(found)

    @staticmethod
    def _put(path: Path, content: BinaryIO) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=_PART, delete=False) as part:
            try:
                shutil.copyfileobj(content, part, _BLOCK)
                part.flush()
                os.fsync(part.fileno())
                Path(part.name).replace(path)
            except BaseException:
                Path(part.name).unlink(missing_ok=True)
                raise
