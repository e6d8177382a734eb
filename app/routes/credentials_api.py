"""One's own password and sessions, as JSON."""

from litestar import Router, delete, get, post
from litestar.params import JSONBody

from app.requests import (
    MAX_JSON_BYTES,
    Asking,
    Caller,
    Cursor,
    Limit,
    PathText,
    Wired,
    cursor_id,
    list_body,
    path_id,
)
from app.security import AnyRequest, peer_of
from app.structs.lists import ListBody
from app.structs.people import PasswordIn, ResetIn, SessionOut
from domain.ids import SessionId
from domain.stores import Page


@post("/me/password", status_code=204)
async def change_password(
    data: JSONBody[PasswordIn], request: AnyRequest, services: Wired, visitor: Asking
) -> None:
    """Change your password. Every other session of yours ends; tokens stay."""
    peer = peer_of(request)
    await services.accounts.confirm(visitor.user, data.current_password, peer=peer)
    await services.change_password(visitor, data.new_password)


@post("/password-resets", status_code=204)
async def reset_password(data: JSONBody[ResetIn], request: AnyRequest, services: Wired) -> None:
    """Set a new password with the secret of a link that the admin made."""
    await services.change_password.by_link(data.token, data.password, peer=peer_of(request))


@get("/me/sessions")
async def sessions(
    services: Wired, visitor: Asking, limit: Limit = 100, cursor: Cursor = None
) -> ListBody[SessionOut]:
    """Browsers that are signed in as you."""
    page = await services.credentials.sessions(visitor.user, limit=limit, after=cursor_id(cursor))
    rows = tuple(SessionOut.of(one, visitor.session_id) for one in page.items)
    return list_body(Page(rows, page.next_cursor))


@delete("/me/sessions")
async def end_sessions(services: Wired, visitor: Asking) -> None:
    """Sign out everywhere."""
    await services.credentials.end_sessions(visitor)


@delete("/me/sessions/{session_id:str}")
async def end_session(session_id: PathText, services: Wired, user: Caller) -> None:
    """Sign one browser out."""
    await services.credentials.end_session(user, SessionId(path_id(session_id)))


router = Router(
    "/",
    route_handlers=[change_password, reset_password, sessions, end_sessions, end_session],
    tags=["accounts"],
    request_max_body_size=MAX_JSON_BYTES,
)
