"""Notebooks and sources as the JSON API has them."""

from datetime import datetime
from uuid import UUID

import msgspec

from domain.notebook import Notebook
from domain.passage import Passage
from domain.source import Source, SourceKind, SourceStatus, Stage
from domain.summary import SummaryKind


class NotebookIn(msgspec.Struct, forbid_unknown_fields=True):
    """A new notebook."""

    title: str
    language: str = ""


class NotebookChange(msgspec.Struct, forbid_unknown_fields=True):
    """What to change."""

    title: str | None = None
    language: str | None = None


class NotebookOut(msgspec.Struct):
    """A notebook; `role` is yours there: owner, ask or read."""

    id: UUID
    title: str
    language: str
    source_count: int
    ready_count: int
    chunk_count: int
    created_at: datetime
    role: str
    owner: str

    @classmethod
    def of(cls, notebook: Notebook) -> "NotebookOut":
        """From the domain."""
        return cls(
            id=notebook.id,
            title=notebook.title,
            language=notebook.language,
            source_count=notebook.source_count,
            ready_count=notebook.ready_count,
            chunk_count=notebook.chunk_count,
            created_at=notebook.created_at,
            role=notebook.role.value,
            owner=notebook.owner,
        )


class SourceIn(msgspec.Struct, forbid_unknown_fields=True):
    """One of: a web page, a text with its title, or an entry of the library."""

    title: str = ""
    text: str | None = None
    source_id: str | None = None
    url: str | None = None


class RetryIn(msgspec.Struct, forbid_unknown_fields=True):
    """How to read a source again."""

    password: str = ""


class ProgressOut(msgspec.Struct):
    """`done` of `total` pages (stage reading, transcribing), seconds (listening) or chunks.

    `total` is 0 where nothing is counted yet. Before and after the work, `stage` is the status.
    """

    stage: str
    done: int
    total: int

    @classmethod
    def of(cls, source: Source) -> "ProgressOut":
        """From the domain."""
        if progress := source.progress:
            return cls(progress.stage.value, progress.done, progress.total)
        at_work = source.status is SourceStatus.PROCESSING
        stage = Stage.READING.value if at_work else source.status.value
        return cls(stage, source.chunk_count, source.chunk_count)


class SkippedOut(msgspec.Struct):
    """A page that gave no text, and why."""

    page: int
    reason: str


class SourceOut(msgspec.Struct):
    """A source; `pdf_capture` is how a PDF was read, null for other kinds."""

    id: UUID
    kind: str
    title: str
    name: str
    status: str
    progress: ProgressOut
    error: str | None
    error_code: str | None
    language: str
    pages: int | None
    words: int | None
    chunk_count: int
    skipped: list[SkippedOut]
    summary: str | None
    summary_kind: str | None
    summary_problem: str | None
    bytes: int
    media_type: str
    pdf_capture: str | None
    url: str | None
    created_at: datetime

    @classmethod
    def of(cls, source: Source) -> "SourceOut":
        """From the domain."""
        error, summary = source.error, source.summary
        why_none = summary.text if summary and summary.kind is SummaryKind.NONE else None
        return cls(
            id=source.id,
            kind=source.kind.value,
            title=source.title,
            name=source.name,
            status=source.status.value,
            progress=ProgressOut.of(source),
            error=error.detail if error else None,
            error_code=error.code if error else None,
            language=source.language,
            pages=source.pages,
            words=source.words,
            chunk_count=source.chunk_count,
            skipped=[SkippedOut(page.page, page.reason) for page in source.skipped],
            summary=summary.text if summary and not why_none else None,
            summary_kind=summary.kind.value if summary and not why_none else None,
            summary_problem=why_none,
            bytes=source.bytes,
            media_type=source.media_type,
            pdf_capture=source.capture_mode.value if source.kind is SourceKind.PDF else None,
            url=source.url,
            created_at=source.created_at,
        )


class PassageOut(msgspec.Struct):
    """A page's text; `page` is null where the kind has no pages.

    `label` is what the page is called: a sheet, a slide, a chapter.
    """

    page: int | None
    text: str
    label: str

    @classmethod
    def of(cls, passage: Passage) -> "PassageOut":
        """From the domain."""
        return cls(passage.page, passage.text, passage.label)


class PlaceOut(msgspec.Struct):
    """A notebook that has a source."""

    id: UUID
    title: str


class BoxOut(msgspec.Struct):
    """A rectangle, as fractions of the page."""

    left: float
    top: float
    width: float
    height: float
