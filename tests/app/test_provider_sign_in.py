"""Sign-in at an OpenID Connect issuer that answers over HTTP, and everything it may get wrong."""

import re
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc.jwk import ECKey, RSAKey

from app.security import COOKIE
from tests.app.conftest import Beleg, Start, problem
from tests.issuer import (
    CLIENT_ID,
    CLIENT_SECRET,
    Issuer,
    signed_by_another,
    signed_with_the_public_key,
    unsigned,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGES = "http://beleg.test"
PASSWORD = "a good password"


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with Issuer() as running:
        yield running


async def _product(start: Start, issuer: Issuer, **more: str) -> Beleg:
    return await start(
        OIDC_ISSUER=issuer.url,
        OIDC_CLIENT_ID=CLIENT_ID,
        OIDC_CLIENT_SECRET=CLIENT_SECRET,
        **more,
    )


async def _browser(beleg: Beleg) -> httpx.AsyncClient:
    return await beleg.client(accept="text/html")


async def _leave(browser: httpx.AsyncClient, query: str = "") -> str:
    """The address at the issuer that the browser is sent to."""
    response = await browser.get(f"{PAGES}/sign-in/provider{query}")
    assert response.status_code == 303, response.text
    return response.headers["location"]


async def _sign_in(browser: httpx.AsyncClient, issuer: Issuer, query: str = "") -> httpx.Response:
    back = issuer.authorize(await _leave(browser, query))
    return await browser.get(back)


async def _me(browser: httpx.AsyncClient) -> dict[str, Any]:
    me: dict[str, Any] = (await browser.get("/me")).json()
    return me


def _is_nobody(response: httpx.Response, status: int = 401) -> None:
    assert response.status_code == status, response.text[-500:]
    cookies = response.headers.get_list("set-cookie")
    assert not any(cookie.startswith(COOKIE) for cookie in cookies)
    assert 'role="alert"' in response.text


async def test_who_signs_in_there_is_somebody_here(start: Start, issuer: Issuer) -> None:
    beleg = await _product(start, issuer)
    assert "127.0.0.1" in (await (await _browser(beleg)).get(f"{PAGES}/sign-in")).text
    first, again, other = [await _browser(beleg) for _ in range(3)]
    response = await _sign_in(first, issuer, "?next=/notebooks/1")
    assert response.status_code == 303
    assert response.headers["location"] == "/notebooks/1"
    me = await _me(first)
    assert me["email"] == "ada@example.org"
    issuer.claims = {"email": "renamed@example.org", "email_verified": False}
    await _sign_in(again, issuer)
    assert (await _me(again))["id"] == me["id"], "the subject counts, not the address"
    issuer.claims = {"sub": "subject-2", "email": "bob@example.org"}
    await _sign_in(other, issuer)
    assert (await _me(other))["id"] != me["id"]
    told = [form for path, form in issuer.asked if path == "/token"]
    assert all(form["code_verifier"] for form in told)
    assert len([path for path, _ in issuer.asked if path == "/keys"]) == 1


async def test_what_goes_along_is_new_each_time_and_leaves_nowhere_else(
    start: Start, issuer: Issuer
) -> None:
    beleg = await _product(start, issuer)
    browser = await _browser(beleg)
    queries = [parse_qs(urlsplit(await _leave(browser)).query) for _ in range(2)]
    for name in ("state", "nonce", "code_challenge"):
        assert queries[0][name] != queries[1][name]
        assert len(queries[0][name][0]) >= 40
    response = await _sign_in(browser, issuer, "?next=//evil.example")
    assert response.headers["location"] == "/"
    cookies = response.headers.get_list("set-cookie")
    assert any(re.match(r"beleg_sign_in=.*Max-Age=0", cookie) for cookie in cookies)


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another"},
        {"aud": ["another", "one more"]},
        {"aud": [CLIENT_ID, "another"], "azp": "another"},
        {"aud": None},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"exp": int(time.time()) - 3600},
        {"exp": None},
        {"exp": "tomorrow"},
        {"iat": int(time.time()) + 3600},
        {"nbf": int(time.time()) + 3600},
        {"sub": None},
    ],
    ids=", ".join,
)
async def test_an_id_token_that_says_something_else_proves_nothing(
    start: Start, issuer: Issuer, claims: dict[str, Any]
) -> None:
    beleg = await _product(start, issuer)
    issuer.claims = claims
    browser = await _browser(beleg)
    _is_nobody(await _sign_in(browser, issuer))
    problem(await browser.get("/me"), 401, "not_signed_in")


