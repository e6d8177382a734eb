"""Archives of accounts over the real tables and files: resumed, fenced, given up, expired."""

import io
import json
import zipfile
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, cast
from uuid import UUID

import httpx
import psycopg
import pytest

from domain.errors import Unavailable
from domain.export import EXPORT_LIFETIME, ExportPart, key_prefix
from domain.ids import ExportId, UserId
from domain.ports import BlobStore
from domain.usecases.export_account import ExportAccount
from tests.app.conftest import Beleg, problem

pytestmark = pytest.mark.asyncio(loop_scope="session")

TEXT = "The bridge was built in 1932. It is red. It carries many cars every day."


@dataclass
class FullDisk:
    """A storage that takes so many files, and no more."""

    blobs: BlobStore
    room: int

    async def put(self, key: str, content: BinaryIO) -> None:
        if not self.room:
            raise Unavailable("The disk is full.")
        self.room -= 1
        await self.blobs.put(key, content)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the rest of the port
        return getattr(self.blobs, name)


@dataclass
class Waiting:
    """An export that waits to be made."""

    beleg: Beleg
    client: httpx.AsyncClient
    user_id: UserId
    id: ExportId

    @property
    def exports(self) -> ExportAccount:
        return self.beleg.services.export_account

    async def run(self, *, room: int | None = None) -> None:
        """One run, on a disk with room for so many parts where given."""
        exports = self.exports
        if room is not None:
            disk = cast("BlobStore", FullDisk(exports.blobs, room))
            exports = replace(exports, blobs=disk)
        await exports(self.user_id, self.id)

    async def parts(self) -> list[ExportPart]:
        async with self.exports.uow() as tx:
            return await tx.exports.parts(self.id)

    async def files(self) -> list[str]:
        return await self.exports.blobs.keys(key_prefix(self.user_id, self.id))

    async def archive(self) -> httpx.Response:
        return await self.client.get(f"/me/exports/{self.id}/archive")

    async def read(self) -> zipfile.ZipFile:
        archive = zipfile.ZipFile(io.BytesIO((await self.archive()).content))
        assert archive.testzip() is None
        return archive


async def _waiting(beleg: Beleg, *, sources: int = 0) -> Waiting:
    user = await beleg.user()
    user_id = UserId(UUID((await user.get("/me")).json()["id"]))
    notebook = await beleg.notebook(user)
    for n in range(sources):
        await beleg.text(user, notebook, f"{TEXT} {n}", f"Bridge {n}")
    made = (await user.post("/me/export")).json()
    return Waiting(beleg, user, user_id, ExportId(UUID(made["id"])))


async def test_a_run_makes_only_what_is_not_made_yet(beleg: Beleg) -> None:
    waiting = await _waiting(beleg, sources=3)
    problem(await waiting.archive(), 503, "unavailable")
    made: list[ExportPart] = []
    for room in (2, 0, 3):  # parts: account, notebooks, three sources, chat, usage, audit, manifest
        with pytest.raises(Unavailable):
            await waiting.run(room=room)
        parts = await waiting.parts()
        assert parts[: len(made)] == made
        assert len(parts) == len(made) + room
        made = parts
    await waiting.run()
    assert (await waiting.parts())[:5] == made
    with await waiting.read() as archive:
        manifest = json.loads(archive.read("manifest.json"))
        assert (manifest["notebooks"], manifest["sources"]) == (1, 3)
        assert len([name for name in archive.namelist() if name.endswith("/source.json")]) == 3
        assert "asked_at" in archive.read("README.txt").decode()
    assert await waiting.files() == sorted(part.key for part in await waiting.parts())


