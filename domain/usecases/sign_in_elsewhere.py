"""Sign in at an identity provider, and be somebody here."""

import hmac
from dataclasses import dataclass

from domain.account import User, valid_address
from domain.audit import Act
from domain.errors import Conflict, Forbidden, NotSignedIn
from domain.ports import Identity, IdentityProvider, SignInAttempt
from domain.secret import derived, new_secret
from domain.sign_up import SignUpRules
from domain.stores import Stores, UnitOfWork


@dataclass(frozen=True, slots=True)
class SignInElsewhere:
    """An account by what a provider proves: the subject it is linked to, or its address."""

    uow: UnitOfWork
    provider: IdentityProvider
    rules: SignUpRules

    async def begin(self, redirect_uri: str) -> tuple[str, str]:
        """A secret for the browser to keep meanwhile, and where to send it."""
        secret = new_secret()
        return secret, await self.provider.address(_attempt(secret), redirect_uri)

    async def __call__(
        self,
        secret: str,
        state: str,
        code: str,
        redirect_uri: str,
        *,
        peer: str,
        invitation: str = "",
    ) -> User:
        """The account of who came back; made where sign-up lets them in.

        Args:
            secret: what the browser kept; only the browser that began can finish.
            state, code: what the provider sent along.

        Raises:
            NotSignedIn: nothing is proven, or the account is shut.
            Forbidden: the address is not verified, or sign-up does not let them in.
            Conflict: the address belongs to another identity of the provider's.
        """
        attempt = _attempt(secret)
        if not secret or not hmac.compare_digest(state.encode(), attempt.state.encode()):
            raise NotSignedIn("This sign-in did not begin here, or took too long. Try again.")
        identity = await self.provider.identity(attempt, code, redirect_uri)
        async with self.uow() as tx:
            user = await tx.accounts.by_subject(identity.subject)
            if user is None:
                user = await self._linked(tx, identity, invitation, peer)
            act = Act.SIGN_IN_FAILED if user.is_disabled else Act.SIGNED_IN
            await tx.audit.add(act, user.id, user.id, peer=peer, by="provider")
        if user.is_disabled:
            raise NotSignedIn("This account is shut. Ask the admin.")
        return user

    async def _linked(self, tx: Stores, identity: Identity, invitation: str, peer: str) -> User:
        """The account with the identity's address, linked to it from now on."""
        if not identity.is_verified:
            raise Forbidden("The sign-in provider has not verified your e-mail address.")
        address = valid_address(identity.email)
        found = await tx.accounts.by_email(address)
        if found is None:
            await self.rules.require(tx, invitation)
            user = await self.rules.add(tx, address, None, invitation, peer=peer)
        else:
            # Whoever made it never proved that the address is theirs: they are shut out.
            user, _ = found
            await tx.accounts.set_password(user.id, None)
            await tx.credentials.end_sessions(user.id)
            await tx.credentials.end_tokens(user.id)
            await tx.audit.add(Act.PROVIDER_LINKED, user.id, user.id, peer=peer)
        if not await tx.accounts.link_subject(user.id, identity.subject):
            raise Conflict("Your address belongs to another identity here. Ask the admin.")
        return user


def _attempt(secret: str) -> SignInAttempt:
    """What goes along with an attempt follows from its secret: nothing is stored meanwhile."""
    return SignInAttempt(*(derived(secret, part) for part in ("state", "nonce", "verifier")))
