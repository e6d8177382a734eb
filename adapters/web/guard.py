"""Connections to public addresses alone: resolve, check, connect to what was checked."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import httpcore

from domain.errors import AddressRefused, Unreachable
from domain.web_address import is_public

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""A host's addresses, IPv4 or IPv6, in the order to try them."""


async def system_resolve(host: str, port: int) -> list[str]:
    """What the system's resolver says.

    Raises:
        OSError: it knows no such host.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class GuardedNetwork(httpcore.AsyncNetworkBackend):
    """Opens connections to public addresses.

    The name is resolved once; the addresses that were checked are those that are connected to, so
    that a name which changes its answer gains nothing. One address that is not public refuses the
    name: no honest host has both. TLS still asks for the host's name.

    Args:
        resolve: names in, addresses out.
        network: makes the connections.
        trusted: hosts that may be anywhere, because the operator named them.
    """

    def __init__(
        self,
        resolve: Resolve = system_resolve,
        network: httpcore.AsyncNetworkBackend | None = None,
        trusted: frozenset[tuple[str, int]] = frozenset(),
    ) -> None:
        self._resolve = resolve
        self._network = network or httpcore.AnyIOBackend()
        self._trusted = trusted

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to the first address of `host` that takes one.

        Raises:
            AddressRefused: an address of that host is not public.
            Unreachable: there is no such host.
            httpcore.ConnectError, httpcore.ConnectTimeout: none of them takes a connection.
        """
        failed: Exception = Unreachable(f"There is no web server called {host}.")
        for address in await self._checked(host, port):
            try:
                return await self._network.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
        raise failed

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def _checked(self, host: str, port: int) -> list[str]:
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise Unreachable(f"There is no web server called {host}.") from error
        if (host, port) not in self._trusted and not all(map(is_public, addresses)):
            raise AddressRefused(
                f"{host} is not on the public internet: addresses of this network are not fetched."
            )
        return addresses
