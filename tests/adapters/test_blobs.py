"""Files by key."""

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

import pytest

from adapters.blobs import DiskBlobStore
from domain.errors import NotFound, Unavailable
from domain.ports import BlobStore


class BlobStoreContract:
    """What every blob store does."""

    @pytest.fixture
    def blobs(self) -> BlobStore:
        raise NotImplementedError

    async def test_what_was_put_is_got(self, blobs: BlobStore) -> None:
        content = bytes(range(256)) * 9000
        await blobs.put("owner/a", io.BytesIO(content))
        assert await blobs.get("owner/a") == content
        assert await blobs.has("owner/a")

    async def test_a_stream_gives_the_same_in_small_blocks(self, blobs: BlobStore) -> None:
        content = bytes(range(256)) * 9000
        await blobs.put("owner/a", io.BytesIO(content))
        blocks = [block async for block in blobs.stream("owner/a")]
        assert b"".join(blocks) == content
        assert max(map(len, blocks)) <= 1 << 20
        with pytest.raises(NotFound):
            await anext(blobs.stream("owner/b"))

    async def test_keys_are_listed_by_when_they_were_written(self, blobs: BlobStore) -> None:
        before = datetime.now(UTC) - timedelta(seconds=5)
        await blobs.put("owner/a", io.BytesIO(b"a"))
        assert await blobs.written_before(before) == []
        assert await blobs.written_before(before + timedelta(seconds=60)) == ["owner/a"]

    async def test_only_the_rest_of_the_content_is_kept(self, blobs: BlobStore) -> None:
        content = io.BytesIO(b"0123456789")
        content.seek(4)
        await blobs.put("owner/a", content)
        assert await blobs.get("owner/a") == b"456789"

    async def test_putting_twice_is_harmless(self, blobs: BlobStore) -> None:
        for content in (b"one", b"two"):
            await blobs.put("owner/a", io.BytesIO(content))
        assert await blobs.get("owner/a") == b"two"
        assert await blobs.keys("") == ["owner/a"]

    async def test_what_is_not_there_is_not_found(self, blobs: BlobStore) -> None:
        with pytest.raises(NotFound):
            await blobs.get("owner/a")

    async def test_deleting_forgets_and_twice_is_no_error(self, blobs: BlobStore) -> None:
        await blobs.put("owner/a", io.BytesIO(b"one"))
        for _ in range(2):
            await blobs.delete("owner/a")
        with pytest.raises(NotFound):
            await blobs.get("owner/a")
        assert not await blobs.has("owner/a")

    async def test_keys_are_sorted_and_begin_with_the_prefix(self, blobs: BlobStore) -> None:
        for key in ("b/2", "a/1", "b/1", "bb/1"):
            await blobs.put(key, io.BytesIO(b"x"))
        assert await blobs.keys("") == ["a/1", "b/1", "b/2", "bb/1"]
        assert await blobs.keys("b/") == ["b/1", "b/2"]
        assert await blobs.keys("c") == []

    async def test_a_put_that_breaks_off_keeps_nothing(self, blobs: BlobStore) -> None:
        await blobs.put("owner/kept", io.BytesIO(b"one"))
        with pytest.raises(Unavailable):
            await blobs.put("owner/a", _Breaking())
        with pytest.raises(Unavailable):
            await blobs.put("owner/kept", _Breaking())
        assert await blobs.keys("") == ["owner/kept"]
        assert await blobs.get("owner/kept") == b"one"


class _Breaking(io.BytesIO):
    """Content that ends in an error."""

    def read(self, size: int | None = -1, /) -> bytes:
        if self.tell():
            raise OSError("lost")
        self.seek(1)
        return b"x" * max(1, min(size or 1, 1000))


class TestDiskBlobStore(BlobStoreContract):
    @pytest.fixture
    def blobs(self, tmp_path: Path) -> BlobStore:
        return DiskBlobStore(tmp_path / "files")

    @pytest.mark.parametrize("key", ["../outside", "a/../../outside", "/etc/passwd"])
    async def test_no_key_leads_out_of_the_folder(
        self, blobs: BlobStore, tmp_path: Path, key: str
    ) -> None:
        (tmp_path / "outside").write_bytes(b"secret")
        content: BinaryIO = io.BytesIO(b"x")
        with pytest.raises(NotFound):
            await blobs.get(key)
        with pytest.raises(NotFound):
            await blobs.has(key)
        with pytest.raises(NotFound):
            await blobs.put(key, content)
        with pytest.raises(NotFound):
            await blobs.delete(key)
        assert (tmp_path / "outside").read_bytes() == b"secret"

    async def test_only_the_server_s_user_may_read(self, blobs: BlobStore, tmp_path: Path) -> None:
        await blobs.put("owner/a", io.BytesIO(b"x"))
        for path in (tmp_path / "files", *(tmp_path / "files").rglob("*")):
            assert path.stat().st_mode & 0o077 == 0, path
