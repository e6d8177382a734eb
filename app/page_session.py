"""Who reads a page: a session, or the person at the machine in local mode."""

import hmac
from typing import Any

from litestar import Request

from app.rendering import NEW_SESSION, is_htmx
from app.security import (
    CSRF_HEADER,
    browser_of,
    csrf_token,
    is_person_at_the_machine,
    session_of,
)
from app.services import Services
from domain.access import Thing, Visitor
from domain.errors import Forbidden, NotSignedIn

AnyRequest = Request[Any, Any, Any]


async def page_visitor(request: AnyRequest, about: Thing | None = None) -> Visitor:
    """The reader of a page; bearer tokens are for the API.

    Raises:
        NotSignedIn: there is no session, and this is not local mode.
    """
    services: Services = request.app.state.services
    accounts = services.accounts
    session = session_of(request)
    visitor = await accounts.by_session(session, about) if session else None
    if visitor is None:
        local = services.settings.beleg_local
        if not _is_page(request) or not is_person_at_the_machine(request, local_mode=local):
            raise NotSignedIn
        session = await accounts.open_session(await accounts.local_user(), browser_of(request))
        request.state[NEW_SESSION] = session
        visitor = await accounts.by_session(session, about)
    if visitor is None:
        raise NotSignedIn
    return visitor


def _is_page(request: AnyRequest) -> bool:
    """True where an HTML page is asked for: only its answer brings a new session's cookie."""
    wanted = request.headers.get("accept", "*/*")
    is_html = "text/html" in wanted or wanted == "*/*"
    return request.method == "GET" and is_html and not is_htmx(request)


async def check_form(request: AnyRequest) -> None:
    """Refuse a form that this session's own pages did not send.

    Raises:
        Forbidden: it came without the session's CSRF token.
    """
    if request.method == "GET":
        return
    sent = request.headers.get(CSRF_HEADER) or str((await request.form()).get("csrf", ""))
    if not hmac.compare_digest(sent.encode(), csrf_token(session_of(request)).encode()):
        raise Forbidden("This form is out of date. Reload the page and try again.")


def require_own_page(request: AnyRequest) -> None:
    """Refuse forms that another site sends, where no session can vouch for them yet.

    Raises:
        Forbidden: the browser says so, or says nothing.
    """
    site = request.headers.get("sec-fetch-site", "")
    origin = request.headers.get("origin", "").partition("://")[2]
    if site != "same-origin" and (site or origin != request.headers.get("host")):
        raise Forbidden("Send this form from its own page.")


def local_path(wanted: str) -> str:
    """Where to go on after signing in: a path of ours, or the start."""
    is_path = wanted.startswith("/") and not wanted.startswith("//")
    # Browsers take a backslash for a slash, and leave tabs and line breaks out.
    is_ours = is_path and "\\" not in wanted and wanted.isprintable()
    return wanted if is_ours else "/"
