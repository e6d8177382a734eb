"""Alembic environment: runs the revisions on the connection of `adapters.postgres.migrate`."""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=None, transaction_per_migration=True)
with context.begin_transaction():
    # Two processes that migrate at once take turns; the second finds nothing left to do.
    connection.exec_driver_sql("select pg_advisory_xact_lock(7263524161)")
    context.run_migrations()
