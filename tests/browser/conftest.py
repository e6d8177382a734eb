"""A real browser on a product of real processes; nothing but the product may be reached."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Route, expect, sync_playwright

from tests.browser.htmx_files import FILES, HtmxFilesMissing, htmx_files
from tests.conftest import Product
from tests.provider import Provider

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
CDN = "https://cdn.jsdelivr.net/npm/htmx.org@4.0.1/"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, or whichever is found under that name."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("there is no program called chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def htmx() -> Path:
    """The folder with the real files of htmx."""
    try:
        return htmx_files()
    except HtmxFilesMissing as error:
        pytest.skip(str(error))


@dataclass
class Visit:
    """A page that is open, and everything about it that must not be.

    Args:
        strangers: requests that left the product.
        complaints: what the console and the page's scripts said, and answers of 500 and more.
    """

    page: Page
    address: str
    htmx: Path
    strangers: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def answer(self, route: Route) -> None:
        """Let the product be reached, give htmx's own bytes for the CDN, refuse the rest."""
        url = route.request.url
        if url.startswith(CDN) and (name := url.rsplit("/", 1)[1]) in FILES:
            route.fulfill(
                body=(self.htmx / name).read_bytes(),
                content_type="application/javascript",
                headers={"access-control-allow-origin": "*"},
            )
        elif urlsplit(url).netloc == urlsplit(self.address).netloc or url.startswith("data:"):
            route.continue_()
        else:
            self.strangers.append(url)
            route.abort()

    def heard(self, message: ConsoleMessage) -> None:
        """Keep errors and warnings of the console."""
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)


Visitor = Callable[..., Visit]


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A model that takes its time."""
    with Provider() as running:
        running.settings.token_delay_s = 0.08
        yield running


@pytest.fixture
def address(product: Callable[..., Product], provider: Provider) -> str:
    """A product in local mode with a worker and a model that writes."""
    beleg = product(
        BELEG_LOCAL="1",
        INFERENCE_BASE_URL=provider.url,
        INFERENCE_API_KEY="test",
        LLM_MODEL="glm-5.3-flash",
        EMBEDDING_MODEL="qwen3-embedding-4b",
        EMBEDDING_DIMENSION="64",
        STT_MODEL="whisper-1",
    )
    _, where = beleg.web()
    beleg.worker()
    return where


@pytest.fixture
def visit(chromium: Browser, htmx: Path, address: str) -> Iterator[Visitor]:
    """Opens the product's first page; afterwards nothing may have been complained about."""
    visits: list[Visit] = []

    def open_page(**options: Any) -> Visit:  # noqa: ANN401 - options of a browser context
        page = chromium.new_context(**options).new_page()
        page.set_default_timeout(20_000)
        made = Visit(page, address, htmx)
        page.context.route("**/*", made.answer)
        page.on("console", made.heard)
        page.on("pageerror", lambda error: made.complaints.append(str(error)))
        visits.append(made)
        page.goto(address)
        return made

    expect.set_options(timeout=20_000)
    yield open_page
    for made in visits:
        made.page.context.close()
        assert made.strangers == []
        assert made.complaints == []
