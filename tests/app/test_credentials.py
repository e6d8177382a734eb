"""Passwords, sessions, tokens, invitations and the audit log, through the API and the pages."""

import asyncio
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from argon2 import PasswordHasher

from app.security import COOKIE, csrf_token
from domain.access import TokenScope
from domain.errors import NotSignedIn
from domain.ids import UserId
from tests.app.conftest import Beleg, Start, problem

pytestmark = pytest.mark.asyncio(loop_scope="session")

PASSWORD, ANOTHER = "a good password", "a better password"
SAME_SITE = {"sec-fetch-site": "same-origin", "accept": "text/html"}
PAGES = "http://beleg.test"


async def _sign_up(client: httpx.AsyncClient, email: str, **more: str) -> httpx.Response:
    body = {"email": email, "password": PASSWORD, **more}
    return await client.post("/accounts", json=body)


async def _account(beleg: Beleg, email: str) -> httpx.AsyncClient:
    """A client with an account that has a password."""
    nobody = await beleg.client()
    response = await _sign_up(nobody, email)
    assert response.status_code == 201, response.text
    return await beleg.client(Authorization=f"Bearer {response.json()['token']}")


async def _sign_in(beleg: Beleg, email: str, password: str = PASSWORD) -> httpx.AsyncClient:
    """A browser that signed in on the page; its cookie is kept by hand."""
    nobody = await beleg.client(**SAME_SITE)
    form = {"email": email, "password": password}
    response = await nobody.post(f"{PAGES}/sign-in", data=form)
    assert response.status_code == 303, response.text
    found = re.match(rf"{COOKIE}=([^;]+)", response.headers["set-cookie"])
    assert found
    return await beleg.client(**SAME_SITE, cookie=f"{COOKIE}={found[1]}")


def _csrf(browser: httpx.AsyncClient) -> str:
    return csrf_token(browser.headers["cookie"].partition("=")[2])


async def _is_in(browser: httpx.AsyncClient) -> bool:
    return (await browser.get(f"{PAGES}/account")).status_code == 200


async def _admin(beleg: Beleg) -> httpx.AsyncClient:
    client = await beleg.user()
    visitor = await beleg.services.accounts.by_token(client.headers["authorization"][7:])
    assert visitor is not None
    async with beleg.services.accounts.uow() as tx:
        await tx.accounts.set_admin(visitor.user.id, is_admin=True)
    return client


async def _acts(admin: httpx.AsyncClient, *, limit: int = 50) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = (await admin.get(f"/admin/audit?limit={limit}")).json()["items"]
    return items


# --- passwords


async def test_a_new_password_ends_other_sessions_and_keeps_this_one(beleg: Beleg) -> None:
    email = "changes@example.org"
    await _account(beleg, email)
    here, there = await _sign_in(beleg, email), await _sign_in(beleg, email)
    form = {"csrf": _csrf(here), "current": PASSWORD, "new": ANOTHER}
    changed = await here.post(f"{PAGES}/account/password", data=form)
    assert changed.status_code == 200
    assert await _is_in(here)
    assert not await _is_in(there)
    assert await _is_in(await _sign_in(beleg, email, ANOTHER))
    old = {"email": email, "password": PASSWORD}
    problem(await (await beleg.client()).post("/tokens", json=old), 401, "not_signed_in")


async def test_the_api_changes_a_password_too(beleg: Beleg) -> None:
    client = await _account(beleg, "changes-too@example.org")
    browser = await _sign_in(beleg, "changes-too@example.org")
    body = {"current_password": PASSWORD, "new_password": ANOTHER}
    problem(
        await client.post("/me/password", json={**body, "new_password": "short"}),
        *(400, "invalid_request"),
    )
    assert (await client.post("/me/password", json=body)).status_code == 204
    assert not await _is_in(browser)
    problem(await client.post("/me/password", json=body), 403, "wrong_password")


