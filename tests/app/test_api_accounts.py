"""Accounts, tokens and sessions through the JSON API."""

import asyncio

import httpx
import pytest

from app.security import COOKIE, CSRF_HEADER, csrf_token
from domain.attempts import PER_PEER
from tests.app.conftest import Beleg, Start, problem

pytestmark = pytest.mark.asyncio(loop_scope="session")

PASSWORD = "a good password"


async def _sign_up(client: httpx.AsyncClient, email: str) -> str:
    response = await client.post("/accounts", json={"email": email, "password": PASSWORD})
    assert response.status_code == 201
    assert response.json()["user"]["email"] == email.lower()
    return str(response.json()["token"])


async def test_the_first_account_is_the_admin_and_gets_a_token(start: Start) -> None:
    beleg = await start()
    nobody = await beleg.client()
    tokens = [await _sign_up(nobody, email) for email in ("One@example.org", "two@example.org")]
    for token, is_admin in zip(tokens, (True, False), strict=True):
        me = await nobody.get("/me", headers={"Authorization": f"Bearer {token}"})
        assert (me.status_code, me.json()["is_admin"]) == (200, is_admin)
    taken = {"email": " ONE@example.org", "password": PASSWORD}
    problem(await nobody.post("/accounts", json=taken), 409, "conflict")


@pytest.mark.parametrize(
    "body",
    [
        {"email": "no address", "password": PASSWORD},
        {"email": "a@b@c", "password": PASSWORD},
        {"email": "Local@localhost", "password": PASSWORD},
        {"email": "\u0000", "password": PASSWORD},
        {"email": "a" * 70 + "@example.org", "password": PASSWORD},
        {"email": "short@example.org", "password": "1234567"},
        {"email": "long@example.org", "password": "a" * 1025},
        {"email": "none@example.org"},
        {"email": None, "password": PASSWORD},
    ],
)
async def test_an_account_that_cannot_be_is_refused(beleg: Beleg, body: object) -> None:
    nobody = await beleg.client()
    problem(await nobody.post("/accounts", json=body), 400, "invalid_request")


async def test_sign_up_may_be_closed_to_all_but_the_first(start: Start) -> None:
    beleg = await start(SIGN_UP="closed")
    nobody = await beleg.client()
    first, second = ({"email": f"{name}@example.org", "password": PASSWORD} for name in "ab")
    made = await nobody.post("/accounts", json=first)
    assert made.status_code == 201
    assert made.json()["user"]["is_admin"] is True
    problem(await nobody.post("/accounts", json=second), 403, "forbidden")


async def test_two_who_are_first_at_once_get_one_account_where_sign_up_is_closed(
    start: Start,
) -> None:
    beleg = await start(SIGN_UP="closed")
    nobody = await beleg.client()
    bodies = [{"email": f"{name}@example.org", "password": PASSWORD} for name in "abc"]
    made = await asyncio.gather(*(nobody.post("/accounts", json=body) for body in bodies))
    assert sorted(response.status_code for response in made) == [201, 403, 403]


async def test_guesses_at_an_address_end_after_ten_also_when_sent_at_once(beleg: Beleg) -> None:
    guesser, owner = await beleg.client("203.0.113.1"), await beleg.client("203.0.113.2")
    await _sign_up(owner, "guessed@example.org")
    wrong = {"email": "guessed@example.org", "password": "wrong"}
    told = await asyncio.gather(*(guesser.post("/tokens", json=wrong) for _ in range(30)))
    refused = [response for response in told if response.status_code == 429]
    assert len(refused) in {19, 20}, "two are checked at once"
    problem(refused[0], 429, "too_many_attempts")
    assert 0 < int(refused[0].headers["retry-after"]) <= 300
    right = {**wrong, "password": PASSWORD, "email": " Guessed@example.org"}
    problem(await owner.post("/tokens", json=right), 429, "too_many_attempts")
    other = {"email": "other@example.org", "password": "wrong"}
    problem(await guesser.post("/tokens", json=other), 401, "not_signed_in")


