"""Fetches what is behind a web address: guarded, bounded in time and size, redirects followed."""

import asyncio
import ssl
import zlib
from collections.abc import AsyncIterable, Collection
from functools import cache

import certifi
import httpcore

from adapters.web.guard import GuardedNetwork, Resolve, system_resolve
from domain.errors import BelegError, TooLarge, Unreachable
from domain.ports import Fetched
from domain.web_address import WebAddress, redirected, web_address

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 8
_PAGES = range(200, 300)
_SERVER_ERROR = 500
_BLOCK_BYTES = 1 << 16
_HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; Beleg/1.0; reads one page for a person)",
    "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.8",
    "Accept-Language": "de,en;q=0.8",
    # Only what can be decoded within a limit by the standard library.
    "Accept-Encoding": "gzip",
}
_WHY = {
    401: "asks for a password",
    402: "asks for money",
    403: "does not let a program read this page",
    404: "has no such page",
    410: "has no such page any more",
    429: "has had too many requests",
    451: "withholds this page for legal reasons",
}


class WebClient:
    """The `WebFetcher` port over httpcore.

    Args:
        max_bytes: of a page, as sent and as decoded.
        timeout_s: for all of a fetch: names, connections, redirects and the page.
        allowed_hosts: hosts, or host:port, that may be fetched whatever they resolve to.
        resolve, network, tls: stand-ins of tests.
    """

    def __init__(
        self,
        *,
        max_bytes: int = 10_000_000,
        timeout_s: float = 15.0,
        allowed_hosts: Collection[str] = (),
        resolve: Resolve = system_resolve,
        network: httpcore.AsyncNetworkBackend | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._max_bytes = max_bytes
        self._timeout_s = timeout_s
        self._allowed_hosts = frozenset(allowed_hosts)
        self._resolve = resolve
        self._network = network
        self._tls = tls

    async def fetch(self, url: str) -> Fetched:
        """See `WebFetcher.fetch`."""
        address = web_address(url, self._allowed_hosts)
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._follow(address)
        except TimeoutError as error:
            raise Unreachable(
                f"{address.host} took longer than {self._timeout_s:g} s to send its page."
            ) from error
        except (httpcore.ProtocolError, httpcore.NetworkError, httpcore.TimeoutException) as error:
            raise Unreachable(
                f"{address.host} could not be read from ({type(error).__name__}). Check the address"
                " and try again later."
            ) from error

    async def _follow(self, address: WebAddress) -> Fetched:
        for _ in range(_MOST_REDIRECTS + 1):
            found = await self._get(address)
            if isinstance(found, Fetched):
                return found
            address = redirected(address, found, self._allowed_hosts)
        raise Unreachable(f"{address.host} redirects more than {_MOST_REDIRECTS} times.")

    async def _get(self, address: WebAddress) -> Fetched | str:
        """The page, or where it is instead."""
        trusted = frozenset({(address.host, address.port)} if address.trusted else ())
        guarded = GuardedNetwork(self._resolve, self._network, trusted)
        url = httpcore.URL(
            scheme=address.scheme.encode(),
            host=address.host.encode(),
            port=address.port,
            target=address.target.encode(),
        )
        headers = [("Host", address.authority), *_HEADERS.items()]
        async with (
            httpcore.AsyncConnectionPool(
                ssl_context=self._tls or _tls(), network_backend=guarded
            ) as pool,
            pool.stream("GET", url, headers=headers) as response,
        ):
            head = {name.decode("latin-1").lower(): value for name, value in response.headers}
            location = _text(head.get("location", b""))
            if response.status in _REDIRECTS and location:
                return location
            if response.status not in _PAGES:
                raise _refusal(address, response.status)
            content = await self._decoded(response.stream, head, address)
            media_type = _text(head.get("content-type", b""))
            return Fetched(str(address), content, " ".join(media_type.split())[:200])

    async def _decoded(self, stream: object, head: dict[str, bytes], address: WebAddress) -> bytes:
        assert isinstance(stream, AsyncIterable)  # noqa: S101 - an asynchronous response's
        encoding = _text(head.get("content-encoding", b"")).strip().lower()
        if encoding not in {"", "identity", "gzip", "x-gzip", "deflate"}:
            raise Unreachable(f"{address.host} sends this page encoded ({encoding[:20]}) unasked.")
        announced = head.get("content-length", b"0")
        if announced.isdigit() and int(announced) > self._max_bytes:
            raise self._too_large(address)
        body = _Body(self._max_bytes, inflate=encoding not in {"", "identity"})
        received = 0
        async for block in stream:
            received += len(block)
            try:
                fits = received <= self._max_bytes and body.take(block)
            except zlib.error as error:
                raise Unreachable(
                    f"{address.host} sends a page whose encoding is broken."
                ) from error
            if not fits:
                raise self._too_large(address)
        return bytes(body.content)

    def _too_large(self, address: WebAddress) -> BelegError:
        return TooLarge(
            f"This page of {address.host} has more than {self._max_bytes / 1e6:.0f} MB, the limit."
        )


class _Body:
    """What arrives of a page, inflated a block at a time so that a bomb goes off in small steps."""

    def __init__(self, max_bytes: int, *, inflate: bool) -> None:
        self.content = bytearray()
        self._max_bytes = max_bytes
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32) if inflate else None

    def take(self, block: bytes) -> bool:
        """Add a block; False where there is more than fits.

        Raises:
            zlib.error: it is no gzip or deflate.
        """
        if self._inflate is None:
            self.content += block
            return len(self.content) <= self._max_bytes
        while block:
            self.content += self._inflated(block)
            if len(self.content) > self._max_bytes:
                return False
            if self._inflate.eof:  # gzip may go on with another member
                block, rest = self._inflate.unused_data, zlib.decompressobj(zlib.MAX_WBITS | 32)
                self._inflate = rest if block else self._inflate
                continue
            block = self._inflate.unconsumed_tail
        return True

    def _inflated(self, block: bytes) -> bytes:
        assert self._inflate is not None  # noqa: S101 - asked by `take` where it is
        try:
            return self._inflate.decompress(block, _BLOCK_BYTES)
        except zlib.error:
            if self.content or block[:2] == b"\x1f\x8b":
                raise
            # What some servers call deflate has no header.
            self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._inflate.decompress(block, _BLOCK_BYTES)


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=certifi.where())


def _refusal(address: WebAddress, status: int) -> Unreachable:
    if status >= _SERVER_ERROR:
        return Unreachable(f"{address.host} has an error of its own ({status}). Try again later.")
    why = _WHY.get(status, "does not give this page")
    return Unreachable(f"{address.host} {why} (status {status}).")


def _text(header: bytes) -> str:
    try:
        return header.decode("utf-8")
    except UnicodeDecodeError:
        return header.decode("latin-1")
