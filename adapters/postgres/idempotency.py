"""What clients' idempotency keys stood for."""

from adapters.postgres.rows import Store
from domain.errors import Conflict
from domain.ids import UserId


class PostgresIdempotency(Store):
    """The `Idempotency` port."""

    async def recall(self, user_id: UserId, key: str, body_hash: bytes) -> str | None:
        # Two requests with one key take turns: the second waits here for the first's commit.
        await self._run(
            "select pg_advisory_xact_lock(hashtextextended(:lock, 0))", lock=f"{user_id} {key}"
        )
        row = await self._one(
            "select body_hash, resource from idempotency_keys"
            " where user_id = :user_id and key = :key",
            user_id=user_id,
            key=key,
        )
        if row is None:
            return None
        if row.body_hash != body_hash:
            raise Conflict("This idempotency key was used with another request. Use a new one.")
        return str(row.resource)

    async def remember(self, user_id: UserId, key: str, body_hash: bytes, resource: str) -> None:
        await self._run(
            "insert into idempotency_keys (user_id, key, body_hash, resource, created_at)"
            " values (:user_id, :key, :body_hash, :resource, now())",
            user_id=user_id,
            key=key,
            body_hash=body_hash,
            resource=resource,
        )
