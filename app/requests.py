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
from app.structs.lists import ListBody
from domain.access import Visitor
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
Asking = NamedDependency[Visitor]
PathText = FromPath[str]
Limit = Annotated[int, QueryParameter(ge=1, le=500, description="items a page")]
_MOST_KEY_CHARACTERS = 200
Cursor = Annotated[str | None, QueryParameter(description="`next_cursor` of the page before")]
Key = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        max_length=_MOST_KEY_CHARACTERS,
        description="the same key and body give the first answer again; another body is a 409",
    ),
]
MOST_PAGES = 1_000_000
PageNumber = Annotated[int | None, QueryParameter(ge=1, le=MOST_PAGES, description="from 1")]
MOST_CODE_POINTS = 2**31 - 1
_OFFSET = QueryParameter(ge=0, le=MOST_CODE_POINTS, description="code points")
Offset = Annotated[int, _OFFSET]
OffsetOrNone = Annotated[int | None, _OFFSET]
T = TypeVar("T")
_NOTHING = SourceId(UUID(int=0))
TAKES_FILES = {"takes_files": True}
"""Option of a handler that takes multipart/form-data beside JSON."""
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


def form_key(text: str) -> str | None:
    """The idempotency key of a form, by the rule of the API's header; "" is none.

    Raises:
        Rejected: it is too long, or no line of text.
    """
    if len(text) > _MOST_KEY_CHARACTERS or not text.isprintable():
        raise Rejected("The key of this form is not valid. Reload the page.")
    return text or None


def json_body(body: bytes, kind: type[T]) -> T:
    """A JSON body, each value of exactly its type: "3" is no number.

    Raises:
        Rejected: it is malformed.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise Rejected(f"The body is not valid: {error}.") from None
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise Rejected(f"The body is not valid JSON: {error}.") from None


async def require_json(request: AnyRequest) -> None:
    """Refuse bodies that are not JSON of the handler's type, before anything converts them.

    Pages of other sites cannot send that type, nor an Authorization header: one of both keeps
    them out where no cookie is checked.

    Raises:
        UnsupportedType: the Content-Type names something else, or nothing where no Authorization
            vouches for the body.
        Rejected: it is malformed. The framework alone would take "3" for a number.
    """
    headers = request.headers
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    media_type = request.content_type[0]
    if request.method not in {"POST", "PATCH", "PUT", "DELETE"} or not has_body:
        return
    if media_type == "application/json" or (not media_type and "authorization" in headers):
        data = request.route_handler.parsed_data_field
        if data is not None:
            json_body(await request.body(), data.annotation)
        return
    takes_files = "takes_files" in request.route_handler.opt
    if not takes_files or media_type != "multipart/form-data":
        wanted = "application/json" + ", or a file as multipart/form-data" * takes_files
        raise UnsupportedType(f"Send {wanted}; not {media_type[:100] or 'a body without a type'}.")


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
