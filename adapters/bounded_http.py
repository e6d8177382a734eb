"""HTTP answers that fit into this process, whatever a server sends."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

import httpx2

from domain.errors import ModelUnavailable, is_unsent, mark_unsent

_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_SENDS = ".send_request_headers.started"
_CONNECT_S = 5.0
MOST_BYTES = 64 << 20
"""Ten times the longest answer worth having: vectors of 64 texts, ten minutes of sound."""


class TooLong(httpx2.ReadError):
    """The server sent more than an answer may have, or packed it so that nobody can tell."""


def open_bounded(
    base_url: str = "",
    headers: Mapping[str, str] | None = None,
    *,
    most_bytes: int = MOST_BYTES,
) -> httpx2.AsyncClient:
    """A client that takes so many bytes an answer at most, and follows no redirection.

    What is sent to a provider is for that provider alone. Every time limit but connecting is left
    to the caller, who also closes it.
    """

    async def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise TooLong("packed its answer, which was to come as it is")
        stream = cast("httpx2.AsyncByteStream", response.stream)
        response.stream = _Counted(stream, most_bytes)

    return _Client(
        base_url=base_url,
        # What is packed has any size: a gigabyte of blanks takes a megabyte.
        headers={**(headers or {}), "Accept-Encoding": "identity"},
        timeout=httpx2.Timeout(None, connect=_CONNECT_S),
        limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=100),
        follow_redirects=False,
        event_hooks={"response": [bound]},
    )


def lost(host: str, error: BaseException | None) -> ModelUnavailable:
    """A call whose answer did not come: it may be billed unless no connection was made."""
    sent = not isinstance(error, _NOT_SENT)
    said = "did not answer" if sent else "cannot be reached"
    if isinstance(error, TooLong):
        said = str(error)
    return ModelUnavailable(f"{host} {said}.", may_be_billed=sent)


def late(host: str, error: TimeoutError) -> ModelUnavailable:
    """A call that took too long: it may be billed unless it never left."""
    sent = not is_unsent(error.__cause__)
    return ModelUnavailable(f"{host} took too long to answer.", may_be_billed=sent)


class _Client(httpx2.AsyncClient):
    """Tells of a call that is cancelled whether anything of it was sent."""

    async def send(
        self,
        request: httpx2.Request,
        **options: Any,  # noqa: ANN401 - they are passed on
    ) -> httpx2.Response:
        is_sent = False

        async def trace(event: str, _: Mapping[str, Any]) -> None:
            nonlocal is_sent
            is_sent = is_sent or event.endswith(_SENDS)

        request.extensions = {**request.extensions, "trace": trace}
        try:
            return await super().send(request, **options)
        except asyncio.CancelledError as error:
            if not is_sent:
                mark_unsent(error)
            raise


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most_bytes: int) -> None:
        self._stream = stream
        self._most_bytes = most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._most_bytes
        async for block in self._stream:
            left -= len(block)
            if left < 0:
                raise TooLong(f"sent more than {self._most_bytes / 1e6:.0f} MB")
            yield block

    async def aclose(self) -> None:
        await self._stream.aclose()
