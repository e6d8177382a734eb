"""What attackers try at the door: each kind of attempt, and that it comes to nothing."""

import re
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest

from app.security import COOKIE, CSRF_HEADER, HOST_COOKIE, csrf_token
from domain.ports import PasswordHasher
from tests.app.conftest import Beleg, Start, problem

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGES = "http://beleg.test"
PASSWORD = "a good password"
SAME_SITE = {"sec-fetch-site": "same-origin", "accept": "text/html"}


async def _account(beleg: Beleg, email: str) -> None:
    nobody = await beleg.client()
    response = await nobody.post("/accounts", json={"email": email, "password": PASSWORD})
    assert response.status_code == 201


async def _signed_in(beleg: Beleg, email: str, **headers: str) -> httpx.Response:
    nobody = await beleg.client(**SAME_SITE)
    form = {"email": email, "password": PASSWORD}
    return await nobody.post(f"{PAGES}/sign-in", data=form, headers=headers)


def _cookie(response: httpx.Response, name: str = COOKIE) -> str:
    found = re.match(rf"{name}=([^;]+)", response.headers["set-cookie"])
    assert found, response.headers["set-cookie"]
    return found[1]


async def test_a_session_that_somebody_planted_is_not_taken_over(beleg: Beleg) -> None:
    await _account(beleg, "planted@example.org")
    planted = "planted-by-somebody"
    response = await _signed_in(beleg, "planted@example.org", cookie=f"{COOKIE}={planted}")
    assert _cookie(response) != planted
    attacker = await beleg.client(cookie=f"{COOKIE}={planted}")
    problem(await attacker.get("/me"), 401, "not_signed_in")


async def test_signing_in_again_ends_the_session_before(beleg: Beleg) -> None:
    await _account(beleg, "again@example.org")
    first = _cookie(await _signed_in(beleg, "again@example.org"))
    second = _cookie(await _signed_in(beleg, "again@example.org", cookie=f"{COOKIE}={first}"))
    assert first != second
    for secret, status in ((first, 401), (second, 200)):
        browser = await beleg.client(cookie=f"{COOKIE}={secret}")
        assert (await browser.get("/me")).status_code == status


async def test_the_cookie_s_flags(beleg: Beleg) -> None:
    await _account(beleg, "flags@example.org")
    plain = (await _signed_in(beleg, "flags@example.org")).headers["set-cookie"]
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(plain.split("; "))
    assert "Secure" not in plain
    response = await _signed_in(beleg, "flags@example.org", **{"x-forwarded-proto": "https"})
    behind_tls = response.headers["set-cookie"]
    assert behind_tls.startswith(f"{HOST_COOKIE}=")
    assert {"HttpOnly", "SameSite=lax", "Path=/", "Secure"} <= set(behind_tls.split("; "))
    assert "Domain" not in behind_tls
    # Behind TLS, a cookie without the prefix may come from a neighbour's host.
    secret = _cookie(response, HOST_COOKIE)
    for name, status in ((HOST_COOKIE, 200), (COOKIE, 401)):
        browser = await beleg.client(**{"cookie": f"{name}={secret}", "x-forwarded-proto": "https"})
        assert (await browser.get("/me")).status_code == status
    browser = await beleg.client(**{"x-forwarded-proto": "https"})
    gone = await browser.post(
        f"{PAGES}/sign-out",
        data={"csrf": csrf_token(secret)},
        headers={"cookie": f"{HOST_COOKIE}={secret}"},
    )
    assert gone.headers["set-cookie"].startswith(f"{HOST_COOKIE}=")
    assert "Max-Age=0" in gone.headers["set-cookie"]


