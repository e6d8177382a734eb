"""The markers of an answer, found and renumbered while it streams."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from domain import marker_context, marker_forms, spans
from domain.marker_forms import HOLD, TEXT, THOUGHTS, Found, Reading
from domain.markers import Body
from domain.trailers import MAX_TRAILER, trailer

WINDOW = 1_024
"""Code points that a decision may look ahead, and so the most that is held back, but for what
looks like a list of references at the end (`MAX_TRAILER`)."""


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
_SPACES = " \t\u00a0\u202f"
_CLEAN = re.compile(r"[\s.,;:!?…)\]»“”|]")
_SPECIAL = re.compile(r"[\[［【(<{^⁰¹²³⁴⁵⁶⁷⁸⁹`$\\\n~\ue200]|:(?=c|\Z)|(?<!\w)[Rr](?=ef|e?\Z)")
_LINE_START = re.compile(r"\n[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?\Z")
_DEFINITION = re.compile(
    r":[ \t]*\n?[ \t]*(?:<[^<>\n]*>|[^\s]+)(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?"
    r"[ \t]*(?=\n|\Z)"
)
_DEFINITION_START = re.compile(r":[ \t]*\n?[ \t]*(?:[^\s]+(?:[ \t]+(?:[\"'(][^\n]*)?)?)?\Z")
_FOOTNOTE_TEXT = re.compile(r":[^\n]*(?:\n|\Z)")
_THOUGHT = re.compile(rf"\s{{0,16}}<(?:{'|'.join(THOUGHTS)})>", re.IGNORECASE)
_THOUGHT_START = re.compile(r"\s{0,16}(?:<[a-z]{0,9})?\Z", re.IGNORECASE)
_THOUGHT_END = re.compile(rf"</(?:{'|'.join(THOUGHTS)})\s{{0,4}}>", re.IGNORECASE)
_LONGEST_END = 24

_FORMS: dict[str, Callable[..., Reading]] = {
    **dict.fromkeys("[［【", marker_forms.bracket),
    **dict.fromkeys("⁰¹²³⁴⁵⁶⁷⁸⁹", marker_forms.superscript),
    **dict.fromkeys("Rr", marker_forms.reference),
    "^": marker_forms.caret,
    "{": marker_forms.braces,
    "(": marker_forms.parentheses,
    ":": marker_forms.directive,
    "<": marker_forms.tag,
    "\\": marker_forms.command,
    "\ue200": marker_forms.private,
}


def parse(text: str, passages: int) -> list[Text | Marker]:
    """A whole answer at once: what a `MarkerStream` gives, however the text is cut."""
    stream = MarkerStream(passages)
    return _joined([*stream.feed(text), *stream.finish()])


class MarkerStream:
    """Turns a model's text into plain text and markers, as it arrives.

    The result does not depend on how the text is cut. Plain prose flows at once; only what may
    still become a marker, and the space before it, is held back.

    Args:
        passages: how many passages the prompt has; markers name 1 to `passages`.
    """

    def __init__(self, passages: int) -> None:
        self._writer = _Writer(passages)
        self._text = ""
        self._read = 0
        self._mode: Callable[[int, bool], int] = self._beginning
        self._span: spans.Span | None = None
        self._fence = ""
        self._at_line_start = True
        self._no_trailer_before = 0
        self._only_parentheses = True
        self._footnotes = marker_context.Footnotes()

    @property
    def invalid(self) -> list[int]:
        """The numbers that named no passage, as often as they occurred, in order."""
        return self._writer.invalid

    @property
    def stripped(self) -> int:
        """How many numbers named no passage."""
        return len(self._writer.invalid)

    def feed(self, delta: str) -> list[Text | Marker]:
        """What can be shown after `delta`."""
        self._text += delta
        return self._advance(final=False)

    def finish(self) -> list[Text | Marker]:
        """The rest; a marker that is still open at the end is no citation, and disappears."""
        pieces = self._advance(final=True)
        return _joined([*pieces, *self._writer.finish()])

    def _advance(self, *, final: bool) -> list[Text | Marker]:
        at = 0
        while at < len(self._text):
            step = self._mode(at, final)
            if step == 0:
                break
            at += step
        self._text = self._text[at:]
        self._read += at
        return _joined(self._writer.take())

    # Every mode takes the place in the buffer and whether the text ends with it, and returns how
    # many code points it used up; 0 to wait for more.

    def _beginning(self, at: int, final: bool) -> int:
        if thought := _THOUGHT.match(self._text, at):
            self._mode = self._thinking
            return thought.end() - at
        if not final and _THOUGHT_START.match(self._text, at):
            return 0
        self._mode = self._prose
        return self._prose(at, final)

    def _thinking(self, at: int, final: bool) -> int:
        if end := _THOUGHT_END.search(self._text, at):
            self._mode = self._after_thinking
            return end.end() - at
        rest = len(self._text) - at
        return rest if final else max(0, rest - _LONGEST_END)

    def _after_thinking(self, at: int, final: bool) -> int:
        if self._text[at].isspace():
            return 1
        self._mode = self._beginning
        return self._beginning(at, final)

    def _fenced(self, at: int, final: bool) -> int:
        if self._at_line_start:
            if end := spans.closing_fence(self._fence).match(self._text, at):
                if end.end() == len(self._text) and not final:
                    return 0
                self._mode = self._prose
                return self._say(self._text[at : end.end()])
            if not final and spans.closing_fence_start(self._fence).match(self._text, at):
                return 0
        line_end = self._text.find("\n", at) + 1
        self._at_line_start = line_end > 0
        return self._say(self._text[at : line_end or len(self._text)])

    def _prose(self, at: int, final: bool) -> int:
        special = _SPECIAL.search(self._text, at)
        plain = special.start() if special else len(self._text)
        if plain > at:
            return self._say(self._text[at:plain])
        window = self._text[at : at + WINDOW]
        whole = final or len(window) == WINDOW
        if self._span:
            rest = self._span.close(window, whole=whole)
            if rest != 0:
                return self._leave_span(window, rest)
            self._span = None
        if window[0] == "\n":
            return self._line_break(at, final)
        if window[0] in "`~" and (length := self._fence_opens(window, whole)) is not None:
            return length
        return self._marker(window, whole)

    def _leave_span(self, window: str, length: int | None) -> int:
        if length is None:
            return 0
        self._span = None
        return self._say(window[:length])

    def _line_break(self, at: int, final: bool) -> int:
        begin = self._read + at
        if begin >= self._no_trailer_before and self._writer.said_something:
            window = self._text[at : at + MAX_TRAILER]
            length, named = trailer(window)
            if length == len(window) and len(window) < MAX_TRAILER:
                if not final:
                    return 0
                if named:
                    return length
            self._no_trailer_before = begin + len(window[:length].rstrip())
        return self._say("\n")

    def _fence_opens(self, window: str, whole: bool) -> int | None:
        """What a fence at the start of a line uses up; 0 to wait, None where there is none."""
        if not _LINE_START.search(self._writer.before):
            return None
        fence = spans.FENCE.match(window)
        if not fence or not fence["end"]:
            unclear = fence or len(window.strip(window[0])) == 0
            return 0 if unclear and not whole else None
        if fence["end"] == "`":
            return None
        self._fence, self._mode, self._at_line_start = fence["fence"], self._fenced, True
        return self._say(fence[0])

    def _marker(self, window: str, whole: bool) -> int:
        form = _FORMS.get(window[0])
        reading = form(window, whole=whole) if form else TEXT
        if window[0] == "\\" and window[1:2] in {"[", "［", "【"}:
            reading = self._escaped(window, whole)
        if reading is HOLD:
            return 0
        if isinstance(reading, Found):
            length = self._accept(window, reading, whole)
            if length is not None:
                return length
        span = spans.opener(window, whole=whole)
        if span is True:
            return 0
        if isinstance(span, spans.Span):
            self._span = span
            return self._say(window[: span.length])
        return self._say(window[: 2 if window[0] == "\\" and window[1:2] in "`$\\~" else 1])

    def _escaped(self, window: str, whole: bool) -> Reading:
        r"""`\[1\]` is a marker, `\[x = 1\]` is maths."""
        reading = marker_forms.bracket(window, whole=whole)
        bare = isinstance(reading, Found) and (not reading.body or reading.body.bare)
        return reading if bare or reading is HOLD else TEXT

    def _accept(self, window: str, found: Found, whole: bool) -> int | None:
        """Write a marker, unless its surroundings speak against it (None) or are not here yet (0)."""
        before, body = self._writer.before, found.body
        if not body:
            return self._writer.strip(window[: found.length])
        if self._speaks_against(window, found):
            return None
        if found.bracket:
            if window[found.bracket : found.bracket + 1] == ":" and _LINE_START.search(before):
                length = self._definition(window, found, whole)
                if length is not None:
                    return length
            footnote = self._footnotes.holds(
                before,
                window[found.bracket : found.bracket + 4],
                quoted=self._writer.quotation.open,
                adjacent=self._writer.adjacent,
            )
            if footnote is None and not whole:
                return 0
            if footnote:
                return self._writer.strip(window[: found.length])
            self._only_parentheses = False
        return self._writer.cite(body, window[: found.length])

    def _speaks_against(self, window: str, found: Found) -> bool:
        before, body, first = self._writer.before, found.body, window[0]
        if not body:
            return False
        numbers = body.numbers
        if first == "(" and not body.labelled:
            known = all(a == b and 1 <= a <= self._writer.passages for a, b in body.spans)
            chained = self._writer.adjacent
            return (
                not known
                or not self._only_parentheses
                or (not chained and marker_context.is_enumerated(before))
            )
        if first in "Rr":
            return not 1 <= numbers[0] <= self._writer.passages or not before[-1:] in {*_SPACES, "(", "\n"}
        if first in "^⁰¹²³⁴⁵⁶⁷⁸⁹" or window[:4].lower() == "<sup":
            return not self._writer.adjacent and marker_context.is_power(before, window[: found.length])
        if not body.bare or not found.bracket:
            return False
        return (
            marker_context.names_no_passage(body, self._writer.passages)
            or (not self._writer.adjacent and marker_context.is_index(before))
            or marker_context.is_interval(before, body)
        )

    def _definition(self, window: str, found: Found, whole: bool) -> int | None:
        """Cut `[1]: url` and `[^1]: text`, which Markdown reads as definitions."""
        if "^" in window[: found.bracket]:
            line = _FOOTNOTE_TEXT.match(window, found.bracket)
            if line and (line[0].endswith("\n") or whole):
                return self._writer.strip(window[: line.end()].rstrip("\n"))
            return 0
        line = _DEFINITION.match(window, found.bracket)
        if line and (whole or line.end() < len(window)):
            return self._writer.strip(window[: line.end()])
        if not whole and _DEFINITION_START.match(window, found.bracket):
            return 0
        return None

    def _say(self, text: str) -> int:
        self._writer.say(text)
        return len(text)


class _Writer:
    """Collects the answer: numbers the markers and keeps the spaces around them clean."""

    def __init__(self, passages: int) -> None:
        self.passages = passages
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
        if text.strip():
            self._group.clear()
            self.said_something = True
        self.adjacent = False
        self.before = (self.before + text[-_TAIL:])[-_TAIL:]
        text, self._gap = self._gap + text, ""
        if text[-1] in _SPACES:
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
        return text

    def _valid(self, body: Body) -> list[int]:
        valid: list[int] = []
        for first, last in body.spans:
            for number in _members(first, last, self.passages):
                if 1 <= number <= self.passages:
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


def _joined(pieces: list[Text | Marker]) -> list[Text | Marker]:
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
