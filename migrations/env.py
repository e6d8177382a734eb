"""Alembic environment: runs the revisions on the connection of `adapters.postgres.migrate`."""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=None)
with context.begin_transaction():
    # Two processes that migrate at once take turns; the second finds nothing left to do. One
    # transaction for all revisions: the lock would else be lost between them.
    connection.exec_driver_sql("select pg_advisory_xact_lock(7263524161)")
    context.run_migrations()
