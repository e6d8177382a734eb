"""Sign in, sign up, sign out, and the language of the pages."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from litestar import Request, Response, Router, get, post
from litestar.response import Redirect

from app.account_contexts import SignInPage
from app.errors import headers_of, status_of
from app.page_session import local_path, require_own_page
from app.rendering import frame, go_to, page
from app.requests import Caller, Wired
from app.security import (
    browser_of,
    no_session_cookie,
    peer_of,
    session_cookie,
    session_of,
)
from app.services import Services
from domain.errors import BelegError, TooManyAttempts

AnyRequest = Request[Any, Any, Any]


@get("/sign-in")
async def sign_in_form(request: AnyRequest, services: Wired) -> Response[str]:
    """The form of people who have an account."""
    return await form_page(request, services, is_new=False)


@get("/sign-up")
async def sign_up_form(request: AnyRequest, services: Wired) -> Response[str]:
    """The form of people who want one."""
    return await form_page(request, services, is_new=True)


@post("/sign-in", status_code=200)
async def sign_in(request: AnyRequest, services: Wired) -> Response[Any]:
    """Open a session."""
    return await _enter(request, services, is_new=False)


@post("/sign-up", status_code=200)
async def sign_up(request: AnyRequest, services: Wired) -> Response[Any]:
    """Make an account and open its first session."""
    return await _enter(request, services, is_new=True)


@post("/sign-out", status_code=200)
async def sign_out(request: AnyRequest, services: Wired) -> Response[Any]:
    """End this session."""
    await services.accounts.close_session(session_of(request))
    response = go_to(request, "/sign-in")
    response.set_cookie(no_session_cookie(request))
    return response


@post("/language", status_code=200)
async def change_language(request: AnyRequest, services: Wired, user: Caller) -> Response[Any]:
    """Remember the language that somebody reads."""
    form = await request.form()
    await services.accounts.set_preferences(user, language=str(form.get("language", "")))
    return go_to(request, local_path(str(form.get("next", "/"))))


async def _enter(request: AnyRequest, services: Services, *, is_new: bool) -> Response[Any]:
    require_own_page(request)
    form = await request.form()
    email, password = str(form.get("email", "")), str(form.get("password", ""))
    accounts, peer = services.accounts, peer_of(request)
    try:
        if is_new:
            invitation = str(form.get("invitation", ""))
            user = await accounts.sign_up(email, password, peer=peer, invitation=invitation)
        else:
            user = await accounts.sign_in(email, password, peer=peer)
    except BelegError as error:
        response = await form_page(request, services, is_new=is_new, email=email, error=error)
        if isinstance(error, TooManyAttempts):
            response.status_code = status_of(error)
            response.headers.update(headers_of(error))
        return response
    response = Redirect(local_path(str(form.get("next", "/"))), status_code=303)
    secret = await services.accounts.open_session(
        user, browser_of(request), instead_of=session_of(request)
    )
    response.set_cookie(session_cookie(secret, request))
    return response


async def form_page(
    request: AnyRequest,
    services: Services,
    *,
    is_new: bool,
    email: str = "",
    error: BelegError | None = None,
) -> Response[str]:
    """The form to sign in or up, with what went wrong."""
    given: Mapping[str, Any] = request.query_params
    if request.method == "POST":
        given = await request.form()
    invitation = str(given.get("invitation", ""))
    around = frame(request, None)
    context = SignInPage(
        frame=around,
        is_new=is_new,
        sign_up_open=await services.accounts.is_open(invitation),
        invitation=invitation,
        next=local_path(str(given.get("next", "/"))),
        provider=provider_name(services),
        email=email,
        problem=around.words.problem(error.problem) if error else "",
        is_reset="reset" in given,
    )
    return page(request, context, status=422 if error else 200)


def provider_name(services: Services) -> str:
    """The host of the provider where people may sign in; "" where there is none."""
    oidc = services.settings.oidc
    return (urlsplit(oidc.issuer).hostname or "") if oidc else ""


router = Router(
    "/",
    route_handlers=[sign_in_form, sign_up_form, sign_in, sign_up, sign_out, change_language],
    include_in_schema=False,
)
