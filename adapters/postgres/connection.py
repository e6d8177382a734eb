"""Open the pool, teach it pgvector's wire format, translate driver errors."""

import math
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import asyncpg
import numpy as np
from pgvector import HalfVector
from sqlalchemy.engine import make_url

from domain.errors import NotFound, Unavailable
from domain.ports import Vectors

_FOREIGN_KEY = "23503"
_READ_ONLY = "25006"
"""As a database is that is about to become, or has just been, the standby of another one."""
_NO_ANSWER = "The database does not answer. Try again in a moment."
_NEVER = math.inf
_LOST = (asyncpg.InterfaceError, asyncpg.InternalClientError)
"""The second one, among others, of a connection whose server said good-bye while it idled."""


class Row(asyncpg.Record):  # type: ignore[misc] # asyncpg has no types
    """A row whose columns are its attributes."""

    __slots__ = ()

    def __getattr__(self, column: str) -> Any:  # noqa: ANN401 - a column's value
        try:
            return self[column]
        except KeyError:
            raise AttributeError(column) from None


def driver_url(database_url: str, driver: str) -> str:
    """A plain `postgresql://` URL as SQLAlchemy wants it for `driver`."""
    url = make_url(database_url).set(drivername=f"postgresql+{driver}")
    return url.render_as_string(hide_password=False)


@asynccontextmanager
async def open_pool(database_url: str, *, size: int) -> AsyncIterator[asyncpg.Pool]:
    """At most that many connections, opened at need, each with the `halfvec` codec."""
    pool = asyncpg.create_pool(
        database_url,
        min_size=0,
        max_size=size,
        # Every one keeps all its statements prepared, and the one used last is taken first.
        max_queries=_NEVER,
        max_inactive_connection_lifetime=0,
        max_cached_statement_lifetime=0,
        statement_cache_size=500,
        init=_register_halfvec,
        reset=_keep,
        record_class=Row,
        timeout=10,
        command_timeout=120,
        server_settings={
            # A search is planned in half a millisecond, and no better for knowing its parameters.
            "jit": "off",
            "plan_cache_mode": "force_generic_plan",
            # What a machine holds that vanished is free after half a minute, not after two hours.
            "tcp_keepalives_idle": "15",
            "tcp_keepalives_interval": "5",
            "tcp_keepalives_count": "3",
        },
    )
    async with pool:
        yield pool


async def _register_halfvec(connection: asyncpg.Connection) -> None:
    schema = await connection.fetchval(
        "select n.nspname from pg_type t join pg_namespace n on n.oid = t.typnamespace"
        " where t.typname = 'halfvec'"
    )
    if schema:
        await connection.set_type_codec(
            "halfvec", schema=schema, encoder=_encode, decoder=_decode, format="binary"
        )


async def _keep(_connection: asyncpg.Connection) -> None:
    """Nothing to reset: transactions end with their block, and nothing else is ever set."""


def _encode(vector: Vectors) -> bytes:
    return HalfVector(vector).to_binary()


def _decode(data: bytes) -> Vectors:
    return HalfVector.from_binary(data).to_numpy().astype(np.float32)


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turn what is nobody's mistake into errors of ours; mistakes of our own stay what they are.

    Raises:
        Unavailable: the database is lost, full, read-only, or ended this transaction in favour of
            another.
        NotFound: what a row belongs to was deleted meanwhile.
    """
    try:
        yield
    except asyncpg.PostgresError as error:
        _raise_ours(error.sqlstate, error)
        raise
    except (*_LOST, OSError, TimeoutError) as error:
        raise Unavailable(_NO_ANSWER) from error


def _raise_ours(sqlstate: str | None, error: Exception) -> None:
    # 08: connection, 40: deadlock, 53: resources, 57: shut down, 58: its disk; none: the socket.
    if not sqlstate or sqlstate[:2] in {"08", "40", "53", "57", "58"} or sqlstate == _READ_ONLY:
        raise Unavailable(_NO_ANSWER) from error
    if sqlstate == _FOREIGN_KEY:
        raise NotFound("What this belongs to was deleted meanwhile.") from error