async def test_a_run_that_was_overtaken_adds_nothing(beleg: Beleg) -> None:
    waiting = await _waiting(beleg)
    uow = waiting.exports.uow
    part = ExportPart("account", "key", 1, b"", {})
    async with uow() as tx:
        assert await tx.exports.begin(waiting.id) == (1, 1)
    async with uow() as tx:
        assert await tx.exports.begin(waiting.id) == (2, 2)
        assert not await tx.exports.add_part(waiting.id, 1, 0, part)
        assert await tx.exports.add_part(waiting.id, 2, 0, part)
        assert await tx.exports.parts(waiting.id) == [part]
        assert await tx.exports.begin(waiting.id) == (3, 1), "tries since the last part"
        await tx.exports.fail(waiting.id, "It failed.")
        assert await tx.exports.parts(waiting.id) == []
        assert not await tx.exports.add_part(waiting.id, 3, 0, part)
        assert await tx.exports.begin(waiting.id) is None
        assert await tx.exports.again(waiting.id, EXPORT_LIFETIME)
        assert await tx.exports.begin(waiting.id) == (4, 1), "never a number twice"


async def test_an_archive_that_is_given_up_frees_its_files(beleg: Beleg) -> None:
    waiting = await _waiting(beleg)
    with pytest.raises(Unavailable):
        await waiting.run(room=2)
    for _ in range(8):
        assert len(await waiting.files()) == 2
        with pytest.raises(Unavailable):
            await waiting.run(room=0)
    await waiting.run(room=0)
    problem(await waiting.archive(), 503, "unavailable")
    assert (await waiting.client.get(f"/me/exports/{waiting.id}")).json()["status"] == "failed"
    assert await waiting.files() == []
    assert await waiting.parts() == []


async def test_an_archive_that_lost_a_part_is_not_handed_out(beleg: Beleg) -> None:
    waiting = await _waiting(beleg)
    await waiting.run()
    with psycopg.connect(beleg.services.settings.database_url) as connection:
        connection.execute(
            "delete from export_parts where export_id = %s and name = 'usage'", [waiting.id]
        )
    problem(await waiting.archive(), 404, "not_found")


async def test_an_archive_expires(beleg: Beleg) -> None:
    waiting = await _waiting(beleg)
    await waiting.run()
    unfinished = replace(
        waiting, id=ExportId(UUID((await waiting.client.post("/me/export")).json()["id"]))
    )
    with pytest.raises(Unavailable):
        await unfinished.run(room=2)
    await waiting.exports.expire()
    assert await waiting.files()
    assert await unfinished.files()
    with psycopg.connect(beleg.services.settings.database_url) as connection:
        connection.execute(
            "update exports set expires_at = now() where user_id = %s", [waiting.user_id]
        )
    await waiting.exports.expire()
    assert await waiting.files() == await unfinished.files() == []
    assert (await waiting.client.get("/me/exports")).json()["items"] == []
    problem(await waiting.archive(), 404, "not_found")
    # A run whose row has gone leaves no file.
    await waiting.exports.blobs.put(f"{key_prefix(waiting.user_id, waiting.id)}-0-9", io.BytesIO())
    await waiting.run()
    assert await waiting.files() == []


async def test_an_archive_takes_the_place_of_the_one_before(beleg: Beleg) -> None:
    waiting = await _waiting(beleg)
    await waiting.run()
    newer = replace(
        waiting, id=ExportId(UUID((await waiting.client.post("/me/export")).json()["id"]))
    )
    assert (await waiting.archive()).status_code == 200, "until the newer one is ready"
    await newer.run()
    problem(await waiting.archive(), 404, "not_found")
    assert (await newer.archive()).status_code == 200
    await waiting.exports.expire()
    assert await waiting.files() == []
    assert await newer.files() != []


async def test_an_archive_holds_every_token(beleg: Beleg) -> None:
    waiting = await _waiting(beleg)
    with psycopg.connect(beleg.services.settings.database_url) as connection:
        connection.execute(
            "insert into api_tokens (id, user_id, name, token_hash, scopes, created_at)"
            " select gen_random_uuid(), %s, 'ci', sha256(cast(%s || n as bytea)), '{read}', now()"
            " from generate_series(1, 500) n",
            [waiting.user_id, str(waiting.user_id)],
        )
    await waiting.run()
    with await waiting.read() as archive:
        tokens = json.loads(archive.read("account.json"))["tokens"]
    assert len(tokens) == len({token["id"] for token in tokens}) == 501