async def test_the_old_password_may_be_guessed_at_ten_times(beleg: Beleg) -> None:
    client = await _account(beleg, "guessed-at@example.org")
    body = {"current_password": "wrong", "new_password": ANOTHER}
    for _ in range(10):
        problem(await client.post("/me/password", json=body), 403, "wrong_password")
    told = [(item["act"], item["subject"]) for item in await _acts(await _admin(beleg))]
    assert told.count(("proof_failed", "guessed-at@example.org")) == 10
    refused = await client.post("/me/password", json={**body, "current_password": PASSWORD})
    problem(refused, 429, "too_many_attempts")
    assert int(refused.headers["retry-after"]) > 0


async def test_an_account_without_a_password_is_deleted_by_its_person_alone(beleg: Beleg) -> None:
    admin, client = await _admin(beleg), await beleg.user()
    me = (await client.get("/me")).json()
    made = (await client.post("/tokens", json={"name": "ci", "scopes": ["read", "write"]})).json()
    narrow = await beleg.client(Authorization=f"Bearer {made['token']}")
    by_address = {"password": me["email"]}
    problem(await narrow.request("DELETE", "/me", json=by_address), 403, "forbidden")
    for _ in range(10):
        refused = await client.request("DELETE", "/me", json={"password": "x@example.org"})
        problem(refused, 403, "wrong_password")
    problem(await client.request("DELETE", "/me", json=by_address), 429, "too_many_attempts")
    wrong = [item for item in await _acts(admin) if item["subject"] == me["email"]]
    assert [item["act"] for item in wrong].count("proof_failed") == 10
    beleg.services.accounts.attempts.forget(f"address {me['email']}")
    assert (await client.request("DELETE", "/me", json=by_address)).status_code == 202


async def test_a_link_of_the_admin_s_sets_a_password_once(beleg: Beleg) -> None:
    admin, client = await _admin(beleg), await _account(beleg, "forgot@example.org")
    browser = await _sign_in(beleg, "forgot@example.org")
    user_id = (await client.get("/me")).json()["id"]
    links = [(await admin.post(f"/admin/users/{user_id}/password-reset")).json() for _ in range(2)]
    assert links[1]["url"] == f"{PAGES}/reset/{links[1]['token']}"
    nobody = await beleg.client(**SAME_SITE)
    assert (await nobody.get(links[1]["url"])).status_code == 200
    for link, password, status in (
        (links[0]["url"], ANOTHER, 404),  # a newer link ended it
        (links[1]["url"], "short", 400),
        (links[1]["url"], ANOTHER, 303),
        (links[1]["url"], ANOTHER, 404),
    ):
        response = await nobody.post(link, data={"password": password})
        assert response.status_code == status, (link, password)
    assert not await _is_in(browser)
    problem(await client.get("/me"), 401, "not_signed_in")
    assert await _is_in(await _sign_in(beleg, "forgot@example.org", ANOTHER))
    body = {"token": "x", "password": ANOTHER}
    problem(await nobody.post("/password-resets", json=body), 404, "not_found")


async def test_what_is_wrong_at_the_door_is_said_in_german(beleg: Beleg) -> None:
    nobody = await beleg.client(**SAME_SITE, **{"accept-language": "de"})
    for path, form, said in (
        ("sign-in", {"email": "x@example.org", "password": "no"}, "Adresse oder Passwort stimmt"),
        ("sign-up", {"email": "x", "password": PASSWORD}, "keine E-Mail-Adresse"),
        ("sign-up", {"email": "x@example.org", "password": "no"}, "8 bis 1.024 Zeichen"),
    ):
        assert said in (await nobody.post(f"{PAGES}/{path}", data=form)).text


async def test_a_hash_of_old_parameters_is_renewed_at_sign_in(beleg: Beleg) -> None:
    email = "old-hash@example.org"
    await _account(beleg, email)
    weak = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
    accounts = beleg.services.accounts
    assert accounts.hasher.is_outdated(weak)
    async with accounts.uow() as tx:
        user, _ = await tx.accounts.by_email(email) or pytest.fail("no account")
        await tx.accounts.set_password(user.id, weak)
    for _ in range(2):
        assert await _is_in(await _sign_in(beleg, email))
    async with accounts.uow() as tx:
        _, renewed = await tx.accounts.by_email(email) or pytest.fail("no account")
    assert renewed
    assert not accounts.hasher.is_outdated(renewed)


