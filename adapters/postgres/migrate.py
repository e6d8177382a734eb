"""Bring a database to the newest revision."""

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, create_engine

from adapters.postgres.connection import driver_url


def upgrade(database_url: str) -> None:
    """Run every revision that the database does not have yet; safe to run twice at once.

    Args:
        database_url: a plain `postgresql://` URL.
    """
    config = Config()
    config.set_main_option("script_location", "migrations:")

    engine = create_engine(driver_url(database_url, "psycopg"))

    def run(connection: Connection) -> None:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")

    try:
        with engine.connect() as connection:
            run(connection)
    finally:
        engine.dispose()
