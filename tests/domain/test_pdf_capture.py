"""Which pages are seen, and what a PDF's passages are made of."""

import pytest

from domain.errors import TooLarge, Unreadable
from domain.pdf_capture import BROKEN, FORM, PdfPage, PdfText, composed, pages_to_see
from domain.source import CaptureMode
from domain.transcript import Transcript
from domain.usecases.capture_source import _require_few

LONG = "A text layer of more than twenty visible characters."
PDF = PdfText(
    (
        PdfPage(1, LONG),
        PdfPage(2, "", "empty"),
        PdfPage(3, "short one"),
        PdfPage(4, "", "garbled"),
        PdfPage(5, "Please open this in Adobe Reader.", FORM),
        PdfPage(6, "12 34 56 78 90 12 34 56 78 90"),
    ),
    "Title",
)
SEEN = {2: Transcript("Two."), 3: Transcript(""), 4: Transcript("Four", problem="was cut off")}


@pytest.mark.parametrize(
    ("mode", "pages"),
    [
        (CaptureMode.TEXT, []),
        (CaptureMode.AUTO, [2, 3, 4]),
        (CaptureMode.VISION, [1, 2, 3, 4, 5, 6]),
    ],
)
def test_which_pages_are_seen(mode: CaptureMode, pages: list[int]) -> None:
    assert pages_to_see(PDF, mode) == pages


def test_twenty_visible_characters_are_enough() -> None:
    pages = (PdfPage(1, "a " * 19), PdfPage(2, "a " * 20))
    assert pages_to_see(PdfText(pages), CaptureMode.AUTO) == [1]


def test_pages_and_words_beyond_their_limits_are_refused_before_a_picture_is_read() -> None:
    layers = PdfText((PdfPage(1, "eight words " * 4), PdfPage(2, "more words " * 50)))
    _require_few(layers, [2], CaptureMode.AUTO, 1, 8)
    with pytest.raises(TooLarge, match="8 words; 7 is the limit"):
        _require_few(layers, [2], CaptureMode.AUTO, 1, 7)
    with pytest.raises(TooLarge, match="PDF_VISION_MAX_PAGES"):
        _require_few(layers, [1, 2], CaptureMode.VISION, 1, 1_000)


def test_auto_takes_the_layer_where_it_is_legible_and_the_picture_elsewhere() -> None:
    reading = composed(PDF, CaptureMode.AUTO, SEEN, sees=True)
    assert [(p.page, p.text, p.is_transcript) for p in reading.passages] == [
        (1, LONG, False),
        (2, "Two.", True),
        (3, "short one", False),
        (4, "Four", True),
        (5, PDF.pages[4].text, False),
        (6, PDF.pages[5].text, False),
    ]
    assert [page.page for page in reading.skipped] == [4, 5]
    assert (reading.pages, reading.title) == (6, "Title")
    assert [p.ordinal for p in reading.passages] == list(range(6))


def test_a_short_layer_stays_where_its_picture_shows_no_more() -> None:
    pdf = PdfText((PdfPage(1, "あいうえお"), PdfPage(2, "Page 2")))
    seen = {1: Transcript("HWS 7"), 2: Transcript("Page 2 tells a story.")}
    reading = composed(pdf, CaptureMode.AUTO, seen, sees=True)
    assert [(p.text, p.is_transcript) for p in reading.passages] == [
        ("あいうえお", False),
        ("Page 2 tells a story.", True),
    ]


def test_text_keeps_short_pages_and_names_what_it_skips() -> None:
    reading = composed(PDF, CaptureMode.TEXT, {}, sees=True)
    assert [passage.page for passage in reading.passages] == [1, 3, 5, 6]
    assert [page.page for page in reading.skipped] == [2, 4, 5]


def test_auto_without_eyes_names_the_pages_it_cannot_see() -> None:
    reading = composed(PDF, CaptureMode.AUTO, {}, sees=False)
    assert [passage.page for passage in reading.passages] == [1, 3, 5, 6]
    assert [page.page for page in reading.skipped] == [2, 4, 5]


def test_vision_leaves_the_layer_aside() -> None:
    seen = {1: Transcript("One."), 2: Transcript(""), 3: None}
    pdf = PdfText(PDF.pages[:3])
    reading = composed(pdf, CaptureMode.VISION, seen, sees=True)
    assert [(p.page, p.text) for p in reading.passages] == [(1, "One.")]
    assert [(page.page, "nothing" in page.reason) for page in reading.skipped] == [
        (2, True),
        (3, False),
    ]


@pytest.mark.parametrize(
    ("problem", "mode", "seen", "sees", "told"),
    [
        ("empty", CaptureMode.TEXT, {}, True, r'no text layer.*"text".*"auto".*"vision"'),
        ("garbled", CaptureMode.TEXT, {}, True, r'no legible text layer.*scrambled.*"text"'),
        ("codes", CaptureMode.TEXT, {}, False, "codes"),
        ("empty", CaptureMode.AUTO, {}, False, '"auto".*nothing here reads pictures: set'),
        ("", CaptureMode.VISION, {}, False, '"vision".*nothing here reads pictures: set'),
        ("empty", CaptureMode.AUTO, {1: Transcript("")}, True, "shows no text that can be read"),
        (
            *("empty", CaptureMode.AUTO, {1: Transcript("", problem="was refused")}, True),
            r"\(one was refused\)",
        ),
        (BROKEN, CaptureMode.AUTO, {1: None}, True, "cannot be opened.*damaged"),
    ],
)
def test_a_pdf_without_any_text_fails_and_names_the_way_out(
    problem: str,
    mode: CaptureMode,
    seen: dict[int, Transcript | None],
    sees: bool,  # noqa: FBT001 - a case of the table
    told: str,
) -> None:
    with pytest.raises(Unreadable, match=told):
        composed(PdfText((PdfPage(1, "", problem),)), mode, seen, sees=sees)
