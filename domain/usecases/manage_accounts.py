"""Sign up, sign in, sessions and tokens."""

import asyncio
import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

from domain.account import ApiToken, User
from domain.errors import Conflict, Forbidden, NotFound, NotSignedIn, Rejected
from domain.ids import TokenId
from domain.ports import PasswordHasher
from domain.stores import Page, UnitOfWork
from domain.text_gate import clean

LOCAL_EMAIL = "local@localhost"
"""The account of the person at the machine, in local mode."""

_EMAIL = re.compile(r"[^\s@<>\"]{1,64}@[^\s@<>\"]{1,250}")
_MIN_PASSWORD, _MAX_PASSWORD = 8, 1024
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
    sign_up_mode: SignUp
    sign_up_credit: Decimal
    session_lifetime: timedelta = timedelta(days=30)

    async def sign_up(self, email: str, password: str) -> User:
        """A new account with the sign-up credit; the first one is the admin.

        Raises:
            Forbidden: sign-up is closed, and somebody has an account already.
            Rejected: the address or the password does not do.
            Conflict: the address has an account.
        """
        if not await self.is_open():
            raise Forbidden("Sign-up is closed here. Ask the admin for an account.")
        address = _address(email)
        _check_password(password)
        hashed = await asyncio.to_thread(self.hasher.hash, password)
        async with self.uow() as tx:
            return await tx.accounts.add(address, hashed, self.sign_up_credit)

    async def is_open(self) -> bool:
        """True where somebody may sign up: always while nobody has an account."""
        if self.sign_up_mode is SignUp.OPEN:
            return True
        async with self.uow() as tx:
            return await tx.accounts.is_empty()

    async def sign_in(self, email: str, password: str) -> User:
        """The account behind an address and its password.

        Raises:
            NotSignedIn: they do not belong together; which of the two is wrong is not said.
        """
        async with self.uow() as tx:
            found = await tx.accounts.by_email(_plain(email))
        user, hashed = found or (None, None)
        # An unknown address takes as long as a wrong password.
        right = await asyncio.to_thread(self.hasher.verify, hashed, password)
        if user is None or not right:
            raise NotSignedIn("Address or password is wrong.")
        return user

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

    async def by_session(self, secret: str) -> User | None:
        """Whose session this is."""
        async with self.uow() as tx:
            return await tx.accounts.by_session(_digest(secret))

    async def by_token(self, secret: str) -> User | None:
        """Whose API token this is."""
        async with self.uow() as tx:
            return await tx.accounts.by_token(_digest(secret))

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
        """Change what is given."""
        if pdf_capture not in {None, "text", "vision", "auto"}:
            raise Rejected("pdf_capture is text, vision or auto.")
        if language not in {None, "", "de", "en"}:
            raise Rejected("language is de or en.")
        async with self.uow() as tx:
            await tx.accounts.set_preferences(user.id, pdf_capture=pdf_capture, language=language)


def _address(email: str) -> str:
    address = _plain(email)
    if not _EMAIL.fullmatch(address):
        raise Rejected("This is no e-mail address.")
    return address


def _plain(email: str) -> str:
    return clean(email).strip().lower()


def _check_password(password: str) -> None:
    if not _MIN_PASSWORD <= len(password) <= _MAX_PASSWORD:
        raise Rejected(f"A password has {_MIN_PASSWORD} to {_MAX_PASSWORD:,} characters.")


def _digest(secret: str) -> bytes:
    """Secrets of ours have 256 random bits: a plain hash is enough."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()
