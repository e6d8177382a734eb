"""HEAD: what a GET would be answered, without its body."""

from contextlib import suppress
from typing import Any

from litestar.types import ASGIApp, Message, Receive, Scope, Send


class _Told(BaseException):
    """The headers are sent. No error: handlers of errors must not see it."""


def with_head(app: ASGIApp) -> ASGIApp:
    """The app, where every address that can be got tells its headers, too (RFC 9110, 9.3.2)."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") != "HEAD":
            await app(scope, receive, send)
            return

        async def head(message: Message) -> None:
            await send(message)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            raise _Told  # before a file is read, or a stream begins

        # Ranges are for GET alone.
        headers = [header for header in scope["headers"] if header[0] != b"range"]
        get: Any = {**scope, "method": "GET", "headers": headers}
        with suppress(_Told):
            await app(get, receive, head)

    return answer
