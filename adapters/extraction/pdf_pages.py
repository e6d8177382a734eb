"""A PDF's pages: PDFium reads, pypdf stands in where PDFium cannot. Runs in the child process."""

import re
from collections.abc import Iterator
from functools import cached_property
from io import BytesIO
from typing import Any, NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from adapters.extraction.titles import usable_title
from adapters.extraction.wire import PageText
from domain.errors import NotFound, PasswordNeeded, Unreadable
from domain.legibility import Verdict, judge
from domain.pdf_capture import MOST_PDF_PAGES
from domain.text_gate import clean_page

_LONGEST_PLACEHOLDER = 1_500
_PAGE_OBJECT = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_LOCKED = "This PDF is protected by a password. Enter it to have the file read."
_ANOTHER = (
    "This PDF is protected by a password, and not by the one that was entered. Enter it again."
)
_BROKEN = (
    "This PDF is broken: no page of it can be opened. Open it in another program, save it anew,"
    " and upload that."
)
_NO_PAGES = (
    "This PDF has no page that can be opened. Save it anew in another program and upload that."
)
_TOO_MANY = (
    "This PDF has more than {most:,} pages. At most {most:,} are read: split it and upload the"
    " parts."
)


class Loaded(NamedTuple):
    """A page that PDFium opened."""

    page: Any
    text_page: Any


class PdfFile:
    """An open PDF.

    Args:
        password: "" opens what asks nobody who reads for a password.

    Raises:
        PasswordNeeded: another password than this one opens it.
        Unreadable: broken, or with too many pages.
    """

    def __init__(self, content: bytes, password: str = "") -> None:
        self._content = content
        self._password = password
        self._pdfium = _opened(content, password)
        if self._pdfium is None and self._pypdf is None:
            raise Unreadable(_BROKEN)
        self.pages = self._count()

    def texts(self) -> Iterator[PageText]:
        """Every page's text in order; what cannot be opened is "broken"."""
        for number in range(1, self.pages + 1):
            raw = self.raw_text(number)
            yield self._judged(number, raw)

    def raw_text(self, number: int) -> str | None:
        """The text of a page (from 1) as its reader gives it; None where it cannot be opened."""
        try:
            with_page = self.load(number)
        except (NotFound, Unreadable):
            return self._pypdf_text(number)
        try:
            return str(with_page.text_page.get_text_range())
        finally:
            self.close(with_page)

    def load(self, number: int) -> Loaded:
        """A page (from 1), to be closed again.

        Raises:
            NotFound: the file has no such page.
            Unreadable: PDFium cannot open it.
        """
        if not 1 <= number <= self.pages:
            raise NotFound(f"This file has no page {number}.")
        if self._pdfium is None:
            raise Unreadable(f"Page {number} cannot be drawn.")
        try:
            page = self._pdfium[number - 1]
            return Loaded(page, page.get_textpage())
        except (pdfium.PdfiumError, IndexError) as error:
            raise Unreadable(f"Page {number} cannot be drawn.") from error

    def close(self, loaded: Loaded) -> None:
        """Free a page."""
        loaded.text_page.close()
        loaded.page.close()

    @property
    def title(self) -> str:
        """The title in the file's properties; "" where there is none worth the name."""
        if self._pdfium is not None:
            raw = self._pdfium.get_metadata_value("Title")
        else:
            raw = _quietly(lambda: self._pypdf.metadata.title) or ""
        return usable_title(raw)

    def _judged(self, number: int, raw: str | None) -> PageText:
        if raw is None:
            return PageText(number, "", "broken")
        verdict = judge(raw).verdict
        if verdict is not Verdict.LEGIBLE:
            return PageText(number, "", verdict.value)
        text = clean_page(raw)
        if not text.strip():
            return PageText(number, "", Verdict.EMPTY)
        if self._is_dynamic_form and len(text) < _LONGEST_PLACEHOLDER and "Adobe" in text:
            return PageText(number, text, "form")
        return PageText(number, text)

    @cached_property
    def _is_dynamic_form(self) -> bool:
        # Such a file's own pages only say "please wait"; the form is drawn from XFA.
        return (
            self._pdfium is not None and self._pdfium.get_formtype() == pdfium_c.FORMTYPE_XFA_FULL
        )

    @cached_property
    def _pypdf(self) -> Any:  # noqa: ANN401 - pypdf is imported only where PDFium fails
        return _opened_by_pypdf(self._content, self._password)

    def _pypdf_text(self, number: int) -> str | None:
        if self._pypdf is None:
            return None
        text = _quietly(lambda: str(self._pypdf.pages[number - 1].extract_text()))
        return None if text is None else str(text)

    def _count(self) -> int:
        """Pages that are there. What the file says is checked where it looks like a lie."""
        if self._pdfium is None:
            count = _quietly(lambda: len(self._pypdf.pages)) or 0
        else:
            count = len(self._pdfium)
            says_too_few = len(_PAGE_OBJECT.findall(self._content)) > count
            if says_too_few or not self._opens(count):
                by_pypdf = _quietly(lambda: len(self._pypdf.pages))
                count = by_pypdf or self._last_that_opens(count)
        if count > MOST_PDF_PAGES:
            raise Unreadable(_TOO_MANY.format(most=MOST_PDF_PAGES))
        if not count:
            raise Unreadable(_NO_PAGES)
        return count

    def _opens(self, number: int) -> bool:
        page = pdfium_c.FPDF_LoadPage(self._pdfium.raw, number - 1)
        if page:
            pdfium_c.FPDF_ClosePage(page)
        return bool(page)

    def _last_that_opens(self, count: int) -> int:
        reach = min(count, MOST_PDF_PAGES)
        return next((number for number in range(reach, 0, -1) if self._opens(number)), 0)


def _opened(content: bytes, password: str) -> Any:  # noqa: ANN401 - pypdfium2 has no types
    """The file as PDFium opens it; None where it cannot.

    Raises:
        PasswordNeeded: another password than this one opens it.
    """
    # The file may ask for none, whatever was entered.
    for attempt in dict.fromkeys(("", password)):
        try:
            return pdfium.PdfDocument(content, password=attempt or None)
        except pdfium.PdfiumError as error:
            if error.err_code != pdfium_c.FPDF_ERR_PASSWORD:
                return None
    if _opened_by_pypdf(content, password) is None:
        raise PasswordNeeded(_ANOTHER if password else _LOCKED)
    return None


def _opened_by_pypdf(content: bytes, password: str) -> Any:  # noqa: ANN401 - see PdfFile._pypdf
    """The file as pypdf opens it with that password; None where it does not."""
    return _quietly(lambda: _pypdf_reader(content, password))


def _pypdf_reader(content: bytes, password: str) -> Any:  # noqa: ANN401 - see PdfFile._pypdf
    from pypdf import PdfReader  # noqa: PLC0415 - takes a fifth of a second, seldom needed

    reader = PdfReader(BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(password):
        return None
    return reader if len(reader.pages) else None


def _quietly(attempt: Any) -> Any:  # noqa: ANN401 - whatever pypdf returns
    """What `attempt` returns; None where it raises: broken files make pypdf raise anything."""
    try:
        return attempt()
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - see above
        return None
