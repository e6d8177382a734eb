"""Delete an account with everything in it; what it paid stays in the ledger's sums, unnamed."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from domain.account import User
from domain.audit import Act
from domain.errors import Conflict, NotFound
from domain.ids import SourceId, UserId
from domain.jobs import DELETE_ACCOUNT
from domain.ports import BlobStore
from domain.stores import UnitOfWork

_ROWS = 100


@dataclass(frozen=True, slots=True)
class DeleteAccount:
    """Shut an account at once, and have a worker delete it.

    Args:
        delete_source: deletes one source with everything made from it.
    """

    uow: UnitOfWork
    blobs: BlobStore
    delete_source: Callable[[User, SourceId], Awaitable[None]]

    async def request(self, user_id: UserId, *, by: User, peer: str = "") -> None:
        """From now on nobody is signed in to it, and nothing brings it back.

        Args:
            by: its owner, who has proved who they are, or an admin.

        Raises:
            NotFound: there is no such account.
            Conflict: it is the only admin's, and others would be left without one.
        """
        async with self.uow() as tx:
            if await tx.accounts.get(user_id) is None:
                raise NotFound("There is no such account.")
            if not await tx.accounts.leave(user_id):
                raise Conflict("You are the only admin. Make somebody else one first.")
            await tx.accounts.set_disabled(user_id, is_disabled=True)
            await tx.credentials.end_sessions(user_id)
            await tx.credentials.end_tokens(user_id)
            await tx.audit.add(Act.ACCOUNT_DELETED, by.id, user_id, peer=peer)
            await tx.jobs.enqueue(DELETE_ACCOUNT, str(user_id), user_id=str(user_id))

    async def __call__(self, user_id: UserId) -> None:
        """Delete what there is; a second run goes on where the first one ended."""
        async with self.uow() as tx:
            user = await tx.accounts.get(user_id)
        if user and user.is_leaving:
            await self._delete_sources(user)
            await self._delete_notebooks(user)
            await self._delete_files(user_id)
            async with self.uow() as tx:
                await tx.ledger.forget(user_id)
                await tx.accounts.delete(user_id)
        # What a job that still ran put there meanwhile; it finds no row to put it to.
        await self._delete_files(user_id)

    async def _delete_sources(self, user: User) -> None:
        while True:
            async with self.uow() as tx:
                page = await tx.sources.of_owner(user.id, limit=_ROWS, after=None)
            if not page.items:
                return
            for source in page.items:
                with suppress(NotFound):  # another run's
                    await self.delete_source(user, source.id)

    async def _delete_notebooks(self, user: User) -> None:
        after = None
        while True:
            async with self.uow() as tx:
                page = await tx.notebooks.page(user.id, limit=_ROWS, after=after)
            for notebook in page.items:
                if notebook.owner_id == user.id:
                    async with self.uow() as tx:
                        await tx.notebooks.delete(notebook.id)
            if (after := page.next_cursor) is None:
                return

    async def _delete_files(self, user_id: UserId) -> None:
        for key in await self.blobs.keys(f"{user_id}/"):
            await self.blobs.delete(key)
