"""Session, token, invitation and reset rows, and the role of whoever comes with one."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from adapters.postgres.accounts import USER, user_of
from adapters.postgres.connection import Row
from adapters.postgres.rows import Store, page_of
from domain.access import Role, Thing, TokenScope, Visitor
from domain.account import ApiToken, Invitation, Session, User
from domain.channels import ACCESS_CHANGED
from domain.errors import NotSignedIn
from domain.ids import InvitationId, SessionId, TokenId, UserId, new_id
from domain.stores import Page

_ROLE = """
case cast(:kind as text)
    when 'notebook' then
        (select a.role from notebook_access a where a.notebook_id = :thing and a.user_id = u.id)
    when 'source' then  -- of several roles "owner" sorts before "read"
        (select min(a.role) from source_access a where a.source_id = :thing and a.user_id = u.id)
    when 'answer' then
        (select a.role from answer_access a where a.answer_id = :thing and a.user_id = u.id)
    when 'document' then
        (select a.role from document_access a where a.document_id = :thing and a.user_id = u.id)
end as role
"""
_NOT_SHUT = "from users u where u.id = :user_id and u.disabled_at is null for share"
"""Held until commit: whoever shuts the account ends what was made before, and nothing follows."""
_STALE = "coalesce(c.last_used_at < now() - interval '1 minute', true) as is_stale"
_TOKEN_ROW = "id, name, scopes, created_at, expires_at, last_used_at"  # noqa: S105 - columns
_SESSION_ROW = "id, user_agent, created_at, expires_at, last_used_at"
_INVITATION = (
    "select i.id, i.created_at, i.expires_at, i.used_at, u.email as used_by"
    " from invitations i left join users u on u.id = i.used_by"
)
_OPEN = "token_hash = :hash and used_at is null and expires_at > now()"


def _token(row: Row) -> ApiToken:
    return ApiToken(
        *(row.id, row.name, tuple(row.scopes)), row.created_at, row.expires_at, row.last_used_at
    )


def _session(row: Row) -> Session:
    return Session(row.id, row.user_agent, row.created_at, row.expires_at, row.last_used_at)


def _invitation(row: Row) -> Invitation:
    return Invitation(row.id, row.created_at, row.expires_at, row.used_at, row.used_by)


class PostgresCredentials(Store):
    """The `Credentials` port."""

    async def by_session(self, secret_hash: bytes, about: Thing | None = None) -> Visitor | None:
        row = await self._one(
            f"select {USER}, {_ROLE}, {_STALE}, c.id as credential, c.expires_at"
            " from sessions c join users u on u.id = c.user_id"
            " where c.token_hash = :hash and c.expires_at > now() and u.disabled_at is null",
            hash=secret_hash,
            kind=about and about.kind,
            thing=about and about.id,
        )
        if row is None:
            return None
        if row.is_stale:
            await self._run(
                "update sessions set last_used_at = now() where id = :id", id=row.credential
            )
        return Visitor(
            user_of(row),
            role=Role(row.role) if row.role else None,
            session_id=row.credential,
            expires_at=row.expires_at,
        )

    async def by_token(self, secret_hash: bytes, about: Thing | None = None) -> Visitor | None:
        row = await self._one(
            f"select {USER}, {_ROLE}, {_STALE}, c.id as credential, c.scopes, c.expires_at"
            " from api_tokens c join users u on u.id = c.user_id where c.token_hash = :hash"
            " and coalesce(c.expires_at > now(), true) and u.disabled_at is null",
            hash=secret_hash,
            kind=about and about.kind,
            thing=about and about.id,
        )
        if row is None:
            return None
        if row.is_stale:
            await self._run(
                "update api_tokens set last_used_at = now() where id = :id", id=row.credential
            )
        return Visitor(
            user_of(row),
            scopes=frozenset(map(TokenScope, row.scopes)),
            role=Role(row.role) if row.role else None,
            token_id=row.credential,
            expires_at=row.expires_at,
        )

    async def add_session(
        self, user_id: UserId, secret_hash: bytes, lifetime: timedelta, browser: str = ""
    ) -> None:
        made = await self._run(
            "insert into sessions (id, token_hash, user_id, user_agent, created_at, expires_at)"
            " select :id, :hash, u.id, :browser, now(), now() + cast(:lifetime as interval)"
            f" {_NOT_SHUT}",
            id=new_id(),
            hash=secret_hash,
            user_id=user_id,
            browser=browser,
            lifetime=lifetime,
        )
        if not made:
            raise NotSignedIn
        await self._run("delete from sessions where expires_at < now()")

    async def end_session(self, secret_hash: bytes) -> None:
        await self._run(
            "with ended as (delete from sessions where token_hash = :hash returning user_id)"
            " select pg_notify(:channel, cast(user_id as text)) from ended",
            hash=secret_hash,
            channel=ACCESS_CHANGED,
        )

    async def sessions(self, user_id: UserId, *, limit: int, after: UUID | None) -> Page[Session]:
        rows = await self._all(
            f"select {_SESSION_ROW} from sessions where user_id = :user_id and expires_at > now()"
            " and (cast(:after as uuid) is null or id > :after) order by id limit :most",
            user_id=user_id,
            after=after,
            most=limit + 1,
        )
        return page_of(rows, limit, _session)

    async def end_sessions(
        self,
        user_id: UserId,
        *,
        only: SessionId | None = None,
        but: SessionId | None = None,
    ) -> int:
        await self._tell(user_id)
        return await self._run(
            "delete from sessions where user_id = :user_id"
            " and (cast(:only as uuid) is null or id = :only)"
            " and (cast(:but as uuid) is null or id <> :but)",
            user_id=user_id,
            only=only,
            but=but,
        )

    async def add_token(
        self,
        user_id: UserId,
        name: str,
        secret_hash: bytes,
        scopes: Sequence[str],
        expires_at: datetime | None,
    ) -> ApiToken:
        row = await self._one(
            "insert into api_tokens"
            " (id, user_id, name, token_hash, scopes, expires_at, created_at)"
            f" select :id, u.id, :name, :hash, :scopes, :expires_at, now() {_NOT_SHUT}"
            f" returning {_TOKEN_ROW}",
            id=new_id(),
            user_id=user_id,
            name=name,
            hash=secret_hash,
            scopes=list(scopes),
            expires_at=expires_at,
        )
        if row is None:
            raise NotSignedIn
        return _token(row)

    async def tokens(self, user_id: UserId, *, limit: int, after: UUID | None) -> Page[ApiToken]:
        rows = await self._all(
            f"select {_TOKEN_ROW} from api_tokens where user_id = :user_id"
            " and (cast(:after as uuid) is null or id > :after) order by id limit :most",
            user_id=user_id,
            after=after,
            most=limit + 1,
        )
        return page_of(rows, limit, _token)

    async def token(self, user_id: UserId, token_id: TokenId) -> ApiToken | None:
        row = await self._one(
            f"select {_TOKEN_ROW} from api_tokens where id = :id and user_id = :user_id",
            id=token_id,
            user_id=user_id,
        )
        return _token(row) if row else None

    async def _tell(self, user_id: UserId) -> None:
        await self._run("select pg_notify(:channel, :id)", channel=ACCESS_CHANGED, id=str(user_id))

    async def end_token(self, user_id: UserId, token_id: TokenId) -> bool:
        await self._tell(user_id)
        ended = await self._run(
            "delete from api_tokens where id = :id and user_id = :user_id",
            id=token_id,
            user_id=user_id,
        )
        return bool(ended)

    async def end_tokens(self, user_id: UserId) -> None:
        await self._tell(user_id)
        await self._run("delete from api_tokens where user_id = :user_id", user_id=user_id)

    async def add_invitation(
        self, by: UserId | None, secret_hash: bytes, lifetime: timedelta
    ) -> Invitation:
        row = await self._one(
            "insert into invitations (id, token_hash, created_by, created_at, expires_at)"
            " values (:id, :hash, :by, now(), now() + cast(:lifetime as interval))"
            " returning id, created_at, expires_at, used_at, null as used_by",
            id=new_id(),
            hash=secret_hash,
            by=by,
            lifetime=lifetime,
        )
        assert row is not None  # noqa: S101 - an insert without a conflict clause returns its row
        return _invitation(row)

    async def invitations(self, *, limit: int, after: UUID | None) -> Page[Invitation]:
        rows = await self._all(
            f"{_INVITATION} where cast(:after as uuid) is null or i.id > :after"
            " order by i.id limit :most",
            after=after,
            most=limit + 1,
        )
        return page_of(rows, limit, _invitation)

    async def end_invitation(self, invitation_id: InvitationId) -> bool:
        ended = await self._run(
            "delete from invitations where id = :id and used_at is null", id=invitation_id
        )
        return bool(ended)

    async def is_invitation(self, secret_hash: bytes) -> bool:
        return bool(await self._one(f"select 1 from invitations where {_OPEN}", hash=secret_hash))

    async def use_invitation(self, secret_hash: bytes, user_id: UserId) -> bool:
        ended = await self._run(
            f"update invitations set used_at = now(), used_by = :user_id where {_OPEN}",
            hash=secret_hash,
            user_id=user_id,
        )
        return bool(ended)

    async def add_reset(self, user_id: UserId, secret_hash: bytes, lifetime: timedelta) -> None:
        await self._run(
            "delete from password_resets where user_id = :user_id or expires_at < now()",
            user_id=user_id,
        )
        await self._run(
            "insert into password_resets (token_hash, user_id, expires_at)"
            " values (:hash, :user_id, now() + cast(:lifetime as interval))",
            hash=secret_hash,
            user_id=user_id,
            lifetime=lifetime,
        )

    async def is_reset(self, secret_hash: bytes) -> bool:
        row = await self._one(
            "select 1 from password_resets where token_hash = :hash and expires_at > now()",
            hash=secret_hash,
        )
        return row is not None

    async def use_reset(self, secret_hash: bytes) -> User | None:
        row = await self._one(
            "with used as (delete from password_resets where token_hash = :hash"
            " and expires_at > now() returning user_id)"
            f" select {USER} from used join users u on u.id = used.user_id",
            hash=secret_hash,
        )
        return user_of(row) if row else None