@pytest.mark.parametrize(
    "sign", [unsigned, signed_with_the_public_key, signed_by_another, lambda *_: "rubbish"]
)
async def test_an_id_token_that_the_issuer_did_not_sign_proves_nothing(
    start: Start,
    issuer: Issuer,
    sign: Callable[..., str],
) -> None:
    beleg = await _product(start, issuer)
    issuer.sign = sign
    browser = await _browser(beleg)
    _is_nobody(await _sign_in(browser, issuer))
    problem(await browser.get("/me"), 401, "not_signed_in")


async def test_only_the_browser_that_began_can_finish(start: Start, issuer: Issuer) -> None:
    beleg = await _product(start, issuer)
    began, other = await _browser(beleg), await _browser(beleg)
    back = issuer.authorize(await _leave(began))
    _is_nobody(await other.get(back))
    await _leave(other)
    _is_nobody(await other.get(back))
    wrong = re.sub(r"state=[^&]+", "state=wrong", back)
    _is_nobody(await began.get(wrong))
    # That attempt is over: its cookie is gone.
    _is_nobody(await began.get(back))
    for rubbish in ("?error=access_denied&state=x", "?code=x", "?state=x", "", "?code=x&state=%ff"):
        _is_nobody(await began.get(f"{PAGES}/sign-in/provider/return{rubbish}"))


async def test_a_code_counts_once(start: Start, issuer: Issuer) -> None:
    beleg = await _product(start, issuer)
    browser = await _browser(beleg)
    back = issuer.authorize(await _leave(browser))
    kept = httpx.Cookies(browser.cookies)
    assert (await browser.get(back)).status_code == 303
    replayed = await _browser(beleg)
    replayed.cookies = kept
    _is_nobody(await replayed.get(back))


@pytest.mark.parametrize("verified", [False, None, "true", 1])
async def test_an_address_that_is_not_verified_makes_no_account(
    start: Start, issuer: Issuer, verified: object
) -> None:
    beleg = await _product(start, issuer)
    issuer.claims = {"email_verified": verified}
    _is_nobody(await _sign_in(await _browser(beleg), issuer), 403)


async def test_sign_up_lets_in_whom_it_lets_in(start: Start, issuer: Issuer) -> None:
    beleg = await _product(start, issuer, SIGN_UP="invite")
    admin = await _browser(beleg)
    await _sign_in(admin, issuer)
    assert (await _me(admin))["is_admin"] is True
    user = (await beleg.services.accounts.by_session(admin.cookies[COOKIE])) or pytest.fail("no")
    issuer.claims = {"sub": "subject-2", "email": "bob@example.org"}
    guest = await _browser(beleg)
    _is_nobody(await _sign_in(guest, issuer), 403)
    _, secret = await beleg.services.administer.invite(user.user)
    assert (await _sign_in(guest, issuer, f"?invitation={secret}")).status_code == 303
    assert (await _me(guest))["email"] == "bob@example.org"
    issuer.claims = {"sub": "subject-3", "email": "eve@example.org"}
    late = await _browser(beleg)
    _is_nobody(await _sign_in(late, issuer, f"?invitation={secret}"), 403)
    closed = await _product(start, issuer, SIGN_UP="closed")
    _is_nobody(await _sign_in(await _browser(closed), issuer), 403)


