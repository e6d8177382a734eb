"""Who may do what: roles on what is shared, scopes of tokens, and who is asking."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from domain.account import User
from domain.errors import Forbidden, Rejected
from domain.ids import SessionId, TokenId


class Role(StrEnum):
    """What somebody may do with a notebook and what is in it."""

    OWNER = "owner"
    ASK = "ask"
    """Read, and have a chat of one's own."""
    READ = "read"

    def require(self, least: "Role") -> None:
        """Let pass who may do what `least` may.

        Raises:
            Forbidden: this role does not reach that far.
        """
        if _RANK[self] < _RANK[least]:
            raise Forbidden(_BEYOND[least])


_RANK = {Role.READ: 0, Role.ASK: 1, Role.OWNER: 2}
_BEYOND = {
    Role.OWNER: "This is shared with you; only its owner may do that.",
    Role.ASK: "This is shared with you to read. Ask its owner to let you ask questions, too.",
    Role.READ: "",
}


class TokenScope(StrEnum):
    """What a token may be used for. Every scope includes `read`."""

    READ = "read"
    """See things. Costs nothing."""
    ASK = "ask"
    """Ask and search: what a model is called for."""
    WRITE = "write"
    """Add, change and delete."""
    ADMIN = "admin"
    """What the admin alone may do; of use to an admin only."""


EVERY_SCOPE = frozenset(TokenScope)


def token_scopes(names: Iterable[str]) -> frozenset[TokenScope]:
    """The scopes of those names.

    Raises:
        Rejected: there is no such scope, or none is named.
    """
    try:
        scopes = frozenset(map(TokenScope, names))
    except ValueError:
        scopes = frozenset()
    if not scopes:
        raise Rejected(f"scopes are any of {', '.join(TokenScope)}.")
    return scopes


def guest_role(name: str) -> Role:
    """The role that a guest may be given by that name.

    Raises:
        Rejected: there is no such role.
    """
    if name not in {Role.READ, Role.ASK}:
        raise Rejected("role is read, or ask (which includes read).")
    return Role(name)


@dataclass(frozen=True, slots=True)
class Thing:
    """What a request is about: a kind of thing ("notebook", "source", "answer") and its id."""

    kind: str
    id: UUID


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who is asking, by which credential, and what they are to the thing they ask about.

    Args:
        role: None where there is no thing, or they may not see it.
        session_id, token_id: one of them.
    """

    user: User
    scopes: frozenset[TokenScope] = EVERY_SCOPE
    role: Role | None = None
    session_id: SessionId | None = None
    token_id: TokenId | None = None
    expires_at: datetime | None = None
    """When the credential ends; None where it does not."""

    def bounded(
        self, scopes: frozenset[TokenScope] | None, expires_at: datetime | None
    ) -> tuple[frozenset[TokenScope], datetime | None]:
        """Scopes and end of a token that is made with this credential: never more than its own.

        Args:
            scopes: what is asked for; None for all there is.

        Raises:
            Forbidden: the credential has fewer scopes, or may not make tokens.
        """
        wanted = self.scopes if scopes is None else scopes
        if not self.allows(TokenScope.WRITE) or wanted - self.scopes:
            raise Forbidden("A token makes no token that may do more than itself.")
        if self.token_id is None or self.expires_at is None:
            return wanted, expires_at
        return wanted, min(self.expires_at, expires_at or self.expires_at)

    def allows(self, scope: TokenScope) -> bool:
        """True where the credential may be used for that."""
        return scope in self.scopes or (scope is TokenScope.READ and bool(self.scopes))
