"""What somebody's model calls cost, as a page and as CSV."""

import csv
import io
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import msgspec
from litestar import Response, Router, get
from litestar.params import FromQuery
from litestar.response import Stream

from app.charts import columns
from app.operations_contexts import UsageLine, UsagePage
from app.rendering import frame, page
from app.requests import AnyRequest, Caller, Period, Wired, period
from app.services import Services
from app.structs.accounts import UnitPrice, UsageRowOut
from app.texts import Words
from domain.account import User
from domain.errors import Rejected
from domain.ledger import UsageGroup
from domain.usage import CallKind

_KINDS = [kind.value for kind in CallKind]
_LONGEST_CHART = 366
_ROWS = 500
_COLUMNS = UsageRowOut.__struct_fields__


@get("/usage")
async def usage(
    request: AnyRequest,
    services: Wired,
    user: Caller,
    start: FromQuery[str | None] = None,
    end: FromQuery[str | None] = None,
) -> Response[str]:
    """Sums by day, kind, model and notebook; the last 30 days where none are named."""
    around, when = frame(request, user), _charted(start, end)
    words = around.words
    by_day, kinds, models, notebooks = [
        await services.usage.grouped(user, when.start, when.end, by)
        for by in (["day", "kind"], ["kind"], ["model"], ["notebook"])
    ]
    titles = await _titles(services, user, words)
    first, last = when.start.date(), (when.end - timedelta(microseconds=1)).date()
    context = UsagePage(
        *(around, first, last),
        sum((group.cost for group in kinds), Decimal(0)),
        columns(_stacks(by_day, first, last, words), _KINDS),
        _lines(kinds, lambda key: words(f"call_kind_{key}")),
        _lines(models, lambda key: key or ""),
        _lines(
            notebooks,
            lambda key: titles.get(key, words("gone_notebook")) if key else words("no_notebook"),
        ),
    )
    return page(request, context)


@get("/usage.csv")
async def usage_csv(
    services: Wired,
    user: Caller,
    start: FromQuery[str | None] = None,
    end: FromQuery[str | None] = None,
) -> Stream:
    """Every call in the period, a line each."""
    when = _period(start, end)
    return Stream(
        _csv(services, user, when),
        media_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="beleg-usage-{when.start:%Y-%m-%d}.csv"',
            "Cache-Control": "private, no-store",
            "X-Content-Type-Options": "nosniff",
        },
    )


async def _csv(services: Services, user: User, when: Period) -> AsyncGenerator[str, None]:
    yield _line(_COLUMNS)
    after = None
    while True:
        found = await services.usage.rows(user, when.start, when.end, limit=_ROWS, after=after)
        for row in map(UsageRowOut.of, found.items):
            values = (getattr(row, name) for name in _COLUMNS)
            yield _line([_cell(value) for value in values])
        if (after := found.next_cursor) is None:
            return


def _cell(value: object) -> str:
    """As the API says it; its one object, the price, as JSON."""
    if isinstance(value, UnitPrice):
        return msgspec.json.encode(value).decode()
    return "" if value is None else str(value)


def _line(values: Sequence[str]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(values)
    return out.getvalue()


def _period(start: str | None, end: str | None) -> Period:
    """Whole days, so that the sums beside a chart are the sums of its columns."""
    now = datetime.now(UTC)  # noqa: TID251 - a default of the request
    today = now.date()
    return period(start or str(today - timedelta(days=29)), end or str(today), now)


def _charted(start: str | None, end: str | None) -> Period:
    """A period that is not too long for a chart of its days.

    Raises:
        Rejected: it is.
    """
    when = _period(start, end)
    if when.end - when.start > timedelta(days=_LONGEST_CHART):
        raise Rejected(
            f"This page shows at most {_LONGEST_CHART} days. Choose a shorter period, or take"
            " /usage.csv, which holds any."
        )
    return when


def _stacks(
    groups: Sequence[UsageGroup], first: date, last: date, words: Words
) -> list[tuple[str, Mapping[str, Decimal]]]:
    """Every day of the period, those without calls too."""
    stacks: dict[str, dict[str, Decimal]] = defaultdict(dict)
    for group in groups:
        key = dict(group.key)
        stacks[str(key["day"])][str(key["kind"])] = group.cost
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    return [(words.date(day), stacks.get(str(day), {})) for day in days]


def _lines(groups: Sequence[UsageGroup], name: Callable[[str | None], str]) -> list[UsageLine]:
    """Sums, the dearest first."""
    merged: dict[str, list[UsageGroup]] = defaultdict(list)
    for group in groups:
        merged[name(group.key[0][1])].append(group)
    sums = [
        (
            label,
            sum(g.calls for g in some),
            sum(g.input_tokens for g in some),
            sum(g.output_tokens for g in some),
            sum((g.cost for g in some), Decimal(0)),
        )
        for label, some in merged.items()
    ]
    most = max((cost for *_, cost in sums), default=Decimal(0))
    shares = sorted(sums, key=lambda line: (-line[4], line[0]))
    return [UsageLine(*line, share=float(line[4] / most * 100) if most else 0) for line in shares]


async def _titles(services: Services, user: User, words: Words) -> dict[str, str]:
    found = await services.notebooks.page(user, limit=_ROWS, after=None)
    return {str(notebook.id): notebook.title or words("notebook") for notebook in found.items}


router = Router("/", route_handlers=[usage, usage_csv], include_in_schema=False)
