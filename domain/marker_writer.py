"""The written answer: numbered markers, clean spaces, as little held back as can be."""

import re
from dataclasses import dataclass

from domain import marker_context
from domain.markers import Body


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer, to be shown as it stands."""

    text: str


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation, shown as "[number]".

    Args:
        number: dense, from 1, by first appearance in the answer.
        passage: the number its passage has in the prompt, from 1.
    """

    number: int
    passage: int


_TAIL = 48
SPACES = " \t\u00a0\u202f"
_CLEAN = re.compile(r"[\s.,;:!?…)\]»“”|]")
LINE_START = re.compile(r"\n[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?\Z")


class Writer:
    """Collects the answer: numbers the markers and keeps the spaces around them clean."""

    def __init__(self, passages: int) -> None:
        self.known = range(1, passages + 1)
        """The numbers that name a passage."""
        self.invalid: list[int] = []
        self.before = "\n"
        """The end of what has been read, markers as the model wrote them."""
        self.adjacent = False
        """True directly behind a marker."""
        self.said_something = False
        self.quotation = marker_context.Quotation()
        self._numbers: dict[int, int] = {}
        self._group: set[int] = set()
        self._gap = ""
        self._stripped = False
        self._stripped_first = False
        self._out: list[Text | Marker] = []

    def take(self) -> list[Text | Marker]:
        """What has been written since the last call."""
        out, self._out = self._out, []
        return out

    def finish(self) -> list[Text | Marker]:
        """The space that was held back, unless it stood before a marker that was cut out."""
        if self._gap and not self._stripped:
            self._out.append(Text(self._gap))
        self._gap = ""
        return self.take()

    def say(self, text: str) -> None:
        """Write `text` as it is; a last space waits for what comes."""
        self.quotation.read(text)
        if self._stripped:
            text = self._close_gap(text)
        if not text:
            return
        if text.strip() or "\n" in text:
            self._group.clear()
        self.said_something |= not text.isspace()
        self.adjacent = False
        self.before = (self.before + text[-_TAIL:])[-_TAIL:]
        text, self._gap = self._gap + text, ""
        if text[-1] in SPACES:
            text, self._gap = text[:-1], text[-1]
        if text:
            self._out.append(Text(text))

    def cite(self, body: Body, raw: str) -> int:
        """Write the passages that `body` names; the length of `raw`, as the model wrote it."""
        new = [n for n in self._valid(body) if n not in self._group]
        if not new:
            return self.strip(raw)
        if self._gap:
            self._out.append(Text(self._gap))
        for passage in dict.fromkeys(new):
            number = self._numbers.setdefault(passage, len(self._numbers) + 1)
            self._out.append(Marker(number, passage))
        self._gap, self._stripped, self.said_something = "", False, True
        self._group.update(new)
        return self._pass(raw)

    def strip(self, raw: str) -> int:
        """Leave out `raw`, and the space before it where none is needed; its length."""
        self._stripped_first = LINE_START.search(self.before) is not None
        self._stripped = True
        return self._pass(raw)

    def _pass(self, raw: str) -> int:
        self.before = (self.before + raw[-_TAIL:])[-_TAIL:]
        self.adjacent = True
        return len(raw)

    def _close_gap(self, text: str) -> str:
        self._stripped = False
        if self._gap and _CLEAN.match(text):
            self._gap = ""
        elif self._stripped_first and text[0] in SPACES:
            return text[1:]
        return text

    def _valid(self, body: Body) -> list[int]:
        valid: list[int] = []
        for first, last in body.spans:
            for number in _members(first, last, len(self.known)):
                if number in self.known:
                    valid.append(number)
                else:
                    self.invalid.append(number)
        return valid


def _members(first: int, last: int, passages: int) -> list[int]:
    """The numbers of a range; of one that leads far beyond the passages, only its end."""
    if first >= last:
        return list(dict.fromkeys((first, last)))
    members = list(range(first, min(last, passages) + 1))
    return members if last <= passages else [*members, last]


def joined(pieces: list[Text | Marker]) -> list[Text | Marker]:
    """`pieces` with neighbouring texts made one."""
    joined: list[Text | Marker] = []
    run: list[str] = []
    for piece in pieces:
        if isinstance(piece, Text):
            run.append(piece.text)
            continue
        if run:
            joined.append(Text("".join(run)))
            run = []
        joined.append(piece)
    return [*joined, Text("".join(run))] if run else joined
