"""Bytes -> passages, by the kind of the source."""

from dataclasses import dataclass

from domain.capture import Attempt
from domain.ports import BlobStore, Reader
from domain.source import Progress, Reading, Stage


@dataclass(frozen=True, slots=True)
class CaptureSource:
    """The `Capture` port: each kind is read by what can read it."""

    blobs: BlobStore
    reader: Reader

    async def __call__(self, attempt: Attempt) -> Reading:
        """See `Capture`."""
        return await self._file(attempt)

    async def _file(self, attempt: Attempt) -> Reading:
        async def on_page(done: int, total: int) -> None:
            await attempt.show(Progress(Stage.READING, done, total))

        content = await self.blobs.get(attempt.source.blob_key)
        return await self.reader.read(content, attempt.source.kind, on_page=on_page)
