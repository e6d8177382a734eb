"""A name for each request, in its answer and in every line that is logged for it."""

import re

import structlog
from litestar.datastructures import MutableScopeHeaders
from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from domain.ids import new_id

_HEADER = "X-Request-ID"
_PLAIN = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class RequestId(ASGIMiddleware):
    """Takes the name that a proxy gave, or makes one."""

    scopes = (ScopeType.HTTP,)

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """Pass on, with the name bound to the log and to whatever the request starts."""
        given = dict(scope["headers"]).get(_HEADER.lower().encode(), b"")
        name = given.decode() if _PLAIN.fullmatch(given) else str(new_id())

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableScopeHeaders.from_message(message)[_HEADER] = name
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=name):
            await next_app(scope, receive, named)
