"""The markers of an answer, found and renumbered while it streams."""

import re
from collections.abc import Callable

from domain import marker_context, marker_forms, markers, spans
from domain.marker_forms import HOLD, TEXT, THOUGHTS, Found, Reading
from domain.marker_writer import LINE_START, SPACES, Marker, Text, Writer, joined
from domain.markers import Body
from domain.trailers import MAX_TRAILER, trailer

__all__ = ["WINDOW", "Marker", "MarkerStream", "Text", "parse"]

WINDOW = 1_024
"""Code points that a decision may look ahead, and so the most that is held back, but for what
looks like a list of references at the end (`MAX_TRAILER`)."""


_SPECIAL = re.compile(r"[\[［【(<{^⁰¹²³⁴⁵⁶⁷⁸⁹`$\\\n~\ue200]|:(?=c|\Z)|(?<!\w)[Rr](?=ef|e?\Z)")
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
    return joined([*stream.feed(text), *stream.finish()])


class MarkerStream:
    """Turns a model's text into plain text and markers, as it arrives.

    The result does not depend on how the text is cut. Plain prose flows at once; only what may
    still become a marker, and the space before it, is held back.

    Args:
        passages: how many passages the prompt has; markers name 1 to `passages`.
    """

    def __init__(self, passages: int) -> None:
        self._writer = Writer(passages)
        self._text = ""
        self._final = False
        self._read = 0
        self._mode: Callable[[int], int] = self._beginning
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

    @property
    def held_back(self) -> int:
        """Code points that wait to be understood, without a last space."""
        return len(self._text)

    def feed(self, delta: str) -> list[Text | Marker]:
        """What can be shown after `delta`."""
        self._text += delta
        return self._advance()

    def finish(self) -> list[Text | Marker]:
        """The rest; a marker that is still open at the end is no citation, and disappears."""
        self._final = True
        pieces = self._advance()
        return joined([*pieces, *self._writer.finish()])

    def _advance(self) -> list[Text | Marker]:
        at = 0
        while at < len(self._text):
            step = self._mode(at)
            if step == 0:
                break
            at += step
        self._text = self._text[at:]
        self._read += at
        return joined(self._writer.take())

    # Every mode takes the place in the buffer and whether the text ends with it, and returns how
    # many code points it used up; 0 to wait for more.

    def _beginning(self, at: int) -> int:
        if thought := _THOUGHT.match(self._text, at):
            self._mode = self._thinking
            return thought.end() - at
        if not self._final and _THOUGHT_START.match(self._text, at):
            return 0
        self._mode = self._prose
        return self._prose(at)

    def _thinking(self, at: int) -> int:
        if end := _THOUGHT_END.search(self._text, at):
            self._mode = self._after_thinking
            return end.end() - at
        rest = len(self._text) - at
        return rest if self._final else max(0, rest - _LONGEST_END)

    def _after_thinking(self, at: int) -> int:
        if self._text[at].isspace():
            return 1
        self._mode = self._beginning
        return self._beginning(at)

    def _fenced(self, at: int) -> int:
        if self._at_line_start:
            if end := spans.closing_fence(self._fence).match(self._text, at):
                if end.end() == len(self._text) and not self._final:
                    return 0
                self._mode = self._prose
                return self._say(self._text[at : end.end()])
            if not self._final and spans.closing_fence_start(self._fence).match(self._text, at):
                return 0
        line_end = self._text.find("\n", at) + 1
        self._at_line_start = line_end > 0
        return self._say(self._text[at : line_end or len(self._text)])

    def _prose(self, at: int) -> int:
        special = _SPECIAL.search(self._text, at)
        plain = special.start() if special else len(self._text)
        if plain > at:
            return self._say(self._text[at:plain])
        window = self._text[at : at + WINDOW]
        whole = self._final or len(window) == WINDOW
        if self._span:
            rest = self._span.close(window, whole=whole)
            if rest != 0:
                return self._leave_span(window, rest)
            self._span = None
        if window[0] == "\n":
            return self._line_break(at)
        if window[0] in "`~" and (length := self._fence_opens(window, whole=whole)) is not None:
            return length
        return self._marker(window, whole=whole)

    def _leave_span(self, window: str, length: int | None) -> int:
        if length is None:
            return 0
        self._span = None
        return self._say(window[:length])

    def _line_break(self, at: int) -> int:
        begin = self._read + at
        if begin >= self._no_trailer_before and self._writer.said_something:
            window = self._text[at : at + MAX_TRAILER]
            length, named = trailer(window)
            if length == len(window) and len(window) < MAX_TRAILER:
                if not self._final:
                    return 0
                if named:
                    return length
            self._no_trailer_before = begin + len(window[:length].rstrip())
        return self._say("\n")

    def _fence_opens(self, window: str, *, whole: bool) -> int | None:
        """What a fence at the start of a line uses up; 0 to wait, None where there is none."""
        if not LINE_START.search(self._writer.before):
            return None
        fence = spans.FENCE.match(window)
        if not fence or not fence["end"]:
            unclear = fence or len(window.strip(window[0])) == 0
            return 0 if unclear and not whole else None
        if fence["end"] == "`":
            return None
        self._fence, self._mode, self._at_line_start = fence["fence"], self._fenced, True
        return self._say(fence[0])

    def _marker(self, window: str, *, whole: bool) -> int:
        form = _FORMS.get(window[0])
        reading = form(window, whole=whole) if form else TEXT
        if window[0] == "\\" and window[1:2] in {"[", "［", "【"}:
            reading = self._escaped(window, whole=whole)
        if reading is HOLD:
            return 0
        if isinstance(reading, Found):
            length = self._accept(window, reading, whole=whole)
            if length is not None:
                return length
        span = spans.opener(window, whole=whole)
        if span is True:
            return 0
        if isinstance(span, spans.Span):
            self._span = span
            return self._say(window[: span.length])
        return self._say(window[: 2 if window[0] == "\\" and window[1:2] in "`$\\~" else 1])

    def _escaped(self, window: str, *, whole: bool) -> Reading:
        r"""`\[1\]` is a marker, `\[x = 1\]` is maths."""
        reading = marker_forms.bracket(window, whole=whole)
        bare = isinstance(reading, Found) and (not reading.body or reading.body.bare)
        return reading if bare or reading is HOLD else TEXT

    def _accept(self, window: str, found: Found, *, whole: bool) -> int | None:
        """Write a marker; None where its surroundings speak against it, 0 to wait for them."""
        before, body = self._writer.before, found.body
        if not body:
            return self._writer.strip(window[: found.length])
        if window[0] in "⁰¹²³⁴⁵⁶⁷⁸⁹":
            body = markers.apart(body, self._writer.known)
        if self._speaks_against(window[: found.length], body, in_brackets=found.bracket > 0):
            return None
        if found.bracket:
            if window[found.bracket : found.bracket + 1] == ":" and LINE_START.search(before):
                length = self._definition(window, found, whole=whole)
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

    def _speaks_against(self, raw: str, body: Body, *, in_brackets: bool) -> bool:
        """True where the text before shows that `raw` is no marker."""
        before, adjacent = self._writer.before, self._writer.adjacent
        known = all(first == last in self._writer.known for first, last in body.spans)
        if raw[0] == "(" and not body.labelled:
            counted = not adjacent and marker_context.is_enumerated(before)
            return counted or not known or not self._only_parentheses
        if raw[0] in "Rr":
            return not known or before[-1] not in {*SPACES, "(", "\n"}
        if raw[0] in "^⁰¹²³⁴⁵⁶⁷⁸⁹" or raw[:4].lower() == "<sup":
            return not adjacent and marker_context.is_power(before, raw)
        if not body.bare or not in_brackets:
            return False
        return (
            marker_context.names_no_passage(body, self._writer.known)
            or (not adjacent and marker_context.is_index(before))
            or marker_context.is_interval(before, body)
        )

    def _definition(self, window: str, found: Found, *, whole: bool) -> int | None:
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
