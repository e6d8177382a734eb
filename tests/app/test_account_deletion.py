"""Deletions of accounts that are killed, or meet work that still runs."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any, BinaryIO, cast
from uuid import UUID

import psycopg
import pytest

from domain.account import User
from domain.ids import ExportId, SourceId, UserId
from domain.ports import BlobStore
from tests.app.conftest import Beleg

pytestmark = pytest.mark.asyncio(loop_scope="session")


class KilledError(Exception):
    """The end of a process."""


async def _leaving(beleg: Beleg, *, sources: int) -> tuple[UserId, ExportId]:
    """An account with sources and an export that waits, shut for its deletion."""
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    for n in range(sources):
        await beleg.text(client, notebook, f"The bridge of town {n} was built in 1932.")
    export_id = ExportId(UUID((await client.post("/me/export")).json()["id"]))
    user_id = UserId(UUID((await client.get("/me")).json()["id"]))
    async with beleg.services.accounts.uow() as tx:
        user = await tx.accounts.get(user_id)
    assert user
    await beleg.services.delete_account.request(user_id, by=user)
    return user_id, export_id


async def _left(beleg: Beleg, user_id: UserId) -> tuple[int, int, int]:
    """How many accounts, sources and files are left of one account."""
    with psycopg.connect(beleg.services.settings.database_url) as connection:
        row = connection.execute(
            "select (select count(*) from users where id = %(user)s),"
            " (select count(*) from sources where owner_id = %(user)s)",
            {"user": user_id},
        ).fetchone()
    assert row
    return row[0], row[1], len(await beleg.services.delete_account.blobs.keys(f"{user_id}/"))


async def test_a_deletion_goes_on_where_it_was_killed(beleg: Beleg) -> None:
    user_id, _ = await _leaving(beleg, sources=3)
    delete, deleted = beleg.services.delete_account, list[SourceId]()

    async def delete_one(user: User, source_id: SourceId) -> None:
        """In a process that is killed at once after it."""
        await delete.delete_source(user, source_id)
        deleted.append(source_id)
        raise KilledError

    for left in (2, 1, 0):
        with pytest.raises(KilledError):
            await replace(delete, delete_source=delete_one)(user_id)
        assert await _left(beleg, user_id) == (1, left, left)
    assert len(set(deleted)) == 3
    await delete(user_id)
    assert await _left(beleg, user_id) == (0, 0, 0)
    await delete(user_id)  # a job may run twice


@dataclass
class Meanwhile:
    """A storage; after a file was put, something happens once."""

    blobs: BlobStore
    happens: list[Callable[[], Coroutine[Any, Any, None]]]

    async def put(self, key: str, content: BinaryIO) -> None:
        await self.blobs.put(key, content)
        while self.happens:
            await self.happens.pop()()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the rest of the port
        return getattr(self.blobs, name)


@pytest.mark.parametrize("is_killed", [False, True])
async def test_an_export_that_still_runs_leaves_nothing(beleg: Beleg, *, is_killed: bool) -> None:
    user_id, export_id = await _leaving(beleg, sources=1)
    exports = beleg.services.export_account

    async def delete() -> None:
        await beleg.services.delete_account(user_id)
        if is_killed:
            await exports.blobs.put(f"{user_id}/export-{export_id}-0-1", BytesIO(b"late"))
            raise KilledError

    blobs = cast("BlobStore", Meanwhile(exports.blobs, [delete]))
    run = replace(exports, blobs=blobs)(user_id, export_id)
    if is_killed:
        with pytest.raises(KilledError):
            await run
        assert await _left(beleg, user_id) == (0, 0, 1)
        await exports(user_id, export_id)  # the job's next run
    else:
        await run
    assert await _left(beleg, user_id) == (0, 0, 0)
