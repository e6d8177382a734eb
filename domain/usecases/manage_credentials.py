"""See and end what stands for a person: sessions and tokens."""

from dataclasses import dataclass
from uuid import UUID

from domain.access import Visitor
from domain.account import ApiToken, Session, User
from domain.audit import Act
from domain.errors import NotFound
from domain.ids import SessionId, TokenId
from domain.stores import Page, UnitOfWork

_NO_TOKEN = "You have no such token."  # noqa: S105 - a sentence


@dataclass(frozen=True, slots=True)
class ManageCredentials:
    """What a person does with their own sessions and tokens."""

    uow: UnitOfWork

    async def tokens(self, user: User, *, limit: int, after: UUID | None) -> Page[ApiToken]:
        """That user's tokens, without their secrets."""
        async with self.uow(at_once=True) as tx:
            return await tx.credentials.tokens(user.id, limit=limit, after=after)

    async def token(self, user: User, token_id: TokenId) -> ApiToken:
        """One of them.

        Raises:
            NotFound: that user has no such token.
        """
        async with self.uow(at_once=True) as tx:
            token = await tx.credentials.token(user.id, token_id)
        if token is None:
            raise NotFound(_NO_TOKEN)
        return token

    async def end_token(self, user: User, token_id: TokenId) -> None:
        """Revoke a token.

        Raises:
            NotFound: that user has no such token.
        """
        async with self.uow() as tx:
            if not await tx.credentials.end_token(user.id, token_id):
                raise NotFound(_NO_TOKEN)
            await tx.audit.add(Act.TOKEN_REVOKED, user.id, user.id, token_id=str(token_id))

    async def sessions(self, user: User, *, limit: int, after: UUID | None) -> Page[Session]:
        """Browsers that are signed in as that user."""
        async with self.uow(at_once=True) as tx:
            return await tx.credentials.sessions(user.id, limit=limit, after=after)

    async def end_session(self, user: User, session_id: SessionId) -> None:
        """Sign one browser out.

        Raises:
            NotFound: that user has no such session.
        """
        async with self.uow() as tx:
            if not await tx.credentials.end_sessions(user.id, only=session_id):
                raise NotFound("You have no such session.")
            await tx.audit.add(Act.SESSIONS_ENDED, user.id, user.id, count="1")

    async def end_sessions(self, visitor: Visitor, *, keep_this: bool = False) -> None:
        """Sign out everywhere, or everywhere else."""
        user = visitor.user
        async with self.uow() as tx:
            but = visitor.session_id if keep_this else None
            ended = await tx.credentials.end_sessions(user.id, but=but)
            await tx.audit.add(Act.SESSIONS_ENDED, user.id, user.id, count=str(ended))
