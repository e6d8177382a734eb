"""The `Reader` port: files in, passages out, through a process of their own."""

from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from time import monotonic
from typing import TypeVar

from adapters.extraction import wire
from adapters.extraction.kinds import kind_of
from adapters.extraction.pdf_process import Crashed, PdfProcesses
from domain.errors import Unreadable
from domain.legibility import Verdict
from domain.passage import Heading, Passage
from domain.ports import Box
from domain.source import CaptureMode, Reading, SkippedPage, SourceKind

_Read = TypeVar("_Read")

_REPORT_S = 0.5
_WIDEST_PX = 4_000

_REASONS: dict[str, str] = {
    Verdict.EMPTY: "has no text layer",
    Verdict.CODES: "has a text layer of symbols or glyph codes, not of letters",
    Verdict.GARBLED: "has a text layer whose letters are scrambled",
    "form": (
        "is only the placeholder of a dynamic form (XFA): to read its content, open it in Adobe"
        " Reader, print it to a new PDF, and upload that"
    ),
    "broken": "cannot be opened",
}
_WAYS_OUT: dict[str, str] = {
    Verdict.EMPTY: (
        "This PDF looks scanned, drawn or blank; reading pictures of pages is not available in"
        f' capture mode "{CaptureMode.TEXT}". Upload a version with a text layer (run text'
        " recognition on a scan first)."
    ),
    Verdict.CODES: (
        f'Capture mode "{CaptureMode.TEXT}" reads the text layer alone, and this one holds symbols'
        " or glyph codes in place of letters. Upload a version made by its original program, or"
        " run text recognition on it first."
    ),
    Verdict.GARBLED: (
        f'Capture mode "{CaptureMode.TEXT}" reads the text layer alone, and in this one the letters'
        " are scrambled, however right the page looks. Upload a version made by its original"
        " program, or run text recognition on it first."
    ),
    "broken": (
        "This PDF is damaged; capture mode"
        f' "{CaptureMode.TEXT}" finds nothing to read. Save it anew in another program and upload'
        " that."
    ),
}


class FileReader:
    """Reads PDF, text and Markdown.

    Args:
        processes: where files are opened; ended by `aclose`.
    """

    def __init__(self, processes: PdfProcesses | None = None) -> None:
        self._processes = processes or PdfProcesses()

    def kind_of(self, head: bytes, name: str) -> SourceKind:
        """See `Reader.kind_of`."""
        return kind_of(head, name)

    async def read(
        self,
        content: bytes,
        kind: SourceKind,
        *,
        on_page: Callable[[int, int], Awaitable[None]],
    ) -> Reading:
        """See `Reader.read`. A process that is lost is replaced once."""
        if not content:
            raise Unreadable("This file is empty: it has 0 bytes.")
        if kind is SourceKind.PDF:
            return await self._again(lambda: self._pdf(content, on_page))
        return await self._again(lambda: self._text(content, kind))

    async def page_image(self, content: bytes, page: int, *, width_px: int) -> bytes:
        """See `Reader.page_image`."""
        width_px = min(max(width_px, 1), _WIDEST_PX)
        reply = await self._again(lambda: self._one(wire.Draw(content, page, width_px)))
        assert isinstance(reply, wire.Drawing)  # noqa: S101 - the process's own protocol
        return reply.png

    async def highlights(self, content: bytes, page: int, start: int, end: int) -> list[Box]:
        """See `Reader.highlights`. Nothing where the page could be read, but not by PDFium."""
        reply = await self._again(lambda: self._one(wire.Locate(content, page, start, end)))
        assert isinstance(reply, wire.Places)  # noqa: S101 - the process's own protocol
        return [Box(*box) for box in reply.boxes]

    async def aclose(self) -> None:
        """End the reading processes."""
        await self._processes.aclose()

    async def _again(self, attempt: Callable[[], Awaitable[_Read]]) -> _Read:
        """What `attempt` returns; where its process was lost, what a second one does."""
        try:
            return await attempt()
        except Crashed as first:
            if first.for_good:
                raise first.verdict() from first
            try:
                return await attempt()
            except Crashed as again:
                raise again.verdict() from again

    async def _one(self, request: wire.Request) -> wire.Reply:
        async with aclosing(self._processes.ask(request)) as replies:
            *_, last = [reply async for reply in replies]
            return last

    async def _text(self, content: bytes, kind: SourceKind) -> Reading:
        markdown = kind is SourceKind.MARKDOWN
        reply = await self._one(wire.ReadText(content, markdown))
        assert isinstance(reply, wire.WholeText)  # noqa: S101 - the process's own protocol
        headings = tuple(Heading(start, tuple(path)) for start, path in reply.headings)
        title = headings[0].path[0] if headings else ""
        return Reading((Passage(0, None, reply.text, headings=headings),), None, title=title)

    async def _pdf(self, content: bytes, on_page: Callable[[int, int], Awaitable[None]]) -> Reading:
        passages: list[Passage] = []
        skipped: list[SkippedPage] = []
        problems: Counter[str] = Counter()
        reported, pages, title = monotonic(), 0, ""
        async with aclosing(self._processes.ask(wire.ReadPdf(content))) as replies:
            async for reply in replies:
                if isinstance(reply, wire.Done):
                    pages, title = reply.pages, reply.title
                if not isinstance(reply, wire.Pages):
                    continue
                for page in reply.pages:
                    if page.problem:
                        problems[page.problem] += 1
                        skipped.append(SkippedPage(page.page, _REASONS[page.problem]))
                    if page.text:
                        passages.append(Passage(len(passages), page.page, page.text))
                if monotonic() - reported >= _REPORT_S:
                    await on_page(reply.pages[-1].page, reply.total)
                    reported = monotonic()
        if not passages:
            raise Unreadable(_nothing(pages, problems))
        return Reading(tuple(passages), pages, tuple(skipped), title)


def _nothing(pages: int, problems: Counter[str]) -> str:
    """Why a PDF gave no text at all, and the way out."""
    worst = problems.most_common(1)[0][0]
    what = "text layer" if problems.keys() == {Verdict.EMPTY} else "legible text layer"
    head = (
        f"Its one page has no {what}" if pages == 1 else f"None of its {pages} pages has a {what}"
    )
    return f"{head}. {_WAYS_OUT[worst]}"
