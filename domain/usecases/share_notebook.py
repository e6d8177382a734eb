"""Let others see a notebook, and ask it."""

import asyncio
from dataclasses import dataclass, field
from uuid import UUID

from domain.access import Role, Visitor, guest_role
from domain.account import User, plain_address
from domain.attempts import PER_SHARER, FailedAttempts
from domain.audit import Act
from domain.errors import Forbidden, NotFound, Rejected
from domain.ids import NotebookId, UserId
from domain.notebook import Notebook, Share
from domain.ports import Clock
from domain.stores import Page, Stores, UnitOfWork


@dataclass(frozen=True, slots=True)
class ShareNotebook:
    """Who a notebook is shared with. What a guest asks is the guest's: seen and paid by them."""

    uow: UnitOfWork
    clock: Clock
    attempts: FailedAttempts = field(default_factory=FailedAttempts)
    turns: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Addresses are looked up one at a time, so that those sent at once are counted."""

    async def __call__(self, user: User, notebook_id: NotebookId, email: str, role: str) -> Share:
        """Let an account in, or give a guest another role.

        Raises:
            NotFound: the notebook is not that user's, or the address has no account.
            Forbidden: it is shared with them only.
            Rejected: there is no such role, or the address is their own.
            TooManyAttempts: too many of that user's addresses had none.
        """
        wanted = guest_role(role)
        async with self.uow() as tx:
            await _notebook(tx, user, notebook_id, Role.OWNER)
            guest = await self._account(tx, user, email)
            if guest.id == user.id:
                raise Rejected("This notebook is yours already.")
            share = await tx.shares.put(notebook_id, guest.id, wanted)
            await tx.audit.add(
                *(Act.SHARED, user.id, guest.id), notebook_id=str(notebook_id), role=wanted.value
            )
        return share

    async def _account(self, tx: Stores, user: User, email: str) -> User:
        """Whose address this is. Nobody tries one address after the other."""
        name = f"sharer {user.id}"
        async with self.turns:
            self.attempts.check(name, PER_SHARER, self.clock.now())
            found = await tx.accounts.by_email(plain_address(email))
            if found is None:
                self.attempts.add(name, self.clock.now())
                raise NotFound("This address has no account here.")
        return found[0]

    async def guests(
        self, user: User, notebook_id: NotebookId, *, limit: int, after: UUID | None
    ) -> Page[Share]:
        """Whom a notebook of that user's is shared with."""
        async with self.uow() as tx:
            await _notebook(tx, user, notebook_id, Role.OWNER)
            return await tx.shares.page(notebook_id, limit=limit, after=after)

    async def end(self, user: User, notebook_id: NotebookId, guest_id: UserId) -> None:
        """Let a guest out at once, streams too; guests may leave by themselves.

        Raises:
            NotFound: there is no such notebook or guest.
            Forbidden: it is another guest.
        """
        async with self.uow() as tx:
            notebook = await _notebook(tx, user, notebook_id, Role.READ)
            if notebook.role is not Role.OWNER and guest_id != user.id:
                raise Forbidden("Only the owner decides whom this notebook is shared with.")
            if not await tx.shares.end(notebook_id, guest_id):
                raise NotFound("This notebook is not shared with them.")
            await tx.audit.add(Act.UNSHARED, user.id, guest_id, notebook_id=str(notebook_id))

    async def is_open_to(self, visitor: Visitor, notebook_id: NotebookId) -> bool:
        """True while they may see it; they follow a stream from it."""
        async with self.uow(at_once=True) as tx:
            return await tx.shares.is_open_to(notebook_id, visitor)


async def _notebook(tx: Stores, user: User, notebook_id: NotebookId, at_least: Role) -> Notebook:
    notebook = await tx.notebooks.get(notebook_id, user.id, at_least=at_least)
    if notebook is None:
        raise NotFound("There is no such notebook.")
    return notebook
