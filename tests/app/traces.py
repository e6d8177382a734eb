"""Every place where a word is kept: each column of the database, each file of the storage."""

from pathlib import Path

import psycopg
from psycopg import sql


def traces(database_url: str, data: Path, word: str) -> set[str]:
    """Columns and files that hold `word`, in whatever case; files by their name."""
    with psycopg.connect(database_url) as connection:
        columns = connection.execute(
            "select c.table_name, c.column_name, c.data_type from information_schema.columns c"
            " join information_schema.tables t using (table_schema, table_name)"
            " where c.table_schema = 'public' and t.table_type = 'BASE TABLE'"
        ).fetchall()
        assert len(columns) > 100
        found = {
            f"{table}.{column}"
            for table, column, kind in columns
            if connection.execute(_holding(table, column, kind), [word.lower()]).fetchone()
        }
    files = (path for path in data.rglob("*") if path.is_file())
    return found | {
        path.name for path in files if word.lower().encode() in path.read_bytes().lower()
    }


def _holding(table: str, column: str, kind: str) -> sql.Composed:
    text = "encode({0}, 'escape')" if kind == "bytea" else "cast({0} as text)"
    query = f"select 1 from {{1}} where position(%s in lower({text})) > 0 limit 1"
    return sql.SQL(query).format(sql.Identifier(column), sql.Identifier(table))
