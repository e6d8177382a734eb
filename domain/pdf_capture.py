"""A PDF's pages from its text layer, from pictures of its pages, or from both."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from domain.errors import NotSetUp, Unreadable
from domain.legibility import Verdict
from domain.passage import Passage
from domain.source import CaptureMode, Reading, SkippedPage
from domain.transcript import Transcript

MOST_PDF_PAGES = 2_000
"""In every capture mode."""
FEWEST_VISIBLE = 20
"""Visible characters of a page that `auto` leaves to its text layer."""
BROKEN, FORM = "broken", "form"
"""Problems besides a `Verdict`: the page cannot be opened; its text is only a placeholder."""

_REASONS: dict[str, str] = {
    Verdict.EMPTY: "has no text layer",
    Verdict.CODES: "has a text layer of symbols or glyph codes, not of letters",
    Verdict.GARBLED: "has a text layer whose letters are scrambled",
    FORM: (
        "is only the placeholder of a dynamic form (XFA): to read its content, open it in Adobe"
        " Reader, print it to a new PDF, and upload that"
    ),
    BROKEN: "cannot be opened",
}
_BLANK = "shows nothing that can be read"
_ADD_AGAIN = (
    'Capture mode "{mode}" reads the text layer alone: add the file again in capture mode "auto" or'
    ' "vision", or run text recognition on it first.'
)
_NO_EYES = (
    'Capture mode "{mode}" has pictures of pages read, and nothing here reads pictures: set'
    " INFERENCE_API_KEY or VISION_BASE_URL, or install tesseract-ocr; or upload a version with a"
    " text layer."
)
_WAYS_OUT: dict[str, str] = {
    Verdict.EMPTY: "This PDF looks scanned, drawn or blank.",
    Verdict.CODES: "Its text layer holds symbols or glyph codes in place of letters.",
    Verdict.GARBLED: "The letters of its text layer are scrambled, however right the page looks.",
}
_DAMAGED = (
    'This PDF is damaged; capture mode "{mode}" finds nothing to read. Save it anew in another'
    " program and upload that."
)
_NOTHING_SEEN = (
    'Capture mode "{mode}" had pictures of them read. Check that the text stands upright and sharp,'
    " and upload a better scan."
)


@dataclass(frozen=True, slots=True)
class PdfPage:
    """A page and what its text layer says.

    Args:
        page: from 1.
        text: of the layer, through the gate.
        problem: a `Verdict` or BROKEN (then there is no text), or FORM; "" where all is well.
    """

    page: int
    text: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class PdfText:
    """The text layer of a whole file, every page of it, and the title the file gives itself."""

    pages: tuple[PdfPage, ...]
    title: str = ""


def pages_to_see(pdf: PdfText, mode: CaptureMode) -> list[int]:
    """The pages that a picture of theirs is needed of."""
    match mode:
        case CaptureMode.TEXT:
            return []
        case CaptureMode.VISION:
            return [page.page for page in pdf.pages]
        case CaptureMode.AUTO:
            return [page.page for page in pdf.pages if _is_poor(page)]


def _is_poor(page: PdfPage) -> bool:
    if page.problem:
        return page.problem != FORM
    return _visible(page.text) < FEWEST_VISIBLE


def _visible(text: str) -> int:
    return sum(not character.isspace() for character in text)


def composed(
    pdf: PdfText,
    mode: CaptureMode,
    transcripts: Mapping[int, Transcript | None],
    *,
    sees: bool,
) -> Reading:
    """The passages of a file, each page from its transcript where it has one.

    Args:
        transcripts: by page; None where no picture of the page can be made.
        sees: whether there is anything that reads pictures.

    Raises:
        Unreadable: nothing was read at all; the message names the mode and the way out.
        NotSetUp: likewise, because nothing here reads pictures.
    """
    passages: list[Passage] = []
    skipped: list[SkippedPage] = []
    for page in pdf.pages:
        transcript = transcripts.get(page.page)
        text = page.text if mode is not CaptureMode.VISION else ""
        seen = transcript.text if transcript is not None else ""
        # A short layer stays where the picture shows no more: its places and letters are sure.
        if _visible(seen) <= _visible(text):
            seen = ""
        text = seen or text
        if reason := _reason(page, mode, transcript, is_text=bool(text)):
            skipped.append(SkippedPage(page.page, reason))
        if text:
            passages.append(Passage(len(passages), page.page, text, is_transcript=bool(seen)))
    if not passages:
        raise _nothing(pdf, mode, transcripts, sees=sees)
    return Reading(tuple(passages), len(pdf.pages), tuple(skipped), pdf.title)


def _reason(
    page: PdfPage, mode: CaptureMode, transcript: Transcript | None, *, is_text: bool
) -> str:
    """Why a page is not there, or not as it should be; "" where all is well."""
    if transcript is not None:
        return transcript.problem or ("" if is_text else _BLANK)
    if mode is CaptureMode.VISION:
        return _REASONS[BROKEN]
    return _REASONS[page.problem] if page.problem else ""


def _nothing(
    pdf: PdfText, mode: CaptureMode, transcripts: Mapping[int, Transcript | None], *, sees: bool
) -> Unreadable:
    """Why a PDF gave no text at all, and the way out."""
    count = len(pdf.pages)
    none = "Its one page" if count == 1 else f"None of its {count} pages"
    read = [transcript for transcript in transcripts.values() if transcript is not None]
    if read:
        shows = "shows no text" if count == 1 else "shows any text"
        problem = next((f" (one {t.problem})" for t in read if t.problem), "")
        told = _NOTHING_SEEN.format(mode=mode.value)
        return Unreadable(f"{none} {shows} that can be read{problem}. {told}")
    if mode is CaptureMode.VISION and not sees:
        return NotSetUp(_NO_EYES.format(mode=mode.value))
    problems = Counter(page.problem for page in pdf.pages if page.problem)
    worst = problems.most_common(1)[0][0] if problems else BROKEN
    if worst == BROKEN or (sees and mode is not CaptureMode.TEXT):
        opened = "cannot be opened" if count == 1 else "can be opened"
        return Unreadable(f"{none} {opened}. {_DAMAGED.format(mode=mode.value)}")
    layer = "text layer" if problems.keys() == {Verdict.EMPTY} else "legible text layer"
    has = f"has no {layer}" if count == 1 else f"has a {layer}"
    told = f"{none} {has}. {_WAYS_OUT[worst]}"
    if mode is CaptureMode.TEXT:
        return Unreadable(f"{told} {_ADD_AGAIN.format(mode=mode.value)}")
    return NotSetUp(f"{told} {_NO_EYES.format(mode=mode.value)}")
