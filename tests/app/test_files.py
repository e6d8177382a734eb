"""An entry of the library and its file come and go together, whoever else is at work."""

import asyncio
import io
import secrets
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import BinaryIO

import pytest
import pytest_asyncio

from domain.account import User
from domain.errors import TooLarge, Unavailable
from domain.ids import NotebookId
from domain.ports import BlobStore
from domain.source import Source
from tests.app.conftest import Beleg

pytestmark = pytest.mark.asyncio(loop_scope="session")

_A_WHILE_S = 0.3


@dataclass(frozen=True)
class Pausing:
    """A blob store; something else happens before it deletes, and after it looked or wrote."""

    blobs: BlobStore
    meanwhile: Callable[[], Awaitable[object]]
    only_deleting: bool = False
    begun: list[asyncio.Future[object]] = field(default_factory=list)

    async def put(self, key: str, content: BinaryIO) -> None:
        await self.blobs.put(key, content)
        if not self.only_deleting:
            await self._pause()

    async def has(self, key: str) -> bool:
        found = await self.blobs.has(key)
        if not self.only_deleting:
            await self._pause()
        return found

    async def get(self, key: str) -> bytes:
        return await self.blobs.get(key)

    async def delete(self, key: str) -> None:
        await self._pause()
        await self.blobs.delete(key)

    async def keys(self, prefix: str) -> list[str]:
        return await self.blobs.keys(prefix)

    async def _pause(self) -> None:
        """Begin it once; it gets a while to end, and goes on where it has to wait."""
        if not self.begun:
            self.begun.append(asyncio.ensure_future(self.meanwhile()))
            await asyncio.wait(self.begun, timeout=_A_WHILE_S)


@dataclass(frozen=True)
class Library:
    """A user's, with two notebooks, and a file to put into them."""

    beleg: Beleg
    user: User
    first: NotebookId
    second: NotebookId
    content: bytes = b"The bridge is red."

    @property
    def blobs(self) -> BlobStore:
        return self.beleg.services.sources.blobs

    async def add(self, notebook: NotebookId, blobs: BlobStore | None = None) -> Source:
        adding = replace(self.beleg.services.add_source, blobs=blobs or self.blobs)
        source, _ = await adding(self.user, notebook, io.BytesIO(self.content), "a.txt")
        return source

    async def delete(self, source: Source, blobs: BlobStore | None = None) -> None:
        sources = replace(self.beleg.services.sources, blobs=blobs or self.blobs)
        await sources.delete(self.user, source.id)

    async def entries_and_files(self) -> tuple[int, int]:
        page = await self.beleg.services.sources.library(self.user, limit=9, after=None)
        return len(page.items), len(await self.blobs.keys(f"{self.user.id}/"))


@pytest_asyncio.fixture(loop_scope="session")
async def library(beleg: Beleg) -> Library:
    accounts, notebooks = beleg.services.accounts, beleg.services.notebooks
    async with accounts.uow() as tx:
        user = await tx.accounts.add(f"{secrets.token_hex(6)}@example.org", None, Decimal(0))
    first, second = [await notebooks.create(user, name) for name in ("Bridges", "Rivers")]
    return Library(beleg, user, first.id, second.id)


async def test_a_file_that_is_added_while_it_is_deleted_is_there(library: Library) -> None:
    source = await library.add(library.first)
    pausing = Pausing(library.blobs, lambda: library.add(library.second))
    await library.delete(source, pausing)
    [added] = await asyncio.gather(*pausing.begun)
    assert isinstance(added, Source)
    assert added.id != source.id
    assert await library.entries_and_files() == (1, 1)


async def test_a_file_that_is_deleted_while_it_is_added_again_is_gone_with_its_entry(
    library: Library,
) -> None:
    source = await library.add(library.first)
    pausing = Pausing(library.blobs, lambda: library.delete(source))
    assert await library.add(library.second, pausing) == source
    await asyncio.gather(*pausing.begun)
    assert await library.entries_and_files() == (0, 0)


async def test_a_refused_file_takes_none_away_that_is_added_meanwhile(library: Library) -> None:
    pausing = Pausing(library.blobs, lambda: library.add(library.first), only_deleting=True)
    full = replace(library.beleg.services.add_source, max_sources_per_notebook=0, blobs=pausing)
    with pytest.raises(TooLarge):
        await full(library.user, library.second, io.BytesIO(library.content), "a.txt")
    await asyncio.gather(*(pausing.begun or [asyncio.ensure_future(pausing.meanwhile())]))
    assert await library.entries_and_files() == (1, 1)


async def test_a_known_file_is_written_again_only_where_it_is_missing(library: Library) -> None:
    class Counting(Pausing):
        async def put(self, key: str, content: BinaryIO) -> None:
            written.append(key)
            await super().put(key, content)

    written: list[str] = []
    counting = Counting(library.blobs, lambda: asyncio.sleep(0))
    source = await library.add(library.first, counting)
    await library.add(library.second, counting)
    assert written == [source.blob_key]
    await library.blobs.delete(source.blob_key)
    assert await library.add(library.second, counting) == source
    assert written == [source.blob_key] * 2
    assert await library.blobs.get(source.blob_key) == library.content


async def test_a_file_that_cannot_be_kept_has_no_entry(library: Library) -> None:
    class Full(Pausing):
        async def put(self, key: str, content: BinaryIO) -> None:
            raise Unavailable(f"No space for {key} of {content}.")

    with pytest.raises(Unavailable, match="No space"):
        await library.add(library.first, Full(library.blobs, lambda: asyncio.sleep(0)))
    assert await library.entries_and_files() == (0, 0)


async def test_a_file_is_hashed_beside_the_event_loop(library: Library) -> None:
    class Watched(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if size is None or size > head_bytes:
                readers.add(threading.get_ident())
            return super().read(size)

    head_bytes = 4096
    readers: set[int] = set()
    add = library.beleg.services.add_source
    await add(library.user, library.first, Watched(library.content), "a.txt")
    assert readers
    assert threading.get_ident() not in readers
