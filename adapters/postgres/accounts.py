"""User, session and token rows."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

from adapters.postgres.connection import Row
from adapters.postgres.rows import Store, page_of
from domain.access import Role, Thing, Visitor
from domain.account import ApiToken, User
from domain.errors import Conflict, Forbidden
from domain.ids import TokenId, UserId, new_id
from domain.stores import Page

_USER = (
    "u.id, u.email, u.is_admin, u.pdf_capture, u.language, u.credit - u.reserved as credit,"
    " u.created_at"
)


_ROLE = """
case cast(:kind as text)
    when 'notebook' then
        (select a.role from notebook_access a where a.notebook_id = :thing and a.user_id = u.id)
    when 'source' then  -- of several roles "owner" sorts before "read"
        (select min(a.role) from source_access a where a.source_id = :thing and a.user_id = u.id)
    when 'answer' then
        (select a.role from answer_access a where a.answer_id = :thing and a.user_id = u.id)
end as role
"""


def _user(row: Row) -> User:
    return User(
        id=row.id,
        email=row.email,
        is_admin=row.is_admin,
        pdf_capture=row.pdf_capture,
        language=row.language,
        credit=row.credit,
        created_at=row.created_at,
    )


def _visitor(row: Row) -> Visitor:
    return Visitor(_user(row), role=Role(row.role) if row.role else None)


def _token(row: Row) -> ApiToken:
    return ApiToken(id=row.id, name=row.name, created_at=row.created_at)


class PostgresAccounts(Store):
    """The `Accounts` port."""

    async def add(
        self,
        email: str,
        password_hash: str | None,
        credit: Decimal,
        *,
        only_first: bool = False,
    ) -> User:
        # Sign-ups take turns, so that exactly one of two first ones becomes the admin.
        await self._run("lock table users in share row exclusive mode")
        if only_first and not await self.is_empty():
            raise Forbidden("Sign-up is closed here. Ask the admin for an account.")
        row = await self._one(
            "insert into users as u (id, email, password_hash, is_admin, credit, created_at)"
            " values (:id, :email, :password_hash, not exists (select from users), 0, now())"
            f" on conflict (email) do nothing returning {_USER}",
            id=new_id(),
            email=email,
            password_hash=password_hash,
        )
        if row is None:
            raise Conflict("This address has an account already. Sign in instead.")
        may_spend = await self.grant(row.id, credit, "sign-up")
        return replace(_user(row), credit=may_spend)

    async def grant(self, user_id: UserId, amount: Decimal, reason: str) -> Decimal:
        await self._run(
            "insert into credit_grants (id, user_id, amount, reason, created_at)"
            " values (:id, :user_id, :amount, :reason, now())",
            id=new_id(),
            user_id=user_id,
            amount=amount,
            reason=reason,
        )
        row = await self._one(
            "update users set credit = credit + :amount where id = :id"
            " returning credit - reserved as may_spend",
            amount=amount,
            id=user_id,
        )
        assert row is not None  # noqa: S101 - the grant's foreign key found the account
        may_spend: Decimal = row.may_spend
        return may_spend

    async def is_empty(self) -> bool:
        return await self._one("select 1 from users limit 1") is None

    async def by_email(self, email: str) -> tuple[User, str | None] | None:
        row = await self._one(
            f"select {_USER}, u.password_hash from users u where email = :email", email=email
        )
        return (_user(row), row.password_hash) if row else None

    async def by_session(self, token_hash: bytes, about: Thing | None = None) -> Visitor | None:
        row = await self._one(
            f"select {_USER}, {_ROLE} from sessions s join users u on u.id = s.user_id"
            " where s.token_hash = :hash and s.expires_at > now()",
            hash=token_hash,
            kind=about and about.kind,
            thing=about and about.id,
        )
        return _visitor(row) if row else None

    async def by_token(self, token_hash: bytes, about: Thing | None = None) -> Visitor | None:
        row = await self._one(
            f"select {_USER}, {_ROLE}, t.id as token_id"
            " from api_tokens t join users u on u.id = t.user_id where t.token_hash = :hash",
            hash=token_hash,
            kind=about and about.kind,
            thing=about and about.id,
        )
        return replace(_visitor(row), token_id=row.token_id) if row else None

    async def add_session(self, user_id: UserId, token_hash: bytes, lifetime: timedelta) -> None:
        await self._run("delete from sessions where expires_at < now()")
        await self._run(
            "insert into sessions (token_hash, user_id, created_at, expires_at)"
            " values (:hash, :user_id, now(), now() + cast(:lifetime as interval))",
            hash=token_hash,
            user_id=user_id,
            lifetime=lifetime,
        )

    async def end_session(self, token_hash: bytes) -> None:
        await self._run("delete from sessions where token_hash = :hash", hash=token_hash)

    async def add_token(self, user_id: UserId, name: str, token_hash: bytes) -> ApiToken:
        row = await self._one(
            "insert into api_tokens (id, user_id, name, token_hash, created_at)"
            " values (:id, :user_id, :name, :hash, now()) returning id, name, created_at",
            id=new_id(),
            user_id=user_id,
            name=name,
            hash=token_hash,
        )
        assert row is not None  # noqa: S101 - an insert without a conflict clause returns its row
        return _token(row)

    async def tokens(self, user_id: UserId, *, limit: int, after: UUID | None) -> Page[ApiToken]:
        rows = await self._all(
            "select id, name, created_at from api_tokens where user_id = :user_id"
            " and (cast(:after as uuid) is null or id > :after) order by id limit :most",
            user_id=user_id,
            after=after,
            most=limit + 1,
        )
        return page_of(rows, limit, _token)

    async def end_token(self, user_id: UserId, token_id: TokenId) -> bool:
        removed = await self._run(
            "delete from api_tokens where id = :id and user_id = :user_id",
            id=token_id,
            user_id=user_id,
        )
        return bool(removed)

    async def set_preferences(
        self, user_id: UserId, *, pdf_capture: str | None, language: str | None
    ) -> None:
        await self._run(
            "update users set pdf_capture = coalesce(:pdf_capture, pdf_capture),"
            " language = coalesce(:language, language) where id = :id",
            pdf_capture=pdf_capture,
            language=language,
            id=user_id,
        )
