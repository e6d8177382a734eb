"""Sign up, sign in, sessions and tokens."""

import asyncio
import hashlib
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

from domain.access import Thing, Visitor
from domain.account import ApiToken, User, check_password, plain_address, valid_address
from domain.attempts import PER_ADDRESS, PER_PEER, FailedAttempts
from domain.errors import Conflict, Forbidden, NotFound, NotSignedIn, Rejected
from domain.ids import TokenId
from domain.ports import Clock, PasswordHasher
from domain.source import capture_mode
from domain.stores import Page, UnitOfWork
from domain.text_gate import clean

LOCAL_EMAIL = "local@localhost"
"""The account of the person at the machine, in local mode."""

_LONGEST_ADDRESS = 315
_ATTEMPTS_AT_ONCE = 2
_TOKEN_PREFIX = "blg_"  # noqa: S105 - marks our tokens for secret scanners; no secret


class SignUp(StrEnum):
    """Who may make an account."""

    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class ManageAccounts:
    """Who somebody is, and how they prove it. Secrets are stored hashed."""

    uow: UnitOfWork
    hasher: PasswordHasher
    clock: Clock
    sign_up_mode: SignUp
    sign_up_credit: Decimal
    session_lifetime: timedelta = timedelta(days=30)
    attempts: FailedAttempts = field(default_factory=FailedAttempts)
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_ATTEMPTS_AT_ONCE))
    """Attempts take turns, so that those sent at once are counted one after the other."""

    async def sign_up(self, email: str, password: str, *, peer: str) -> User:
        """A new account with the sign-up credit; the first one is the admin.

        Args:
            peer: where the request comes from.

        Raises:
            Forbidden: sign-up is closed, and somebody has an account already.
            Rejected: the address or the password does not do.
            Conflict: the address has an account.
            TooManyAttempts: that peer failed too often.
        """
        if not await self.is_open():
            raise Forbidden("Sign-up is closed here. Ask the admin for an account.")
        address = valid_address(email)
        check_password(password)
        async with self._attempt({_peer(peer): PER_PEER}):
            hashed = await self.hasher.hash(password)
            async with self.uow() as tx:
                # Somebody may have been first since it was found open.
                only_first = self.sign_up_mode is SignUp.CLOSED
                return await tx.accounts.add(
                    address, hashed, self.sign_up_credit, only_first=only_first
                )

    async def is_open(self) -> bool:
        """True where somebody may sign up: always while nobody has an account."""
        if self.sign_up_mode is SignUp.OPEN:
            return True
        async with self.uow() as tx:
            return await tx.accounts.is_empty()

    async def sign_in(self, email: str, password: str, *, peer: str) -> User:
        """The account behind an address and its password.

        Args:
            peer: where the request comes from.

        Raises:
            NotSignedIn: they do not belong together; which of the two is wrong is not said.
            TooManyAttempts: that address or that peer failed too often.
        """
        address = plain_address(email)
        name = f"address {address[:_LONGEST_ADDRESS]}"
        async with self._attempt({name: PER_ADDRESS, _peer(peer): PER_PEER}):
            async with self.uow() as tx:
                found = await tx.accounts.by_email(address)
            user, hashed = found or (None, None)
            # An unknown address takes as long as a wrong password.
            right = await self.hasher.verify(hashed, password)
            if user is None or not right:
                raise NotSignedIn("Address or password is wrong.")
        self.attempts.forget(name)
        return user

    @asynccontextmanager
    async def _attempt(self, limits: dict[str, int]) -> AsyncIterator[None]:
        """One of few attempts at a time; where it fails, that counts for every name."""
        async with self.turns:
            for name, limit in limits.items():
                self.attempts.check(name, limit, self.clock.now())
            try:
                yield
            except (NotSignedIn, Conflict):
                for name in limits:
                    self.attempts.add(name, self.clock.now())
                raise

    async def local_user(self) -> User:
        """The account of the person at the machine; made at its first use."""
        async with self.uow() as tx:
            found = await tx.accounts.by_email(LOCAL_EMAIL)
        if found:
            return found[0]
        try:
            async with self.uow() as tx:
                return await tx.accounts.add(LOCAL_EMAIL, None, self.sign_up_credit)
        except Conflict:
            return await self.local_user()

    async def by_address(self, email: str) -> User:
        """The account of an address, for whoever holds the database.

        Raises:
            NotFound: it has none.
        """
        async with self.uow() as tx:
            found = await tx.accounts.by_email(plain_address(email))
        if found is None:
            raise NotFound("This address has no account.")
        return found[0]

    async def open_session(self, user: User) -> str:
        """A secret for a cookie that stands for that user."""
        secret = secrets.token_urlsafe(32)
        async with self.uow() as tx:
            await tx.accounts.add_session(user.id, _digest(secret), self.session_lifetime)
        return secret

    async def close_session(self, secret: str) -> None:
        """Sign out."""
        async with self.uow() as tx:
            await tx.accounts.end_session(_digest(secret))

    async def by_session(self, secret: str, about: Thing | None = None) -> Visitor | None:
        """Whose session this is, and what they are to a thing."""
        async with self.uow(at_once=True) as tx:
            return await tx.accounts.by_session(_digest(secret), about)

    async def by_token(self, secret: str, about: Thing | None = None) -> Visitor | None:
        """Whose API token this is, and what they are to a thing."""
        async with self.uow(at_once=True) as tx:
            return await tx.accounts.by_token(_digest(secret), about)

    async def add_token(self, user: User, name: str) -> tuple[ApiToken, str]:
        """A new token and its secret, which is shown this once."""
        secret = _TOKEN_PREFIX + secrets.token_urlsafe(32)
        label = " ".join(clean(name).split())[:100] or "token"
        async with self.uow() as tx:
            return await tx.accounts.add_token(user.id, label, _digest(secret)), secret

    async def tokens(self, user: User, *, limit: int, after: UUID | None) -> Page[ApiToken]:
        """That user's tokens, without their secrets."""
        async with self.uow() as tx:
            return await tx.accounts.tokens(user.id, limit=limit, after=after)

    async def end_token(self, user: User, token_id: TokenId) -> None:
        """Revoke a token.

        Raises:
            NotFound: that user has no such token.
        """
        async with self.uow() as tx:
            if not await tx.accounts.end_token(user.id, token_id):
                raise NotFound("You have no such token.")

    async def set_preferences(
        self, user: User, *, pdf_capture: str | None = None, language: str | None = None
    ) -> None:
        """Change what is given.

        Raises:
            Rejected: there is no such choice.
        """
        if pdf_capture is not None:
            capture_mode(pdf_capture)
        if language not in {None, "", "de", "en"}:
            raise Rejected("language is de or en.")
        async with self.uow() as tx:
            await tx.accounts.set_preferences(user.id, pdf_capture=pdf_capture, language=language)


def _peer(peer: str) -> str:
    return f"peer {peer}"


def _digest(secret: str) -> bytes:
    """Secrets of ours have 256 random bits: a plain hash is enough."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()
