"""Sign in at the OpenID Connect provider: there and back."""

from typing import Annotated, Any

from litestar import Request, Response, Router, get
from litestar.datastructures import Cookie
from litestar.params import FromQuery, QueryParameter
from litestar.response import Redirect

from app.errors import status_of
from app.page_session import local_path
from app.requests import Wired
from app.routes.account_pages import form_page
from app.security import (
    browser_of,
    is_encrypted,
    own_url,
    peer_of,
    session_cookie,
    session_of,
)
from app.services import Services
from domain.errors import BelegError, NotFound, NotSignedIn
from domain.usecases.sign_in_elsewhere import SignInElsewhere

AnyRequest = Request[Any, Any, Any]
_RETURN = "/sign-in/provider/return"
_COOKIE = "beleg_sign_in"
"""Keeps what an attempt needs while the browser is away: its secret, an invitation, a path."""
_LIFETIME_S = 600


@get("/sign-in/provider")
async def leave(
    request: AnyRequest,
    services: Wired,
    wanted: Annotated[str, QueryParameter(name="next")] = "/",
    invitation: FromQuery[str] = "",
) -> Response[Any]:
    """Send the browser to the provider."""
    elsewhere = _elsewhere(services)
    secret, address = await elsewhere.begin(own_url(request, _RETURN))
    response = Redirect(address, status_code=303, headers={"Cache-Control": "no-store"})
    kept = " ".join((secret, invitation.replace(" ", ""), local_path(wanted)))
    response.set_cookie(_cookie(request, kept.encode().hex()))
    return response


@get(_RETURN)
async def come_back(request: AnyRequest, services: Wired) -> Response[Any]:
    """Open a session for whom the provider vouches for."""
    elsewhere = _elsewhere(services)
    secret, invitation, wanted = _kept(request)
    state, code = (str(request.query_params.get(name, "")) for name in ("state", "code"))
    try:
        if not code:
            raise NotSignedIn("The sign-in provider signed nobody in. Try again.")
        user = await elsewhere(
            *(secret, state, code, own_url(request, _RETURN)),
            peer=peer_of(request),
            invitation=invitation,
        )
    except BelegError as problem:
        response = await form_page(request, services, is_new=False, error=problem)
        response.status_code = status_of(problem)
    else:
        session = await services.accounts.open_session(
            user, browser_of(request), instead_of=session_of(request)
        )
        response = Redirect(local_path(wanted), status_code=303)
        response.set_cookie(session_cookie(session, request))
    response.set_cookie(_cookie(request, ""))
    return response


def _elsewhere(services: Services) -> SignInElsewhere:
    if services.sign_in_elsewhere is None:
        raise NotFound
    return services.sign_in_elsewhere


def _cookie(request: AnyRequest, value: str) -> Cookie:
    return Cookie(
        key=_COOKIE,
        value=value,
        path="/sign-in/provider",
        httponly=True,
        samesite="lax",  # it comes back by a link of the provider's
        secure=is_encrypted(request),
        max_age=_LIFETIME_S if value else 0,
    )


def _kept(request: AnyRequest) -> tuple[str, str, str]:
    """Secret, invitation and path of the attempt; empty where the browser began none."""
    try:
        kept = bytes.fromhex(request.cookies.get(_COOKIE, "")).decode().split(" ", 2)
        secret, invitation, wanted = kept
    except ValueError:
        return "", "", "/"
    return secret, invitation, wanted


router = Router("/", route_handlers=[leave, come_back])
