"""Markdown's headings: where each begins and which ones it stands under."""

import re
from collections.abc import Iterator

from domain.passage import Heading

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)$")
# What cannot be the text above an underline: a list item, a quote, a table's row, indented code.
_NO_PARAGRAPH = re.compile(r" {0,3}(?:[-+*>|]|\d{1,9}[.)](?:[ \t]|$))|(?: {4}|\t)")
_MOST_LINES = 4
"""Of a heading that is underlined; a longer paragraph is none."""
_COMMENT_END = "-->"
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_MARKS = re.compile(r"[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}(?!\w)|<[^<>]*>|\\(?=[^\w\s])")


def headings(text: str) -> tuple[Heading, ...]:
    """The headings of `text` in order, with "#" marks or underlined; none inside code.

    Paths hold the headings' words without marks and links. Time is linear.
    """
    found: list[Heading] = []
    above: list[tuple[int, str]] = []
    for start, level, title in _headings(text):
        while above and above[-1][0] >= level:
            above.pop()
        above.append((level, title))
        found.append(Heading(start, tuple(words for _, words in above)))
    return tuple(found)


def _headings(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, level from 1, words) of each heading."""
    paragraph: list[tuple[int, str]] = []
    for start, line in _lines_outside_code(text):
        if (underline := _UNDERLINE.match(line)) and paragraph:
            words = " ".join(part.strip() for _, part in paragraph)
            yield from _named(paragraph[0][0], 1 if underline[1][0] == "=" else 2, words)
            paragraph = []
        elif atx := _ATX.match(line):
            yield from _named(start + atx.start(1), len(atx[1]), atx[2] or "")
            paragraph = []
        elif not line.strip() or (not paragraph and _NO_PARAGRAPH.match(line)):
            paragraph = []
        elif len(paragraph) < _MOST_LINES:
            paragraph.append((start, line))
        else:
            paragraph = []


def _named(start: int, level: int, words: str) -> Iterator[tuple[int, int, str]]:
    plain = " ".join(_MARKS.sub("", _LINK.sub(r"\1", words[:500])).split())
    if plain:
        yield start, level, plain


def _lines_outside_code(text: str) -> Iterator[tuple[int, str]]:
    """(start, line) of each line that is in no code block, comment or front matter.

    A line that opens or closes one of these comes as "".
    """
    at, closing = 0, ""
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        bare = line.rstrip("\n")
        if closing:
            closing = "" if _closes(bare, closing) else closing
            yield start, ""
        elif start == 0 and bare == "---":
            closing = "---"
            yield start, ""
        elif (fence := _FENCE.match(bare)) and not (fence[1][0] == "`" and "`" in fence[2]):
            closing = fence[1]
            yield start, ""
        elif bare.lstrip().startswith("<!--") and _COMMENT_END not in bare:
            closing = _COMMENT_END
            yield start, ""
        else:
            yield start, bare


def _closes(line: str, closing: str) -> bool:
    if closing == _COMMENT_END:
        return closing in line
    bare = line.strip()
    return len(bare) >= len(closing) and bare == closing[0] * len(bare)
