"""The one client for addresses that users give: what it connects to, and where it stops."""

import asyncio
import contextlib
import gzip
import json
import ssl
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

import httpcore
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from adapters.web.client import WebClient
from domain.errors import AddressRefused, TooLarge, Unreachable

PUBLIC = "93.184.216.34"


def answer(body: bytes = b"", *, status: str = "200 OK", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


@dataclass
class Wires(httpcore.AsyncNetworkBackend):
    """A network on which nothing is sent: each host answers with what a test wrote for it."""

    answers: Mapping[str, bytes] = field(default_factory=dict)
    connected: list[tuple[str, int]] = field(default_factory=list)
    requests: list[bytes] = field(default_factory=list)

    async def connect_tcp(
        self, host: str, port: int, *_: object, **__: object
    ) -> httpcore.AsyncNetworkStream:
        self.connected.append((host, port))
        return Wire(self)


class Wire(httpcore.AsyncNetworkStream):
    def __init__(self, wires: Wires) -> None:
        self.wires = wires
        self.left: bytes | None = None
        self.asked = b""

    async def write(self, buffer: bytes, *_: object, **__: object) -> None:
        self.asked += buffer

    async def read(self, max_bytes: int, *_: object, **__: object) -> bytes:
        if self.left is None:
            self.wires.requests.append(self.asked)
            host = self.asked.split(b"Host: ")[1].split(b"\r\n")[0].decode()
            self.left = self.wires.answers.get(host, answer(b"page"))
        block, self.left = self.left[:max_bytes], self.left[max_bytes:]
        return block

    async def start_tls(self, *_: object, **__: object) -> "Wire":
        return self

    async def aclose(self) -> None:
        pass


def resolver(**known: list[str]) -> Callable[[str, int], Awaitable[list[str]]]:
    """Names ("_" for a dot) with their addresses; every other one, and every literal, as it is."""

    async def resolve(host: str, _port: int) -> list[str]:
        if host.replace(".", "").isdigit() or ":" in host:
            return [host]
        if (found := known.get(host.replace(".", "_").replace("-", "_"))) is None:
            raise OSError(host)
        return found

    return resolve


def client(wires: Wires, **known: list[str]) -> WebClient:
    return WebClient(resolve=resolver(**known), network=wires)


EXAMPLE = {"example_org": [PUBLIC]}


def cases(shared_data: Path) -> list[dict[str, str]]:
    lines = (shared_data / "safety/ssrf.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


class TestEveryCaseOfTheSharedData:
    """With the answers a hostile name server and a hostile web server would give."""

    names: ClassVar = {
        **EXAMPLE,
        "xn__bcher_kva_example": [PUBLIC],
        "127_0_0_1_example": [PUBLIC],
        "redirect_example": [PUBLIC],
        "nicob_net": [PUBLIC],
        "62epax5fhvj3zzmzigyoe5ipkbn7fysllvges3a_302_r3dir_me": [PUBLIC],
        "example_com": [PUBLIC],
        "help_redacted_com": [PUBLIC],
        "metadata_packet_net": [PUBLIC],
        "localtest_me": ["127.0.0.1"],
        "127_0_0_1_nip_io": ["127.0.0.1"],
        "169_254_169_254_nip_io": ["169.254.169.254"],
        "multi_example": [PUBLIC, "10.0.0.1"],
        "spoofed_example": [PUBLIC],
    }

    def network(self) -> Wires:
        def to(where: str, status: str = "302 Found") -> bytes:
            return answer(status=status, Location=where)

        return Wires(
            {
                "nicob.net": to("http://169.254.169.254:80/"),
                "62epax5fhvj3zzmzigyoe5ipkbn7fysllvges3a.302.r3dir.me": to("http://127.0.0.1/"),
            }
        )

    async def test_blocked_before_a_connection_leaves(self, shared_data: Path) -> None:
        let_through: list[object] = []
        for case in cases(shared_data):
            if case["expect"] != "block" or case["url"].startswith("http://spoofed"):
                continue
            wires = self.network()
            if "redirect.example" in case["url"]:
                where = case["url"].split("to=")[1]
                status = "307 Temporary Redirect" if "307" in case["url"] else "302 Found"
                page = answer(status=status, Location=where)
                wires.answers = {"redirect.example": page}
            with contextlib.suppress(AddressRefused):
                await client(wires, **self.names).fetch(case["url"])
                let_through.append(case["url"])
            let_through += [(case["url"], at) for at in wires.connected if at[0] != PUBLIC]
        assert let_through == []

    async def test_allowed(self, shared_data: Path) -> None:
        allowed = [case["url"] for case in cases(shared_data) if case["expect"] == "allow"]
        assert allowed
        for url in allowed:
            wires = Wires()
            assert (await client(wires, **self.names).fetch(url)).content == b"page", url
            assert len(wires.connected) == 1


class TestWhatIsConnectedTo:
    async def test_the_checked_address_whatever_the_name_says_next(self) -> None:
        answers = iter([[PUBLIC], ["127.0.0.1"], ["127.0.0.1"]])

        async def rebinding(_host: str, _port: int) -> list[str]:
            return next(answers)

        wires = Wires()
        await WebClient(resolve=rebinding, network=wires).fetch("http://spoofed.example/")
        assert wires.connected == [(PUBLIC, 80)]

    async def test_a_name_that_changes_between_redirects_is_checked_again(self) -> None:
        answers = iter([[PUBLIC], ["127.0.0.1"]])

        async def rebinding(_host: str, _port: int) -> list[str]:
            return next(answers)

        wires = Wires({"spoofed.example": answer(status="302 Found", Location="/again")})
        with pytest.raises(AddressRefused):
            await WebClient(resolve=rebinding, network=wires).fetch("http://spoofed.example/")
        assert wires.connected == [(PUBLIC, 80)]

    @pytest.mark.parametrize(
        "address",
        [
            *("10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::a01:203", "64:ff9b:1::1", "2002:a01:203::"),
            *(
                "::1",
                "fe80::1",
                "fe80::1%eth0",
                "fd00:ec2::254",
                "::10.1.2.3",
                "2001::1",
                "ff02::1",
            ),
            *("100.64.0.1", "168.63.129.16", "192.88.99.1", "3fff::1", "not an address"),
        ],
    )
    async def test_not_where_a_public_name_resolves_to_something_else(self, address: str) -> None:
        wires = Wires()
        with pytest.raises(AddressRefused, match="not on the public internet"):
            await client(wires, example_org=[address]).fetch("https://example.org/")
        assert wires.connected == []

    @pytest.mark.parametrize("address", ["::ffff:93.184.216.34", "64:ff9b::5db8:d822"])
    async def test_a_public_address_inside_ipv6(self, address: str) -> None:
        wires = Wires()
        await client(wires, example_org=[address]).fetch("https://example.org/")
        assert wires.connected == [(address, 443)]

    async def test_the_next_address_where_the_first_takes_no_connection(self) -> None:
        class Deaf(Wires):
            async def connect_tcp(
                self, host: str, port: int, *_: object, **__: object
            ) -> httpcore.AsyncNetworkStream:
                if host == PUBLIC:
                    raise httpcore.ConnectError
                return await super().connect_tcp(host, port)

        wires = Deaf()
        await client(wires, example_org=[PUBLIC, "93.184.216.35"]).fetch("http://example.org/")
        assert wires.connected == [("93.184.216.35", 80)]

    async def test_what_the_operator_named(self) -> None:
        wires = Wires()
        web = WebClient(
            resolve=resolver(), network=wires, allowed_hosts=["127.0.0.1:8123"], timeout_s=5
        )
        await web.fetch("http://127.0.0.1:8123/page")
        assert wires.connected == [("127.0.0.1", 8123)]
        with pytest.raises(AddressRefused):
            await web.fetch("http://127.0.0.1/page")

    async def test_no_cookie_and_no_credentials_are_sent(self) -> None:
        wires = Wires({"example.org": answer(b"x", Set_Cookie="a=b")})
        web = client(wires, **EXAMPLE)
        await web.fetch("http://example.org/ä?b=ö#c")
        await web.fetch("http://example.org/")
        assert wires.requests[0].startswith(
            b"GET /%C3%A4?b=%C3%B6 HTTP/1.1\r\nHost: example.org\r\n"
        )
        assert not any(b"ookie" in request for request in wires.requests)


class TestRedirects:
    async def test_are_followed_and_the_last_address_is_told(self) -> None:
        wires = Wires(
            {
                "example.org": answer(status="301 Moved", Location="//www.example.org/a b?q=1#f"),
                "www.example.org": answer(b"there", Content_Type="text/html; charset=utf-8"),
            }
        )
        found = await client(wires, **EXAMPLE, www_example_org=[PUBLIC]).fetch(
            "https://example.org/"
        )
        assert found.url == "https://www.example.org/a%20b?q=1"
        assert found.content == b"there"
        assert found.media_type == "text/html; charset=utf-8"

    async def test_end(self) -> None:
        wires = Wires({"example.org": answer(status="302 Found", Location="/again")})
        with pytest.raises(Unreachable, match="redirects more than 8 times"):
            await client(wires, **EXAMPLE).fetch("http://example.org/")

    @pytest.mark.parametrize(
        "location",
        [
            "http://10.0.0.1/",
            "http://[::1]/",
            "file:///etc/passwd",
            "http://a@b.example/",
            "http://[",
        ],
    )
    async def test_to_elsewhere_are_refused(self, location: str) -> None:
        wires = Wires({"example.org": answer(status="307 Temporary", Location=location)})
        with pytest.raises(AddressRefused, match="redirects"):
            await client(wires, **EXAMPLE).fetch("http://example.org/")
        assert len(wires.connected) == 1


def bomb(megabytes: int) -> bytes:
    return gzip.compress(bytes(megabytes * 1_000_000), mtime=0)


def raw_deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(content) + packer.flush()


class TestLimits:
    async def fetch(self, page: bytes, *, max_bytes: int = 10_000_000) -> bytes:
        wires = Wires({"example.org": page})
        web = WebClient(resolve=resolver(**EXAMPLE), network=wires, max_bytes=max_bytes)
        return (await web.fetch("http://example.org/")).content

    @pytest.mark.parametrize(
        ("encoding", "body"),
        [
            ("gzip", gzip.compress(b"text " * 1000, mtime=0)),
            (
                "gzip",
                gzip.compress(b"text " * 500, mtime=0) + gzip.compress(b"text " * 500, mtime=0),
            ),
            ("deflate", zlib.compress(b"text " * 1000)),
            ("deflate", raw_deflate(b"text " * 1000)),
            ("identity", b"text " * 1000),
        ],
    )
    async def test_encodings(self, encoding: str, body: bytes) -> None:
        assert await self.fetch(answer(body, Content_Encoding=encoding)) == b"text " * 1000

    @pytest.mark.parametrize("encoding", ["gzip", "deflate"])
    async def test_a_bomb_stops_at_the_limit(self, encoding: str) -> None:
        body = bomb(40) if encoding == "gzip" else zlib.compress(bytes(40_000_000))
        with pytest.raises(TooLarge, match="10 MB"):
            await self.fetch(answer(body, Content_Encoding=encoding))

    @pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
    async def test_an_encoding_that_was_not_asked_for(self, encoding: str) -> None:
        with pytest.raises(Unreachable, match="unasked"):
            await self.fetch(answer(b"x", Content_Encoding=encoding))

    async def test_a_broken_encoding(self) -> None:
        with pytest.raises(Unreachable, match="broken"):
            await self.fetch(answer(b"\x1f\x8bnonsense", Content_Encoding="gzip"))

    async def test_too_large_as_announced_and_as_sent(self) -> None:
        with pytest.raises(TooLarge):
            await self.fetch(answer(bytes(101)), max_bytes=100)
        endless = b"HTTP/1.1 200 OK\r\n\r\n" + bytes(101)
        with pytest.raises(TooLarge):
            await self.fetch(endless, max_bytes=100)
        assert await self.fetch(answer(bytes(100)), max_bytes=100) == bytes(100)

    async def test_endless_headers(self) -> None:
        with pytest.raises(Unreachable):
            await self.fetch(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 1_000_000)

    async def test_no_http_at_all(self) -> None:
        with pytest.raises(Unreachable, match="could not be read from"):
            await self.fetch(b"SSH-2.0-OpenSSH\r\n")

    @pytest.mark.parametrize(
        ("status", "told"),
        [
            ("404 Not Found", "no such page"),
            ("403 Forbidden", "does not let a program"),
            ("503 Service Unavailable", "an error of its own"),
            ("304 Not Modified", "does not give this page"),
            ("302 Found", "does not give this page"),
        ],
    )
    async def test_no_page(self, status: str, told: str) -> None:
        with pytest.raises(Unreachable, match=told):
            await self.fetch(answer(b"x", status=status))

    async def test_slow(self) -> None:
        class Slow(Wires):
            async def connect_tcp(self, *_: object, **__: object) -> httpcore.AsyncNetworkStream:
                await asyncio.sleep(60)
                raise AssertionError

        web = WebClient(resolve=resolver(**EXAMPLE), network=Slow(), timeout_s=0.05)
        with pytest.raises(Unreachable, match="longer than"):
            await web.fetch("http://example.org/")

    async def test_a_name_that_is_not_there(self) -> None:
        with pytest.raises(Unreachable, match="no web server called nowhere"):
            await client(Wires()).fetch("http://nowhere.example/")


def certified(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """What a server called `name` shows, and what a client that trusts it asks with."""
    key = ec.generate_private_key(ec.SECP256R1())
    called = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    begin = datetime(2025, 1, 1, tzinfo=UTC)
    certificate = (
        x509.CertificateBuilder(
            called, called, key.public_key(), 1, begin, datetime(2199, 1, 1, tzinfo=UTC)
        )
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    shown = folder / "server.pem"
    shown.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(shown)
    return server, ssl.create_default_context(cafile=str(shown))


class TestOverRealConnections:
    async def test_tls_asks_for_the_name_and_holds_the_server_to_it(self, tmp_path: Path) -> None:
        shown, trusting = certified(tmp_path, "pages.example")
        named: list[str | None] = []
        shown.sni_callback = lambda _socket, name, _context: named.append(name)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer(b"hello"))
            await writer.drain()
            writer.close()

        async def here(_host: str, _port: int) -> list[str]:
            return ["127.0.0.1"]

        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=shown)
        port = server.sockets[0].getsockname()[1]
        web = WebClient(
            allowed_hosts=["pages.example", "other.example"], resolve=here, tls=trusting
        )
        async with server:
            assert (await web.fetch(f"https://pages.example:{port}/")).content == b"hello"
            with pytest.raises(Unreachable, match="could not be read from"):
                await web.fetch(f"https://other.example:{port}/")
        assert named == ["pages.example", "other.example"]

    async def test_a_page_of_this_machine_only_where_it_was_named(self) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer(b"hello"))
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server:
            named = WebClient(allowed_hosts=[f"127.0.0.1:{port}"])
            assert (await named.fetch(f"http://127.0.0.1:{port}/")).content == b"hello"
            with pytest.raises(AddressRefused):
                await WebClient().fetch(f"http://127.0.0.1:{port}/")
