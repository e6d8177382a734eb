"""A notebook that is shared: who sees what, who pays, and how it ends."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from app.security import COOKIE, csrf_token
from domain.attempts import PER_SHARER
from domain.ids import UserId
from tests.app.conftest import Beleg, Start, problem

pytestmark = pytest.mark.asyncio(loop_scope="session")

TEXT = "The bridge was built in 1932. It is red and carries many cars every day."
QUESTION = {"question": "When was the bridge built?"}


async def _email(client: httpx.AsyncClient) -> str:
    return str((await client.get("/me")).json()["email"])


async def _shared(
    beleg: Beleg, role: str = "ask"
) -> tuple[httpx.AsyncClient, httpx.AsyncClient, str]:
    """An owner, a guest with that role, and the notebook with one source in it."""
    owner, guest = await beleg.user(), await beleg.user()
    notebook = await beleg.notebook(owner)
    await beleg.text(owner, notebook, TEXT)
    await _share(owner, guest, notebook, role)
    return owner, guest, notebook


async def _share(
    owner: httpx.AsyncClient, guest: httpx.AsyncClient, notebook: str, role: str
) -> dict[str, Any]:
    body = {"email": f" {(await _email(guest)).upper()}", "role": role}
    response = await owner.post(f"/notebooks/{notebook}/shares", json=body)
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def _end(owner: httpx.AsyncClient, guest: httpx.AsyncClient, notebook: str) -> None:
    guest_id = (await guest.get("/me")).json()["id"]
    response = await owner.delete(f"/notebooks/{notebook}/shares/{guest_id}")
    assert response.status_code == 204, response.text


async def test_a_guest_s_list_says_whose_notebook_it_is_and_what_they_may_do(beleg: Beleg) -> None:
    owner, guest, notebook = await _shared(beleg, "read")
    own = await beleg.notebook(guest, "My own")
    listed = {item["id"]: item for item in (await guest.get("/notebooks")).json()["items"]}
    assert listed.keys() == {notebook, own}
    assert (listed[own]["role"], listed[own]["owner"]) == ("owner", await _email(guest))
    assert (listed[notebook]["role"], listed[notebook]["owner"]) == ("read", await _email(owner))
    assert listed[notebook]["source_count"] == 1
    assert (await owner.get(f"/notebooks/{notebook}")).json()["role"] == "owner"
    first = (await guest.get("/notebooks?limit=1")).json()
    rest = (await guest.get(f"/notebooks?limit=1&cursor={first['next_cursor']}")).json()
    assert [first["items"][0]["id"], rest["items"][0]["id"]] == [own, notebook]


async def test_guests_are_listed_given_another_role_and_let_out(beleg: Beleg) -> None:
    owner, guest, notebook = await _shared(beleg, "read")
    made = await _share(owner, guest, notebook, "ask")
    assert made.keys() == {"user_id", "email", "role", "created_at"}
    path = f"/notebooks/{notebook}/shares"
    assert (await owner.get(path)).json() == {"items": [made], "next_cursor": None}
    await _end(owner, guest, notebook)
    assert (await owner.get(path)).json()["items"] == []
    problem(await owner.delete(f"{path}/{made['user_id']}"), 404, "not_found")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"email": "nobody@example.org", "role": "ask"}, 404, "not_found"),
        ({"email": "", "role": "ask"}, 404, "not_found"),
        ({"email": "\0", "role": "ask"}, 404, "not_found"),
        ({"email": "x@example.org", "role": "owner"}, 400, "invalid_request"),
        ({"email": "x@example.org", "role": ""}, 400, "invalid_request"),
        ({"email": "x@example.org"}, 400, "invalid_request"),
        ({"email": None, "role": "ask"}, 400, "invalid_request"),
    ],
)
async def test_what_cannot_be_shared_is_refused(
    beleg: Beleg, body: object, status: int, code: str
) -> None:
    owner = await beleg.user()
    path = f"/notebooks/{await beleg.notebook(owner)}/shares"
    problem(await owner.post(path, json=body), status, code)
    mine = {"email": await _email(owner), "role": "ask"}
    problem(await owner.post(path, json=mine), 400, "invalid_request")


async def test_who_tries_many_addresses_has_to_wait(beleg: Beleg) -> None:
    owner, guest = await beleg.user(), await beleg.user()
    path = f"/notebooks/{await beleg.notebook(owner)}/shares"
    bodies = [{"email": f"{n}@none.example.org", "role": "ask"} for n in range(PER_SHARER + 5)]
    told = await asyncio.gather(*(owner.post(path, json=body) for body in bodies))
    statuses = [response.status_code for response in told]
    assert (statuses.count(404), statuses.count(429)) == (PER_SHARER, 5)
    known = {"email": await _email(guest), "role": "ask"}
    problem(await owner.post(path, json=known), 429, "too_many_attempts")
    browser, csrf = await _browser(beleg, owner)
    shown = await browser.post(f"http://beleg.test{path}", data={**known, "csrf": csrf})
    assert shown.status_code == 422
    own = f"/notebooks/{await beleg.notebook(guest)}/shares"
    other = {"email": await _email(owner), "role": "ask"}
    assert (await guest.post(own, json=other)).status_code == 201


async def test_everybody_has_a_chat_of_their_own_and_pays_for_it(start: Start) -> None:
    beleg = await start()
    owner, guest, notebook = await _shared(beleg)
    beleg.provider.answer("It was built in 1932 [1].", "In 1932 [1], it says.")
    path = f"/notebooks/{notebook}"
    theirs = (await owner.post(f"{path}/questions?wait=1", json=QUESTION)).json()
    spent = (await owner.get("/me")).json()["credit"]
    own = (await guest.post(f"{path}/questions?wait=1", json=QUESTION)).json()
    assert own["status"] == "complete"
    assert own["citations"][0]["quote"] == "The bridge was built in 1932."
    for client, mine, other in ((owner, theirs, own), (guest, own, theirs)):
        listed = (await client.get(f"{path}/messages")).json()["items"]
        assert [item["id"] for item in listed] == [mine["id"]]
        problem(await client.get(f"/answers/{other['id']}"), 404, "not_found")
    assert (await owner.get("/me")).json()["credit"] == spent
    rows = (await guest.get("/usage?rows=1")).json()["items"]
    assert {row["answer_id"] for row in rows} == {own["id"]}
    assert {row["notebook_id"] for row in rows} == {notebook}
    assert (await guest.delete(f"{path}/messages")).status_code == 204
    assert len((await owner.get(f"{path}/messages")).json()["items"]) == 1


async def test_a_guest_s_questions_are_counted_apart_from_the_owner_s(start: Start) -> None:
    beleg = await start(MAX_QUESTIONS_PER_NOTEBOOK_DAY="1")
    owner, guest, notebook = await _shared(beleg)
    path = f"/notebooks/{notebook}/questions?wait=1"
    for client in (guest, owner):
        assert (await client.post(path, json=QUESTION)).status_code == 200
        problem(await client.post(path, json=QUESTION), 429, "quota_exhausted")
    # Whoever is let in again has not more questions for it.
    await _share(owner, guest, notebook, "read")
    await _share(owner, guest, notebook, "ask")
    problem(await guest.post(path, json=QUESTION), 429, "quota_exhausted")


async def test_who_may_read_opens_sources_and_may_not_spend(beleg: Beleg) -> None:
    owner, guest, notebook = await _shared(beleg, "read")
    source = (await guest.get(f"/notebooks/{notebook}/sources")).json()["items"][0]["id"]
    assert (await guest.get(f"/sources/{source}/passages")).json()[0]["text"] == TEXT
    assert (await guest.get(f"/sources/{source}/original")).content.decode() == TEXT
    beleg.provider.reset()
    for path, body in (("questions", QUESTION), ("search", {"query": "bridge"})):
        problem(await guest.post(f"/notebooks/{notebook}/{path}", json=body), 403, "forbidden")
    assert beleg.provider.ledger == []
    assert (await guest.get("/sources")).json()["items"] == []
    assert (await guest.get("/usage?rows=1")).json()["items"] == []
    # What leaves the notebook is seen no more.
    await owner.delete(f"/notebooks/{notebook}/sources/{source}")
    problem(await guest.get(f"/sources/{source}"), 404, "not_found")


async def test_what_a_guest_s_search_kept_of_a_source_goes_with_it(
    start: Start,
) -> None:
    beleg = await start()
    owner, guest, notebook = await _shared(beleg)
    key = {"Idempotency-Key": "k"}
    body = {"query": "When was the bridge built?"}
    found = await guest.post(f"/notebooks/{notebook}/search", json=body, headers=key)
    source = found.json()["results"][0]["source_id"]
    await _end(owner, guest, notebook)
    await owner.delete(f"/sources/{source}")
    with psycopg.connect(beleg.services.settings.database_url) as connection:
        row = connection.execute("select count(*) from idempotency_keys").fetchone()
    assert row == (0,)


async def test_a_guest_sees_no_more_of_what_left_the_notebook(beleg: Beleg) -> None:
    owner, guest, notebook = await _shared(beleg)
    body, key = {"query": "When was the bridge built?"}, {"Idempotency-Key": "k"}
    search = f"/notebooks/{notebook}/search"
    found = (await guest.post(search, json=body, headers=key)).json()["results"]
    asked = f"/notebooks/{notebook}/questions?wait=1"
    answers = [(who, (await who.post(asked, json=QUESTION)).json()) for who in (owner, guest)]
    text, source = found[0]["text"], found[0]["source_id"]
    await owner.delete(f"/notebooks/{notebook}/sources/{source}")
    for who, before in answers:
        path, is_seen = f"/answers/{before['id']}", who is owner
        after = (await who.get(path)).json()
        assert after["text"] == before["text"]
        assert [hit["text"] for hit in after["retrieved"]] == [text if is_seen else ""]
        for citation in after["citations"]:
            assert citation["removed"]
            assert bool(citation["quote"]) == bool(citation["source_title"]) == is_seen
        told = (await who.get(f"{path}/events")).text
        quote = before["citations"][0]["quote"]
        assert (quote in told.partition("event: done")[0].partition("citation")[2]) == is_seen
    assert (await guest.post(search, json=body, headers=key)).json() == {"results": []}


async def test_a_guest_s_answer_returns_with_the_share(beleg: Beleg) -> None:
    owner, guest, notebook = await _shared(beleg)
    path = f"/notebooks/{notebook}/questions?wait=1"
    answer = (await guest.post(path, json=QUESTION)).json()["id"]
    await _end(owner, guest, notebook)
    problem(await guest.get(f"/answers/{answer}"), 404, "not_found")
    problem(await guest.get(f"/answers/{answer}/events"), 404, "not_found")
    problem(await guest.post(path, json=QUESTION), 404, "not_found")
    await _share(owner, guest, notebook, "read")
    assert (await guest.get(f"/answers/{answer}")).status_code == 200


async def test_streams_and_answers_end_with_the_share(beleg: Beleg) -> None:
    owner, guest, notebook = await _shared(beleg)
    beleg.provider.settings.token_delay_s = 0.2
    beleg.provider.answer(f"It was built in 1932 [1]. {' '.join(map(str, range(300)))}.")
    answer = (await guest.post(f"/notebooks/{notebook}/questions", json=QUESTION)).json()
    told = asyncio.create_task(guest.get(f"/answers/{answer['answer_id']}/events"))
    browser, _ = await _browser(beleg, guest)
    page = f"http://beleg.test/notebooks/{notebook}"
    shown = asyncio.create_task(browser.get(f"{page}/sources/events"))
    made = asyncio.create_task(browser.get(f"{page}/documents/events"))
    await asyncio.sleep(1)
    assert not told.done()
    assert not shown.done()
    assert not made.done()
    await _end(owner, guest, notebook)
    async with asyncio.timeout(3):
        events, *_ = await asyncio.gather(told, shown, made)
    assert "event: delta" in events.text
    assert events.text.rstrip().rpartition("\n\n")[2].startswith("event: error")
    assert "event: done" not in events.text
    await _share(owner, guest, notebook, "read")
    path = f"/answers/{answer['answer_id']}"
    async with asyncio.timeout(5):
        await guest.get(f"{path}/events")
    assert (await guest.get(path)).json()["status"] == "stopped"


async def _browser(beleg: Beleg, client: httpx.AsyncClient) -> tuple[httpx.AsyncClient, str]:
    """A browser of that client's user, and its CSRF token."""
    visitor = await beleg.services.accounts.by_token(client.headers["authorization"][7:])
    assert visitor is not None
    session = await beleg.services.accounts.open_session(visitor.user)
    browser = await beleg.client(Accept="text/html", Cookie=f"{COOKIE}={session}")
    return browser, csrf_token(session)