async def test_a_success_clears_an_address(beleg: Beleg) -> None:
    nobody = await beleg.client("203.0.113.3")
    await _sign_up(nobody, "forgetful@example.org")
    right = {"email": "forgetful@example.org", "password": PASSWORD}
    for _ in range(2):
        for _ in range(9):
            assert (
                await nobody.post("/tokens", json={**right, "password": "x"})
            ).status_code == 401
        assert (await nobody.post("/tokens", json=right)).status_code == 201


async def test_a_peer_may_fail_some_times_and_succeed_as_often_as_it_likes(beleg: Beleg) -> None:
    nobody = await beleg.client("8.8.8.4")
    bodies = [{"email": f"{n}@many.example.org", "password": PASSWORD} for n in range(PER_PEER + 2)]
    made = await asyncio.gather(*(nobody.post("/accounts", json=body) for body in bodies))
    assert {response.status_code for response in made} == {201}
    accounts = beleg.services.accounts
    for _ in range(PER_PEER - 1):
        accounts.attempts.add("peer 8.8.8.4", accounts.clock.now())
    problem(await nobody.post("/accounts", json=bodies[0]), 409, "conflict")
    new = {"email": "new@many.example.org", "password": PASSWORD}
    problem(await nobody.post("/accounts", json=new), 429, "too_many_attempts")
    # Behind a proxy with a private address, each of its clients is a peer of its own.
    for _ in range(PER_PEER):
        accounts.attempts.add("peer 198.51.100.1", accounts.clock.now())
    # Whoever has an IPv6 address has all of its /64.
    for _ in range(PER_PEER):
        accounts.attempts.add("peer 2001:db8:1:2::/64", accounts.clock.now())
    for peer, forwarded, status in (
        ("10.0.0.1", "198.51.100.2, 198.51.100.1", 429),
        ("10.0.0.1", "198.51.100.1, 198.51.100.2", 201),
        ("8.8.8.4", "198.51.100.2", 429),
        ("8.8.8.5", "198.51.100.1", 201),
        ("10.0.0.1", "rubbish", 201),
        ("2001:db8:1:2::9", "", 429),
        ("2001:db8:1:3::9", "", 201),
    ):
        client = await beleg.client(peer, **{"X-Forwarded-For": forwarded})
        email = f"{peer}{status}{len(forwarded)}@example.org"
        body = {"email": email, "password": PASSWORD}
        assert (await client.post("/accounts", json=body)).status_code == status, (peer, forwarded)


async def test_a_password_gives_a_token_and_a_wrong_one_none(beleg: Beleg) -> None:
    nobody = await beleg.client()
    await _sign_up(nobody, "token@example.org")
    right = {"email": "Token@Example.org ", "password": PASSWORD, "name": "laptop"}
    made = await nobody.post("/tokens", json=right)
    assert made.status_code == 201
    assert made.json().keys() == {"token", "id"}
    for wrong in (
        {**right, "password": "wrong"},
        {**right, "email": "nobody@example.org"},
        {**right, "email": "\u0000"},
        {**right, "password": "\u0000" * 9000},
        {"email": "token@example.org"},
        {"name": "only"},
        {},
    ):
        problem(await nobody.post("/tokens", json=wrong), 401, "not_signed_in")


async def test_tokens_are_listed_without_secrets_and_revoked_at_once(beleg: Beleg) -> None:
    client = await beleg.user()
    made = (await client.post("/tokens", json={"name": " new \n one"})).json()
    listed = (await client.get("/tokens")).json()["items"]
    assert [item["name"] for item in listed] == ["test", "new one"]
    keys = {"id", "name", "scopes", "created_at", "expires_at", "last_used_at"}
    assert all(item.keys() == keys for item in listed)
    assert (await client.get(f"/tokens/{made['id']}")).json() == listed[1]
    problem(await (await beleg.user()).get(f"/tokens/{made['id']}"), 404, "not_found")
    other = await beleg.client(Authorization=f"Bearer {made['token']}")
    assert (await other.get("/me")).status_code == 200
    assert (await client.delete(f"/tokens/{made['id']}")).status_code == 204
    problem(await client.get(f"/tokens/{made['id']}"), 404, "not_found")
    problem(await other.get("/me"), 401, "not_signed_in")
    problem(await client.delete(f"/tokens/{made['id']}"), 404, "not_found")


