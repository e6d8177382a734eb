"""What several stores share: run a named statement, read pages of a list, read a hit."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, TypeVar
from uuid import UUID

import asyncpg

from adapters.postgres.connection import Row
from domain.retrieval import Hit
from domain.stores import Page

T = TypeVar("T")
_NAME = re.compile(r"(?<![:\w]):([a-z]\w*)")


def statement(name: str) -> str:
    """The SQL in `<name>.sql` beside this module."""
    return files("adapters.postgres").joinpath(f"{name}.sql").read_text()


@lru_cache(500)
def numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    """SQL with `$1` for the first `:name`, as the driver wants it, and the names in order."""
    names = tuple(dict.fromkeys(_NAME.findall(sql)))
    return _NAME.sub(lambda found: f"${names.index(found[1]) + 1}", sql), names


class Store:
    """Statements on the connection of one transaction; values are given by name."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    async def _run(self, sql: str, **values: Any) -> int:  # noqa: ANN401 - column values
        """The number of rows that were written."""
        text, names = numbered(sql)
        done: str = await self._connection.execute(text, *[values[name] for name in names])
        count = done.rpartition(" ")[2]
        return int(count) if count.isdecimal() else 0

    async def _one(self, sql: str, **values: Any) -> Row | None:  # noqa: ANN401 - column values
        text, names = numbered(sql)
        row: Row | None = await self._connection.fetchrow(text, *[values[name] for name in names])
        return row

    async def _all(self, sql: str, **values: Any) -> list[Row]:  # noqa: ANN401 - column values
        text, names = numbered(sql)
        rows: list[Row] = await self._connection.fetch(text, *[values[name] for name in names])
        return rows

    async def _copy(
        self, table: str, columns: tuple[str, ...], records: Iterable[tuple[Any, ...]]
    ) -> None:
        """Insert by binary COPY: fifteen times as fast as inserts, in the same transaction."""
        await self._connection.copy_records_to_table(table, columns=columns, records=records)


def page_of(
    rows: Sequence[Row], limit: int, make: Callable[[Row], T], cursor: str = "id"
) -> Page[T]:
    """A page from `limit + 1` rows: the extra row only tells that there is more."""
    shown = rows[:limit]
    more: UUID | None = getattr(shown[-1], cursor) if len(rows) > limit else None
    return Page(tuple(make(row) for row in shown), more)


def hit_of(row: Row, rank: int) -> Hit:
    """A hit from a row of the search, or of what was kept of one."""
    return Hit(
        rank=rank,
        chunk_id=row.chunk_id,
        source_id=row.source_id,
        version_id=row.version_id,
        source_title=row.source_title,
        passage=row.passage,
        page=row.page,
        start=row.start_at,
        language=row.language,
        text=row.text,
        similarity=row.similarity,
        score=row.score,
    )
