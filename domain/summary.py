"""Summaries of sources: a paragraph for a reader, which no question is answered from."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from domain.ids import SourceId, UserId

HEAD_CHARACTERS = 12_000
"""Code points of a source that a model reads to summarise it."""


class SummaryKind(StrEnum):
    """Where a summary comes from."""

    WRITTEN = "written"
    """A model wrote it."""
    QUOTED = "quoted"
    """Sentences of the source, put together without a model."""
    NONE = "none"
    """There is none; the text says why."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A paragraph in the source's language; with kind NONE why there is none, in English."""

    kind: SummaryKind
    text: str


@dataclass(frozen=True, slots=True)
class ToSummarise:
    """A version of a source without a summary.

    Args:
        head: how it begins.
        language: ISO 639-1, "" where unknown.
        tries: runs that tried it, this one included.
    """

    source_id: SourceId
    owner_id: UserId
    title: str
    head: str
    language: str
    tries: int


def head_of(texts: Sequence[str], most: int = HEAD_CHARACTERS) -> str:
    """The first passages together, at most so many code points, ended at a word."""
    head = "\n\n".join(texts)
    if len(head) <= most:
        return head
    return head[:most].rsplit(None, 1)[0]