async def _session(beleg: Beleg, client: httpx.AsyncClient) -> str:
    """A session of that client's user."""
    token = client.headers["authorization"].removeprefix("Bearer ")
    visitor = await beleg.services.accounts.by_token(token)
    assert visitor is not None
    return await beleg.services.accounts.open_session(visitor.user)


async def test_a_session_reads_and_changes_things_with_its_csrf_header(beleg: Beleg) -> None:
    client = await beleg.user()
    secret = await _session(beleg, client)
    browser = await beleg.client(Cookie=f"{COOKIE}={secret}")
    assert (await browser.get("/me")).json() == (await client.get("/me")).json()
    body = {"title": "Bridges"}
    for header in ({}, {CSRF_HEADER: "wrong"}, {CSRF_HEADER: csrf_token("another")}):
        problem(await browser.post("/notebooks", json=body, headers=header), 403, "forbidden")
    right = {CSRF_HEADER: csrf_token(secret)}
    assert (await browser.post("/notebooks", json=body, headers=right)).status_code == 201
    made = await browser.post("/tokens", json={"name": "cli"}, headers=right)
    assert made.status_code == 201
    await beleg.services.accounts.close_session(secret)
    problem(await browser.get("/me"), 401, "not_signed_in")


async def test_a_bad_token_is_not_mended_by_a_good_session(beleg: Beleg) -> None:
    secret = await _session(beleg, await beleg.user())
    both = await beleg.client(Cookie=f"{COOKIE}={secret}", Authorization="Bearer wrong")
    problem(await both.get("/me"), 401, "not_signed_in")


async def test_the_api_never_signs_anybody_in_by_itself(start: Start) -> None:
    beleg = await start(BELEG_LOCAL="1")
    nobody = await beleg.client(Host="127.0.0.1:8000")
    for path in ("/me", "/notebooks", "/sources", "/usage"):
        problem(await nobody.get(path), 401, "not_signed_in")
    body = {"title": "Bridges"}
    problem(await nobody.post("/notebooks", json=body), 401, "not_signed_in")
    problem(await nobody.post("/tokens", json={"name": "x"}), 401, "not_signed_in")
    # The account of the person at the machine has no password to guess.
    body = {"email": "local@localhost", "password": ""}
    problem(await nobody.post("/tokens", json=body), 401, "not_signed_in")


async def test_the_person_at_the_machine_is_the_admin_whoever_signs_up(start: Start) -> None:
    beleg = await start(BELEG_LOCAL="1")
    nobody = await beleg.client()
    token = await _sign_up(nobody, "guest@example.org")
    me = await nobody.get("/me", headers={"Authorization": f"Bearer {token}"})
    assert me.json()["is_admin"] is False


async def test_the_page_signs_in_the_person_at_the_machine_alone(start: Start) -> None:
    beleg = await start(BELEG_LOCAL="1")
    html = {"Accept": "text/html"}
    for peer, host, forwarded, welcome in (
        ("127.0.0.1", "127.0.0.1:8000", {}, True),
        ("::1", "[::1]:8000", {}, True),
        ("127.0.0.1", "beleg.example", {}, False),
        ("192.168.1.5", "127.0.0.1:8000", {}, False),
        ("127.0.0.1", "127.0.0.1:8000", {"X-Forwarded-For": "8.8.8.8"}, False),
    ):
        browser = await beleg.client(peer, Host=host, **forwarded)
        response = await browser.get("http://beleg.test/", headers=html)
        assert (COOKIE in response.headers.get("set-cookie", "")) is welcome, (peer, host)
        assert response.status_code in ({200} if welcome else {200, 303})


async def test_a_unit_price_says_what_unit_it_is_for(beleg: Beleg) -> None:
    schemas = (await (await beleg.client()).get("/openapi.json")).json()["components"]["schemas"]
    said = {name: part["description"] for name, part in schemas["UnitPrice"]["properties"].items()}
    assert said == {
        "input": "USD per million tokens",
        "output": "USD per million tokens",
        "minute": "USD per minute of sound",
        "characters": "USD per million characters read aloud",
    }
