"""Sources: what a person puts in, its kinds, and how far reading it has come."""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from domain.chunking import UNSPACED
from domain.errors import Problem, Rejected
from domain.ids import SourceId, UserId, VersionId
from domain.passage import Passage
from domain.summary import Summary
from domain.web_address import name_in

_UNSPACED = re.compile(f"[{UNSPACED}][{UNSPACED}]*")  # so the engine skips to the first
_UNSPACED_PER_WORD = 2
_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_KEY = re.compile(
    f"(?P<owner>{_UUID})/(?:(?P<sha256>[0-9a-f]{{64}})(?:\\.mp3)?"
    f"|pad-(?P<source>{_UUID})|document-(?P<document>{_UUID})|export-(?P<export>{_UUID})-[-0-9]+)"
)


class SourceKind(StrEnum):
    """How a source's bytes are read; decided from the bytes, never from the file's name."""

    PDF = "pdf"
    TEXT = "text"
    MARKDOWN = "markdown"
    URL = "url"
    """A web page: HTML that was fetched, or an address that was not fetched yet."""
    HTML = "html"
    DOCX = "docx"
    PPTX = "pptx"
    XLSX = "xlsx"
    CSV = "csv"
    EPUB = "epub"
    IMAGE = "image"
    AUDIO = "audio"
    GENERATED = "generated"
    """A document that was made from other sources here; nobody uploads one."""


class CaptureMode(StrEnum):
    """How the pages of a PDF are read."""

    TEXT = "text"
    """The text layer alone."""
    VISION = "vision"
    """Pictures of all pages, each read by a vision model."""
    AUTO = "auto"
    """The text layer where a page has a legible one, pictures of the other pages."""


def capture_mode(name: object) -> CaptureMode:
    """The mode of that name.

    Raises:
        Rejected: there is no such mode.
    """
    try:
        return CaptureMode(str(name))
    except ValueError:
        raise Rejected("pdf_capture is auto, text or vision.") from None


class SourceStatus(StrEnum):
    """Where a source stands."""

    QUEUED = "queued"
    PROCESSING = "processing"
    READY = "ready"
    FAILED = "failed"


class Stage(StrEnum):
    """What is being done to a source that is processing."""

    READING = "reading"
    TRANSCRIBING = "transcribing"
    LISTENING = "listening"
    EMBEDDING = "embedding"


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` pages (reading, transcribing), seconds (listening), chunks (embedding)."""

    stage: Stage
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class SkippedPage:
    """A page that gave no passage, or not its real content, and why, in one clause for a person."""

    page: int
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader got out of a file.

    Args:
        passages: in order; never empty.
        pages: pages of the file; None where its kind has none.
        skipped: pages without a usable text, in order.
        title: the title the file gives itself, "" where it gives none.
    """

    passages: tuple[Passage, ...]
    pages: int | None
    skipped: tuple[SkippedPage, ...] = ()
    title: str = ""

    @property
    def words(self) -> int:
        """Words of all passages, split at white space.

        Where a script puts none between words (Han, kana, Thai ...), two characters are a word.
        """
        return sum(count_words(passage.text) for passage in self.passages)


def count_words(text: str) -> int:
    """Words at white space; of scripts that put none between them, two characters are one."""
    if text.isascii():
        return len(text.split())
    spaced = _UNSPACED.sub("", text)
    return len(spaced.split()) + -(-(len(text) - len(spaced)) // _UNSPACED_PER_WORD)


@dataclass(frozen=True, slots=True)
class Source:
    """One entry of a person's library."""

    id: SourceId
    owner_id: UserId
    kind: SourceKind
    title: str
    name: str
    """The file's name as uploaded."""
    sha256: bytes
    capture_mode: CaptureMode
    media_type: str
    bytes: int
    status: SourceStatus
    progress: Progress | None
    error: Problem | None
    """Why it failed and what to do."""
    attempt: int
    """Fences writes: only the newest attempt may write."""
    version_id: VersionId | None
    """The version that questions read; None until one is ready."""
    language: str
    pages: int | None
    words: int | None
    chunk_count: int
    skipped: tuple[SkippedPage, ...]
    created_at: datetime
    url: str | None = None
    """The address of a web page, which it is known by; None for what was uploaded."""
    summary: Summary | None = None
    """Of the version that questions read; None while it is not made. No question reads it."""

    @property
    def blob_key(self) -> str:
        """Where its bytes are kept."""
        return blob_key(self.owner_id, self.sha256)

    @property
    def mp3_key(self) -> str:
        """Where a recording is kept that was converted to be transcribed."""
        return mp3_key(self.owner_id, self.sha256)

    @property
    def file_name(self) -> str:
        """What it is called when it is downloaded: no address."""
        if self.url is None:
            return self.name
        name = name_in(self.url)
        return f"{name}.html" if self.kind is SourceKind.URL and "." not in name else name

    @property
    def pad_key(self) -> str:
        """Where the pad is kept that its password is sealed with, for one run."""
        return f"{self.owner_id}/pad-{self.id}"


def blob_key(owner_id: UserId, sha256: bytes) -> str:
    """The storage key of a file: prefixed by its owner, named by its content."""
    return f"{owner_id}/{sha256.hex()}"


@dataclass(frozen=True, slots=True)
class StoredFile:
    """What a storage key was made for.

    Args:
        sha256: of the file that it is, or that it was made of; None: it belongs to a row.
        row_id: the source whose pad it is, the document whose file, or the export whose part.
    """

    key: str
    owner_id: UserId
    sha256: bytes | None = None
    row_id: UUID | None = None


def stored_file(key: str) -> StoredFile | None:
    """What a key stands for; None where it is none of ours."""
    found = _KEY.fullmatch(key)
    if found is None:
        return None
    owner_id = UserId(UUID(found["owner"]))
    if found["sha256"]:
        return StoredFile(key, owner_id, bytes.fromhex(found["sha256"]))
    return StoredFile(
        key, owner_id, row_id=UUID(found["source"] or found["document"] or found["export"])
    )


def mp3_key(owner_id: UserId, sha256: bytes) -> str:
    """The storage key of what was made of a recording: it goes where its file goes."""
    return f"{blob_key(owner_id, sha256)}.mp3"
