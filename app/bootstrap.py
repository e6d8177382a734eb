"""The composition root: the one place that names adapters.

Imports stand inside the functions, so that each command loads only what it needs.
"""
# ruff: noqa: PLC0415

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adapters.embedded_postgres import EmbeddedPostgres


def embedded_postgres(
    folder: Path, *, settings: Mapping[str, str], log_file: Path
) -> "EmbeddedPostgres":
    """The database that `beleg up` runs itself, over that folder; not started yet."""
    from adapters.embedded_postgres import EmbeddedPostgres

    return EmbeddedPostgres(folder, settings=settings, log_file=log_file)


def running_database(folder: Path) -> str | None:
    """The URL of the database that a `beleg up` runs over that folder, None where none does."""
    from adapters.embedded_postgres import running_url

    return running_url(folder)


def tied_command(command: Sequence[str]) -> list[str]:
    """The command that runs `command` as a child which cannot outlive this process."""
    from adapters.child_processes import tied_command

    return tied_command(command)


def migrate(database_url: str) -> None:
    """Bring the database to the newest revision."""
    from adapters.postgres.migrate import upgrade

    upgrade(database_url)
