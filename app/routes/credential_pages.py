"""One's own password, sessions and tokens on a page; a new password by a link; the audit log."""

from typing import Any

from litestar import Request, Response, Router, get, post
from litestar.params import FromQuery

from app.account_contexts import AccountPage, AuditPage, ResetPage
from app.errors import status_of
from app.page_session import require_own_page
from app.rendering import frame, go_to, page
from app.requests import Asking, Caller, PathText, Wired, cursor_id, path_id
from app.security import peer_of
from app.services import Services
from domain.access import TokenScope, Visitor, token_scopes
from domain.errors import BelegError
from domain.ids import SessionId, TokenId

AnyRequest = Request[Any, Any, Any]
_ROWS = 100


@get("/account")
async def account(request: AnyRequest, services: Wired, visitor: Asking) -> Response[str]:
    """What stands for you, and how to change it."""
    return await account_page(request, services, visitor)


@post("/account/password", status_code=200)
async def change_password(request: AnyRequest, services: Wired, visitor: Asking) -> Response[str]:
    """Change your password; every other session of yours ends."""
    form = await request.form()
    try:
        await services.accounts.confirm(
            visitor.user, str(form.get("current", "")), peer=peer_of(request)
        )
        await services.change_password(visitor, str(form.get("new", "")))
    except BelegError as error:
        return await account_page(request, services, visitor, error=error)
    return await account_page(request, services, visitor, done="password_changed")


@post("/account/sessions/end", status_code=200)
async def end_sessions(request: AnyRequest, services: Wired, visitor: Asking) -> Response[Any]:
    """Sign out everywhere."""
    await services.credentials.end_sessions(visitor)
    return go_to(request, "/sign-in")


@post("/account/sessions/{session_id:str}/end", status_code=200)
async def end_session(
    session_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Sign one browser out."""
    await services.credentials.end_session(user, SessionId(path_id(session_id)))
    return go_to(request, "/account")


@post("/account/tokens", status_code=200)
async def add_token(request: AnyRequest, services: Wired, visitor: Asking) -> Response[str]:
    """Make a token, and show its secret this once."""
    form = await request.form()
    try:
        scopes = token_scopes([str(scope) for scope in form.getall("scope", [])])
        _, secret = await services.accounts.add_token(
            visitor.user, str(form.get("name", "")), scopes
        )
    except BelegError as error:
        return await account_page(request, services, visitor, error=error)
    return await account_page(request, services, visitor, secret=secret)


@post("/account/tokens/{token_id:str}/revoke", status_code=200)
async def end_token(
    token_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Revoke a token."""
    await services.credentials.end_token(user, TokenId(path_id(token_id)))
    return go_to(request, "/account")


async def account_page(
    request: AnyRequest,
    services: Services,
    visitor: Visitor,
    *,
    secret: str = "",
    done: str = "",
    error: BelegError | None = None,
) -> Response[str]:
    """Everything of an account that is changed on a page, with what came of the last change."""
    user, around = visitor.user, frame(request, visitor.user)
    sessions = await services.credentials.sessions(user, limit=_ROWS, after=None)
    tokens = await services.credentials.tokens(user, limit=_ROWS, after=None)
    scopes = [s.value for s in TokenScope if user.is_admin or s is not TokenScope.ADMIN]
    exports = await services.export_account.of(user, limit=_ROWS, after=None)
    context = AccountPage(
        *(around, sessions.items, visitor.session_id, tokens.items, scopes, exports.items),
        secret=secret,
        done=around.words(done) if done else "",
        problem=around.words.problem(error.problem) if error else "",
    )
    return page(request, context, status_of(error) if error else 200)


@get("/reset/{secret:str}")
async def reset_form(secret: PathText, request: AnyRequest) -> Response[str]:
    """The form behind a link of the admin's."""
    return page(request, ResetPage(frame(request, None), secret, ""))


@post("/reset/{secret:str}", status_code=200)
async def reset(secret: PathText, request: AnyRequest, services: Wired) -> Response[Any]:
    """Set a new password; the link counts once."""
    require_own_page(request)
    form = await request.form()
    password = str(form.get("password", ""))
    try:
        await services.change_password.by_link(secret, password, peer=peer_of(request))
    except BelegError as error:
        around = frame(request, None)
        problem = around.words.problem(error.problem)
        return page(request, ResetPage(around, secret, problem), status_of(error))
    return go_to(request, "/sign-in?reset=done")


@get("/admin/audit")
async def audit(
    request: AnyRequest, services: Wired, user: Caller, cursor: FromQuery[str | None] = None
) -> Response[str]:
    """Acts that matter to security, newest first."""
    found = await services.audit(limit=_ROWS, after=cursor_id(cursor))
    return page(request, AuditPage(frame(request, user), found.items, found.next_cursor))


router = Router(
    "/",
    route_handlers=[
        *(account, change_password, end_sessions, end_session, add_token, end_token),
        *(reset_form, reset, audit),
    ],
)