# --- sessions


async def test_sessions_are_listed_and_end_one_by_one_or_all(beleg: Beleg) -> None:
    email = "sessions@example.org"
    client = await _account(beleg, email)
    browsers = [await _sign_in(beleg, email) for _ in range(3)]
    listed = (await browsers[0].get("/me/sessions")).json()["items"]
    assert len(listed) == 3
    assert [item["is_this"] for item in listed].count(True) == 1
    assert listed[0].keys() == {
        *("id", "browser", "is_this", "created_at", "expires_at", "last_used_at"),
    }
    assert listed[0]["browser"].startswith("python-httpx")
    other = next(item["id"] for item in listed if not item["is_this"])
    assert (await client.delete(f"/me/sessions/{other}")).status_code == 204
    problem(await client.delete(f"/me/sessions/{other}"), 404, "not_found")
    assert [await _is_in(browser) for browser in browsers].count(True) == 2
    await browsers[0].post(f"{PAGES}/account/sessions/end", data={"csrf": _csrf(browsers[0])})
    assert [await _is_in(browser) for browser in browsers] == [False] * 3
    assert (await client.get("/me")).status_code == 200, "tokens stay"
    await _sign_in(beleg, email)
    assert (await client.delete("/me/sessions")).status_code == 204
    assert (await client.get("/me/sessions")).json()["items"] == []


# --- tokens


async def test_a_token_makes_none_that_may_do_more_or_lasts_longer(beleg: Beleg) -> None:
    client = await beleg.user()
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    body: dict[str, Any] = {"name": "ci", "scopes": ["write"], "expires_at": soon}
    made = (await client.post("/tokens", json=body)).json()
    narrow = await beleg.client(Authorization=f"Bearer {made['token']}")
    late = (datetime.now(UTC) + timedelta(days=9)).isoformat()
    for scopes in (["ask"], ["write", "admin"], ["read"]):
        refused = await narrow.post("/tokens", json={"name": "x", "scopes": scopes})
        problem(refused, 403, "forbidden")
    child = (await narrow.post("/tokens", json={"name": "child", "expires_at": late})).json()
    listed = {item["id"]: item for item in (await client.get("/tokens")).json()["items"]}
    assert listed[child["id"]]["scopes"] == ["write"]
    assert listed[child["id"]]["expires_at"] == listed[made["id"]]["expires_at"]
    assert listed[made["id"]]["last_used_at"] is not None
    assert listed[child["id"]]["last_used_at"] is None
    reader = (await client.post("/tokens", json={"name": "r", "scopes": ["read"]})).json()
    only_reads = await beleg.client(Authorization=f"Bearer {reader['token']}")
    problem(await only_reads.post("/tokens", json={"name": "x"}), 403, "forbidden")


@pytest.mark.parametrize(
    "wrong",
    [
        *({"scopes": []}, {"scopes": ["root"]}, {"scopes": "read"}, {"scopes": [None]}),
        *({"expires_at": "2020-01-01T00:00:00Z"}, {"expires_at": "tomorrow"}),
        {"expires_at": "2099-01-01T00:00:00"},
    ],
)
async def test_a_token_that_cannot_be_is_refused(beleg: Beleg, wrong: dict[str, object]) -> None:
    client = await beleg.user()
    problem(await client.post("/tokens", json={"name": "x", **wrong}), 400, "invalid_request")


