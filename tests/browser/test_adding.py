"""Many files at once, folders, pasted text: each with its progress, its end and its error."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.adapters.made_sound import tone, wav
from tests.browser.conftest import Visitor
from tests.browser.test_first_light import new_notebook
from tests.provider import Provider

pytestmark = pytest.mark.browser

DROP = """
async ([files, text]) => {
    const transfer = new DataTransfer();
    for (const [name, content] of files) transfer.items.add(new File([content], name));
    if (text) transfer.setData("text/plain", text);
    document.querySelector("#chat").dispatchEvent(
        new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }),
    );
}
"""
PASTE = """
([files, text]) => {
    const clipboard = new DataTransfer();
    for (const [name, content] of files) clipboard.items.add(new File([content], name));
    if (text) clipboard.setData("text/plain", text);
    document.body.dispatchEvent(
        new ClipboardEvent("paste", { clipboardData: clipboard, bubbles: true, cancelable: true }),
    );
}
"""
JUMP = """
async (audio) => {
    const heard = (name) =>
        new Promise((done) => audio.addEventListener(name, done, { once: true }));
    if (!audio.duration) await heard("loadedmetadata");
    const there = heard("seeked");
    audio.currentTime = 1;
    await there;
    return audio.currentTime;
}
"""


def added(page: Page, names: Iterable[str]) -> None:
    for name in names:
        expect(page.locator(".source.ready", has_text=name)).to_have_count(1)


def test_files_are_dropped_anywhere_and_each_says_what_became_of_it(visit: Visitor) -> None:
    page = visit(locale="en-GB").page
    new_notebook(page)
    expect(page.locator(".drop")).to_contain_text("up to 20 MB, audio to 500 MB · 50 sources")
    texts = [(f"note {n}.txt", f"The bridge number {n} is red.") for n in range(5)]
    page.evaluate(DROP, [[*texts, ("tool.exe", "MZ\x90\0\0" * 50)], ""])
    added(page, [name for name, _ in texts])
    failed = page.locator(".upload.failed")
    expect(failed).to_have_count(1)
    expect(failed).to_contain_text("tool.exe")
    expect(failed).to_contain_text("cannot be read")
    failed.get_by_role("button").click()
    expect(page.locator(".upload")).to_have_count(0)

    page.evaluate(PASTE, [[], "The tower was built in 1840 and is white."])
    added(page, ["The tower was built in 1840"])
    page.evaluate(PASTE, [[("pasted.md", "# Lighthouse\n\nIt is white.")], ""])
    added(page, ["Lighthouse"])
    page.evaluate(DROP, [[], "http://127.0.0.1/secret"])
    expect(page.locator(".upload.failed")).to_contain_text("http://127.0.0.1/secret")
    page.locator("#question").fill("Is it red?")
    assert page.evaluate("document.activeElement.id") == "question"


def test_a_folder_is_added_without_its_hidden_files(visit: Visitor, tmp_path: Path) -> None:
    page = visit(locale="en-GB").page
    new_notebook(page)
    folder = tmp_path / "papers"
    (folder / "old").mkdir(parents=True)
    (folder / "a.txt").write_text("The bridge is red.")
    (folder / "old" / "b.txt").write_text("The tower is white.")
    (folder / ".DS_Store").write_bytes(b"\0\0")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="A whole folder").click()
    chooser.value.set_files(folder)
    added(page, ["a.txt", "b.txt"])
    expect(page.locator(".upload")).to_contain_text("Hidden files that were not uploaded: 1")


def test_what_is_sent_shows_how_far_it_is_and_can_be_cancelled(visit: Visitor) -> None:
    made = visit(locale="en-GB")
    page = made.page
    new_notebook(page)
    page.route("**/sources", lambda _: None)  # the server takes its time
    names = [f"{n}.txt" for n in range(5)]
    page.evaluate(DROP, [[(name, "The bridge is red.") for name in names], ""])
    lines = page.locator(".upload")
    expect(lines).to_have_count(5)
    expect(lines.filter(has_text="waiting")).to_have_count(2)
    for name in ("4.txt", "0.txt"):
        page.get_by_role("button", name=f"Cancel: {name}").click()
        expect(lines.filter(has_text=name)).to_contain_text("Cancelled.")
    expect(lines.filter(has_text="waiting")).to_have_count(0)
    page.unroute("**/sources")
    large = "document.querySelector('#add-files').dataset.max = 5"
    page.evaluate(large)
    page.evaluate(DROP, [[("large.txt", "The bridge is red.")], ""])
    expect(lines.filter(has_text="large.txt")).to_contain_text(
        "This file has 1 KB; 1 KB is the limit."
    )
    expect(page.locator(".source")).to_have_count(0)
    made.complaints.clear()


def test_a_file_one_byte_too_large_looks_it(visit: Visitor) -> None:
    page = visit(locale="en-GB").page
    new_notebook(page)
    page.evaluate("document.querySelector('#add-files').dataset.max = 1_000_000")
    page.evaluate(DROP, [[("byte.txt", "x" * 1_000_001)], ""])
    expect(page.locator(".upload")).to_contain_text("This file has 1.000001 MB; 1 MB is the limit.")
    expect(page.locator(".source")).to_have_count(0)


def test_reading_is_cancelled_and_goes_on(visit: Visitor, provider: Provider) -> None:
    page = visit(locale="en-GB").page
    new_notebook(page)
    provider.settings.embedding_delay_s = 3
    page.evaluate(DROP, [[("long.txt", "The bridge is red. " * 4000)], ""])
    row = page.locator(".source")
    expect(row).to_contain_text("Indexing section")
    expect(row.locator("progress")).to_be_visible()
    row.get_by_role("button", name="Cancel").click()
    expect(row).to_contain_text("Stopped")
    provider.settings.embedding_delay_s = 0
    row.get_by_role("button", name="Retry").click()
    added(page, ["long.txt"])


def test_the_library_finds_adds_plays_and_deletes(visit: Visitor) -> None:
    page = visit(locale="en-GB").page
    new_notebook(page, "Bridges")
    bridges = page.url
    talk = FilePayload(name="talk.wav", mimeType="audio/wav", buffer=wav(tone(1.5)))
    text = FilePayload(name="bridge.txt", mimeType="text/plain", buffer=b"The bridge is red.")
    page.locator("input[type=file]").set_input_files([talk, text])
    added(page, ["bridge.txt", "talk.wav"])
    page.locator(".source-title", has_text="talk.wav").click()
    player = page.locator("#viewer audio")
    expect(player).to_be_visible()
    expect(page.locator("#viewer")).to_contain_text("the harbour froze over")
    assert player.evaluate(JUMP) == 1

    page.goto(page.url.split("/notebooks")[0])
    new_notebook(page, "Rivers")
    page.locator("summary", has_text="From the library").click()
    expect(page.locator(".pick")).to_have_count(2)
    page.locator(".picker input").fill("bri")
    expect(page.locator(".pick")).to_have_count(1)
    page.get_by_label("bridge.txt").check()
    page.locator(".picks").get_by_role("button", name="Add").click()
    added(page, ["bridge.txt"])

    page.get_by_role("link", name="Library").click()
    entry = page.locator(".entry", has_text="bridge.txt")
    expect(entry).to_contain_text("Bridges")
    expect(entry).to_contain_text("Rivers")
    page.get_by_role("textbox").fill("bridge")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".entry")).to_have_count(1)
    entry.locator(".menu > summary").click()
    entry.get_by_text("Delete from the library").click()
    expect(entry).to_contain_text("It vanishes from: Bridges, Rivers.")
    entry.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator(".entry")).to_have_count(1)
    expect(page.locator(".entry")).to_contain_text("talk.wav")
    page.goto(bridges)
    expect(page.locator(".source")).to_have_count(1)
