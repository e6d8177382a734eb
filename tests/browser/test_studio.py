"""An audio overview in a real browser: asked for, watched, heard, read along, and deleted."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visitor
from tests.browser.test_first_light import new_notebook
from tests.conftest import Product
from tests.provider import Provider

pytestmark = pytest.mark.browser

TEXT = "The bridge was built in 1932. It is red and carries many cars every day. " * 5
PLAYED = """async (player) => {
    player.muted = true;
    player.currentTime = 60;
    await player.play();
    await new Promise((moved) => player.addEventListener("timeupdate", moved, { once: true }));
    return { at: player.currentTime, lasts: player.duration, isPaused: player.paused };
}"""


@pytest.fixture
def address(product: Callable[..., Product], provider: Provider) -> str:
    """A product in local mode with models that write and read aloud."""
    provider.settings.token_delay_s = 0.0
    provider.settings.speaking_delay_s = 0.15
    beleg = product(
        BELEG_LOCAL="1",
        INFERENCE_BASE_URL=provider.url,
        INFERENCE_API_KEY="test",
        LLM_MODEL="glm-5.3-flash",
        EMBEDDING_MODEL="qwen3-embedding-4b",
        EMBEDDING_DIMENSION="64",
        TTS_PROVIDER="openai",
        TTS_MODEL="tts-1",
    )
    _, where = beleg.web()
    beleg.worker()
    beleg.worker("studio")
    return where


def _choose(page: Page) -> None:
    """Two sources, one of them ticked; without any there is no button."""
    form = page.locator("#studio-form")
    expect(form).to_contain_text("Add a source first")
    expect(form.get_by_role("button")).to_be_hidden()
    for title in ("Bridge", "River"):
        page.locator("summary", has_text="Paste text").click()
        page.locator(".paste input[name=title]").fill(title)
        page.locator(".paste textarea").fill(TEXT + title)
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.locator(".source.ready", has_text=title)).to_be_attached()
    every = page.get_by_role("checkbox", name="Select all")
    every.uncheck()
    expect(form.get_by_role("button")).to_be_hidden()
    every.check()
    expect(form).to_contain_text("From all sources")
    page.get_by_role("checkbox", name=re.compile("River")).uncheck()
    expect(every).to_have_js_property("indeterminate", True)  # noqa: FBT003 - of the library
    expect(form).to_contain_text("From 1 of 2 sources")


def _make(page: Page) -> Locator:
    """Fill the form, press its button twice, and watch; the row of what was made."""
    form, row = page.locator("#studio-form"), page.locator("#studio .overview")
    form.get_by_label("What matters most?").fill("When it was built")
    form.get_by_label("Rowan").check()
    expect(form.get_by_label("Linde")).to_be_hidden()
    form.get_by_role("button", name="Make it").dblclick()
    expect(row).to_have_count(1)
    summary = page.locator(".make summary")
    expect(summary).to_be_focused()
    expect(row.get_by_role("status")).to_contain_text(re.compile(r"Reading: [1-9]\d* of \d+ parts"))
    expect(row.locator("progress")).to_be_visible()
    summary.click()
    expect(form).to_contain_text("has to be ready first")
    expect(row.locator("audio")).to_be_visible()
    expect(row).to_contain_text("from 1 source")
    expect(form).to_contain_text("9 left today, 19 in this notebook.")
    expect(form.get_by_label("What matters most?")).to_have_value("")
    return row


def _read_along(page: Page, row: Locator) -> None:
    """Open the transcript, follow a marker, and come back."""
    row.locator("summary", has_text="Transcript").click()
    expect(row.locator(".said")).to_contain_text("Willow The bridge was built in 1932")
    assert page.evaluate("document.body.scrollHeight <= innerHeight"), "panes scroll, not the page"
    marker = row.locator(".said a.cite").first
    marker.click()
    expect(page.locator("#viewer mark")).to_be_in_viewport()
    expect(page.locator("#viewer h2")).to_be_focused()
    expect(page.locator("#studio")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(marker).to_be_focused()


def test_an_overview_is_made_heard_read_along_and_deleted(visit: Visitor) -> None:
    page = visit(locale="en-GB", viewport={"width": 1440, "height": 600}).page
    new_notebook(page)
    _choose(page)
    row = _make(page)
    player, menu = row.locator("audio"), row.locator(".menu > summary")
    played = player.evaluate(PLAYED)
    assert played["lasts"] > played["at"] >= 60
    expect(page.locator(".source.ready", has_text="What the documents say")).to_be_attached()
    _read_along(page, row)

    menu.click()
    row.get_by_label("Title").fill("Red bridge")
    row.get_by_role("button", name="Rename").click()
    expect(row.get_by_role("heading")).to_have_text("Red bridge")
    expect(menu).to_be_focused()
    assert not player.evaluate("player => player.paused"), "it plays on"
    expect(row.locator(".said")).to_be_visible()
    menu.click()
    with page.expect_download() as saved:
        row.get_by_role("link", name="Download MP3").click()
    assert saved.value.suggested_filename == "Red bridge.mp3"
    row.get_by_role("link", name="Ask about it").click()
    expect(page.locator("#composer")).to_contain_text("About “Red bridge” alone")
    expect(page.locator("#question")).to_be_focused()

    page.reload()
    expect(row.get_by_role("heading")).to_have_text("Red bridge")
    page.once("dialog", lambda dialog: dialog.accept())
    menu.click()
    row.get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    expect(page.locator("#studio-title")).to_be_focused()
    expect(page.locator("#studio")).to_contain_text("No audio overviews yet")
    expect(page.locator(".source", has_text="Red bridge")).to_have_count(0)
