"""Passages and chunks: what a source's text is made of, and what a citation points at."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a passage.

    Args:
        start: code point where it begins.
        path: itself and the headings above it, outermost first.
    """

    start: int
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A page of a source, or its whole text where it has no pages.

    Args:
        ordinal: place in the source, from 0.
        page: page number as a reader counts, from 1; None where the kind has no pages.
        text: what was read, through the text gate. Offsets count its Unicode code points.
        language: ISO 639-1 code of the text, "" where unknown.
        headings: the headings inside it, in order, where its kind has them.
        label: what its page is called: a sheet's or a chapter's name; "" where it has none.
        is_transcript: read off a picture: where its words stand on the page is not known.
    """

    ordinal: int
    page: int | None
    text: str
    language: str = ""
    headings: tuple[Heading, ...] = ()
    label: str = ""
    is_transcript: bool = False


@dataclass(frozen=True, slots=True)
class ChunkPlace:
    """The code points [start, end) of a page's text; `page` is None where the kind has none."""

    page: int | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A window of a passage: `passage.text[start:end] == text`, always.

    Args:
        ordinal: place in the source, from 0.
        passage: the ordinal of its passage.
        page: its passage's page.
        start, end: code points into the passage's text.
        text: the window itself.
        heading: the headings it stands under, outermost first, joined by " › "; "" where none.
        language: its passage's language.
    """

    ordinal: int
    passage: int
    page: int | None
    start: int
    end: int
    text: str
    heading: str = ""
    language: str = ""

    @property
    def indexed_text(self) -> str:
        """What is embedded and indexed: the headings it stands under, then the window."""
        return f"{self.heading}\n{self.text}" if self.heading else self.text
