"""The pages over HTTP: who may read them, what they promise, and that scripts are a comfort."""

import asyncio
import re
from uuid import UUID

import httpx
import pytest

from app.page_session import local_path
from app.rendering import static_url
from domain.attempts import PER_PEER
from domain.ids import new_id
from tests.app.conftest import Beleg, Start

pytestmark = pytest.mark.asyncio(loop_scope="session")

EVIL = '<script>alert("x")</script>'


HTML = {"accept": "text/html"}


async def page_client(beleg: Beleg, **headers: str) -> httpx.AsyncClient:
    client = await beleg.client(**HTML, **headers)
    client.base_url = httpx.URL("http://beleg.test")
    return client


async def signed_in(beleg: Beleg) -> httpx.AsyncClient:
    client = await page_client(beleg, origin="http://beleg.test")
    form = {"email": f"{new_id()}@example.org", "password": "a good password", "next": "/"}
    response = await client.post("/sign-up", data=form)
    assert response.status_code == 303, response.text
    return client


def csrf(html: str) -> str:
    found = re.search(r'name="csrf" value="(\w+)"', html)
    assert found
    return found[1]


async def test_a_stranger_is_sent_to_sign_in_and_comes_back(beleg: Beleg) -> None:
    client = await page_client(beleg)
    response = await client.get("/sources/x?page=3")
    assert response.status_code == 303
    assert response.headers["location"] == "/sign-in?next=/sources/x%3Fpage%3D3"
    response = await client.get("/", headers={"hx-request": "true"})
    assert response.headers["hx-redirect"] == "/sign-in"
    form = await client.get(response.headers["hx-redirect"])
    assert form.status_code == 200
    assert 'autocomplete="current-password"' in form.text


