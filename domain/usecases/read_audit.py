"""Read the audit log."""

from dataclasses import dataclass
from uuid import UUID

from domain.audit import AuditEntry
from domain.stores import Page, UnitOfWork


@dataclass(frozen=True, slots=True)
class ReadAudit:
    """What the admin sees of acts that matter to security."""

    uow: UnitOfWork

    async def __call__(self, *, limit: int, after: UUID | None) -> Page[AuditEntry]:
        """Newest first."""
        async with self.uow(at_once=True) as tx:
            return await tx.audit.page(limit=limit, after=after)
