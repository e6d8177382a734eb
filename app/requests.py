"""What handlers read from a request: ids, pages of a list, moments."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypeVar
from uuid import UUID

import msgspec
from litestar import Request
from litestar.di import NamedDependency
from litestar.params import FromPath, HeaderParameter, QueryParameter

from app.services import Services
from app.structs import ListBody
from domain.account import User
from domain.errors import NotFound, Rejected, UnsupportedType
from domain.ids import SourceId, parse_id
from domain.stores import Page

MAX_JSON_BYTES = 1_000_000
"""What a body may hold that carries no source."""
FORM_BYTES = 1_000_000
"""What a form may hold besides its file."""

AnyRequest = Request[Any, Any, Any]
Wired = NamedDependency[Services]
Caller = NamedDependency[User]
PathText = FromPath[str]
Limit = Annotated[int, QueryParameter(ge=1, le=500, description="items a page")]
Cursor = Annotated[str | None, QueryParameter(description="`next_cursor` of the page before")]
Key = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        max_length=200,
        description="the same key and body give the first answer again; another body is a 409",
    ),
]
T = TypeVar("T")
_NOTHING = SourceId(UUID(int=0))
_BODY_TYPES = {"application/json", "multipart/form-data"}
_DATE_LENGTH = len("2026-01-31")
_FIRST, _LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


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


def json_body(body: bytes, kind: type[T]) -> T:
    """A JSON body that a handler reads itself.

    Raises:
        Rejected: it is malformed.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise Rejected(f"The body is not valid: {error}.") from None


def require_json(request: AnyRequest) -> None:
    """Refuse bodies that are not JSON, before anything reads them.

    Raises:
        UnsupportedType: the Content-Type names something else.
    """
    if request.method in {"POST", "PATCH"} and request.headers.get("content-length", "0") != "0":
        media_type = request.content_type[0]
        if media_type and media_type not in _BODY_TYPES:
            raise UnsupportedType(
                f"Send application/json, or a file as multipart/form-data; not {media_type[:100]}."
            )


def about_id(text: str | None) -> SourceId | None:
    """The one source that is asked about; a malformed id names none, as a foreign one does."""
    return None if text is None else SourceId(parse_id(text) or _NOTHING)


def source_ids(texts: list[str] | None) -> list[SourceId] | None:
    """Ids of a selection: malformed ones are left out, as foreign ones are later."""
    if texts is None:
        return None
    ids = [SourceId(found) for text in texts if (found := parse_id(text))]
    # A selection of nothing but rubbish selects nothing; only a literal [] asks without sources.
    return ids if ids or not texts else [_NOTHING]


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
        if end and len(end) <= _DATE_LENGTH:
            last += timedelta(days=1)
    except (ValueError, OverflowError):
        raise Rejected("from and to are dates such as 2026-01-31, or RFC 3339 moments.") from None
    return Period(first, last)


def _moment(text: str) -> datetime:
    """UTC where no offset is given; never outside what the database can compare."""
    # A plus sign that the client did not encode arrives as a space.
    moment = datetime.fromisoformat(text.replace(" ", "+"))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return min(max(moment, _FIRST), _LAST)
