"""How often somebody may guess at passwords: failures are counted by name, for a while."""

import ipaddress
from collections import OrderedDict, deque
from datetime import datetime, timedelta

from domain.errors import TooManyAttempts

WINDOW = timedelta(minutes=5)
PER_ADDRESS = 10
"""Failures that one e-mail address may have within the window."""
PER_PEER = 50
"""Likewise for one peer: more, since a household or a company may share one."""
PER_SHARER = 20
"""Addresses without an account that one person may try to share with."""
_MOST_NAMES = 10_000
_IPV6_OF_ONE = 64
"""Bits that are the same in all addresses of one IPv6 connection; the rest its owner chooses."""


class FailedAttempts:
    """When whom something failed for. Of too many names, those that failed longest ago go first."""

    def __init__(self, *, most_names: int = _MOST_NAMES) -> None:
        self._most_names = most_names
        self._failures: OrderedDict[str, deque[datetime]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._failures)

    def check(self, name: str, limit: int, now: datetime) -> None:
        """Let another attempt pass.

        Raises:
            TooManyAttempts: `limit` attempts failed within the window; it says when to come back.
        """
        failures = self._failures.get(name)
        if failures is None:
            return
        while failures and failures[0] <= now - WINDOW:
            failures.popleft()
        if len(failures) >= limit:
            wait = failures[-limit] + WINDOW - now
            raise TooManyAttempts(retry_after_s=wait.total_seconds())
        if not failures:
            del self._failures[name]

    def add(self, name: str, now: datetime) -> None:
        """An attempt failed."""
        self._failures.setdefault(name, deque(maxlen=PER_PEER)).append(now)
        self._failures.move_to_end(name)
        if len(self._failures) > self._most_names:
            self._failures.popitem(last=False)

    def forget(self, name: str) -> None:
        """An attempt succeeded: what failed before was the same person."""
        self._failures.pop(name, None)


def network(peer: str) -> str:
    """Whom a peer's failures are counted for: an IPv4 address, the /64 of an IPv6 address."""
    try:
        address = ipaddress.ip_address(peer)
    except ValueError:
        return peer
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(address), _IPV6_OF_ONE), strict=False))