async def test_forms_of_other_sites_sign_nobody_in(beleg: Beleg) -> None:
    form = {"email": "a@example.org", "password": "a good password"}
    for headers in ({}, {"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        client = await page_client(beleg, **headers)
        for path in ("/sign-in", "/sign-up"):
            response = await client.post(path, data=form)
            assert response.status_code == 403
            assert not client.cookies


async def test_a_wrong_password_is_told_on_the_form(beleg: Beleg) -> None:
    client = await page_client(beleg, **{"sec-fetch-site": "same-origin"})
    form = {"email": "nobody@example.org", "password": EVIL}
    response = await client.post("/sign-in", data=form)
    assert response.status_code == 422
    assert "Address or password is wrong." in response.text
    assert EVIL not in response.text


async def test_guesses_on_the_form_end_as_well(beleg: Beleg) -> None:
    client = await beleg.client("203.0.113.9", **HTML, origin="http://beleg.test")
    accounts = beleg.services.accounts
    for _ in range(PER_PEER):
        accounts.attempts.add("peer 203.0.113.9", accounts.clock.now())
    form = {"email": "somebody@example.org", "password": "a good password"}
    for path in ("/sign-in", "/sign-up"):
        response = await client.post(f"http://beleg.test{path}", data=form)
        assert response.status_code == 429
        assert int(response.headers["retry-after"]) > 0
        assert "Too many attempts failed." in response.text


async def test_a_form_needs_its_session_s_token(beleg: Beleg) -> None:
    client = await signed_in(beleg)
    home = await client.get("/")
    assert (await client.post("/notebooks", data={"title": "A"})).status_code == 403
    wrong = {"title": "A", "csrf": "0" * 64}
    assert (await client.post("/notebooks", data=wrong)).status_code == 403
    right = {"title": "A", "csrf": csrf(home.text)}
    made = await client.post("/notebooks", data=right)
    assert made.status_code == 303
    assert ">A</h1>" in (await client.get(made.headers["location"])).text


async def test_signing_out_ends_the_session(beleg: Beleg) -> None:
    client = await signed_in(beleg)
    home = await client.get("/")
    cookie = dict(client.cookies)
    await client.post("/sign-out", data={"csrf": csrf(home.text)})
    client.cookies = httpx.Cookies(cookie)
    assert (await client.get("/")).status_code == 303


async def test_the_person_at_the_machine_is_signed_in_by_itself(start: Start) -> None:
    beleg = await start(BELEG_LOCAL="1")
    client = await page_client(beleg)
    client.base_url = httpx.URL("http://localhost")
    home = await client.get("/")
    assert home.status_code == 200
    assert "HttpOnly" in home.headers["set-cookie"]
    assert "/sign-out" not in home.text
    for peer, host in (("192.0.2.1", "localhost"), ("127.0.0.1", "evil.example")):
        stranger = await beleg.client(peer, **HTML)
        response = await stranger.get(f"http://{host}/")
        assert response.status_code == 303, (peer, host)


async def test_only_an_html_page_opens_a_session_of_the_person_at_the_machine(
    start: Start,
) -> None:
    beleg = await start(BELEG_LOCAL="1")
    client = await beleg.client()
    for accept, status in (
        ("text/html", 200),
        ("*/*", 200),
        ("text/event-stream", 401),
        ("image/avif,image/webp,*/*;q=0.8", 401),
        ("application/json", 401),
    ):
        response = await client.get("http://localhost/", headers={"accept": accept})
        assert response.status_code == status, accept
        assert ("set-cookie" in response.headers) is (status == 200)
        client.cookies.clear()


async def test_pages_carry_headers_that_keep_them_safe(beleg: Beleg) -> None:
    client = await signed_in(beleg)
    home = await client.get("/")
    policy = home.headers["content-security-policy"]
    nonce = re.search(r"'nonce-([\w-]+)'", policy)
    assert nonce
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert set(re.findall(r'<script nonce="([^"]+)"', home.text)) == {nonce[1]}
    assert home.text.count("<script") == home.text.count("<script nonce=")
    assert home.headers["vary"] == "HX-Request, Cookie"
    assert nonce[1] not in (await client.get("/")).text


async def test_static_files_are_cached_under_the_hash_of_their_content(beleg: Beleg) -> None:
    client = await page_client(beleg)
    for name, kind in (("app.css", "text/css"), ("app.js", "text/javascript")):
        response = await client.get(static_url(name))
        assert response.headers["content-type"].startswith(kind)
        assert "immutable" in response.headers["cache-control"]
    assert (await client.get("/static/0/app.css")).status_code == 404


async def test_what_is_not_there_or_not_yours_is_a_page_or_a_fragment(beleg: Beleg) -> None:
    owner, client = await signed_in(beleg), await signed_in(beleg)
    token = csrf((await owner.get("/")).text)
    made = await owner.post("/notebooks", data={"title": "Mine", "csrf": token})
    for path in (made.headers["location"], "/notebooks/x", f"/sources/{UUID(int=1)}", "/nothing"):
        response = await client.get(path)
        assert response.status_code == 404
        assert "There is nothing here" in response.text
        fragment = await client.get(path, headers={"hx-request": "true"})
        assert fragment.status_code == 404
        assert fragment.headers["hx-retarget"] == "#problems"
        assert "<html" not in fragment.text


async def test_without_scripts_a_question_is_asked_and_its_evidence_read(beleg: Beleg) -> None:
    client = await signed_in(beleg)
    token = csrf((await client.get("/")).text)
    made = await client.post("/notebooks", data={"title": "Bridges", "csrf": token})
    notebook = made.headers["location"]
    text = "The bridge was built in 1932. It is red and carries many cars every day."
    form = {"title": "Bridge", "text": text, "csrf": token}
    assert (await client.post(f"{notebook}/sources", data=form)).status_code == 303
    page = (await client.get(notebook)).text
    source_id = re.search(r'<li class="source \w+" id="source-([\w-]+)"', page)
    assert source_id
    await beleg.read(source_id[1])
    beleg.provider.answer("It was built in 1932 [1].")
    asked = {"question": "When was the bridge built?", "csrf": token, "key": "once"}
    for _ in range(2):
        assert (await client.post(f"{notebook}/questions", data=asked)).status_code == 303
    page = (await client.get(notebook)).text
    assert page.count('<article class="turn') == 1
    answer_id = re.search(r'id="turn-([\w-]+)"', page)
    assert answer_id
    stream = await client.get(f"/answers/{answer_id[1]}/stream")
    assert "hx-partial" in stream.text
    again = await client.get(f"/answers/{answer_id[1]}/stream", headers={"last-event-id": "999"})
    assert again.text.count("data: <span>") == 0
    assert "hx-partial" in again.text
    cited = await client.get(f"/answers/{answer_id[1]}/citations/1")
    assert '<mark data-mark tabindex="-1">The bridge was built in 1932.</mark>' in cited.text
    assert "<html" in cited.text
    assert (await client.get(f"/answers/{answer_id[1]}/citations/2")).status_code == 404

    await client.post(f"{notebook}/sources/{source_id[1]}/remove", data={"csrf": token})
    removed = await client.get(f"/answers/{answer_id[1]}/citations/1")
    assert "Source removed" in removed.text


@pytest.mark.parametrize("key", ["a\0b", "a" * 201, "a" * 10_000, "a\nb"])
async def test_a_form_s_key_is_a_short_line_of_text(beleg: Beleg, key: str) -> None:
    client = await signed_in(beleg)
    token = csrf((await client.get("/")).text)
    made = await client.post("/notebooks", data={"title": "Bridges", "csrf": token})
    form = {"question": "Why?", "csrf": token, "key": key}
    response = await client.post(f"{made.headers['location']}/questions", data=form)
    assert response.status_code == 400
    assert "Reload the page." in response.text


async def test_the_stream_of_an_answer_that_is_deleted_takes_its_turn_away(beleg: Beleg) -> None:
    client = await signed_in(beleg)
    token = csrf((await client.get("/")).text)
    made = await client.post("/notebooks", data={"title": "Bridges", "csrf": token})
    notebook = made.headers["location"]
    beleg.provider.settings.token_delay_s = 0.05
    beleg.provider.answer("word " * 200)
    form = {"question": "Why?", "csrf": token, "offered": str(new_id())}  # none is on
    await client.post(f"{notebook}/questions", data=form)
    answer_id = re.findall(r'id="turn-([\w-]+)"', (await client.get(notebook)).text)[0]
    following = asyncio.create_task(client.get(f"/answers/{answer_id}/stream"))
    await asyncio.sleep(0.5)
    await client.post(f"{notebook}/delete", data={"csrf": token})
    async with asyncio.timeout(10):
        stream = await following
    assert stream.status_code == 200
    assert f'<hx-partial hx-target="#turn-{answer_id}" hx-swap="delete">' in stream.text


async def test_only_a_selection_of_nothing_asks_without_sources(beleg: Beleg) -> None:
    client = await signed_in(beleg)
    token = csrf((await client.get("/")).text)
    made = await client.post("/notebooks", data={"title": "Bridges", "csrf": token})
    notebook, one, two = made.headers["location"], str(new_id()), str(new_id())
    for offered, chosen, mode in (
        ([one, two], [], "general"),
        ([one, two], [one, two], "sources"),
        ([one, two], [one], "sources"),
        ([], [], "sources"),
    ):
        form = {"question": "Why?", "csrf": token, "offered": offered, "source": chosen}
        await client.post(f"{notebook}/questions", data=form)
        page = (await client.get(notebook)).text
        assert re.findall(r'<article class="turn \w+ (\w+)', page)[-1] == mode, (offered, chosen)


async def test_one_source_is_asked_about_whatever_is_ticked(beleg: Beleg) -> None:
    client = await signed_in(beleg)
    token = csrf((await client.get("/")).text)
    made = await client.post("/notebooks", data={"title": "Bridges", "csrf": token})
    notebook, form = made.headers["location"], {"csrf": token}
    text = {**form, "title": "Bridge", "text": "The bridge was built in 1932."}
    await client.post(f"{notebook}/sources", data=text)
    source = re.findall(r'id="source-([0-9a-f-]{36})"', (await client.get(notebook)).text)[0]
    await beleg.read(source)
    asked = {**form, "question": "When?", "about": source, "offered": [source], "source": []}
    await client.post(f"{notebook}/questions", data=asked)
    answer_id = re.findall(r'id="turn-([\w-]+)"', (await client.get(notebook)).text)[0]
    await client.get(f"/answers/{answer_id}/stream")
    answer = (await client.get(f"/api/v1/answers/{answer_id}")).json()
    assert [hit["source_title"] for hit in answer["retrieved"]] == ["Bridge"]


@pytest.mark.parametrize(
    ("wanted", "path"),
    [
        ("/notebooks/1?a=b", "/notebooks/1?a=b"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("/\t/evil.example", "/"),
        ("/a\r\nSet-Cookie: x", "/"),
        ("", "/"),
    ],
)
async def test_after_signing_in_only_our_own_paths_are_gone_to(wanted: str, path: str) -> None:
    assert local_path(wanted) == path
