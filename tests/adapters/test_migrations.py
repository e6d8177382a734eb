"""The schema's revisions: up from nothing, twice, two at once, down and up again."""

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest
from alembic import command as alembic
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url

from adapters.postgres.connection import driver_url
from adapters.postgres.migrate import upgrade
from domain.errors import Unavailable


@pytest.fixture
def empty_url(postgres: str) -> Iterator[str]:
    """A database without anything."""
    name = f"empty_{secrets.token_hex(6)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"create database {name}")
        try:
            yield make_url(postgres).set(database=name).render_as_string(hide_password=False)
        finally:
            connection.execute(f"drop database {name} with (force)")


def _schema(url: str) -> list[tuple[str, ...]]:
    """Every column, index and constraint."""
    with psycopg.connect(url) as connection:
        columns = connection.execute(
            "select 'column', table_name, column_name, data_type, is_nullable,"
            " coalesce(column_default, '') from information_schema.columns"
            " where table_schema = 'public'"
        ).fetchall()
        indexes = connection.execute(
            "select 'index', indexname, indexdef from pg_indexes where schemaname = 'public'"
        ).fetchall()
        constraints = connection.execute(
            "select 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid)"
            " from pg_constraint where connamespace = 'public'::regnamespace"
        ).fetchall()
    return sorted([*columns, *indexes, *constraints])


def _revision(url: str) -> str:
    with psycopg.connect(url) as connection:
        row = connection.execute("select version_num from alembic_version").fetchone()
    assert row is not None
    return str(row[0])


def _script() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", "migrations:")
    return ScriptDirectory.from_config(config)


def _downgrade(url: str, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", "migrations:")
    engine = create_engine(driver_url(url, "psycopg"))
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        alembic.downgrade(config, revision)
    engine.dispose()


def test_there_is_one_newest_revision_and_each_follows_one() -> None:
    script = _script()
    assert len(script.get_heads()) == 1
    assert all(not revision.is_merge_point for revision in script.walk_revisions())


def test_an_empty_database_gets_everything(empty_url: str) -> None:
    upgrade(empty_url)
    assert _revision(empty_url) == _script().get_current_head()
    tables = {row[1] for row in _schema(empty_url) if row[0] == "column"}
    assert {"users", "sources", "chunks", "chunk_vectors", "answers", "model_calls"} <= tables
    assert {"saq_jobs", "saq_stats", "saq_versions"} <= tables


def test_a_second_time_changes_nothing(empty_url: str) -> None:
    upgrade(empty_url)
    before = _schema(empty_url)
    upgrade(empty_url)
    assert _schema(empty_url) == before


def test_processes_that_migrate_at_once_take_turns(empty_url: str) -> None:
    environment = {**os.environ, "DATABASE_URL": empty_url}
    command = [sys.executable, "-P", "-m", "app.cli", "migrate"]
    processes = [subprocess.Popen(command, env=environment) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert _revision(empty_url) == _script().get_current_head()


def test_down_and_up_again_makes_the_same(empty_url: str) -> None:
    upgrade(empty_url)
    before = _schema(empty_url)
    for revision in _script().walk_revisions():
        _downgrade(empty_url, revision.down_revision or "base")  # type: ignore[arg-type]  # each follows one
        upgrade(empty_url)
        assert _schema(empty_url) == before
    _downgrade(empty_url, "base")
    left = {row[1] for row in _schema(empty_url) if row[0] == "column"}
    assert left == {"alembic_version"}


def test_what_is_stored_survives_a_step_down_and_up(empty_url: str) -> None:
    upgrade(empty_url)
    with psycopg.connect(empty_url) as connection:
        connection.execute(
            "insert into users (id, email, created_at) values"
            " (gen_random_uuid(), 'a@example.org', now())"
        )
    _downgrade(empty_url, "-1")
    upgrade(empty_url)
    with psycopg.connect(empty_url) as connection:
        assert connection.execute("select email from users").fetchall() == [("a@example.org",)]


def test_a_database_that_cannot_be_reached_is_named_in_one_line() -> None:
    with pytest.raises(Unavailable, match="The database cannot be used: "):
        upgrade("postgresql://u:p@127.0.0.1:1/x")
