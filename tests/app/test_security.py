"""Who counts as the person at the machine."""

import pytest
from litestar.testing import RequestFactory

from app.security import csrf_token, is_person_at_the_machine, session_cookie


def _is_welcome(
    host: str | None,
    peer: str = "127.0.0.1",
    *,
    local_mode: bool = True,
    headers: dict[str, str] | None = None,
) -> bool:
    request = RequestFactory().get("/", headers=headers)
    scope = request.scope
    scope["client"] = (peer, 50000)
    scope["headers"] = [
        *((name, value) for name, value in scope["headers"] if name != b"host"),
        *([] if host is None else [(b"host", host.encode("latin-1"))]),
    ]
    return is_person_at_the_machine(request, local_mode=local_mode)


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "localhost:8000", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:8000"),
        *("127.8.9.10:80", "[::1]", "[::1]:8000", "[0:0:0:0:0:0:0:1]:8000"),
    ],
)
def test_a_loopback_host_from_a_loopback_peer_is_the_person(host: str) -> None:
    assert _is_welcome(host)
    assert _is_welcome(host, peer="::1")


@pytest.mark.parametrize(
    "host",
    [
        *(None, "", ":8000", " ", "127.0.0.1.evil.example", "127.0.0.1.evil.example:8000"),
        *("localhost.evil.example", "evil.example", "localhost@evil.example", "0.0.0.0:8000"),
        *("evil.example:127.0.0.1", "[::1].evil.example", "[::1", "::1", "::1]", "[127.0.0.1]x"),
        *("localhost:8000:9000", "localhost:", "localhost:x", "localhost/evil", "localhost,evil"),
        *("2130706433", "0x7f.1", "127.1", "[fe80::1%25lo]", "192.168.1.5", "\u00b9", "localhost "),
        *("127.0.0.1:123456",),
    ],
)
def test_no_other_host_is(host: str | None) -> None:
    assert not _is_welcome(host)


@pytest.mark.parametrize(
    "peer", ["192.168.1.5", "10.0.0.1", "8.8.8.8", "::", "fe80::1", "", "testclient", "unix:"]
)
def test_no_other_peer_is(peer: str) -> None:
    assert not _is_welcome("127.0.0.1:8000", peer=peer)


@pytest.mark.parametrize(
    "name",
    [
        *("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"),
        *("X-Forwarded-Server", "X-Forwarded", "X-Real-IP", "X-Client-IP", "CF-Connecting-IP"),
        *("True-Client-IP", "X-Original-Host", "X-Cluster-Client-IP", "X-Envoy-External-Address"),
    ],
)
@pytest.mark.parametrize("value", ["127.0.0.1", ""])
def test_nobody_is_behind_a_proxy(name: str, value: str) -> None:
    assert not _is_welcome("127.0.0.1:8000", headers={name: value})


def test_nobody_is_outside_local_mode() -> None:
    assert not _is_welcome("127.0.0.1:8000", local_mode=False)


def test_what_speaks_http_1_0_is_a_proxy() -> None:
    request = RequestFactory().get("/")
    request.scope["client"] = ("127.0.0.1", 50000)
    request.scope["headers"] = [(b"host", b"localhost")]
    assert is_person_at_the_machine(request, local_mode=True)
    request.scope["http_version"] = "1.0"
    assert not is_person_at_the_machine(request, local_mode=True)


def test_two_hosts_are_none() -> None:
    request = RequestFactory().get("/")
    request.scope["client"] = ("127.0.0.1", 50000)
    request.scope["headers"] = [(b"host", b"localhost"), (b"host", b"evil.example")]
    assert not is_person_at_the_machine(request, local_mode=True)


def test_without_a_peer_nobody_is() -> None:
    request = RequestFactory().get("/")
    request.scope["client"] = None
    request.scope["headers"] = [(b"host", b"localhost")]
    assert not is_person_at_the_machine(request, local_mode=True)


def test_each_session_has_a_csrf_token_of_its_own() -> None:
    assert csrf_token("one") != csrf_token("two")
    assert csrf_token("one") == csrf_token("one")
    assert "one" not in csrf_token("one")


@pytest.mark.parametrize(("scheme", "secure"), [("http", False), ("https", True)])
def test_the_cookie_is_kept_from_scripts_and_other_sites(scheme: str, *, secure: bool) -> None:
    request = RequestFactory().get("/")
    request.scope["scheme"] = scheme
    cookie = session_cookie("secret", request)
    assert cookie.httponly
    assert cookie.samesite == "lax"
    assert cookie.secure is secure
    assert cookie.path == "/"


@pytest.mark.parametrize(
    ("forwarded", "secure"),
    [("https", True), ("HTTPS, http", True), ("http, https", False), ("", False), ("x", False)],
)
def test_the_cookie_is_for_tls_alone_where_a_proxy_speaks_it(
    forwarded: str, *, secure: bool
) -> None:
    request = RequestFactory().get("/", headers={"X-Forwarded-Proto": forwarded})
    assert session_cookie("secret", request).secure is secure
