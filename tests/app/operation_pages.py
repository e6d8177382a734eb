"""Pages of usage and administration with everything on them, for the test of all templates."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

from app import operations_contexts as pages
from app.charts import columns
from app.contexts import Context, Frame
from app.operations_contexts import UsageLine
from domain.export import Export, ExportStatus
from domain.ids import CallId, ExportId, UserId, new_id
from domain.ledger import UsageRow
from domain.limits import LimitName
from domain.operations import FailedJob, ModelHealth, OpenCall, OwnedSource, QueueState
from domain.source import Source
from domain.usage import CallKind, CallStatus

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def exports(evil: str) -> list[Export]:
    """Archives that are ready, wait and have failed."""
    return [
        Export(*(ExportId(new_id()), UserId(new_id()), status, size, evil), *(NOW, NOW))
        for status, size in (
            (ExportStatus.READY, 7),
            (ExportStatus.QUEUED, None),
            (ExportStatus.FAILED, None),
        )
    ]


def operations_pages(around: Frame, sources: Sequence[Source], evil: str) -> list[Context]:
    """Each of them, full and empty."""
    now, before, line = NOW, new_id(), UsageLine(evil, 1, 2, 3, Decimal("0.5"), 50)
    chart = columns(
        [("2026-11-30", {"chat": Decimal("0.3"), "stt": Decimal("0.07")})], ["chat", "stt"]
    )
    assert around.user
    users = [
        replace(around.user, email=evil, limits={LimitName.WORDS: 5}),
        replace(around.user, id=UserId(new_id()), is_admin=True, is_disabled=True),
        replace(around.user, id=UserId(new_id()), is_leaving=True),
    ]
    failed = FailedJob(before, "ingest_source", evil, evil, "code", evil, now)
    health = [
        ModelHealth(CallKind.CHAT, evil, 3, 2, 0.5, 2.5, now, evil, now),
        ModelHealth(CallKind.STT, evil, 1, 0, None, None, now, None, None),
    ]
    row = UsageRow(
        *(CallId(new_id()), CallKind.CHAT, evil, CallStatus.UNKNOWN, 5, 6, None, None, True),
        *(Decimal(1), Decimal(2), Decimal(0), Decimal(0), Decimal(3), now, None, None, None),
    )
    calls = [
        OpenCall(evil, row),
        *(OpenCall(None, replace(row, seconds=Decimal("2.5"))),),
        *(OpenCall(None, replace(row, characters=9_000)),),
    ]
    day = now.date()
    return [
        pages.UsagePage(around, day, day, Decimal(1), chart, [line], [line], [line]),
        pages.UsagePage(around, day, day, Decimal(0), columns([], []), [], [], []),
        pages.AdminUsersPage(around, users, [(LimitName.WORDS, 9)], before, evil, evil),
        pages.AdminUsersPage(around, [], [], None, can_invite=False),
        pages.AdminSourcesPage(around, [OwnedSource(evil, each) for each in sources], before),
        pages.AdminJobsPage(around, [QueueState("ingest", 2, 1, 1, 3.5)], [failed], before),
        pages.AdminJobsPage(around, [QueueState("ingest", 0, 0, 0, None)], [], None),
        pages.AdminHealthPage(around, health),
        pages.AdminHealthPage(around, []),
        pages.AdminCallsPage(around, calls, before, evil),
        pages.AdminCallsPage(around, [], None),
        pages.AdminSettingsPage(around, [(evil, evil)]),
    ]
