"""User rows."""

import json
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from uuid import UUID

from adapters.postgres.connection import Row
from adapters.postgres.rows import Store, page_of
from domain.account import User
from domain.channels import ACCESS_CHANGED
from domain.errors import Conflict, Forbidden
from domain.ids import UserId, new_id
from domain.limits import LimitName
from domain.stores import Page

USER = (
    "u.id, u.email, u.is_admin, u.pdf_capture, u.language, u.credit - u.reserved as credit,"
    " u.created_at, u.disabled_at, u.deleting_at,"
    " (select json_object_agg(name, amount) from user_limits l where l.user_id = u.id) as limits"
)
"""Columns of an account `u`."""


def user_of(row: Row) -> User:
    """An account from its columns."""
    return User(
        id=row.id,
        email=row.email,
        is_admin=row.is_admin,
        pdf_capture=row.pdf_capture,
        language=row.language,
        credit=row.credit,
        created_at=row.created_at,
        is_disabled=row.disabled_at is not None,
        is_leaving=row.deleting_at is not None,
        limits={LimitName(k): v for k, v in json.loads(row.limits).items()} if row.limits else {},
    )


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
            f" on conflict (email) do nothing returning {USER}",
            id=new_id(),
            email=email,
            password_hash=password_hash,
        )
        if row is None:
            raise Conflict("This address has an account already. Sign in instead.")
        may_spend = await self.grant(row.id, credit, "sign-up")
        return replace(user_of(row), credit=may_spend)

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
            f"select {USER}, u.password_hash from users u where email = :email", email=email
        )
        return (user_of(row), row.password_hash) if row else None

    async def get(self, user_id: UserId) -> User | None:
        row = await self._one(f"select {USER} from users u where id = :id", id=user_id)
        return user_of(row) if row else None

    async def page(self, *, limit: int, after: UUID | None) -> Page[User]:
        rows = await self._all(
            f"select {USER} from users u where cast(:after as uuid) is null or id > :after"
            " order by id limit :most",
            after=after,
            most=limit + 1,
        )
        return page_of(rows, limit, user_of)

    async def by_subject(self, issuer_subject: str) -> User | None:
        row = await self._one(
            f"select {USER} from users u where issuer_subject = :subject", subject=issuer_subject
        )
        return user_of(row) if row else None

    async def link_subject(self, user_id: UserId, issuer_subject: str) -> bool:
        linked = await self._run(
            "update users set issuer_subject = :subject"
            " where id = :id and coalesce(issuer_subject, :subject) = :subject",
            subject=issuer_subject,
            id=user_id,
        )
        return bool(linked)

    async def set_password(self, user_id: UserId, password_hash: str | None) -> None:
        await self._run(
            "update users set password_hash = :hash where id = :id",
            hash=password_hash,
            id=user_id,
        )
        await self._run("delete from password_resets where user_id = :id", id=user_id)

    async def set_admin(self, user_id: UserId, *, is_admin: bool) -> None:
        await self._run(
            "update users set is_admin = :is_admin where id = :id", is_admin=is_admin, id=user_id
        )

    async def another_admin(self, user_id: UserId) -> bool:
        # Of two admins who shut each other out at once the second one sees that the first one did.
        await self._run("lock table users in share row exclusive mode")
        row = await self._one(
            "select 1 from users where id <> :id and is_admin"
            " and disabled_at is null and deleting_at is null limit 1",
            id=user_id,
        )
        return row is not None

    async def set_disabled(self, user_id: UserId, *, is_disabled: bool) -> None:
        await self._run(
            "update users set disabled_at = case when :is_disabled"
            " then coalesce(disabled_at, now()) end where id = :id",
            is_disabled=is_disabled,
            id=user_id,
        )
        await self._run("select pg_notify(:channel, :id)", channel=ACCESS_CHANGED, id=str(user_id))

    async def set_limits(self, user_id: UserId, amounts: Mapping[LimitName, int | None]) -> None:
        for name, amount in amounts.items():
            if amount is None:
                await self._run(
                    "delete from user_limits where user_id = :id and name = :name",
                    id=user_id,
                    name=name.value,
                )
            else:
                await self._run(
                    "insert into user_limits (user_id, name, amount) values (:id, :name, :amount)"
                    " on conflict (user_id, name) do update set amount = excluded.amount",
                    id=user_id,
                    name=name.value,
                    amount=amount,
                )

    async def leave(self, user_id: UserId) -> bool:
        # Of two admins who leave at once the second one sees that the first one does.
        await self._run("lock table users in share row exclusive mode")
        left = await self._run(
            "update users u set deleting_at = coalesce(deleting_at, now()) where id = :id"
            " and (not is_admin or not exists (select from users o where o.id <> u.id)"
            " or exists (select from users o where o.id <> u.id and o.is_admin"
            " and o.disabled_at is null and o.deleting_at is null))",
            id=user_id,
        )
        return bool(left)

    async def delete(self, user_id: UserId) -> None:
        await self._run("delete from users where id = :id", id=user_id)

    async def leaving(self) -> list[UserId]:
        rows = await self._all(
            "select u.id from users u where u.deleting_at < now() - interval '30 seconds'"
            " and not exists (select from saq_jobs j"
            " where j.key = 'saq:job:ingest:delete_account:' || cast(u.id as text)"
            " and j.status in ('queued', 'active'))"
        )
        return [row.id for row in rows]

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
