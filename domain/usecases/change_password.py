"""Change a password: one's own, or by a link that the admin made."""

from dataclasses import dataclass
from datetime import timedelta

from domain.access import Visitor
from domain.account import User, check_password
from domain.audit import Act
from domain.errors import NotFound
from domain.ids import UserId
from domain.ports import PasswordHasher
from domain.secret import digest, new_secret
from domain.stores import UnitOfWork

LINK_LIFETIME = timedelta(hours=24)
_USED_UP = "This link does not count any more. Ask the admin for a new one."


@dataclass(frozen=True, slots=True)
class ChangePassword:
    """A new password in place of an old one; other sessions end with it."""

    uow: UnitOfWork
    hasher: PasswordHasher

    async def __call__(self, visitor: Visitor, password: str) -> None:
        """Whoever calls this has confirmed the old password.

        Raises:
            Rejected: the password does not do.
        """
        check_password(password)
        user = visitor.user
        hashed = await self.hasher.hash(password)
        async with self.uow() as tx:
            await tx.accounts.set_password(user.id, hashed)
            await tx.credentials.end_sessions(user.id, but=visitor.session_id)
            await tx.audit.add(Act.PASSWORD_CHANGED, user.id, user.id)

    async def make_link(self, admin: User | None, user_id: UserId) -> str:
        """The secret of a link with which that user sets a password, once, within a day.

        Args:
            admin: who asks; None at the command line.

        Raises:
            NotFound: there is no such account.
        """
        secret = new_secret()
        async with self.uow() as tx:
            if await tx.accounts.get(user_id) is None:
                raise NotFound("There is no such account.")
            await tx.credentials.add_reset(user_id, digest(secret), LINK_LIFETIME)
            await tx.audit.add(Act.RESET_LINK_MADE, admin.id if admin else None, user_id)
        return secret

    async def by_link(self, secret: str, password: str, *, peer: str) -> User:
        """Set a password by such a link, which is used up; every session and token ends.

        Raises:
            Rejected: the password does not do.
            NotFound: the link is used, expired or unknown.
        """
        check_password(password)
        async with self.uow(at_once=True) as tx:
            # Before anything is hashed, which is slow: anybody may come here.
            if not await tx.credentials.is_reset(digest(secret)):
                raise NotFound(_USED_UP)
        hashed = await self.hasher.hash(password)
        async with self.uow() as tx:
            user = await tx.credentials.use_reset(digest(secret))
            if user is None:
                raise NotFound(_USED_UP)
            await tx.accounts.set_password(user.id, hashed)
            await tx.credentials.end_sessions(user.id)
            await tx.credentials.end_tokens(user.id)
            await tx.audit.add(Act.PASSWORD_RESET, user.id, user.id, peer=peer)
        return user
