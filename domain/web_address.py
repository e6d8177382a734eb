"""Web addresses: which of them may be fetched, and which addresses of the network are public."""

import ipaddress
import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, urljoin, urlsplit

import idna

from domain.errors import AddressRefused

_LONGEST = 2_000
_LENGTH = f"A web address has 1 to {_LONGEST:,} characters."
_LONGEST_HOST = 253
_PORTS = {"http": 80, "https": 443}
_OTHER_PORTS = frozenset({8080, 8443})
_UNSAFE = re.compile(r"[\x00-\x20\x7f-\x9f\ud800-\udfff\\\s]")
_HOST = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z][a-z0-9-]*[a-z0-9]")
_NUMBER = re.compile(r"[0-9]+|0[xo][0-9a-f]*")
_KEPT = "/%:@!$&'()*+,;=~-._?[]|"
_PRIVATE_NAMES = (
    *(".localhost", ".local", ".localdomain", ".internal", ".intranet", ".lan", ".home", ".corp"),
    *(".private", ".home.arpa", ".svc", ".cluster.local", ".onion", ".arpa"),
)
_METADATA_NAMES = frozenset({"metadata.packet.net", "metadata.platformequinix.com"})
"""Names in public zones that answer with the secrets of the machine that asks."""
_PASSED_ON = re.compile(r"/+https?:", re.IGNORECASE)

# IANA's registries of special-purpose addresses, as of 2025. Written out, because what Python's
# `is_global` says changed between its releases.
_NOT_PUBLIC_4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
            *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16"),
            *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
            "168.63.129.16/32",  # Azure's wire server: in a public range, but the machine's own
        ),
    )
)
_PUBLIC_6 = ipaddress.IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    map(
        ipaddress.IPv6Network,
        # Protocol assignments (Teredo and benchmarks too), documentation, 6to4.
        ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_METADATA = frozenset(
    map(
        ipaddress.ip_address,
        ("169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "fd00:ec2::254"),
    )
)


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An address that passed `web_address`.

    Args:
        host: lower case, ASCII (IDNA); an IPv6 address without brackets.
        target: path and query as they are sent; begins with "/".
        trusted: the operator named its host; what it resolves to is not checked.
    """

    scheme: str
    host: str
    port: int
    target: str
    trusted: bool = False

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"

    @property
    def authority(self) -> str:
        """Host and port as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def web_address(text: str, trusted: Collection[str] = ()) -> WebAddress:
    """The address in `text`, in its one written form, without its fragment.

    Args:
        text: as a person or a server wrote it.
        trusted: hosts, or host:port, that the operator lets through whatever they resolve to.

    Raises:
        AddressRefused: it is no address of a public web page; the message says why.
    """
    text = text.strip()
    if not text or len(text) > _LONGEST:
        raise AddressRefused(_LENGTH)
    if _UNSAFE.search(text):
        raise AddressRefused("There are spaces, controls or backslashes in this web address.")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise AddressRefused(f"{text} is not a web address.") from None
    scheme = parts.scheme.lower()
    if scheme not in _PORTS or not text.lower().startswith(f"{scheme}://") or not parts.hostname:
        raise AddressRefused("A web address begins with https:// or http:// and a host.")
    if "@" in parts.netloc:
        raise AddressRefused("A web address with a user name or password is not fetched.")
    port = _PORTS[scheme] if port is None else port
    host = parts.hostname.lower().rstrip(".")
    is_trusted = not {host, f"{host}:{port}"}.isdisjoint(trusted)
    if not is_trusted:
        host = _public_host(host, bracketed="[" in parts.netloc)
        _require_web_port(port, _PORTS[scheme])
        _require_its_own_page(parts.path, parts.query)
    target = quote(parts.path or "/", safe=_KEPT)
    if parts.query:
        target += f"?{quote(parts.query, safe=_KEPT)}"
    address = WebAddress(scheme, host, port, target, trusted=is_trusted)
    if len(str(address)) > _LONGEST:
        raise AddressRefused(_LENGTH)
    return address


def redirected(source: WebAddress, location: str, trusted: Collection[str] = ()) -> WebAddress:
    """Where `location` leads, as the server at `source` wrote it.

    Raises:
        AddressRefused: that address may not be fetched.
    """
    try:
        target = urljoin(str(source), location.strip().replace(" ", "%20"))
    except ValueError:
        raise AddressRefused(f"{source} redirects to something that is no web address.") from None
    try:
        return web_address(target, trusted)
    except AddressRefused as error:
        raise AddressRefused(f"{source} redirects elsewhere. {error.message}") from None


def is_address(text: str) -> bool:
    """True where `text` is meant as a web address: one word that begins as one."""
    word = text.strip()
    return word.lower().startswith(("http://", "https://")) and not _UNSAFE.search(word)


def name_in(url: str) -> str:
    """What a file behind that address is called: the last part of its path, or its host."""
    parts = urlsplit(url)
    return unquote(parts.path).rstrip("/").rpartition("/")[2] or parts.netloc


def is_public(address: str) -> bool:
    """True where an IP address belongs to the public internet.

    IPv4 inside IPv6 (mapped, NAT64) is judged by the IPv4 address that is meant.
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.scope_id is not None:
            return False
        meant = ip.ipv4_mapped
        if meant is None and ip in _NAT64:
            meant = ipaddress.IPv4Address(int(ip) & 0xFFFF_FFFF)
        if meant is None:
            return ip in _PUBLIC_6 and not any(ip in network for network in _NOT_PUBLIC_6)
        ip = meant
    return not any(ip in network for network in _NOT_PUBLIC_4)


def _public_host(host: str, *, bracketed: bool) -> str:
    """The host in ASCII.

    Raises:
        AddressRefused: it names this machine, its network, or nothing.
    """
    if bracketed:
        if not is_public(host):
            raise AddressRefused(_NOT_PUBLIC.format(host))
        return str(ipaddress.IPv6Address(host))
    host = _ascii(host)
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        # Readers disagree on what 0127.1 or 2130706433 mean: only the plain form is taken.
        if not is_public(host):
            raise AddressRefused(_NOT_PUBLIC.format(host))
        return host
    if host in _METADATA_NAMES or f".{host}".endswith(_PRIVATE_NAMES) or "." not in host:
        raise AddressRefused(_NOT_PUBLIC.format(host))
    if len(host) > _LONGEST_HOST or not _HOST.fullmatch(host):
        raise AddressRefused(f"{host[:80]} is not the name of a host.")
    return host


def _ascii(host: str) -> str:
    if host.isascii():
        return host
    if unicodedata.normalize("NFKC", host) != host:
        raise AddressRefused(f"{host[:80]} is written in characters that stand for others.")
    try:
        return idna.encode(host, uts46=True, std3_rules=True).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        raise AddressRefused(f"{host[:80]} is not the name of a host.") from None


def _require_web_port(port: int, usual: int) -> None:
    if port != usual and port not in {*_PORTS.values(), *_OTHER_PORTS}:
        raise AddressRefused(f"Port {port} is not one that web pages are served at.")


def _require_its_own_page(path: str, query: str) -> None:
    """Refuse what makes another server fetch: a proxy's path, a metadata service in a query."""
    if _PASSED_ON.match(path):
        raise AddressRefused("This address hands on a second one. Give that one itself.")
    for _, value in parse_qsl(query):
        try:
            host = urlsplit(value).hostname or ""
            named = ipaddress.ip_address(host) in _METADATA
        except ValueError:
            continue
        if named:
            raise AddressRefused(_NOT_PUBLIC.format(host))


_NOT_PUBLIC = "{} is not on the public internet: addresses of this network are not fetched."
