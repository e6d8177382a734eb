"""Upload, watch, ask, click, reload: what a person does, in a real browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor
from tests.browser.paper import pdf
from tests.provider import Provider
from tests.provider.faults import Fault
from tests.provider.ledger import Status

pytestmark = pytest.mark.browser

SENTENCE = "The bridge over the river was opened to traffic in the spring of 1932."
LINES = (
    ("A short history of bridges in this valley, told for visitors.",),
    (SENTENCE, "It is painted red every seven years, and it carries many cars every day."),
)
ANSWER = [
    *("The bridge ", "was opened ", "in **1932** ", "[1], ", "and it is ", "painted ", "red "),
    *("every ", "seven ", "years ", "[1]. ", "It carries ", "many ", "cars ", "a day."),
]


def new_notebook(page: Page, title: str = "Bridges") -> None:
    page.get_by_role("textbox").first.fill(title)
    page.locator("form[action='/notebooks'] button").click()
    page.wait_for_url("**/notebooks/*")


def upload(page: Page, tmp_path: Path, name: str = "bridge.pdf") -> None:
    file = tmp_path / name
    file.write_bytes(pdf(*LINES))
    page.locator("input[type=file]").set_input_files(file)
    expect(page.locator(".source.ready", has_text=name)).to_be_attached()


def ask(page: Page, question: str = "When was the bridge opened?") -> None:
    page.locator("#question").fill(question)
    page.locator("#question").press("Enter")


def test_a_person_uploads_asks_and_checks_the_evidence(
    visit: Visitor, provider: Provider, tmp_path: Path
) -> None:
    page = visit(locale="en-GB", viewport={"width": 1440, "height": 900}).page
    new_notebook(page)
    expect(page.get_by_text("No sources yet")).to_be_visible()
    upload(page, tmp_path)
    expect(page.locator(".source")).to_contain_text("2 pages")
    expect(page.locator("#selection")).to_have_text("Answers from all sources")

    provider.answer(ANSWER)
    ask(page)
    live = page.locator(".prose.live")
    expect(live).to_contain_text("was opened")
    expect(live.locator("a.cite").first).to_have_text("1")
    chat = next(call for call in provider.ledger if call.kind == "chat")
    assert chat.status is Status.OPEN, "the words were seen only after the model had ended"

    done = page.locator(".turn.complete")
    expect(done.locator("strong")).to_have_text("1932")
    expect(done.locator(".prose a.cite")).to_have_count(2)
    expect(done.locator(".cited > ol > li")).to_contain_text("bridge.pdf")
    expect(page.locator("#question")).to_have_value("")
    answer = done.locator(".prose").inner_text()

    done.locator(".prose a.cite").first.click()
    expect(page.locator("#viewer mark")).to_have_text(SENTENCE)
    expect(page.locator("#viewer mark")).to_be_in_viewport()
    expect(page.locator("#viewer h2")).to_be_focused()
    page.get_by_role("link", name="Page image").click()
    expect(page.locator("#viewer rect").first).to_be_attached()
    assert page.locator("#viewer img").evaluate("image => image.decode().then(() => true)")

    page.get_by_text("What was retrieved").click()
    expect(done.locator(".is-cited")).to_have_count(1)

    page.reload()
    assert page.locator(".turn.complete .prose").inner_text() == answer
    page.locator(".cited-link").click()
    expect(page.locator("#viewer mark")).to_have_text(SENTENCE)


def test_a_reload_while_the_answer_is_written_goes_on_with_it(
    visit: Visitor, provider: Provider, tmp_path: Path
) -> None:
    page = visit().page
    new_notebook(page)
    upload(page, tmp_path)
    provider.answer(ANSWER)
    ask(page)
    expect(page.locator(".prose.live")).to_contain_text("was opened")
    page.reload()
    expect(page.locator(".prose.live")).to_contain_text("The bridge was opened")
    expect(page.locator(".turn.complete .prose")).to_contain_text("many cars a day.")
    expect(page.locator(".turn")).to_have_count(1)
    assert [call.kind for call in provider.ledger].count("chat") == 1


def test_a_stopped_answer_keeps_what_it_said(
    visit: Visitor, provider: Provider, tmp_path: Path
) -> None:
    page = visit(locale="en-GB").page
    new_notebook(page)
    upload(page, tmp_path)
    provider.answer([*ANSWER, *(f"word {number} " for number in range(200))])
    ask(page)
    expect(page.locator(".prose.live")).to_contain_text("was opened")
    page.get_by_role("button", name="Stop").click()
    stopped = page.locator(".turn.stopped")
    expect(stopped).to_contain_text("Stopped. What was written is kept.")
    expect(stopped.locator(".prose")).to_contain_text("The bridge was opened")
    provider.wait_for(lambda calls: calls[-1].status is Status.CLOSED)


def test_a_failed_answer_says_why_and_can_be_asked_again(
    visit: Visitor, provider: Provider, tmp_path: Path
) -> None:
    page = visit(locale="en-GB").page
    new_notebook(page)
    upload(page, tmp_path)
    provider.fail(Fault.NO_KEY, kind="chat", times=1)
    ask(page)
    expect(page.locator(".turn.failed .note.failed")).to_contain_text("The answer broke off")
    provider.answer(ANSWER)
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".turn.complete .prose")).to_contain_text("many cars a day.")


def test_what_is_not_selected_is_not_asked(
    visit: Visitor, provider: Provider, tmp_path: Path
) -> None:
    page = visit(locale="en-GB").page
    new_notebook(page)
    upload(page, tmp_path)
    page.locator("[data-pick]").uncheck()
    expect(page.locator("#selection")).to_contain_text("answers are general knowledge")
    provider.answer("Bridges span things.")
    ask(page, "What is a bridge?")
    turn = page.locator(".turn.complete")
    expect(turn).to_contain_text("General knowledge, not from your sources")
    expect(turn.locator(".cite")).to_have_count(0)
    expect(page.locator("[data-pick]")).not_to_be_checked()


def test_a_file_that_cannot_be_read_is_told_beside_those_that_can(
    visit: Visitor, tmp_path: Path
) -> None:
    page = visit(locale="en-GB").page
    new_notebook(page)
    program, text, broken = (tmp_path / name for name in ("a.exe", "b.txt", "c.pdf"))
    program.write_bytes(b"MZ\x90\x00\x03\x00\x00\x00\x04" * 50)
    text.write_text("The bridge was built in 1932.")
    broken.write_bytes(b"%PDF-1.4\n nothing follows")
    page.locator("input[type=file]").set_input_files([program, text, broken])
    expect(page.locator(".upload.failed")).to_contain_text("cannot be read yet")
    expect(page.locator(".source.ready")).to_contain_text("b.txt")
    failed = page.locator(".source.failed")
    expect(failed).to_contain_text("c.pdf")
    expect(failed.get_by_role("button", name="Retry")).to_have_count(0)
    failed.get_by_role("button", name="Remove", exact=True).click()
    expect(failed).to_have_count(0)


def test_a_lost_connection_is_told_and_the_question_kept(
    visit: Visitor, provider: Provider
) -> None:
    made = visit(locale="en-GB")
    page = made.page
    new_notebook(page)
    page.route("**/questions", lambda route: route.abort())
    ask(page)
    expect(page.locator("#problems")).to_contain_text("The server does not answer.")
    expect(page.locator("#question")).to_have_value("When was the bridge opened?")
    page.unroute("**/questions")
    provider.answer(ANSWER)
    page.locator("#question").press("Enter")
    expect(page.locator("#problems")).to_be_empty()
    expect(page.locator(".turn.complete")).to_contain_text("no readable source yet")
    made.complaints.clear()  # the console names the request that was cut


def test_the_pages_are_german_and_fit_a_phone(
    visit: Visitor, provider: Provider, tmp_path: Path
) -> None:
    page = visit(
        locale="de-DE", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    ).page
    expect(page.locator("html")).to_have_attribute("lang", "de")
    new_notebook(page, "Brücken")
    expect(page.get_by_text("Was möchtest du wissen?")).to_be_visible()
    page.get_by_role("link", name="Quellen hinzufügen").click()
    expect(page.get_by_text("Noch keine Quellen")).to_be_visible()
    upload(page, tmp_path)
    expect(page.locator(".source")).to_contain_text("2 Seiten")
    page.get_by_role("link", name="Chat", exact=True).click()
    provider.settings.token_delay_s = 0.0
    provider.answer([*ANSWER, *["\n\nThe bridge is red, and long."] * 30])
    ask(page, "Bridge opened to traffic in the spring of 1932?")
    done = page.locator(".turn.complete")
    expect(done).to_contain_text("Zitierte Stellen")
    expect(done.locator(".question")).to_be_in_viewport()
    done.locator(".prose a.cite").first.tap()
    expect(page.locator("#viewer mark")).to_be_in_viewport()
    expect(page.locator("#chat")).to_be_hidden()
    expect(page).to_have_url(re.compile("#viewer$"))
    for pane in ("sources", "chat", "studio", "viewer"):
        page.locator(f"nav.tabs a[href='#{pane}']").click()
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390, f"{pane} is {wide} pixels wide"
    for menu in ("Teilen", "⋯"):
        page.locator(".bar summary", has_text=menu).click()
        sheet = page.locator(".bar .menu[open] .sheet").bounding_box()
        assert sheet
        assert sheet["x"] >= 0, f"{menu} is cut off"
        assert sheet["x"] + sheet["width"] <= 390, f"{menu} is cut off"


def test_files_are_dropped_and_a_removed_source_is_said_to_be_gone(
    visit: Visitor, provider: Provider
) -> None:
    page = visit(locale="en-GB").page
    new_notebook(page)
    dropped = page.evaluate_handle(
        """text => {
            const files = new DataTransfer();
            files.items.add(new File([text], "dropped.txt"));
            return files;
        }""",
        SENTENCE,
    )
    page.dispatch_event("#sources", "drop", {"dataTransfer": dropped})
    expect(page.locator(".source.ready", has_text="dropped.txt")).to_be_attached()
    provider.answer(ANSWER)
    ask(page)
    cite = page.locator(".turn.complete .prose a.cite").first
    cite.click()
    expect(page.locator("#viewer mark")).to_have_text(SENTENCE)
    page.keyboard.press("Escape")
    expect(cite).to_be_focused()

    page.once("dialog", lambda dialog: dialog.accept())
    page.locator(".source .menu summary").click()
    page.get_by_role("button", name="Remove from notebook").click()
    expect(page.get_by_text("No sources yet")).to_be_visible()
    cite.click()
    expect(page.locator("#viewer")).to_contain_text("Source removed")
    page.reload()
    expect(page.locator(".cited li.removed")).to_contain_text("Source removed")