@pytest.mark.parametrize("sent", ["", "wrong", csrf_token("another session")])
async def test_forms_of_other_sites_change_nothing(beleg: Beleg, sent: str) -> None:
    email = f"csrf{len(sent)}@example.org"
    await _account(beleg, email)
    secret = _cookie(await _signed_in(beleg, email))
    browser = await beleg.client(cookie=f"{COOKIE}={secret}", accept="text/html")
    for path, form in (
        ("/notebooks", {"title": "x"}),
        ("/account/password", {"current": PASSWORD, "new": "stolen password"}),
        ("/account/tokens", {"name": "x", "scope": "read"}),
        ("/account/sessions/end", {}),
        ("/language", {"language": "de"}),
        ("/sign-out", {}),
    ):
        response = await browser.post(f"{PAGES}{path}", data={**form, "csrf": sent})
        assert response.status_code == 403, path
    headers = {CSRF_HEADER: sent} if sent else {}
    for method, path, body in (
        ("POST", "/notebooks", {"title": "x"}),
        ("POST", "/tokens", {"name": "x"}),
        ("DELETE", "/me/sessions", None),
        ("PATCH", "/me", {"language": "de"}),
    ):
        for more in ({}, {"authorization": ""}):
            refused = await browser.request(method, path, json=body, headers=headers | more)
            problem(refused, 403, "forbidden")
    assert (await browser.get("/notebooks")).json()["items"] == []
    assert (await browser.get("/me")).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://["},
        {},
    ],
)
async def test_no_other_site_signs_somebody_in_to_its_own_account(
    beleg: Beleg, headers: dict[str, str]
) -> None:
    client = await beleg.client(accept="text/html", **headers)
    form = {"email": "x@example.org", "password": PASSWORD}
    for path in ("/sign-in", "/sign-up", "/reset/x"):
        assert (await client.post(f"{PAGES}{path}", data=form)).status_code == 403


@dataclass(frozen=True)
class Counting:
    """A hasher that counts what it is asked for."""

    inner: PasswordHasher
    verified: list[bool] = field(default_factory=list)

    async def hash(self, password: str) -> str:
        return await self.inner.hash(password)

    async def verify(self, hashed: str | None, password: str) -> bool:
        self.verified.append(hashed is not None)
        return await self.inner.verify(hashed, password)

    def is_outdated(self, hashed: str) -> bool:
        return self.inner.is_outdated(hashed)


async def test_an_unknown_address_is_worked_on_like_a_known_one(beleg: Beleg) -> None:
    await _account(beleg, "known@example.org")
    hasher = Counting(beleg.services.accounts.hasher)
    accounts = replace(beleg.services.accounts, hasher=hasher)
    told: list[Exception] = []
    for email in ("known@example.org", "unknown@example.org"):
        with pytest.raises(Exception, match="wrong") as caught:
            await accounts.sign_in(email, "wrong", peer="203.0.113.50")
        told.append(caught.value)
    assert hasher.verified == [True, False]
    assert [type(error) for error in told] == [type(told[0])] * 2
    assert str(told[0]) == str(told[1])


async def test_a_token_in_an_address_is_no_token(beleg: Beleg) -> None:
    client = await beleg.user()
    token = client.headers["authorization"].removeprefix("Bearer ")
    nobody = await beleg.client()
    for name in ("token", "access_token", "api_key", "authorization", "bearer", COOKIE):
        problem(await nobody.get(f"/me?{name}={token}"), 401, "not_signed_in")
        problem(await nobody.get(f"/me?{name}=Bearer%20{token}"), 401, "not_signed_in")
    form = {"access_token": token}
    posted = await nobody.post("/notebooks", data=form)
    problem(posted, 401, "not_signed_in")
    page = await nobody.get(f"{PAGES}/?token={token}", headers={"accept": "text/html"})
    assert page.status_code == 303


ELSEWHERE = (
    *("https://evil.example", "//evil.example", "///evil.example", "/\\evil.example"),
    *("\\\\evil.example", "/\t/evil.example", "/\r/evil.example", "evil.example", "/%09/x\n"),
    *("javascript:alert(1)", "http:evil.example", " //evil.example", "/x\r\nSet-Cookie: a=b"),
    *("https:/evil.example", "/..//evil.example\\", "\u2028//evil.example", "//@evil.example"),
    *("//[", "//]", "http://[evil.example"),
)


@pytest.mark.parametrize("wanted", ELSEWHERE)
async def test_signing_in_leads_nowhere_else(beleg: Beleg, wanted: str) -> None:
    client = await beleg.user()
    visitor = await beleg.services.accounts.by_token(client.headers["authorization"][7:])
    assert visitor is not None
    secret = await beleg.services.accounts.open_session(visitor.user)
    browser = await beleg.client(cookie=f"{COOKIE}={secret}", accept="text/html")
    form = {"csrf": csrf_token(secret), "language": "en", "next": wanted}
    for headers in ({}, {"hx-request": "true"}):
        response = await browser.post(f"{PAGES}/language", data=form, headers=headers)
        name = "hx-redirect" if headers else "location"
        assert response.headers[name] == "/", wanted
        assert "set-cookie" not in response.headers
    shown = await (await beleg.client(**SAME_SITE)).get(f"{PAGES}/sign-in", params={"next": wanted})
    assert 'name="next" value="/"' in shown.text
    assert "evil" not in shown.text


