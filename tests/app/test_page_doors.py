"""Every page and every form, with rubbish in each of their parts."""

import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import pytest
from litestar.routes import HTTPRoute

from app.security import COOKIE, csrf_token
from tests.app.conftest import Beleg
from tests.app.overviews import written

pytestmark = pytest.mark.asyncio(loop_scope="session")

TEXT = "The bridge was built in 1932. It is red and carries many cars every day."
ADDRESS = "http://beleg.test"
FIELDS = {
    "sign-in": ("email", "password", "next"),
    "sign-up": ("email", "password", "next"),
    "language": ("language", "next"),
    "notebooks": ("title",),
    "rename": ("title", "stay"),
    "sources": ("text", "title", "file"),
    "shares": ("email", "role"),
    "password": ("current", "new"),
    "tokens": ("name", "scope"),
    "0": ("password",),  # a link for a new password
    "questions": ("question", "key", "offered", "source"),
    "documents": ("title", "focus", "language", "voice_en", "key", "offered", "source"),
}
QUERY = ("page", "start", "end", "at", "view", "mention", "before", "cursor", "seen", "next")
ODD = (
    *("", " ", "0", "1", "-1", "1.5", "2147483648", "9223372036854775808", "9" * 40, "nan"),
    *("a", "\0", "a\0b", "é" * 9000, "\ufffe", "../../x", "'; drop table users; --", "%s{}"),
    *(
        "//evil.example",
        "/\r\nx: y",
        "image",
        "text",
        "de",
        "list",
        "\u202e",
        "🙂" * 300,
        "a" * 10_000,
    ),
)


def _doors(beleg: Beleg) -> Iterator[tuple[str, str]]:
    """Method and path of every page; streams that never end are left out."""
    for route in beleg.app.routes:
        path = route.path_format
        if not isinstance(route, HTTPRoute) or path.startswith(("/api/", "/health", "/metrics")):
            continue
        for method in sorted({"GET", "POST"}.intersection(route.methods)):
            if not path.endswith("/events") and (method, path) != ("POST", "/sign-out"):
                yield method, path


async def _reader(beleg: Beleg) -> tuple[httpx.AsyncClient, str, dict[str, str]]:
    """A session in its browser, its CSRF token, and ids of what it may see."""
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    ids = {"notebook_id": notebook, "source_id": await beleg.text(client, notebook, TEXT)}
    beleg.provider.answer("It was built in 1932 [1].")
    question = {"question": "When was it built?"}
    answer = await client.post(f"/notebooks/{notebook}/questions?wait=1", json=question)
    ids["answer_id"] = answer.json()["id"]
    visitor = await beleg.services.accounts.by_token(client.headers["authorization"][7:])
    assert visitor is not None
    ids["document_id"] = await written(beleg, visitor.user.id, notebook, "It was built in 1932.")
    async with beleg.services.accounts.uow() as tx:
        await tx.accounts.set_admin(visitor.user.id, is_admin=True)
    session = await beleg.services.accounts.open_session(visitor.user)
    headers = {"accept": "text/html", "sec-fetch-site": "same-origin"}
    browser = await beleg.client("203.0.113.20", cookie=f"{COOKIE}={session}", **headers)
    return browser, csrf_token(session), ids


def _rubbish(
    choose: random.Random, method: str, path: str, token: str, ids: dict[str, str]
) -> dict[str, Any]:
    """A request to that page whose parts are each right, wrong or odd."""
    for name, right in {**ids, "marker": "1"}.items():
        part = choose.choice([right] * 8 + ["x", "%00", "0", "9" * 30])
        path = path.replace(f"{{{name}}}", part)
    path = path.replace("{digest}", "0").replace("{name}", "app.css").replace("{secret}", "0")
    query = {name: choose.choice(ODD)[:300] for name in QUERY if choose.random() < 0.3}
    headers = {"hx-request": "true"} if choose.random() < 0.5 else {}
    if choose.random() < 0.2:
        headers["last-event-id"] = choose.choice(["", "1", "-1", "9" * 40, "x" * 300])
    request: dict[str, Any] = {"method": method, "url": ADDRESS + path, "params": query}
    if method == "POST":
        request |= _form(choose, path, token, headers)
    return {**request, "headers": headers}


def _form(choose: random.Random, path: str, token: str, headers: dict[str, str]) -> dict[str, Any]:
    """Its fields, in one of a form's two encodings; now and then bytes that are none."""
    names = [name for name in FIELDS.get(path.rsplit("/", 1)[-1], ()) if choose.random() < 0.8]
    fields = [("csrf", token), *((name, choose.choice(ODD)) for name in names)]
    if choose.random() < 0.5:
        files = [(name, (None, value.encode())) for name, value in fields if name != "file"]
        named = choose.choice(["a.txt", "a.pdf", "a\0.txt", "../a.md", "é" * 200])
        content = choose.choice([b"", b"\0", b"%PDF-1.7", choose.randbytes(300)])
        return {"files": [*files, ("file", (named, content))]}
    headers["content-type"] = "application/x-www-form-urlencoded"
    body = urlencode(fields)
    if choose.random() < 0.3:
        wrong = choose.choice(["%ff%fe", "%ed%a0%80", quote("\0"), "%", "a=b&=&&", "%uD800"])
        body += f"&{choose.choice(['x', *names])}={wrong}"
    return {"content": body}


async def test_no_rubbish_makes_a_page_fail(beleg: Beleg) -> None:
    choose = random.Random(3)
    browser, token, ids = await _reader(beleg)
    ends = ("/delete", "/clear", "/sessions/end")
    doors = [door for door in _doors(beleg) if not door[1].endswith(ends)]
    assert len(doors) >= 15
    for n in range(500):
        method, path = doors[n % len(doors)]
        request = _rubbish(choose, method, path, token, ids)
        response = await browser.send(browser.build_request(**request))
        assert response.status_code < 500, (request, response.text[-2000:])
    assert (await browser.get(f"{ADDRESS}/admin/audit")).status_code == 200, "still signed in"


@pytest.mark.parametrize("name", ["page", "start", "end", "at"])
async def test_a_place_in_a_source_is_within_what_there_can_be(beleg: Beleg, name: str) -> None:
    browser, _, ids = await _reader(beleg)
    path = f"{ADDRESS}/sources/{ids['source_id']}"
    for value in ("-1", "2147483648", "9" * 30, "x"):
        assert (await browser.get(f"{path}?{name}={value}")).status_code == 400, value
    assert (await browser.get(f"{path}?{name}=1")).status_code == 200