async def test_the_page_shares_and_a_guest_s_page_offers_what_they_may(beleg: Beleg) -> None:
    owner, guest = await beleg.user(), await beleg.user()
    notebook = await beleg.notebook(owner)
    await beleg.text(owner, notebook, TEXT)
    where = f"http://beleg.test/notebooks/{notebook}"
    browser, csrf = await _browser(beleg, owner)
    assert "/shares" in (await browser.get(where)).text
    form = {"csrf": csrf, "email": "nobody@example.org", "role": "ask"}
    refused = await browser.post(f"{where}/shares", data=form)
    assert refused.status_code == 422
    assert "nobody@example.org" in refused.text
    email = await _email(guest)
    made = await browser.post(
        f"{where}/shares",
        data={**form, "email": email},
        headers={"hx-request": "true"},
    )
    assert made.status_code == 200
    assert email in made.text
    assert "<html" not in made.text
    theirs, token = await _browser(beleg, guest)
    shown = (await theirs.get(where)).text
    assert await _email(owner) in shown
    assert 'id="composer"' in shown
    for owners in ("/rename", "/delete", "enctype=", "/remove" + '" hx-target'):
        assert owners not in shown, owners
    await browser.post(f"{where}/shares", data={**form, "email": email, "role": "read"})
    shown = (await theirs.get(where)).text
    assert 'id="composer"' not in shown
    assert await _email(owner) in (await theirs.get("http://beleg.test/")).text
    guest_id = (await guest.get("/me")).json()["id"]
    left = await theirs.post(f"{where}/shares/{guest_id}/remove", data={"csrf": token})
    assert left.headers["location"] == "/"
    assert (await theirs.get(where)).status_code == 404