async def test_a_token_made_on_the_page_is_shown_once(beleg: Beleg) -> None:
    email = "page-token@example.org"
    await _account(beleg, email)
    browser = await _sign_in(beleg, email)
    form = {"csrf": _csrf(browser), "name": "cli", "scope": ["read", "ask"]}
    made = await browser.post(f"{PAGES}/account/tokens", data=form)
    found = re.search(r"blg_[\w-]+", made.text)
    assert found
    assert found[0] not in (await browser.get(f"{PAGES}/account")).text
    client = await beleg.client(Authorization=f"Bearer {found[0]}")
    problem(await client.post("/notebooks", json={"title": "x"}), 403, "forbidden")
    [token] = [t for t in (await client.get("/tokens")).json()["items"] if t["name"] == "cli"]
    path = f"{PAGES}/account/tokens/{token['id']}/revoke"
    assert (await browser.post(path, data={"csrf": _csrf(browser)})).status_code == 303
    problem(await client.get("/me"), 401, "not_signed_in")
    no_scope = {"csrf": _csrf(browser), "name": "none"}
    assert (await browser.post(f"{PAGES}/account/tokens", data=no_scope)).status_code == 400


# --- invitations


async def test_an_invitation_lets_one_person_in_once(start: Start) -> None:
    beleg = await start(SIGN_UP="invite")
    nobody = await beleg.client()
    first = await _sign_up(nobody, "first@example.org")
    assert first.json()["user"]["is_admin"] is True
    admin = await beleg.client(Authorization=f"Bearer {first.json()['token']}")
    problem(await _sign_up(nobody, "second@example.org"), 403, "forbidden")
    made = (await admin.post("/admin/invitations", json={"days": 2})).json()
    assert made["url"] == f"{PAGES}/sign-up?invitation={made['token']}"
    page = await (await beleg.client(**SAME_SITE)).get(made["url"])
    assert made["token"] in page.text
    short = {"email": "second@example.org", "password": "short", "invitation": made["token"]}
    problem(await nobody.post("/accounts", json=short), 400, "invalid_request")
    told = await asyncio.gather(
        *(_sign_up(nobody, f"{n}@example.org", invitation=made["token"]) for n in "abc")
    )
    assert sorted(response.status_code for response in told) == [201, 403, 403]
    [listed] = (await admin.get("/admin/invitations")).json()["items"]
    assert listed["used_by"] in {"a@example.org", "b@example.org", "c@example.org"}
    problem(await admin.delete(f"/admin/invitations/{listed['id']}"), 404, "not_found")
    problem(await admin.post("/admin/invitations", json={"days": 0}), 400, "invalid_request")
    problem(await admin.post("/admin/invitations", json={"days": 91}), 400, "invalid_request")
    made = (await admin.post("/admin/invitations", json={})).json()
    assert (await admin.delete(f"/admin/invitations/{made['id']}")).status_code == 204
    refused = await _sign_up(nobody, "late@example.org", invitation=made["token"])
    problem(refused, 403, "forbidden")
    page = await (await beleg.client(**SAME_SITE)).get(
        f"{PAGES}/sign-up?invitation={made['token']}"
    )
    assert "The admin gives accounts here." in page.text
    assert "<form" not in page.text


async def test_an_invitation_that_expired_lets_nobody_in(start: Start) -> None:
    beleg = await start(SIGN_UP="invite")
    nobody = await beleg.client()
    first = await _sign_up(nobody, "first@example.org")
    admin = await beleg.client(Authorization=f"Bearer {first.json()['token']}")
    made = (await admin.post("/admin/invitations", json={})).json()
    with psycopg.connect(beleg.services.settings.database_url) as connection:
        connection.execute("update invitations set expires_at = now()")
    refused = await _sign_up(nobody, "late@example.org", invitation=made["token"])
    problem(refused, 403, "forbidden")


async def test_no_invitation_counts_where_sign_up_is_closed(start: Start) -> None:
    beleg = await start(SIGN_UP="closed")
    nobody = await beleg.client()
    first = await _sign_up(nobody, "first@example.org")
    admin = await beleg.client(Authorization=f"Bearer {first.json()['token']}")
    made = (await admin.post("/admin/invitations", json={})).json()
    refused = await _sign_up(nobody, "second@example.org", invitation=made["token"])
    problem(refused, 403, "forbidden")


# --- the admin


