"""Who may make an account, and with how much to spend."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from domain.account import User
from domain.audit import Act
from domain.errors import Forbidden
from domain.secret import digest
from domain.stores import Stores

_CLOSED = "Sign-up is closed here. Ask the admin for an account."
_NOT_INVITED = (
    "Sign-up is by invitation here, and this one does not count (any more). Ask the admin."
)


class SignUp(StrEnum):
    """Who may make an account."""

    OPEN = "open"
    INVITE = "invite"
    """Whoever has an invitation of the admin's."""
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class SignUpRules:
    """The rules in force, in whichever way somebody proves who they are.

    Args:
        credit: USD that a new account may spend.
    """

    mode: SignUp
    credit: Decimal

    async def let_in(self, tx: Stores, invitation: str) -> bool:
        """True where somebody with that invitation ("" for none) may sign up.

        That is always so while nobody has an account.
        """
        if self.mode is SignUp.OPEN or await tx.accounts.is_empty():
            return True
        is_invited = self.mode is SignUp.INVITE and invitation
        return bool(is_invited) and await tx.credentials.is_invitation(digest(invitation))

    async def require(self, tx: Stores, invitation: str) -> None:
        """Let pass who may sign up.

        Raises:
            Forbidden: sign-up is closed, or the invitation is missing, used or expired.
        """
        if not await self.let_in(tx, invitation):
            raise Forbidden(_CLOSED if self.mode is SignUp.CLOSED else _NOT_INVITED)

    async def add(
        self, tx: Stores, address: str, hashed: str | None, invitation: str, *, peer: str
    ) -> User:
        """An account, by the rules as they are when it is made; an invitation is used up.

        Raises:
            Forbidden: as `require`; somebody may have been faster.
            Conflict: the address has an account.
        """
        only_first = self.mode is SignUp.CLOSED
        user = await tx.accounts.add(address, hashed, self.credit, only_first=only_first)
        used = bool(invitation) and await tx.credentials.use_invitation(digest(invitation), user.id)
        if self.mode is SignUp.INVITE and not user.is_admin and not used:
            raise Forbidden(_NOT_INVITED)
        await tx.audit.add(Act.SIGNED_UP, user.id, user.id, peer=peer)
        return user
