"""One transaction, and the stores that work in it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass

import asyncpg

from adapters.postgres.accounts import PostgresAccounts
from adapters.postgres.answers import PostgresAnswers
from adapters.postgres.audit import PostgresAudit
from adapters.postgres.connection import translated_errors
from adapters.postgres.credentials import PostgresCredentials
from adapters.postgres.documents import PostgresDocuments
from adapters.postgres.exports import PostgresExports
from adapters.postgres.fetches import PostgresFetches
from adapters.postgres.idempotency import PostgresIdempotency
from adapters.postgres.index import PostgresIndex
from adapters.postgres.jobs import PostgresJobs
from adapters.postgres.ledger import PostgresLedger
from adapters.postgres.notebooks import PostgresNotebooks
from adapters.postgres.operations import PostgresOperations
from adapters.postgres.shares import PostgresShares
from adapters.postgres.sources import PostgresSources
from adapters.postgres.suggestions import PostgresSuggestions
from adapters.postgres.summaries import PostgresSummaries
from adapters.postgres.transcripts import PostgresTranscripts
from adapters.postgres.turns import PostgresTurns
from domain.errors import Unavailable

_TURN_S = 10.0
"""How long to wait for a connection."""


class PostgresStores:
    """The `Stores` port on one connection."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self.accounts = PostgresAccounts(connection)
        self.credentials = PostgresCredentials(connection)
        self.exports = PostgresExports(connection)
        self.operations = PostgresOperations(connection)
        self.shares = PostgresShares(connection)
        self.audit = PostgresAudit(connection)
        self.notebooks = PostgresNotebooks(connection)
        self.sources = PostgresSources(connection)
        self.transcripts = PostgresTranscripts(connection)
        self.fetches = PostgresFetches(connection)
        self.summaries = PostgresSummaries(connection)
        self.index = PostgresIndex(connection)
        self.turns = PostgresTurns(connection)
        self.answers = PostgresAnswers(connection)
        self.ledger = PostgresLedger(connection)
        self.suggestions = PostgresSuggestions(connection)
        self.documents = PostgresDocuments(connection)
        self.jobs = PostgresJobs(connection)
        self.idempotency = PostgresIdempotency(connection)


@dataclass(frozen=True, slots=True)
class PostgresUnitOfWork:
    """The `UnitOfWork` port."""

    pool: asyncpg.Pool

    @asynccontextmanager
    async def __call__(self, *, at_once: bool = False) -> AsyncIterator[PostgresStores]:
        """A transaction: commits at the end of the block, rolls back where it raises."""
        with translated_errors():
            async with (
                self.pool.acquire(timeout=_TURN_S) as connection,
                nullcontext() if at_once else connection.transaction(),
            ):
                yield PostgresStores(connection)

    async def is_ready(self) -> bool:
        """True where the database answers."""
        try:
            async with self() as tx:
                await tx.index.active_set()
        except Unavailable:
            return False
        return True
