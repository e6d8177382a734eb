"""Sign up, sign in, sessions and tokens."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from domain.access import EVERY_SCOPE, Thing, TokenScope, Visitor
from domain.account import (
    LOCAL_EMAIL,
    ApiToken,
    User,
    check_password,
    one_line,
    plain_address,
    valid_address,
)
from domain.attempts import PER_ADDRESS, PER_PEER, FailedAttempts, network
from domain.audit import Act
from domain.errors import Conflict, Forbidden, NotFound, NotSignedIn, Rejected, WrongPassword
from domain.ports import Clock, PasswordHasher
from domain.secret import digest, new_secret
from domain.sign_up import SignUpRules
from domain.source import capture_mode
from domain.stores import UnitOfWork

_LEAVE_BY_SESSION = (
    "This account has no password. Delete it on its page, or by a token with every scope."
)
_LONGEST_ADDRESS = 315
_ATTEMPTS_AT_ONCE = 2
_TOKEN_PREFIX = "blg_"  # noqa: S105 - marks our tokens for secret scanners; no secret


@dataclass(frozen=True, slots=True)
class ManageAccounts:
    """Who somebody is, and how they prove it. Secrets are stored hashed."""

    uow: UnitOfWork
    hasher: PasswordHasher
    clock: Clock
    rules: SignUpRules
    session_lifetime: timedelta = timedelta(days=30)
    attempts: FailedAttempts = field(default_factory=FailedAttempts)
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_ATTEMPTS_AT_ONCE))
    """Attempts take turns, so that those sent at once are counted one after the other."""

    async def sign_up(self, email: str, password: str, *, peer: str, invitation: str = "") -> User:
        """A new account with the sign-up credit; the first one is the admin.

        Args:
            peer: where the request comes from.
            invitation: the secret of an invitation, which is used up; "" for none.

        Raises:
            Forbidden: sign-up is closed, and somebody has an account already; or the invitation
                is missing, used or expired.
            Rejected: the address or the password does not do.
            Conflict: the address has an account.
            TooManyAttempts: that peer failed too often.
        """
        async with self.uow(at_once=True) as tx:
            await self.rules.require(tx, invitation)
        address = valid_address(email)
        check_password(password)
        async with self._attempt({_peer(peer): PER_PEER}):
            hashed = await self.hasher.hash(password)
            async with self.uow() as tx:
                return await self.rules.add(tx, address, hashed, invitation, peer=peer)

    async def is_open(self, invitation: str = "") -> bool:
        """True where somebody with that invitation may sign up."""
        async with self.uow(at_once=True) as tx:
            return await self.rules.let_in(tx, invitation)

    async def sign_in(self, email: str, password: str, *, peer: str) -> User:
        """The account behind an address and its password.

        Args:
            peer: where the request comes from.

        Raises:
            NotSignedIn: they do not belong together; which of the two is wrong is not said.
            TooManyAttempts: that address or that peer failed too often.
        """
        address = plain_address(email)
        name = _name(address)
        async with self._attempt({name: PER_ADDRESS, _peer(peer): PER_PEER}):
            async with self.uow(at_once=True) as tx:
                found = await tx.accounts.by_email(address)
            user, hashed = found or (None, None)
            # An unknown address takes as long as a wrong password.
            right = await self.hasher.verify(hashed, password)
            if user is None or not right or user.is_disabled:
                async with self.uow() as tx:
                    await tx.audit.add(
                        Act.SIGN_IN_FAILED, None, user.id if user else None, peer=peer
                    )
                raise NotSignedIn("Address or password is wrong.")
        self.attempts.forget(name)
        await self._remember_sign_in(user, hashed, password, peer)
        return user

    async def _remember_sign_in(
        self, user: User, hashed: str | None, password: str, peer: str
    ) -> None:
        renewed = None
        if hashed and self.hasher.is_outdated(hashed):
            renewed = await self.hasher.hash(password)
        async with self.uow() as tx:
            if renewed:
                await tx.accounts.set_password(user.id, renewed)
            await tx.audit.add(Act.SIGNED_IN, user.id, user.id, peer=peer)

    async def confirm(self, user: User, password: str, *, peer: str) -> None:
        """Let somebody who is signed in prove again that it is them.

        Raises:
            WrongPassword: it is wrong, or the account has none.
            TooManyAttempts: it was wrong too often.
        """
        async with self._proof(user, peer) as hashed:
            if not await self.hasher.verify(hashed, password):
                raise WrongPassword

    async def confirm_leaving(self, visitor: Visitor, said: str, *, peer: str) -> None:
        """Let somebody prove that it is them who deletes their account.

        By their password. Where the account has none, by its address: every token can read that,
        so that only a session will do, or a token that may do everything.

        Raises:
            WrongPassword: that is wrong.
            Forbidden: the token may do less.
            TooManyAttempts: it was wrong too often.
        """
        user = visitor.user
        async with self._proof(user, peer) as hashed:
            if hashed is not None:
                right = await self.hasher.verify(hashed, said)
            elif visitor.token_id and visitor.scopes != EVERY_SCOPE:
                raise Forbidden(_LEAVE_BY_SESSION)
            else:
                right = plain_address(said) == user.email
            if not right:
                raise WrongPassword

    @asynccontextmanager
    async def _proof(self, user: User, peer: str) -> AsyncIterator[str | None]:
        """The hash that a proof has to fit, None where the account has no password."""
        try:
            async with self._attempt({_name(user.email): PER_ADDRESS, _peer(peer): PER_PEER}):
                async with self.uow(at_once=True) as tx:
                    found = await tx.accounts.by_email(user.email)
                yield found[1] if found else None
        except WrongPassword:
            async with self.uow() as tx:
                await tx.audit.add(Act.PROOF_FAILED, user.id, user.id, peer=peer)
            raise

    @asynccontextmanager
    async def _attempt(self, limits: dict[str, int]) -> AsyncIterator[None]:
        """One of few attempts at a time; where it fails, that counts for every name."""
        async with self.turns:
            for name, limit in limits.items():
                self.attempts.check(name, limit, self.clock.now())
            try:
                yield
            except (NotSignedIn, WrongPassword, Conflict):
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
                return await tx.accounts.add(LOCAL_EMAIL, None, self.rules.credit)
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

    async def open_session(self, user: User, browser: str = "", *, instead_of: str = "") -> str:
        """A secret for a cookie that stands for that user.

        Args:
            browser: as it calls itself.
            instead_of: the secret of a session that ends with it.
        """
        secret = new_secret()
        async with self.uow() as tx:
            if instead_of:
                await tx.credentials.end_session(digest(instead_of))
            await tx.credentials.add_session(
                user.id, digest(secret), self.session_lifetime, one_line(browser, 200)
            )
        return secret

    async def close_session(self, secret: str) -> None:
        """Sign out."""
        async with self.uow(at_once=True) as tx:
            await tx.credentials.end_session(digest(secret))

    async def by_session(self, secret: str, about: Thing | None = None) -> Visitor | None:
        """Whose session this is, and what they are to a thing."""
        async with self.uow(at_once=True) as tx:
            return await tx.credentials.by_session(digest(secret), about)

    async def by_token(self, secret: str, about: Thing | None = None) -> Visitor | None:
        """Whose API token this is, and what they are to a thing."""
        async with self.uow(at_once=True) as tx:
            return await tx.credentials.by_token(digest(secret), about)

    async def add_token(
        self,
        user: User,
        name: str,
        scopes: frozenset[TokenScope] = EVERY_SCOPE,
        expires_at: datetime | None = None,
    ) -> tuple[ApiToken, str]:
        """A new token and its secret, which is shown this once.

        Raises:
            Rejected: it would have expired already.
        """
        if expires_at and expires_at <= self.clock.now():
            raise Rejected("expires_at lies in the past.")
        secret = _TOKEN_PREFIX + new_secret()
        label = one_line(name, 100) or "token"
        named = [scope.value for scope in TokenScope if scope in scopes]
        async with self.uow() as tx:
            token = await tx.credentials.add_token(
                user.id, label, digest(secret), named, expires_at
            )
            await tx.audit.add(Act.TOKEN_MADE, user.id, user.id, token_id=str(token.id))
            return token, secret

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
            await tx.audit.add(Act.SETTINGS_CHANGED, user.id, user.id)


def _peer(peer: str) -> str:
    return f"peer {network(peer)}"


def _name(address: str) -> str:
    return f"address {address[:_LONGEST_ADDRESS]}"
