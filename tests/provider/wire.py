"""Just enough HTTP/1.1 to answer, stream, hang and hang up, each exactly when told."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import cast

import httptools

Handler = Callable[["Exchange"], Awaitable[None]]


class Exchange:
    """One request, and the means to answer it: whole, in chunks, or not at all."""

    def __init__(
        self,
        connection: "Connection",
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes,
    ) -> None:
        self._connection = connection
        self._streaming = False
        self.method = method
        self.path = path
        self.headers = headers
        """Names in lower case."""
        self.body = body

    def answer(
        self, status: int, body: bytes, media_type: str = "application/json", **headers: str
    ) -> None:
        """Send a whole response; `_` in a header's name stands for `-`."""
        lines = {"content-type": media_type, "content-length": str(len(body)), **headers}
        self._connection.write(_head(status, lines) + body)

    async def stream(self, data: bytes) -> None:
        """Send a piece of an event stream at once; the first sends the head too."""
        head = b""
        if not self._streaming:
            self._streaming = True
            kind = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
            head = _head(HTTPStatus.OK, kind)
        self._connection.write(b"%b%x\r\n%b\r\n" % (head, len(data), data))
        await asyncio.sleep(0)  # lets the loop put it on the wire before the next piece is made
        await self._connection.writable.wait()

    def end(self) -> None:
        """End the stream in good order."""
        self._connection.write(b"0\r\n\r\n")

    def drop(self) -> None:
        """Close the connection, whatever was promised on it."""
        self._connection.close()


class Connection(asyncio.Protocol):
    """A client's connection: one request at a time, kept alive; no pipelining.

    Its handler is cancelled when the client goes away.
    """

    def __init__(self, handle: Handler, connections: "set[Connection]") -> None:
        self._handle = handle
        self._connections = connections
        self._parser = httptools.HttpRequestParser(self)
        self._task: asyncio.Task[None] | None = None
        self._begin()
        self.writable = asyncio.Event()
        self.writable.set()

    def _begin(self) -> None:
        self._url = b""
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._connections.add(self)

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 (asyncio's signature)
        self._connections.discard(self)
        self.writable.set()
        if self._task is not None:
            self._task.cancel()

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        method = self._parser.get_method().decode()
        path = self._url.decode().partition("?")[0]
        exchange = Exchange(self, method, path, self._headers, b"".join(self._body))
        self._begin()
        self._task = asyncio.ensure_future(self._handle(exchange))

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    def close(self) -> None:
        self._transport.close()

    async def finish(self) -> None:
        """Close, and wait for the handler to notice."""
        self.close()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
