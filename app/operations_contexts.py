"""What the templates of usage, of one's own data and of the admin's pages are given."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import ClassVar
from uuid import UUID

from app.charts import Columns
from app.contexts import Frame
from domain.account import User
from domain.limits import LimitName
from domain.operations import FailedJob, ModelHealth, OpenCall, OwnedSource, QueueState


@dataclass(frozen=True, slots=True)
class UsageLine:
    """A sum of calls, and its share of the largest sum beside it, 0 to 100."""

    name: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost: Decimal
    share: float


@dataclass(frozen=True, slots=True)
class UsagePage:
    """What somebody's model calls cost.

    Args:
        chart: cost by day, stacked by kind.
    """

    template: ClassVar[str] = "usage/usage.html"
    frame: Frame
    start: date
    end: date
    total: Decimal
    chart: Columns
    kinds: Sequence[UsageLine]
    models: Sequence[UsageLine]
    notebooks: Sequence[UsageLine]


@dataclass(frozen=True, slots=True)
class AdminUsersPage:
    """Every account.

    Args:
        settings: the limits of whoever has none of their own.
        can_invite: whether an invitation would count.
        link: made just now, for a new password or a new account.
    """

    template: ClassVar[str] = "admin/users.html"
    frame: Frame
    users: Sequence[User]
    settings: Sequence[tuple[LimitName, int]]
    next_cursor: UUID | None
    link: str = ""
    problem: str = ""
    can_invite: bool = True


@dataclass(frozen=True, slots=True)
class AdminSourcesPage:
    """Everybody's sources with their summaries."""

    template: ClassVar[str] = "admin/sources.html"
    frame: Frame
    sources: Sequence[OwnedSource]
    next_cursor: UUID | None


@dataclass(frozen=True, slots=True)
class AdminJobsPage:
    """Queues, and work that failed."""

    template: ClassVar[str] = "admin/jobs.html"
    frame: Frame
    queues: Sequence[QueueState]
    failed: Sequence[FailedJob]
    next_cursor: UUID | None


@dataclass(frozen=True, slots=True)
class AdminHealthPage:
    """How the models served their last calls."""

    template: ClassVar[str] = "admin/health.html"
    frame: Frame
    models: Sequence[ModelHealth]


@dataclass(frozen=True, slots=True)
class AdminCallsPage:
    """Calls of unknown end."""

    template: ClassVar[str] = "admin/calls.html"
    frame: Frame
    calls: Sequence[OpenCall]
    next_cursor: UUID | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class AdminSettingsPage:
    """The settings in force."""

    template: ClassVar[str] = "admin/settings.html"
    frame: Frame
    settings: Sequence[tuple[str, str]]
