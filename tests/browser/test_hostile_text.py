"""Hostile text in every place that text can have, in a real browser: it stays text."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from app import contexts
from app.contexts import Context, NotebookPage
from app.rendering import STATIC, page_headers, render
from app.studio_contexts import TranscriptPage
from app.transcript_html import paragraphs_of
from domain.access import Role
from domain.conversation import Check, CheckKind
from tests.app.studio_contexts import ready
from tests.app.test_pages import NOTEBOOK, answer, every_context, frame, shown, source, turn
from tests.browser.conftest import CDN, Visitor
from tests.browser.test_first_light import ask, new_notebook
from tests.provider import Provider

pytestmark = pytest.mark.browser

HOST = "http://beleg.test"
AT_ONCE = 120
"""Texts on one page."""
OWN = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "![x](https://evil.example/a.png)",
    "[x](javascript:alert(1))",
    "<style>@import 'https://evil.example/a.css';</style>",
    "{{ 7 * 7 }} ${alert(1)} `x` <hx-partial hx-get='https://evil.example' hx-trigger='load'>",
    "</textarea></template></title><iframe src=https://evil.example>",
]
FOREIGN = """() => {
  const bad = [];
  const loads = /^(src|action|formaction|data|poster|background|srcset|hx-|xlink)/i;
  const cdn = "https://cdn.jsdelivr.net/npm/htmx.org@";
  const isForeign = (name, value) =>
    /^on/i.test(name) ||
    (loads.test(name) && /^[a-z]*:?\\/\\//i.test(value) && !value.startsWith(cdn)) ||
    (name === "href" && /^\\s*(javascript|data|vbscript):/i.test(value));
  for (const one of document.querySelectorAll("*"))
    for (const { name, value } of one.attributes)
      if (isForeign(name, value)) bad.push(`${one.tagName} ${name}=${value}`);
  const kinds = "iframe,object,embed,base,style,frame,applet,math,video,template,marquee";
  const images = "main img:not(.sheet-image img)";
  const players = "audio:not(.overview > .player, .viewer-body > .player)";
  for (const one of document.querySelectorAll(`${kinds},${images},${players}`))
    bad.push(one.outerHTML.slice(0, 80));
  return bad;
}"""
"""What of the page is not ours: handlers, addresses elsewhere, elements that load or embed."""


def hostile(shared_data: Path) -> list[str]:
    found = list(OWN)
    for name in ("markdown.jsonl", "xss_html.jsonl"):
        lines = (shared_data / "safety" / name).read_text().splitlines()
        found += [json.loads(line)["text"] for line in lines]
    return found


@dataclass
class Reader:
    """A browser page whose every request is answered here, or held against the page."""

    page: Page
    htmx: Path
    html: str = ""
    strangers: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def answer(self, route: Route) -> None:
        url = route.request.url
        name = url.rsplit("/", 1)[1]
        if url == f"{HOST}/page":
            headers = page_headers(frame())
            route.fulfill(body=self.html, content_type="text/html; charset=utf-8", headers=headers)
        elif url.startswith(CDN):
            self._script(route, (self.htmx / name).read_bytes())
        elif url.startswith(f"{HOST}/static/"):
            content, _ = STATIC[name]
            route.fulfill(body=content, content_type=_TYPES[name.rpartition(".")[2]])
        elif url.startswith(HOST):
            route.fulfill(status=204)
        elif not url.startswith("data:"):
            self.strangers.append(url)
            route.abort()

    def _script(self, route: Route, content: bytes) -> None:
        headers = {"access-control-allow-origin": "*"}
        route.fulfill(body=content, content_type="application/javascript", headers=headers)

    def show(self, context: Context) -> list[str]:
        """Load it, move over it; what of it should not be there."""
        self.html = render(context)
        self.page.goto(f"{HOST}/page")
        self.page.mouse.move(300, 300)
        self.page.keyboard.press("Tab")
        return list(self.page.evaluate(FOREIGN))


_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@pytest.fixture
def reader(chromium: Browser, htmx: Path) -> Iterator[Reader]:
    context = chromium.new_context()
    page = context.new_page()
    made = Reader(page, htmx)
    context.route("**/*", made.answer)
    page.on("dialog", lambda dialog: (made.dialogs.append(dialog.message), dialog.dismiss()))
    yield made
    context.close()


def every_place(texts: Sequence[str]) -> list[Context]:
    """Each text as title, question, answer, quote, comment, passage, focus and transcript."""
    around = frame()
    turns = []
    for text in texts:
        asked = answer(f"{text} [1].", question=text)
        citation = replace(asked.citations[0], source_title=text)
        quoted = tuple(replace(mention, quote=text) for mention in citation.mentions)
        doubt = Check(0, max(1, len(text) // 2), CheckKind.NAME, text)
        turns.append(
            turn(
                replace(
                    asked,
                    citations=(replace(citation, mentions=quoted),),
                    retrieved=(replace(asked.retrieved[0], source_title=text, text=text),),
                    checks=(doubt,),
                )
            )
        )
    sources = [source(title=text, name=text) for text in texts]
    notebook = replace(NOTEBOOK, title=texts[0])
    usual = every_context(around)
    page = next(c for c in usual if isinstance(c, NotebookPage) and c.role is Role.OWNER)
    passage = contexts.Quoted(*texts[:1] * 3, "/1", "/2")
    made = [ready(title=text, focus=text) for text in texts]
    shelf = replace(page.shelf, documents=made)
    said = ready(title=texts[0], text="\n\n".join(f"A: {text}" for text in texts))
    paragraphs = paragraphs_of(said, around.words, in_pane=False)
    return [
        replace(page, notebook=notebook, sources=sources, turns=turns, shelf=shelf),
        TranscriptPage(around, said, paragraphs),
        contexts.ViewerPage(around, shown(title=texts[0], text=passage), NOTEBOOK.id),
    ]


def test_hostile_text_stays_text_in_every_place(reader: Reader, shared_data: Path) -> None:
    texts = hostile(shared_data)
    for first in range(0, len(texts), AT_ONCE):
        for context in every_place(texts[first : first + AT_ONCE]):
            assert reader.show(context) == [], f"after text {first}"
    assert reader.strangers == []
    assert reader.dialogs == []


def test_the_browser_would_notice_what_is_let_through(reader: Reader) -> None:
    reader.html = "<p><img src='https://evil.example/a.png' onerror='alert(1)'></p>"
    reader.page.goto(f"{HOST}/page")
    assert reader.page.evaluate(FOREIGN)


def test_a_model_that_writes_hostile_text_is_read_as_it_streams(
    visit: Visitor, provider: Provider, shared_data: Path, tmp_path: Path
) -> None:
    visited = visit(locale="en-GB")
    page = visited.page
    page.on("dialog", lambda dialog: visited.complaints.append(dialog.message))
    new_notebook(page, OWN[0])
    texts = hostile(shared_data)[::8]
    names = [f"{text.replace('/', '_')[:80]}.txt" for text in OWN[:4]]
    for name in names:
        (tmp_path / name).write_text("The bridge was built in 1932.\n\n" + "\n\n".join(texts))
    page.locator("input[type=file]").set_input_files([tmp_path / name for name in names])
    expect(page.locator(".source.ready")).to_have_count(1)  # the same bytes are one source
    provider.settings.token_delay_s = 0.0
    provider.answer([f"{text}\n\n" for text in texts] + ["It was built in 1932 [1]."])
    ask(page, OWN[1])
    expect(page.locator(".turn.complete")).to_have_count(1)
    assert page.evaluate(FOREIGN) == []
    page.locator(".turn.complete .prose a.cite").last.click()
    expect(page.locator("#viewer .passage")).to_contain_text("The bridge was built in 1932.")
    assert page.evaluate(FOREIGN) == []
    page.locator(".source-title").first.click()
    expect(page.locator("#viewer h2")).to_be_focused()
    assert page.evaluate(FOREIGN) == []
    page.reload()
    expect(page.locator(".turn.complete")).to_have_count(1)
    assert page.evaluate(FOREIGN) == []
