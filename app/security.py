"""Who is asking: bearer tokens, session cookies with CSRF, and local mode."""

import hashlib
import hmac
import ipaddress
import re
from dataclasses import replace
from typing import Any

from litestar import Request
from litestar.datastructures import Cookie

from app.services import Services
from domain.access import Thing, Visitor
from domain.errors import Forbidden, NotSignedIn

AnyRequest = Request[Any, Any, Any]

COOKIE = "beleg_session"
HOST_COOKIE = f"__Host-{COOKIE}"
"""Its name behind TLS, under which browsers take it from this very host alone."""
CSRF_HEADER = "x-csrf-token"
_SAFE = {"GET", "HEAD", "OPTIONS"}
_FORWARDED = (
    *("forwarded", "via", "x-forwarded", "x-real-ip", "x-original-", "x-client-ip"),
    *("x-cluster-client-ip", "true-client-ip", "cf-", "fastly-client-ip", "x-envoy-"),
)
"""How the names of headers begin that a proxy adds."""
_HOST = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[0-9a-z.-]+))(?::[0-9]{1,5})?")
_LIFETIME_S = 30 * 24 * 3600


async def api_visitor(request: AnyRequest, about: Thing | None = None) -> Visitor:
    """The caller of the API: by bearer token, or by session cookie.

    Raises:
        NotSignedIn: neither is valid.
    """
    services: Services = request.app.state.services
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme:
        visitor = await services.accounts.by_token(secret.strip(), about)
        if scheme.lower() != "bearer" or visitor is None:
            raise NotSignedIn("This token is not valid. Make a new one.")
        return visitor
    session = session_of(request)
    visitor = await services.accounts.by_session(session, about) if session else None
    if visitor is None:
        raise NotSignedIn
    return visitor


async def check_header(request: AnyRequest) -> None:
    """Refuse what changes something by a cookie alone: another site may have sent it.

    Raises:
        Forbidden: the CSRF header is missing or wrong.
    """
    # Where that header is empty, the cookie has said who is asking.
    if request.method in _SAFE or request.headers.get("authorization"):
        return
    sent = request.headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(sent.encode(), csrf_token(session_of(request)).encode()):
        raise Forbidden("The CSRF token is missing or wrong. Reload the page.")


def browser_of(request: AnyRequest) -> str:
    """What a browser calls itself, for the list of its person's sessions."""
    return request.headers.get("user-agent", "")


def own_url(request: AnyRequest, path: str) -> str:
    """The whole address of a page of ours, under the name that the request used."""
    scheme = "https" if is_encrypted(request) else "http"
    return f"{scheme}://{request.url.netloc}{path}"


def session_of(request: AnyRequest) -> str:
    """The secret of the session that a request's cookie names; "" where it names none."""
    return request.cookies.get(_cookie_name(request), "")


def csrf_token(session: str) -> str:
    """The value that requests with this session's cookie must carry in `X-CSRF-Token`."""
    return hmac.new(session.encode(), b"csrf", hashlib.sha256).hexdigest()


def session_cookie(secret: str, request: AnyRequest) -> Cookie:
    """The cookie of a new session; unreadable to scripts, not sent from other sites."""
    return Cookie(
        key=_cookie_name(request),
        value=secret,
        path="/",
        httponly=True,
        samesite="lax",
        secure=is_encrypted(request),
        max_age=_LIFETIME_S,
    )


def no_session_cookie(request: AnyRequest) -> Cookie:
    """The cookie that makes a browser forget its session."""
    return replace(session_cookie("", request), max_age=0)


def _cookie_name(request: AnyRequest) -> str:
    return HOST_COOKIE if is_encrypted(request) else COOKIE


def is_encrypted(request: AnyRequest) -> bool:
    """True behind TLS, also where a proxy ends it; a forged header only hurts its sender."""
    forwarded = request.headers.get("x-forwarded-proto", "").partition(",")[0].strip().lower()
    return "https" in {request.url.scheme, forwarded}


def peer_of(request: AnyRequest) -> str:
    """Where a request comes from, as far as that can be told.

    A peer with a private address may be a proxy: then it is the last one that X-Forwarded-For
    names, which the proxy itself wrote. Peers on the internet are not believed.
    """
    peer = request.client.host if request.client else ""
    try:
        is_private = ipaddress.ip_address(peer).is_private
    except ValueError:
        is_private = True
    named = request.headers.getall("x-forwarded-for", [""])[-1].rpartition(",")[2].strip()
    try:
        return str(ipaddress.ip_address(named)) if is_private else peer
    except ValueError:
        return peer


def is_person_at_the_machine(request: AnyRequest, *, local_mode: bool) -> bool:
    """True for a browser on this machine in local mode.

    Only where the peer and the Host header are loopback and no proxy left a trace: a page on the
    internet that resolves its name to 127.0.0.1 sends that name as Host. Proxies speak HTTP/1.0
    where nobody told them otherwise; browsers do not.
    """
    if not local_mode or request.client is None or request.scope["http_version"] == "1.0":
        return False
    hosts = request.headers.getall("host", [])
    named = _HOST.fullmatch(hosts[0].lower()) if len(hosts) == 1 else None
    if named is None:
        return False
    host = named["v6"] or named["name"]
    return (
        _is_loopback(request.client.host)
        and (host == "localhost" or _is_loopback(host))
        and not any(name.startswith(_FORWARDED) for name in request.headers)
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