async def test_a_path_in_any_script_is_led_to(beleg: Beleg) -> None:
    client = await beleg.user()
    visitor = await beleg.services.accounts.by_token(client.headers["authorization"][7:])
    assert visitor is not None
    secret = await beleg.services.accounts.open_session(visitor.user)
    browser = await beleg.client(cookie=f"{COOKIE}={secret}")
    form = {"csrf": csrf_token(secret), "language": "en", "next": "/library?words=日本"}
    for headers, name in (({}, "location"), ({"hx-request": "true"}, "hx-redirect")):
        response = await browser.post(f"{PAGES}/language", data=form, headers=headers)
        assert response.headers[name] == "/library?words=%E6%97%A5%E6%9C%AC"


async def test_where_signing_in_leads_is_checked_when_it_leads_there(beleg: Beleg) -> None:
    email = "next@example.org"
    await _account(beleg, email)
    for wanted, where in (("//evil.example", "/"), ("/notebooks/1?a=b", "/notebooks/1?a=b")):
        nobody = await beleg.client(**SAME_SITE)
        form = {"email": email, "password": PASSWORD, "next": wanted}
        assert (await nobody.post(f"{PAGES}/sign-in", data=form)).headers["location"] == where


@pytest.mark.parametrize(
    "evil", ["a\r\nSet-Cookie: x=y", "a\nX-Evil: 1", "a\0b", "a\u2028b", '"; x="']
)
async def test_nothing_that_is_sent_makes_a_header(beleg: Beleg, evil: str) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    path = f"/notebooks/{notebook}/sources"
    added = await client.post(path, json={"title": evil, "text": f"Red is the bridge {evil!r}."})
    source = added.json()["id"]
    responses: list[Any] = [
        added,
        await client.get(f"/sources/{source}/original"),
        await client.get(
            "/me", headers={"X-Request-ID": evil.replace("\r\n", "%0d%0a")[:1] + "\t"}
        ),
        await (await beleg.client(**SAME_SITE)).get(f"{PAGES}/x", params={"next": evil}),
        await client.get(f"{PAGES}/nothing/{httpx.QueryParams({'a': evil})}"),
    ]
    for response in responses:
        assert "x-evil" not in response.headers
        assert "set-cookie" not in response.headers
        for name, value in response.headers.items():
            assert not re.search(r"[\r\n\0]", name + value), name
    disposition = responses[1].headers["content-disposition"]
    assert disposition.startswith("attachment; filename*=UTF-8''")
    assert re.fullmatch(r"[\w.~!%'*-]+", disposition.partition("=")[2])


async def test_nobody_is_the_person_at_the_machine_from_elsewhere(start: Start) -> None:
    beleg = await start(BELEG_LOCAL="1")
    page = {"accept": "text/html"}
    here = await beleg.client("127.0.0.1", host="127.0.0.1:8470")
    assert (await here.get(f"{PAGES}/", headers=page)).status_code == 200
    for peer, host, more in (
        ("127.0.0.1", "beleg.example", {}),
        ("192.168.1.5", "127.0.0.1:8470", {}),
        ("127.0.0.1", "127.0.0.1:8470", {"x-forwarded-for": "8.8.8.8"}),
        ("127.0.0.1", "127.0.0.1:8470", {"forwarded": "for=127.0.0.1"}),
        ("127.0.0.1", "127.0.0.1:8470", {"via": "1.1 proxy"}),
    ):
        there = await beleg.client(peer, host=host, **more)
        for path in ("/", "/account", "/admin/audit"):
            response = await there.get(f"{PAGES}{path}", headers=page)
            assert response.status_code == 303, (peer, host, more, path)
            assert "set-cookie" not in response.headers
        problem(await there.get("/me"), 401, "not_signed_in")
