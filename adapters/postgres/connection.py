"""Open the pool, teach it pgvector's wire format, translate driver errors."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import asyncpg
import numpy as np
from sqlalchemy import event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from domain.errors import NotFound, Unavailable
from domain.ports import Vectors

_HEADER = struct.Struct(">HH")
_FOREIGN_KEY = "23503"
_NO_ANSWER = "The database does not answer. Try again in a moment."


def driver_url(database_url: str, driver: str) -> str:
    """A plain `postgresql://` URL as SQLAlchemy wants it for `driver`."""
    url = make_url(database_url).set(drivername=f"postgresql+{driver}")
    if driver == "asyncpg" and "sslmode" in url.query:
        ssl = url.query["sslmode"]
        url = url.difference_update_query(["sslmode"]).update_query_dict({"ssl": ssl})
    return url.render_as_string(hide_password=False)


def open_engine(database_url: str, *, pool_size: int) -> AsyncEngine:
    """A pool of connections, each with the `halfvec` codec."""
    engine = create_async_engine(
        driver_url(database_url, "asyncpg"),
        pool_size=pool_size,
        max_overflow=0,
        # The connection used last has its statements prepared.
        pool_use_lifo=True,
        pool_timeout=10,
        connect_args={"timeout": 10, "command_timeout": 120, "server_settings": {"jit": "off"}},
    )

    @event.listens_for(engine.sync_engine, "connect")
    def _on_connect(connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's own
        connection.run_async(_register_halfvec)

    return engine


async def _register_halfvec(connection: Any) -> None:  # noqa: ANN401 - asyncpg has no types
    schema = await connection.fetchval(
        "select n.nspname from pg_type t join pg_namespace n on n.oid = t.typnamespace"
        " where t.typname = 'halfvec'"
    )
    if schema:
        await connection.set_type_codec(
            "halfvec", schema=schema, encoder=_encode, decoder=_decode, format="binary"
        )


def _encode(vector: Vectors) -> bytes:
    return _HEADER.pack(len(vector), 0) + vector.astype(">f2").tobytes()


def _decode(data: bytes) -> Vectors:
    return np.frombuffer(data, dtype=">f2", offset=_HEADER.size).astype(np.float32)


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turn what is nobody's mistake into errors of ours; mistakes of our own stay what they are.

    Raises:
        Unavailable: the database is lost, full, or ended this transaction in favour of another.
        NotFound: what a row belongs to was deleted meanwhile.
    """
    try:
        yield
    except DBAPIError as error:
        if error.connection_invalidated:
            raise Unavailable(_NO_ANSWER) from error
        _raise_ours(getattr(error.orig, "sqlstate", None), error)
        raise
    except asyncpg.PostgresError as error:  # COPY goes past SQLAlchemy
        _raise_ours(error.sqlstate, error)
        raise
    except (asyncpg.InterfaceError, PoolTimeout, OSError, TimeoutError) as error:
        raise Unavailable(_NO_ANSWER) from error


def _raise_ours(sqlstate: str | None, error: Exception) -> None:
    # 08: connection, 40: deadlock, 53: resources, 57: shut down; none: the socket failed.
    if not sqlstate or sqlstate[:2] in {"08", "40", "53", "57"}:
        raise Unavailable(_NO_ANSWER) from error
    if sqlstate == _FOREIGN_KEY:
        raise NotFound("What this belongs to was deleted meanwhile.") from error
