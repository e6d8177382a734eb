"""Make accounts for others, invite, shut out, and give credit."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

from domain.account import Invitation, User, check_password, plain_address, valid_address
from domain.audit import Act
from domain.errors import Conflict, NotFound, Rejected
from domain.ids import InvitationId, UserId
from domain.ports import PasswordHasher
from domain.secret import digest, new_secret
from domain.stores import Page, Stores, UnitOfWork

_MOST_CREDIT = 1_000_000
_LONGEST_INVITATION_DAYS = 90


@dataclass(frozen=True, slots=True)
class Administer:
    """What whoever runs the product does for those who use it, sign-up open or not."""

    uow: UnitOfWork
    hasher: PasswordHasher
    sign_up_credit: Decimal

    async def add_account(self, email: str, password: str) -> User:
        """A new account with the sign-up credit; the first one is the admin.

        Raises:
            Rejected: the address or the password does not do.
            Conflict: the address has an account.
        """
        address = valid_address(email)
        check_password(password)
        hashed = await self.hasher.hash(password)
        async with self.uow() as tx:
            user = await tx.accounts.add(address, hashed, self.sign_up_credit)
            await tx.audit.add(Act.SIGNED_UP, None, user.id)
            return user

    async def give_credit(self, email: str, amount: Decimal) -> Decimal:
        """Add so many USD to an account: what it may spend then.

        Raises:
            Rejected: the amount is not more than 0, too large, or finer than a billionth.
            NotFound: the address has no account.
        """
        _check(amount)
        async with self.uow() as tx:
            found = await tx.accounts.by_email(plain_address(email))
            if found is None:
                raise NotFound("This address has no account.")
            return await _grant(tx, None, found[0], amount, "command line")

    async def grant(self, admin: User, user_id: UserId, amount: Decimal, reason: str) -> Decimal:
        """Add so many USD to an account: what it may spend then.

        Raises:
            Rejected: the amount is not more than 0, too large, or finer than a billionth.
            NotFound: there is no such account.
        """
        _check(amount)
        async with self.uow() as tx:
            return await _grant(tx, admin, await _account(tx, user_id), amount, reason)

    async def accounts(self, *, limit: int, after: UUID | None) -> Page[User]:
        """Every account, oldest first."""
        async with self.uow(at_once=True) as tx:
            return await tx.accounts.page(limit=limit, after=after)

    async def change(
        self,
        admin: User,
        user_id: UserId,
        *,
        is_admin: bool | None = None,
        is_disabled: bool | None = None,
    ) -> User:
        """Make somebody an admin or not, shut or open their account; None leaves it.

        Whoever is shut out is so at once, streams too; their sessions and tokens end for good.

        Raises:
            NotFound: there is no such account.
            Conflict: it is the admin's own, who would lock themselves out; it is the only admin's,
                since another one did the same at this moment; or it is being deleted.
        """
        async with self.uow() as tx:
            user = await _account(tx, user_id)
            if user.is_leaving:
                raise Conflict("This account is being deleted.")
            if user.id == admin.id and (is_admin is False or is_disabled):
                raise Conflict("Another admin has to do that: you would lock yourself out.")
            ends = user.is_admin and (is_admin is False or is_disabled)
            if ends and not await tx.accounts.another_admin(user_id):
                raise Conflict("This is the only admin. Make somebody else one first.")
            if is_admin is not None and is_admin != user.is_admin:
                await tx.accounts.set_admin(user_id, is_admin=is_admin)
                act = Act.MADE_ADMIN if is_admin else Act.ADMIN_ENDED
                await tx.audit.add(act, admin.id, user_id)
            if is_disabled is not None and is_disabled != user.is_disabled:
                await tx.accounts.set_disabled(user_id, is_disabled=is_disabled)
                await tx.credentials.end_sessions(user_id)
                await tx.credentials.end_tokens(user_id)
                act = Act.DISABLED if is_disabled else Act.ENABLED
                await tx.audit.add(act, admin.id, user_id)
            return await _account(tx, user_id)

    async def require_other(self, admin: User, user_id: UserId) -> None:
        """Let pass where somebody else's account is meant.

        Raises:
            NotFound: there is no such account.
            Conflict: it is the admin's own.
        """
        async with self.uow(at_once=True) as tx:
            await _account(tx, user_id)
        if user_id == admin.id:
            raise Conflict("Delete your own account where your own data is: DELETE /api/v1/me.")

    async def invite(self, admin: User, *, days: int = 7) -> tuple[Invitation, str]:
        """An invitation and its secret, which is shown this once.

        Raises:
            Rejected: it would be valid for less than a day, or for too many.
        """
        if not 1 <= days <= _LONGEST_INVITATION_DAYS:
            raise Rejected(f"An invitation is valid for 1 to {_LONGEST_INVITATION_DAYS} days.")
        secret = new_secret()
        async with self.uow() as tx:
            made = await tx.credentials.add_invitation(
                admin.id, digest(secret), timedelta(days=days)
            )
            await tx.audit.add(Act.INVITED, admin.id, invitation_id=str(made.id))
        return made, secret

    async def invitations(self, *, limit: int, after: UUID | None) -> Page[Invitation]:
        """All of them, oldest first, without their secrets."""
        async with self.uow(at_once=True) as tx:
            return await tx.credentials.invitations(limit=limit, after=after)

    async def end_invitation(self, admin: User, invitation_id: InvitationId) -> None:
        """Revoke an invitation that nobody used.

        Raises:
            NotFound: there is none.
        """
        async with self.uow() as tx:
            if not await tx.credentials.end_invitation(invitation_id):
                raise NotFound("There is no such invitation that could still be used.")
            await tx.audit.add(Act.INVITATION_REVOKED, admin.id, invitation_id=str(invitation_id))


def _check(amount: Decimal) -> None:
    if not amount.is_finite() or not 0 < amount <= _MOST_CREDIT:
        raise Rejected(f"The amount is more than 0 and at most {_MOST_CREDIT:,} USD.")
    if amount != round(amount, 9):
        raise Rejected("The amount has at most nine decimals.")


async def _account(tx: Stores, user_id: UserId) -> User:
    user = await tx.accounts.get(user_id)
    if user is None:
        raise NotFound("There is no such account.")
    return user


async def _grant(
    tx: Stores, admin: User | None, user: User, amount: Decimal, reason: str
) -> Decimal:
    may_spend = await tx.accounts.grant(user.id, amount, reason)
    await tx.audit.add(
        Act.CREDIT_GRANTED, admin.id if admin else None, user.id, amount=f"{amount.normalize():f}"
    )
    return may_spend
