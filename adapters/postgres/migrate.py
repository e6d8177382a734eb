"""Bring a database to the newest revision."""

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import OperationalError

from adapters.postgres.connection import driver_url
from domain.errors import Unavailable


def upgrade(database_url: str) -> None:
    """Run every revision that the database does not have yet; safe to run twice at once.

    Args:
        database_url: a plain `postgresql://` URL.

    Raises:
        Unavailable: the database cannot be reached, or refuses; the message says what it said.
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
    except OperationalError as error:
        said = str(error.orig).strip().splitlines()[0]
        raise Unavailable(f"The database cannot be used: {said}") from error
    finally:
        engine.dispose()
