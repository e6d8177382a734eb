"""Make accounts for others, and give them credit."""

from dataclasses import dataclass
from decimal import Decimal

from domain.account import User, check_password, plain_address, valid_address
from domain.errors import NotFound, Rejected
from domain.ports import PasswordHasher
from domain.stores import UnitOfWork

_MOST_CREDIT = 1_000_000


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
            return await tx.accounts.add(address, hashed, self.sign_up_credit)

    async def give_credit(self, email: str, amount: Decimal) -> Decimal:
        """Add so many USD to an account: what it may spend then.

        Raises:
            Rejected: the amount is not more than 0, too large, or finer than a billionth.
            NotFound: the address has no account.
        """
        if not amount.is_finite() or not 0 < amount <= _MOST_CREDIT:
            raise Rejected(f"The amount is more than 0 and at most {_MOST_CREDIT:,} USD.")
        if amount != round(amount, 9):
            raise Rejected("The amount has at most nine decimals.")
        async with self.uow() as tx:
            found = await tx.accounts.by_email(plain_address(email))
            if found is None:
                raise NotFound("This address has no account.")
            return await tx.accounts.grant(found[0].id, amount, "command line")
