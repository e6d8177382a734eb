"""What clients' idempotency keys stood for."""

from adapters.postgres.rows import Store
from domain.errors import Conflict
from domain.ids import UserId
from domain.stores import KEY_LEASE


class PostgresIdempotency(Store):
    """The `Idempotency` port."""

    async def recall(self, user_id: UserId, key: str, body_hash: bytes) -> str | None:
        # Two requests with one key take turns: the second waits here for the first's commit.
        await self._run(
            "select pg_advisory_xact_lock(hashtextextended(:lock, 0))", lock=f"{user_id} {key}"
        )
        row = await self._one(
            "select body_hash, resource from idempotency_keys"
            " where user_id = :user_id and key = :key"
            " and (resource <> '' or created_at > now() - cast(:lease as interval))",
            user_id=user_id,
            key=key,
            lease=KEY_LEASE,
        )
        if row is None:
            return None
        if row.body_hash != body_hash:
            raise Conflict("This idempotency key was used with another request. Use a new one.")
        return str(row.resource)

    async def remember(self, user_id: UserId, key: str, body_hash: bytes, resource: str) -> None:
        await self._run(
            "insert into idempotency_keys (user_id, key, body_hash, resource, created_at)"
            " values (:user_id, :key, :body_hash, :resource, now())"
            " on conflict (user_id, key) do update set body_hash = excluded.body_hash,"
            " resource = excluded.resource, created_at = excluded.created_at",
            user_id=user_id,
            key=key,
            body_hash=body_hash,
            resource=resource,
        )

    async def renew(self, user_id: UserId, key: str) -> None:
        await self._run(
            "update idempotency_keys set created_at = now()"
            " where user_id = :user_id and key = :key and resource = ''",
            user_id=user_id,
            key=key,
        )

    async def forget(self, user_id: UserId, key: str) -> None:
        await self._run(
            "delete from idempotency_keys"
            " where user_id = :user_id and key = :key and resource = ''",
            user_id=user_id,
            key=key,
        )

    async def forget_old(self) -> None:
        await self._run("delete from idempotency_keys where created_at < now() - interval '7 days'")
