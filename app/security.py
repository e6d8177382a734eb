"""Who is asking: bearer tokens, session cookies with CSRF, and local mode."""

import hashlib
import hmac
import ipaddress
import re
from typing import Any

from litestar import Request
from litestar.datastructures import Cookie
from litestar.di import NamedDependency

from app.services import Services
from domain.account import User
from domain.errors import Forbidden, NotSignedIn

AnyRequest = Request[Any, Any, Any]

COOKIE = "beleg_session"
CSRF_HEADER = "x-csrf-token"
_SAFE = {"GET", "HEAD", "OPTIONS"}
_FORWARDED = (
    *("forwarded", "via", "x-forwarded", "x-real-ip", "x-original-", "x-client-ip"),
    *("x-cluster-client-ip", "true-client-ip", "cf-", "fastly-client-ip", "x-envoy-"),
)
"""How the names of headers begin that a proxy adds."""
_HOST = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[0-9a-z.-]+))(?::[0-9]{1,5})?")
_LIFETIME_S = 30 * 24 * 3600


async def provide_user(request: AnyRequest, services: NamedDependency[Services]) -> User:
    """The caller: by bearer token, or by session cookie together with its CSRF header.

    Raises:
        NotSignedIn: neither is valid.
        Forbidden: the CSRF header of a request that changes something is missing or wrong.
    """
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme:
        visitor = await services.accounts.by_token(secret.strip())
        if scheme.lower() != "bearer" or visitor is None:
            raise NotSignedIn("This token is not valid. Make a new one.")
        return visitor.user
    session = request.cookies.get(COOKIE)
    visitor = await services.accounts.by_session(session) if session else None
    if session is None or visitor is None:
        raise NotSignedIn
    if request.method not in _SAFE:
        sent = request.headers.get(CSRF_HEADER, "")
        if not hmac.compare_digest(sent.encode(), csrf_token(session).encode()):
            raise Forbidden("The CSRF token is missing or wrong. Reload the page.")
    return visitor.user


async def provide_user_or_none(
    request: AnyRequest, services: NamedDependency[Services]
) -> User | None:
    """The caller, where there is one."""
    try:
        return await provide_user(request, services)
    except NotSignedIn:
        return None


def csrf_token(session: str) -> str:
    """The value that requests with this session's cookie must carry in `X-CSRF-Token`."""
    return hmac.new(session.encode(), b"csrf", hashlib.sha256).hexdigest()


def session_cookie(secret: str, request: AnyRequest) -> Cookie:
    """The cookie of a new session; unreadable to scripts, not sent from other sites."""
    return Cookie(
        key=COOKIE,
        value=secret,
        path="/",
        httponly=True,
        samesite="lax",
        secure=_came_encrypted(request),
        max_age=_LIFETIME_S,
    )


def _came_encrypted(request: AnyRequest) -> bool:
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
