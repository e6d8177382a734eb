"""Delete files that no row needs: what a process left that died between a file and its row."""

from dataclasses import dataclass
from datetime import timedelta

from domain.ports import BlobStore, Clock
from domain.source import StoredFile, stored_file
from domain.stores import UnitOfWork

_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class SweepFiles:
    """Clean the storage up. Safe to run anywhere, any time, several at once.

    Args:
        min_age: what is younger may belong to a row that is about to be committed.
    """

    uow: UnitOfWork
    blobs: BlobStore
    clock: Clock
    min_age: timedelta = timedelta(minutes=15)

    async def __call__(self) -> None:
        """Look at every file once; files that are none of ours are left alone."""
        keys = await self.blobs.written_before(self.clock.now() - self.min_age)
        files = [file for key in keys if (file := stored_file(key))]
        for first in range(0, len(files), _AT_ONCE):
            async with self.uow() as tx:
                unneeded = await tx.sources.unneeded(files[first : first + _AT_ONCE])
            for file in unneeded:
                await self._delete(file)

    async def _delete(self, file: StoredFile) -> None:
        """Once more, now that nobody adds or deletes it."""
        async with self.uow() as tx:
            if file.sha256 is not None:
                await tx.sources.hold_blob(file.owner_id, file.sha256)
            if await tx.sources.unneeded([file]):
                await self.blobs.delete(file.key)
