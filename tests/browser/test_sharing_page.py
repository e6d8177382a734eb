"""Two people in their browsers: one shares a notebook, the other reads and asks in it."""

import re
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Visit
from tests.conftest import Product, until
from tests.provider import Provider

pytestmark = pytest.mark.browser

PASSWORD = "a good password"


def _open(chromium: Browser, address: str, htmx: Path, email: str) -> Page:
    """A browser of somebody who signed in on the page."""
    context = chromium.new_context(locale="en-GB", viewport={"width": 1280, "height": 800})
    page = context.new_page()
    visit = Visit(page, address, htmx)
    page.route("**/*", visit.answer)
    page.goto(f"{address}/sign-in")
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Your notebooks")).to_be_visible()
    return page


@pytest.fixture
def notebook(product: Callable[..., Product], provider: Provider) -> tuple[str, str]:
    """The address of a product with two accounts, and the path of one's notebook."""
    provider.settings.token_delay_s = 0.01
    beleg = product(
        INFERENCE_BASE_URL=provider.url,
        INFERENCE_API_KEY="test",
        LLM_MODEL="glm-5.3-flash",
        EMBEDDING_MODEL="qwen3-embedding-4b",
        EMBEDDING_DIMENSION="64",
    )
    _, address = beleg.web()
    beleg.worker()
    with httpx.Client(base_url=f"{address}/api/v1", timeout=30) as api:
        made = [
            api.post("/accounts", json={"email": email, "password": PASSWORD}).json()
            for email in ("ada@example.org", "bob@example.org")
        ]
        api.headers["authorization"] = f"Bearer {made[0]['token']}"
        path = f"/notebooks/{api.post('/notebooks', json={'title': 'Bridges'}).json()['id']}"
        text = {"title": "Bridge", "text": "The bridge was built in 1932. It is red."}
        api.post(f"{path}/sources", json=text)
        until(lambda: api.get(path).json()["ready_count"] == 1)
    return address, path


def test_a_notebook_is_shared_asked_and_taken_back(
    notebook: tuple[str, str], provider: Provider, chromium: Browser, htmx: Path
) -> None:
    address, path = notebook
    owner = _open(chromium, address, htmx, "ada@example.org")
    owner.goto(f"{address}{path}")
    owner.locator("summary", has_text="Share").click()
    owner.get_by_label("E-mail address").fill("nobody@example.org")
    owner.get_by_role("button", name="Share").click()
    expect(owner.locator("#guests [role=alert]")).to_be_visible()
    owner.get_by_label("E-mail address").fill("bob@example.org")
    owner.get_by_role("button", name="Share").click()
    guests = owner.locator("#guests li")
    expect(guests).to_contain_text("bob@example.org")

    guest = _open(chromium, address, htmx, "bob@example.org")
    expect(guest.get_by_text("Shared by ada@example.org")).to_be_visible()
    guest.get_by_role("link", name=re.compile("Bridges")).click()
    expect(guest.locator("form.add")).to_have_count(0)
    provider.answer("It was built in 1932 [1].")
    guest.get_by_label("Your question").fill("When was the bridge built?")
    guest.keyboard.press("Enter")
    guest.locator("a.cite").first.click()
    expect(guest.locator("#viewer mark")).to_contain_text("built in 1932")
    owner.reload()
    expect(owner.locator(".question")).to_have_count(0)

    owner.locator("summary", has_text="Share").click()
    owner.get_by_role("button", name=re.compile("Remove: bob")).click()
    expect(owner.locator("#guests li")).to_have_count(0)
    guest.reload()
    expect(guest.get_by_text("404")).to_be_visible()

    guest.goto(f"{address}/account")
    expect(guest.get_by_role("heading", name="Sessions")).to_be_visible()
    owner.goto(f"{address}/admin/audit")
    expect(owner.locator("tbody tr")).not_to_have_count(0)
    for page in (owner, guest):
        page.context.close()
