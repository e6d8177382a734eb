"""Lists of references that models append to an answer."""

import re

MAX_TRAILER = 4_000
"""Code points; what is longer is kept as text."""

_NAMES = (
    "references", "reference list", "sources", "sources used", "sources cited", "source list",
    "citations", "bibliography", "works cited", "footnotes", "quellen", "quellenangaben",
    "quellenangabe", "quellenverzeichnis", "quellennachweise", "referenzen", "literatur",
    "literaturverzeichnis", "literaturangaben", "belege", "einzelnachweise", "nachweise",
    "fußnoten", "verwendete quellen",
)  # fmt: skip
_LONGEST_NAME = max(map(len, _NAMES))
_NAME = re.compile(
    rf"(?:{'|'.join(sorted(_NAMES, key=len, reverse=True))})(?![^\W\d_])", re.IGNORECASE
)
_BEFORE = re.compile(r"\n[\s#*_-]{0,24}")
_MARKUP = re.compile(r"\s*(?:[-*_]{3,}[ \t]*\n\s*)?#{0,6}[ \t]*(?:\*\*|__)?")
_AFTER = re.compile(r"[ \t:*_]{0,8}")
_NUMBERS = re.compile(r"[ \t\[\]［］【】()^0-9,;.&undaUN–-]*")
_PLAIN_NUMBERS = re.compile(r"(?:[^a-zA-Z]|\band\b|\bund\b|\bUND\b)*")
_LINES = re.compile(
    r"(?:\n[ \t]*(?:(?:[-*+•·>|(<【［\[]|\d{1,3}[.):\]]|https?://|www\.)[^\n]*"
    r"|(?:\d{1,3}|ht{0,2}|https?:?/?|w{1,3})\Z)?)*+"
)


def trailer(text: str) -> tuple[int, bool]:
    """How far a list of references reaches that begins at the start of `text`.

    Args:
        text: begins with the line break before the list.

    Returns:
        (length, named): `text[:length]` reads like such a list, or like the beginning of one
        where that is all of `text`; 0 where it does not. `named` is True once its name
        ("Sources", "References") is complete.
    """
    before = _BEFORE.match(text)
    if not before:
        return 0, False
    rest = text[before.end() :]
    begun = rest[:_LONGEST_NAME].lower()
    if len(rest) == len(begun) and any(name.startswith(begun) for name in _NAMES):
        return len(text), begun in _NAMES
    name = _NAME.match(rest)
    if not name or not _MARKUP.fullmatch(before[0]):
        return 0, False
    after = _AFTER.match(rest, name.end())
    at = after.end() if after else name.end()
    if after and at < len(rest) and rest[at] != "\n":
        numbers = _NUMBERS.match(rest, at)
        at = numbers.end() if numbers and ":" in after[0] else at
        if (
            numbers
            and at < len(rest)
            and (rest[at] != "\n" or not _PLAIN_NUMBERS.fullmatch(numbers[0]))
        ):
            return 0, False
    lines = _LINES.match(rest, at)
    return before.end() + (lines.end() if lines else at), True
