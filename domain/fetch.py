"""What a web address gave: how it is read, and in which encoding."""

import re
from dataclasses import dataclass

from domain.source import SourceKind

_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([^\s;\"']+)", re.IGNORECASE)
_TEXTS = frozenset({SourceKind.TEXT, SourceKind.MARKDOWN, SourceKind.CSV})
_KINDS = {
    "text/html": SourceKind.URL,
    "application/xhtml+xml": SourceKind.URL,
    "text/markdown": SourceKind.MARKDOWN,
    "text/csv": SourceKind.CSV,
}


@dataclass(frozen=True, slots=True)
class Fetch:
    """What an address gave, until its source is ready with it.

    Args:
        kind: how it is read.
        media_type: the Content-Type header, with its parameters.
        bytes: how many.
    """

    kind: SourceKind
    sha256: bytes
    media_type: str
    bytes: int


def kind_of_page(told: SourceKind, media_type: str) -> SourceKind:
    """How to read what a server sent.

    Args:
        told: what its bytes say, which tell everything but kinds of text apart.
        media_type: what the server says of it.
    """
    if told is SourceKind.HTML:
        return SourceKind.URL
    if told in _TEXTS:
        return _KINDS.get(media_type.partition(";")[0].strip().lower(), told)
    return told


def charset_of(media_type: str) -> str:
    """The encoding that a Content-Type header names, "" where it does not."""
    found = _CHARSET.search(media_type)
    return found[1] if found else ""
