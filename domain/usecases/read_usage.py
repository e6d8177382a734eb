"""What a user's model calls used and cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.account import User
from domain.errors import Rejected
from domain.ledger import CallTotal, UsageGroup, UsageRow
from domain.stores import Page, UnitOfWork

GROUPS = ("day", "kind", "model", "notebook")


@dataclass(frozen=True, slots=True)
class ReadUsage:
    """A user's own part of the ledger; sums over everybody's."""

    uow: UnitOfWork

    async def rows(
        self, user: User, start: datetime, end: datetime, *, limit: int, after: UUID | None
    ) -> Page[UsageRow]:
        """Calls made in [start, end), oldest first."""
        async with self.uow() as tx:
            return await tx.ledger.rows(user.id, start=start, end=end, limit=limit, after=after)

    async def grouped(
        self, user: User, start: datetime, end: datetime, by: Sequence[str]
    ) -> list[UsageGroup]:
        """Sums of the calls made in [start, end).

        Raises:
            Rejected: `by` names something else than day, kind, model, notebook.
        """
        if not by or set(by) - set(GROUPS):
            raise Rejected(f"group_by takes any of {', '.join(GROUPS)}, separated by commas.")
        async with self.uow() as tx:
            return await tx.ledger.grouped(user.id, start=start, end=end, by=by)

    async def totals(self) -> list[CallTotal]:
        """What all calls used, without saying whose they were."""
        async with self.uow() as tx:
            return await tx.ledger.totals()