async def test_the_admin_shuts_opens_and_promotes_others_but_not_themselves(beleg: Beleg) -> None:
    admin, client = await _admin(beleg), await beleg.user()
    user_id = (await client.get("/me")).json()["id"]
    path = f"/admin/users/{user_id}"
    shut = await admin.patch(path, json={"is_disabled": True})
    assert shut.json()["is_disabled"] is True
    problem(await client.get("/me"), 401, "not_signed_in")
    assert (await admin.patch(path, json={"is_disabled": False, "is_admin": True})).is_success
    problem(await client.get("/me"), 401, "not_signed_in")
    client = await beleg.signed_in(UserId(UUID(user_id)))
    assert (await client.get("/admin/users")).status_code == 200
    assert (await admin.patch(path, json={"is_admin": False})).is_success
    problem(await client.get("/admin/users"), 403, "forbidden")
    own = f"/admin/users/{(await admin.get('/me')).json()['id']}"
    for change in ({"is_admin": False}, {"is_disabled": True}):
        problem(await admin.patch(own, json=change), 409, "conflict")
    pages: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        got = (await admin.get(f"/admin/users?limit=3{cursor and '&cursor=' + cursor}")).json()
        pages += [item["id"] for item in got["items"]]
        cursor = got["next_cursor"]
    assert len(pages) == len(set(pages))
    assert user_id in pages


async def test_what_is_made_while_an_account_is_shut_does_not_outlive_it(beleg: Beleg) -> None:
    accounts, client = beleg.services.accounts, await beleg.user()
    visitor = await accounts.by_token(client.headers["authorization"][7:])
    assert visitor is not None
    user = visitor.user
    async with accounts.uow() as tx:
        await tx.accounts.set_disabled(user.id, is_disabled=True)
        made = [
            asyncio.create_task(accounts.add_token(user, "late")),
            asyncio.create_task(accounts.open_session(user)),
        ]
        _, waiting = await asyncio.wait(made, timeout=0.3)
        assert len(waiting) == 2
    told = await asyncio.gather(*made, return_exceptions=True)
    assert [type(error) for error in told] == [NotSignedIn, NotSignedIn]


@pytest.mark.parametrize("change", [{"is_admin": False}, {"is_disabled": True}])
async def test_of_two_admins_who_shut_each_other_out_one_is_left(
    start: Start, change: dict[str, bool]
) -> None:
    beleg = await start()
    first, second = await beleg.user(), await beleg.user()
    ids = [(await client.get("/me")).json()["id"] for client in (first, second)]
    await first.patch(f"/admin/users/{ids[1]}", json={"is_admin": True})
    await asyncio.gather(
        first.patch(f"/admin/users/{ids[1]}", json=change),
        second.patch(f"/admin/users/{ids[0]}", json=change),
    )
    left = [client for client in (first, second) if (await client.get("/admin/users")).is_success]
    assert len(left) == 1


async def test_a_new_password_ends_the_link_to_set_one(beleg: Beleg) -> None:
    admin, client = await _admin(beleg), await _account(beleg, "found-again@example.org")
    user_id = (await client.get("/me")).json()["id"]
    link = (await admin.post(f"/admin/users/{user_id}/password-reset")).json()
    body = {"current_password": PASSWORD, "new_password": ANOTHER}
    assert (await client.post("/me/password", json=body)).status_code == 204
    reset = {"token": link["token"], "password": PASSWORD}
    problem(await client.post("/password-resets", json=reset), 404, "not_found")


async def test_the_admin_gives_credit(beleg: Beleg) -> None:
    admin, client = await _admin(beleg), await beleg.user()
    path = f"/admin/users/{(await client.get('/me')).json()['id']}/grants"
    granted = await admin.post(path, json={"amount": "2.5", "reason": "thanks"})
    assert granted.status_code == 201
    assert (
        granted.json()
        == {"credit": (await client.get("/me")).json()["credit"]}
        == {"credit": "7.5"}
    )
    for amount in ("0", "-1", "x", "", "1e3", "NaN", "9999999", "0.0000000001", 5, None):
        problem(await admin.post(path, json={"amount": amount}), 400, "invalid_request")


