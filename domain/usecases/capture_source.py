"""Bytes -> passages, by the kind of the source."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from domain.capture import Attempt, require_few_words
from domain.errors import ModelRefused, NotFound, NotSetUp, TooLarge, Unreadable
from domain.fetch import charset_of
from domain.fetching import FetchPage
from domain.hearing import Hearing
from domain.parallel import run_each
from domain.passage import Passage
from domain.pdf_capture import PdfText, composed, pages_to_see
from domain.ports import BlobStore, Picture, Reader, Seen
from domain.sealed import unseal
from domain.sight import Sight
from domain.source import CaptureMode, Progress, Reading, SkippedPage, Source, SourceKind, Stage
from domain.stores import Stores, UnitOfWork
from domain.transcript import Transcript

_PICTURES_AT_ONCE = 8
_IMAGE_PIXELS = 4_000_000
_NO_EYES = (
    "Nothing here reads images: set INFERENCE_API_KEY or VISION_BASE_URL for a vision model, or"
    " install tesseract-ocr, and press Retry."
)
_WITHOUT = 'To do without pictures, add the file again in capture mode "text".'
_NOTHING_SEEN = (
    "There is no text in this image that can be read, and no description of it could be made."
    " Upload a sharper one, or have it read by another vision model (VISION_MODEL)."
)


@dataclass(frozen=True, slots=True)
class CaptureSource:
    """The `Capture` port: each kind is read by what can read it.

    Args:
        fetch: gets what is behind an address.
        sight: reads pictures; None where nothing here does.
        hearing: reads recordings.
        max_words: of a source.
    """

    uow: UnitOfWork
    blobs: BlobStore
    reader: Reader
    fetch: FetchPage
    sight: Sight | None
    hearing: Hearing
    max_words: int

    async def __call__(self, attempt: Attempt) -> Reading:
        """See `Capture`."""
        if attempt.source.url is not None:
            attempt = replace(attempt, source=await self.fetch(attempt))
        if attempt.source.kind is SourceKind.AUDIO:
            return await self.hearing(attempt)
        content = await self.blobs.get(attempt.source.blob_key)
        return await self._file(attempt, content, attempt.source.kind)

    async def adopt(self, tx: Stores, source: Source) -> None:
        """See `Capture.adopt`."""
        if source.url is not None:
            await self.fetch.adopt(tx, source)

    async def end(self, source: Source) -> None:
        """See `Capture.end`."""
        if source.kind is SourceKind.PDF or source.url is not None:
            await self.blobs.delete(source.pad_key)

    async def _file(self, attempt: Attempt, content: bytes, kind: SourceKind) -> Reading:
        match kind:
            case SourceKind.PDF:
                return await self._pdf(attempt, content)
            case SourceKind.IMAGE:
                return await self._image(attempt, content)
            case _:
                charset = charset_of(attempt.source.media_type)
                return await self.reader.read(content, kind, charset=charset)

    async def _pdf(self, attempt: Attempt, content: bytes) -> Reading:
        async def on_page(done: int, total: int) -> None:
            await attempt.show(Progress(Stage.READING, done, total))

        mode, password = attempt.source.capture_mode, await self._password(attempt.source)
        pdf = await self.reader.pdf_text(content, password, on_page=on_page)
        wanted = pages_to_see(pdf, mode) if self.sight else []
        if self.sight and wanted:
            most_words = self.max_words if attempt.most_words is None else attempt.most_words
            _require_few(pdf, wanted, mode, self.sight.most_pages, most_words)
        transcripts = await self._pages_seen(attempt, content, password, wanted)
        return composed(pdf, mode, transcripts, sees=self.sight is not None)

    async def _pages_seen(
        self, attempt: Attempt, content: bytes, password: str, wanted: Sequence[int]
    ) -> dict[int, Transcript | None]:
        """The transcripts of those pages; None for one that cannot be drawn."""
        sight = self.sight
        if sight is None or not wanted:
            return {}
        paid = await self._paid(attempt)
        seen: dict[int, Transcript | None] = {
            page: paid[key]
            for page in wanted
            if (key := attempt.key(sight.page_part(page))) in paid
        }
        await attempt.show(Progress(Stage.TRANSCRIBING, len(seen), len(wanted)))

        def one_more() -> Progress:
            return Progress(Stage.TRANSCRIBING, sum(map(bool, seen.values())) + 1, len(wanted))

        async def read(page: int, picture: Picture | None) -> None:
            seen[page] = None
            if picture is not None:
                part = sight.page_part(page)
                try:
                    seen[page] = await sight.read(attempt, part, picture, Seen.PAGE, one_more)
                except ModelRefused as error:
                    raise ModelRefused(f"Page {page}: {error.message} {_WITHOUT}") from error

        missing = [page for page in wanted if page not in seen]
        for start in range(0, len(missing), _PICTURES_AT_ONCE):
            pages = missing[start : start + _PICTURES_AT_ONCE]
            pictures = await self.reader.pdf_pictures(
                content, pages, password, dpi=sight.vision.dpi
            )
            await run_each(
                sight.gate,
                [partial(read, *drawn) for drawn in zip(pages, pictures, strict=True)],
            )
        return seen

    async def _image(self, attempt: Attempt, content: bytes) -> Reading:
        picture = await self.reader.picture(content, most_pixels=_IMAGE_PIXELS)
        sight = self.sight
        if sight is None:
            raise NotSetUp(_NO_EYES)
        transcript = (await self._paid(attempt)).get(attempt.key(sight.image_part))
        if transcript is None:
            whole = Progress(Stage.TRANSCRIBING, 1, 1)
            await attempt.show(replace(whole, done=0))
            async with sight.gate:
                transcript = await sight.read(
                    attempt, sight.image_part, picture, Seen.IMAGE, lambda: whole
                )
        if not transcript.text:
            problem = f" The image {transcript.problem}." if transcript.problem else ""
            raise Unreadable(f"{_NOTHING_SEEN}{problem}")
        skipped = (SkippedPage(1, transcript.problem),) if transcript.problem else ()
        passage = Passage(0, None, transcript.text, is_transcript=True)
        return Reading((passage,), None, skipped)

    async def _paid(self, attempt: Attempt) -> dict[str, Transcript]:
        async with self.uow() as tx:
            return await tx.transcripts.paid(attempt.source.id)

    async def _password(self, source: Source) -> str:
        """What a person entered for this run; "" where they entered nothing."""
        async with self.uow() as tx:
            sealed = await tx.sources.sealed_password(source.id)
        if sealed is None:
            return ""
        try:
            return unseal(sealed, await self.blobs.get(source.pad_key))
        except NotFound:  # killed while an earlier attempt ended: it is asked for again
            return ""


def _require_few(
    pdf: PdfText, wanted: Sequence[int], mode: CaptureMode, most_pages: int, most_words: int
) -> None:
    """Check every limit before any of it is paid for."""
    if len(wanted) > most_pages:
        raise TooLarge(
            f"{len(wanted):,} pages of this PDF would be read by a vision model (capture mode"
            f' "{mode}"); {most_pages:,} is the limit (PDF_VISION_MAX_PAGES). Split it, or add'
            ' it in capture mode "text".'
        )
    seen = set(wanted)
    layers = (page for page in pdf.pages if page.page not in seen)
    passages = tuple(Passage(page.page, page.page, page.text) for page in layers)
    require_few_words(Reading(passages, None).words, most_words)
