"""What whoever runs the product looks at: queues, failed jobs, providers, calls that are open."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.errors import Problem
from domain.ledger import UsageRow
from domain.source import Source
from domain.usage import CallKind


@dataclass(frozen=True, slots=True)
class QueueState:
    """A queue of jobs.

    Args:
        queued: jobs that wait; `due` of them could begin now.
        active: jobs that run.
        oldest_s: seconds that the oldest due one has waited; None where none does.
    """

    name: str
    queued: int
    due: int
    active: int
    oldest_s: float | None


@dataclass(frozen=True, slots=True)
class FailedJob:
    """Work that failed for good.

    Args:
        id: of the source or the archive it was for.
        kind: the job's name.
        owner: an address.
        reason: one sentence.
    """

    id: UUID
    kind: str
    owner: str
    title: str
    code: str
    reason: str
    at: datetime

    @property
    def problem(self) -> Problem:
        """Why, to be shown."""
        return Problem(self.code, self.reason)


@dataclass(frozen=True, slots=True)
class ModelHealth:
    """How a model served its last calls, at most a thousand of a day and of all models.

    Args:
        served: calls that came to their end; the others failed, broke off or are unknown.
        p50_s, p95_s: seconds that served calls took; None where none was.
        last_error: what the provider said when a call last went wrong.
    """

    kind: CallKind
    model: str
    calls: int
    served: int
    p50_s: float | None
    p95_s: float | None
    last_at: datetime
    last_error: str | None
    last_error_at: datetime | None


@dataclass(frozen=True, slots=True)
class OwnedSource:
    """A source with its owner's address."""

    owner: str
    source: Source


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call that nobody knows the end of, and whose it was; None where the account is gone."""

    owner: str | None
    row: UsageRow