# --- the audit log


async def test_what_matters_to_security_is_written_down(start: Start) -> None:
    beleg = await start(SIGN_UP="invite")
    nobody = await beleg.client("203.0.113.77")
    first = (await _sign_up(nobody, "first@example.org")).json()
    admin = await beleg.client(Authorization=f"Bearer {first['token']}")
    invitation = (await admin.post("/admin/invitations", json={})).json()
    second = await _sign_up(nobody, "second@example.org", invitation=invitation["token"])
    client = await beleg.client(Authorization=f"Bearer {second.json()['token']}")
    user_id = second.json()["user"]["id"]
    for email in ("second@example.org", "unknown@example.org"):
        await nobody.post("/tokens", json={"email": email, "password": "wrong"})
    notebook = await beleg.notebook(admin)
    await admin.post(
        f"/notebooks/{notebook}/shares", json={"email": "second@example.org", "role": "ask"}
    )
    await admin.delete(f"/notebooks/{notebook}/shares/{user_id}")
    await admin.post(f"/admin/users/{user_id}/grants", json={"amount": "1"})
    await client.patch("/me", json={"language": "de"})
    await client.delete("/me/sessions")
    await admin.patch(f"/admin/users/{user_id}", json={"is_admin": True})
    items = await _acts(admin)
    told = [(item["act"], item["actor"], item["subject"]) for item in reversed(items)]
    one, two = "first@example.org", "second@example.org"
    assert told == [
        *(("signed_up", one, one), ("token_made", one, one), ("invited", one, None)),
        *(("signed_up", two, two), ("token_made", two, two)),
        *(("sign_in_failed", None, two), ("sign_in_failed", None, None)),
        *(("shared", one, two), ("unshared", one, two), ("credit_granted", one, two)),
        *(("settings_changed", two, two), ("sessions_ended", two, two), ("made_admin", one, two)),
    ]
    assert {item["peer"] for item in items} == {"", "203.0.113.77"}
    assert items[5]["detail"] == {"notebook_id": notebook, "role": "ask"}
    secrets = [first["token"], invitation["token"], PASSWORD, "wrong", "unknown@example.org"]
    assert not any(secret in str(items) for secret in secrets)
    page = (await admin.get("/admin/audit?limit=2")).json()
    rest = (await admin.get(f"/admin/audit?limit=500&cursor={page['next_cursor']}")).json()
    assert [*page["items"], *rest["items"]] == items


async def test_nobody_changes_the_audit_log_but_an_account_leaves_it(start: Start) -> None:
    beleg = await start()
    await _account(beleg, "leaves@example.org")
    statements: Sequence[str] = (
        "update audit_log set act = 'x'",
        "update audit_log set at = now()",
        "update audit_log set actor_id = gen_random_uuid()",
        "delete from audit_log",
        "truncate audit_log",
    )
    with psycopg.connect(beleg.services.settings.database_url, autocommit=True) as connection:
        for statement in statements:
            with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
                connection.execute(statement)
        connection.execute("delete from users")
        rows = connection.execute(
            "select distinct actor_id, subject_id, peer from audit_log"
        ).fetchall()
    assert rows == [(None, None, "")]


async def test_the_admin_reads_the_log_on_a_page(beleg: Beleg) -> None:
    email = "reads-log@example.org"
    client = await _account(beleg, email)
    browser = await _sign_in(beleg, email)
    assert (await browser.get(f"{PAGES}/admin/audit")).status_code == 403
    visitor = await beleg.services.accounts.by_token(client.headers["authorization"][7:])
    assert visitor is not None
    async with beleg.services.accounts.uow() as tx:
        await tx.accounts.set_admin(visitor.user.id, is_admin=True)
    shown = await browser.get(f"{PAGES}/admin/audit")
    assert shown.status_code == 200
    assert email in shown.text
    assert TokenScope.ADMIN in (await browser.get(f"{PAGES}/account")).text
