"""What handlers read from a request: ids, pages of a list, moments."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, TypeVar
from uuid import UUID

from litestar.params import Parameter

from app.structs import ListBody
from domain.errors import NotFound, Rejected
from domain.ids import SourceId, parse_id
from domain.stores import Page

Limit = Annotated[int, Parameter(ge=1, le=500, default=100, description="items a page")]
Cursor = Annotated[str | None, Parameter(description="`next_cursor` of the page before")]
T = TypeVar("T")


def path_id(text: str) -> UUID:
    """An id from a path; a malformed one names nothing.

    Raises:
        NotFound: it is no id.
    """
    found = parse_id(text)
    if found is None:
        raise NotFound
    return found


def cursor_id(cursor: str | None) -> UUID | None:
    """Where a page begins.

    Raises:
        Rejected: it is no cursor of ours.
    """
    if not cursor:
        return None
    found = parse_id(cursor)
    if found is None:
        raise Rejected("This cursor is not valid. Begin without one.")
    return found


def source_ids(texts: list[str] | None) -> list[SourceId] | None:
    """Ids of a selection: malformed ones are left out, as foreign ones are later."""
    if texts is None:
        return None
    ids = [SourceId(found) for text in texts if (found := parse_id(text))]
    # A selection of nothing but rubbish selects nothing; only a literal [] asks without sources.
    return ids if ids or not texts else [SourceId(UUID(int=0))]


def list_body(page: Page[T]) -> ListBody[T]:
    """A page of a list as the API gives it."""
    return ListBody(list(page.items), page.next_cursor)


@dataclass(frozen=True, slots=True)
class Period:
    """[start, end), in UTC."""

    start: datetime
    end: datetime


def period(start: str | None, end: str | None, now: datetime) -> Period:
    """A period from dates or moments; by default the last 30 days. A date as end is included.

    Raises:
        Rejected: a value is no date.
    """
    try:
        first = _moment(start) if start else now - timedelta(days=30)
        last = _moment(end) if end else now + timedelta(seconds=1)
        if end and len(end) == len("2026-01-31"):
            last += timedelta(days=1)
    except ValueError:
        raise Rejected("from and to are dates such as 2026-01-31, or RFC 3339 moments.") from None
    return Period(first, last)


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text.replace(" ", "+"))
    if isinstance(moment, date) and moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    return moment
