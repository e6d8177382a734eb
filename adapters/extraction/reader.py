"""The `Reader` port: files in, passages out, through a process of their own."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from time import monotonic
from typing import TypeVar

from adapters.extraction import wire
from adapters.extraction.kinds import kind_of
from adapters.extraction.pdf_process import Crashed, PdfProcesses
from domain.errors import PasswordNeeded, Unreadable
from domain.passage import Heading, Passage
from domain.pdf_capture import PdfPage, PdfText
from domain.ports import Box, Picture
from domain.source import Reading, SkippedPage, SourceKind

_Read = TypeVar("_Read")

_REPORT_S = 0.5
_WIDEST_PX = 4_000

_NO_TEXT = "holds no text"


class FileReader:
    """Reads PDF, text, HTML, office files and books.

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
        charset: str = "",
    ) -> Reading:
        """See `Reader.read`. A process that is lost is replaced once."""
        _require_bytes(content)
        if kind in {SourceKind.TEXT, SourceKind.MARKDOWN, SourceKind.GENERATED}:
            return await self._again(lambda: self._text(content, kind, charset))
        return await self._again(lambda: self._document(content, kind, charset))

    async def pdf_text(
        self,
        content: bytes,
        password: str = "",
        *,
        on_page: Callable[[int, int], Awaitable[None]],
    ) -> PdfText:
        """See `Reader.pdf_text`."""
        _require_bytes(content)
        return await self._again(lambda: self._pdf(content, password, on_page))

    async def pdf_pictures(
        self, content: bytes, pages: Sequence[int], password: str = "", *, dpi: int
    ) -> list[Picture | None]:
        """See `Reader.pdf_pictures`. A page that ends its process costs the others nothing."""
        try:
            return await self._pictures(wire.DrawPages(content, list(pages), dpi, password))
        except PasswordNeeded:
            raise
        except Unreadable:
            if len(pages) == 1:
                return [None]
        alone = [await self.pdf_pictures(content, [page], password, dpi=dpi) for page in pages]
        return [picture for [picture] in alone]

    async def picture(self, content: bytes, *, most_pixels: int) -> Picture:
        """See `Reader.picture`."""
        _require_bytes(content)
        [picture] = await self._pictures(wire.ReadPicture(content, most_pixels))
        assert picture is not None  # noqa: S101 - the process's own protocol
        return picture

    async def _pictures(self, request: wire.Request) -> list[Picture | None]:
        reply = await self._again(lambda: self._one(request))
        assert isinstance(reply, wire.Pictures)  # noqa: S101 - the process's own protocol
        return [
            None if one is None else Picture(one.content, one.media_type, one.width, one.height)
            for one in reply.pictures
        ]

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

    async def _text(self, content: bytes, kind: SourceKind, charset: str) -> Reading:
        markdown = kind is not SourceKind.TEXT
        reply = await self._one(wire.ReadText(content, markdown, charset))
        assert isinstance(reply, wire.WholeText)  # noqa: S101 - the process's own protocol
        headings = tuple(Heading(start, tuple(path)) for start, path in reply.headings)
        title = headings[0].path[0] if headings else ""
        return Reading((Passage(0, None, reply.text, headings=headings),), None, title=title)

    async def _document(self, content: bytes, kind: SourceKind, charset: str) -> Reading:
        reply = await self._one(wire.ReadDocument(content, kind.value, charset))
        assert isinstance(reply, wire.Document)  # noqa: S101 - the process's own protocol
        passages: list[Passage] = []
        skipped: list[SkippedPage] = []
        for number, part in enumerate(reply.parts, start=1):
            page = number if reply.paged else None
            if part.text.strip():
                headings = tuple(Heading(start, tuple(path)) for start, path in part.headings)
                passages.append(
                    Passage(len(passages), page, part.text, headings=headings, label=part.label)
                )
            elif page is not None:
                skipped.append(SkippedPage(page, _NO_TEXT))
        pages = len(reply.parts) if reply.paged else None
        return Reading(tuple(passages), pages, tuple(skipped), reply.title)

    async def _pdf(
        self, content: bytes, password: str, on_page: Callable[[int, int], Awaitable[None]]
    ) -> PdfText:
        found: list[PdfPage] = []
        reported, title = monotonic(), ""
        async with aclosing(self._processes.ask(wire.ReadPdf(content, password))) as replies:
            async for reply in replies:
                if isinstance(reply, wire.Done):
                    title = reply.title
                if not isinstance(reply, wire.Pages):
                    continue
                found += (PdfPage(page.page, page.text, page.problem) for page in reply.pages)
                if monotonic() - reported >= _REPORT_S:
                    await on_page(reply.pages[-1].page, reply.total)
                    reported = monotonic()
        return PdfText(tuple(found), title)


def _require_bytes(content: bytes) -> None:
    if not content:
        raise Unreadable("This file is empty: it has 0 bytes.")
