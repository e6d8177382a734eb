"""The sentences of an answer, each with the markers that vouch for it."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from domain import refusals, sentences

_FENCE = re.compile(r"[ \t>]{0,16}(?:`{3}|~{3})")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s|\s{0,3}(?:[-*_][ \t]*){3,}\Z|\s{0,3}=+\s*\Z")
_LEAD = re.compile(r"(?:\s{0,16}(?:[-*+•>]|\d{1,3}[.)]))+\s+(?:\[[ x]\]\s+)?", re.IGNORECASE)
_TABLE_RULE = re.compile(r"\s*(?:\|\s*)?:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*(?:\|\s*)?")
_LABEL = re.compile(
    r"\s*(?:\*\*|__)(?P<label>[^*_\n\d]{1,80}?)(?:(?:\*\*|__)\s?[:–—]|:(?:\*\*|__))(?=\s+\S)"
)
_BOLD_LINE = re.compile(r"\s*(?:\*\*|__)[^*_\n]{1,120}(?:\*\*|__):?\s*\Z")
_MARKUP = re.compile(
    r"\]\([^()\s]{0,2000}(?:\s[^()\n]{0,200})?\)|https?://[^\s<>]+|[*_`|\[]+|<[^<>\n]{0,80}>"
)
"""Addresses and what only formats."""
_WORD = re.compile(r"\w+")
_STOP = re.compile(r"[.!?…][\"'“”»)]*(?=\s|\Z)")
_COURTESY = re.compile(
    r"(?:hallo|hi|hello|guten\s|gern|gerne|natürlich|selbstverständlich|sure|certainly|of course|"
    r"you're welcome|i hope|ich hoffe|let me know|if you (?:have|need|would|want)|feel free|"
    r"wenn du|falls du|wenn sie (?:weitere|noch)|lass mich|melde dich|here (?:is|are)|"
    r"hier (?:ist|sind)|zusammenfassend\W*\Z)",
    re.IGNORECASE,
)  # fmt: skip
_FEWEST_WORDS = 3


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, an item or a row of an answer.

    Args:
        start, end: code points in the answer.
        text: what stands there, as long as that, with spaces in place of markers and markup.
        places: indexes of the markers that vouch for it.
        is_claim: False for what needs no evidence: questions, courtesies, lead-ins, refusals.
    """

    start: int
    end: int
    text: str
    places: Sequence[int]
    is_claim: bool


def statements(text: str, markers: Sequence[tuple[int, int]], language: str) -> list[Statement]:
    """The statements of an answer, in order; headings and code are none.

    Args:
        text: Markdown.
        markers: (start, end) of every marker, in code points and in order.
        language: ISO 639-1, for where sentences end.
    """
    plain = _blanked(text, markers)
    found: list[Statement] = []
    at = 0
    for start, end in _blocks(text):
        block = plain[start:end]
        if label := _LABEL.match(block):
            block = " " * label.end() + block[label.end() :]
        block = _MARKUP.sub(lambda match: " " * len(match[0]), block)
        inside = []
        while at < len(markers) and markers[at][0] < end:
            inside.append(at)
            at += 1
        spans = _sentences(block, start, [markers[index][1] for index in inside], language)
        held = _held(spans, [markers[index][0] for index in inside], inside)
        heading = _BOLD_LINE.match(plain[start:end]) is not None
        for (a, b), places in zip(spans, held, strict=True):
            said = block[a - start : b - start]
            found.append(Statement(a, b, said, places, not heading and _is_claim(said)))
    return found


def _sentences(
    block: str, offset: int, marker_ends: Sequence[int], language: str
) -> list[tuple[int, int]]:
    """The sentences of a block; behind a marker a full stop is always an end."""
    stops = (_STOP.match(block, end - offset) for end in marker_ends)
    cuts = [0, *(stop.end() for stop in stops if stop)]
    return [
        (offset + first + a, offset + first + b)
        for first, last in pairwise([*cuts, len(block)])
        for a, b in sentences.split(block[first:last], language)
    ]


def _blanked(text: str, markers: Sequence[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in markers:
        parts += [text[at:start], " " * (end - start)]
        at = end
    return "".join([*parts, text[at:]])


def _held(
    spans: Sequence[tuple[int, int]], starts: Sequence[int], places: Sequence[int]
) -> list[list[int]]:
    """For each span the markers in it and behind it, up to the next one."""
    held: list[list[int]] = [[] for _ in spans]
    begins = [start for start, _ in spans]
    for start, place in zip(starts, places, strict=True):
        if spans:
            held[max(0, bisect_right(begins, start) - 1)].append(place)
    return held


def _blocks(text: str) -> list[tuple[int, int]]:
    """[start, end) of the paragraphs, items and rows, without what leads an item."""
    blocks: list[tuple[int, int]] = []
    lines = text.splitlines(keepends=True)
    at, in_code, goes_on = 0, False, False
    for number, line in enumerate(lines):
        start, end = at, at + len(line)
        at = end
        if _FENCE.match(line):
            in_code, goes_on = not in_code, False
            continue
        if in_code or not line.strip() or _HEADING.match(line) or _TABLE_RULE.fullmatch(line):
            goes_on = False
            continue
        is_row = line.lstrip().startswith("|")
        if is_row and number + 1 < len(lines) and _TABLE_RULE.fullmatch(lines[number + 1]):
            continue
        lead = _LEAD.match(line)
        if goes_on and not lead and not is_row:
            blocks[-1] = (blocks[-1][0], end)
        else:
            blocks.append((start + (lead.end() if lead else 0), end))
        goes_on = not is_row
    return blocks


def _is_claim(said: str) -> bool:
    bare = said.strip().rstrip("\"'“”»)")
    if bare.endswith((":", "?")) or _COURTESY.match(bare) or refusals.is_refusal(bare):
        return False
    return len(_WORD.findall(bare)) >= _FEWEST_WORDS