async def test_whoever_made_an_account_with_another_s_address_is_shut_out(
    start: Start, issuer: Issuer
) -> None:
    beleg = await _product(start, issuer)
    squatter = await beleg.client()
    body = {"email": "ada@example.org", "password": PASSWORD}
    token = (await squatter.post("/accounts", json=body)).json()["token"]
    squatter.headers["authorization"] = f"Bearer {token}"
    before = await _me(squatter)
    browser = await _browser(beleg)
    await _sign_in(browser, issuer)
    assert (await _me(browser))["id"] == before["id"]
    problem(await squatter.get("/me"), 401, "not_signed_in")
    async with beleg.services.accounts.uow() as tx:
        entries = (await tx.audit.page(limit=2, after=None)).items
    assert [(e.act, str(e.subject_id)) for e in entries] == [
        *(("signed_in", before["id"]), ("provider_linked", before["id"])),
    ]
    del squatter.headers["authorization"]
    problem(await squatter.post("/tokens", json=body), 401, "not_signed_in")
    # Another subject with the same address is somebody else.
    issuer.claims = {"sub": "subject-2"}
    _is_nobody(await _sign_in(await _browser(beleg), issuer), 409)


async def test_a_shut_account_stays_shut(start: Start, issuer: Issuer) -> None:
    beleg = await _product(start, issuer)
    admin = await beleg.user()
    visitor = await beleg.services.accounts.by_token(admin.headers["authorization"][7:])
    assert visitor is not None
    browser = await _browser(beleg)
    await _sign_in(browser, issuer)
    session = await beleg.services.accounts.by_session(browser.cookies[COOKIE])
    assert session is not None
    await beleg.services.administer.change(visitor.user, session.user.id, is_disabled=True)
    _is_nobody(await _sign_in(await _browser(beleg), issuer))


async def test_new_keys_of_the_issuer_are_fetched(start: Start, issuer: Issuer) -> None:
    beleg = await _product(start, issuer)
    assert (await _sign_in(await _browser(beleg), issuer)).status_code == 303
    for key in (
        RSAKey.generate_key(2048, auto_kid=True),
        ECKey.generate_key("P-256", auto_kid=True),
    ):
        issuer.key = key
        assert (await _sign_in(await _browser(beleg), issuer)).status_code == 303


@pytest.mark.parametrize(
    "metadata", [{"issuer": "https://evil.example"}, {"token_endpoint": None}, {"jwks_uri": ""}]
)
async def test_metadata_of_another_issuer_is_not_believed(
    start: Start, issuer: Issuer, metadata: dict[str, Any]
) -> None:
    beleg = await _product(start, issuer)
    issuer.metadata = metadata
    response = await (await _browser(beleg)).get(f"{PAGES}/sign-in/provider")
    assert response.status_code == 503


@pytest.mark.parametrize("keys", [[], 3, ["x"], [{}], [{"kty": "RSA", "n": 3}]])
async def test_keys_that_are_none_are_said_to(start: Start, issuer: Issuer, keys: object) -> None:
    beleg = await _product(start, issuer)
    browser = await _browser(beleg)
    issuer.keys = keys
    _is_nobody(await browser.get(issuer.authorize(await _leave(browser))), 503)


async def test_an_issuer_that_does_not_answer_is_said_to(start: Start, issuer: Issuer) -> None:
    beleg = await _product(start, issuer)
    browser = await _browser(beleg)
    back = issuer.authorize(await _leave(browser))
    issuer.token_status = 500
    _is_nobody(await browser.get(back), 503)
    nowhere = await start(OIDC_ISSUER="http://127.0.0.1:9", OIDC_CLIENT_ID="x")
    response = await (await _browser(nowhere)).get(f"{PAGES}/sign-in/provider")
    assert response.status_code == 503


async def test_without_an_issuer_there_is_no_such_page(beleg: Beleg) -> None:
    browser = await _browser(beleg)
    for path in ("/sign-in/provider", "/sign-in/provider/return?code=x&state=y"):
        assert (await browser.get(f"{PAGES}{path}")).status_code == 404
    assert "/sign-in/provider" not in (await browser.get(f"{PAGES}/sign-in")).text
