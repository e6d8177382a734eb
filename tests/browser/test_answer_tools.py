"""What a person does with an answer: check it, rate it, take it along, ask on about one source."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor
from tests.browser.test_first_light import ask, new_notebook
from tests.provider import Provider

pytestmark = pytest.mark.browser

BRIDGE = (
    "# The Harbour Bridge\n\nThe Harbour Bridge is a steel arch bridge. It was opened in 1932 by"
    " Anna Berg.\n\n## Costs and funding\n\nIt cost 3 million pounds."
)
TOWER = "The Radio Tower is an office building. It is 98 m high."


def test_a_first_question_is_suggested_and_one_source_asked_alone(
    visit: Visitor, provider: Provider, tmp_path: Path
) -> None:
    provider.settings.token_delay_s = 0.0
    page = visit(locale="en-GB").page
    new_notebook(page)
    for name, text in (("bridge.md", BRIDGE), ("tower.txt", TOWER)):
        (tmp_path / name).write_text(text)
        page.locator("input[type=file]").set_input_files(tmp_path / name)
        expect(page.locator(".source.ready", has_text=name.partition(".")[0])).to_be_attached()
    first = page.get_by_role("button", name="What is the Harbour Bridge?")
    expect(first).to_be_visible()
    expect(page.get_by_role("button", name="What is the Radio Tower?")).to_be_visible()
    provider.answer("Who opened it?\nHow high is it?")
    page.get_by_role("button", name="Have questions suggested").click()
    written = page.get_by_role("button", name="Who opened it?")
    expect(written).to_be_visible()
    expect(first).to_have_count(0)

    provider.answer("It was opened by Anna Berg [1].")
    written.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".turn.complete .question")).to_contain_text("Who opened it?")
    expect(page.locator(".suggestions")).not_to_be_visible()

    menu = page.locator(".source", has_text="tower").locator(".menu")
    menu.locator("summary").click()
    menu.get_by_role("link", name="Ask about this source alone").click()
    expect(page.locator(".selection.is-about")).to_contain_text("tower")
    expect(page.locator("#question")).to_be_focused()
    provider.answer("It is 98 m high [1].")
    ask(page, "How high is it?")
    turn = page.locator(".turn.complete").last
    expect(turn.locator(".label")).to_contain_text("tower")
    expect(page.locator(".selection.is-about")).to_be_visible()
    page.locator(".selection.is-about a").click()
    expect(page.locator("#selection")).to_have_text("Answers from all sources")


def test_doubts_are_shown_feedback_kept_and_the_answer_taken_along(
    visit: Visitor, provider: Provider, tmp_path: Path
) -> None:
    provider.settings.token_delay_s = 0.0
    page = visit(locale="en-GB", permissions=["clipboard-read", "clipboard-write"]).page
    new_notebook(page)
    (tmp_path / "bridge.md").write_text(BRIDGE)
    page.locator("input[type=file]").set_input_files(tmp_path / "bridge.md")
    expect(page.locator(".source.ready")).to_be_attached()
    provider.answer("The **bridge** was opened in 1933 by Anna Wolf [1]. It is blue and pretty.")
    ask(page)
    turn = page.locator(".turn.complete")
    expect(turn.locator(".prose .doubt")).to_have_text(["1933", "Wolf", "It is blue and pretty."])
    expect(turn.locator(".prose .doubt").first).to_have_attribute(
        "aria-description", "The cited passages do not have this date like that."
    )
    turn.get_by_text("3 places to check").click()
    expect(turn.locator(".checks li")).to_have_count(3)

    turn.get_by_role("button", name="Not helpful").click()
    expect(turn.get_by_role("status")).to_have_text("Thank you, your feedback is saved.")
    turn.get_by_label("What is missing, what is wrong?").fill("The year is wrong.")
    turn.get_by_role("button", name="Save the note").click()
    expect(turn.get_by_label("What is missing, what is wrong?")).to_have_value("The year is wrong.")
    page.reload()
    down = turn.get_by_role("button", name="Not helpful")
    expect(down).to_have_attribute("aria-pressed", "true")
    down.click()
    expect(down).to_have_attribute("aria-pressed", "false")

    turn.locator("[data-copy=markdown]").click()
    expect(turn.locator("[data-copy=markdown]")).to_have_text("Copied")
    turn.locator("[data-copy=markdown]").click()
    expect(turn.locator("[data-copy=markdown]")).to_have_text("Copy as Markdown")
    text = page.evaluate("navigator.clipboard.readText()")
    assert text.startswith("The **bridge** was opened in 1933 by Anna Wolf [1].")
    assert "- \\[1\\] The Harbour Bridge: “It was opened in 1932 by Anna Berg.”" in text
    turn.locator("[data-copy=html]").click()
    expect(turn.locator("[data-copy=html]")).to_have_text("Copied")
    html = page.evaluate(
        "async () => (await (await navigator.clipboard.read())[0].getType('text/html')).text()"
    )
    assert "<strong>bridge</strong>" in html
    assert "[1] The Harbour Bridge" in html