async def test_a_shut_account_is_out_at_once(beleg: Beleg) -> None:
    owner, guest, notebook = await _shared(beleg)
    browser, _ = await _browser(beleg, guest)
    path = f"http://beleg.test/notebooks/{notebook}/sources/events"
    shown = asyncio.create_task(browser.get(path))
    await asyncio.sleep(0.3)
    admin = await beleg.services.accounts.by_token(owner.headers["authorization"][7:])
    assert admin is not None
    guest_id = UserId(UUID((await guest.get("/me")).json()["id"]))
    await beleg.services.administer.change(admin.user, guest_id, is_disabled=True)
    async with asyncio.timeout(3):
        await shown
    problem(await guest.get("/me"), 401, "not_signed_in")
    assert (await browser.get("http://beleg.test/")).status_code == 303
    await beleg.services.administer.change(admin.user, guest_id, is_disabled=False)
    problem(await guest.get("/me"), 401, "not_signed_in")
    assert (await browser.get("http://beleg.test/")).status_code == 303


async def test_a_stream_ends_with_the_session_or_token_that_opened_it(beleg: Beleg) -> None:
    owner, _, notebook = await _shared(beleg)
    browser, _ = await _browser(beleg, owner)
    path = f"http://beleg.test/notebooks/{notebook}/sources/events"
    shown = asyncio.create_task(browser.get(path))
    beleg.provider.settings.token_delay_s = 0.2
    beleg.provider.answer(f"It was built in 1932 [1]. {' '.join(map(str, range(100)))}.")
    answer = (await owner.post(f"/notebooks/{notebook}/questions", json=QUESTION)).json()
    made = (await owner.post("/tokens", json={"name": "lost"})).json()
    lost = await beleg.client(Authorization=f"Bearer {made['token']}")
    told = asyncio.create_task(lost.get(f"/answers/{answer['answer_id']}/events"))
    await asyncio.sleep(0.7)
    assert not shown.done()
    assert not told.done()
    assert (await owner.delete("/me/sessions")).status_code == 204
    assert (await owner.delete(f"/tokens/{made['id']}")).status_code == 204
    async with asyncio.timeout(3):
        await asyncio.gather(shown, told)
    assert "event: done" not in told.result().text
    await owner.post(f"/answers/{answer['answer_id']}/stop")


async def test_a_stream_ends_when_the_session_or_token_that_opened_it_expires(
    beleg: Beleg,
) -> None:
    owner, _, notebook = await _shared(beleg)
    path = f"http://beleg.test/notebooks/{notebook}/sources/events"
    browser, _ = await _browser(beleg, owner)
    soon = beleg.services.accounts.clock.now() + timedelta(seconds=1.5)
    with psycopg.connect(beleg.services.settings.database_url) as connection:
        connection.execute(
            "update sessions set expires_at = %s where user_id = %s",
            [soon, (await owner.get("/me")).json()["id"]],
        )
    shown = asyncio.create_task(browser.get(path))
    beleg.provider.settings.token_delay_s = 0.2
    beleg.provider.answer(f"It was built in 1932 [1]. {' '.join(map(str, range(100)))}.")
    answer = (await owner.post(f"/notebooks/{notebook}/questions", json=QUESTION)).json()
    body = {"name": "short", "expires_at": soon.isoformat()}
    made = (await owner.post("/tokens", json=body)).json()
    short = await beleg.client(Authorization=f"Bearer {made['token']}")
    told = asyncio.create_task(short.get(f"/answers/{answer['answer_id']}/events"))
    await asyncio.sleep(0.5)
    assert not shown.done()
    assert not told.done()
    async with asyncio.timeout(3):
        await asyncio.gather(shown, told)
    assert "event: delta" in told.result().text
    assert "event: done" not in told.result().text
    await owner.post(f"/answers/{answer['answer_id']}/stop")
