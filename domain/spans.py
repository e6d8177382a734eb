"""Code and maths inside an answer: where they begin and where they end."""

import re
from dataclasses import dataclass

FENCE = re.compile(r"(?P<fence>`{3,64}|~{3,64})(?P<info>[^`\n]{0,200})(?P<end>\n|`|\Z)")
_FENCE_INDENT = r"[ \t>]{0,16}"

_MATHS = re.compile(r"\\(?:text|mathrm|mbox|operatorname)\{[^{}]*\}|\\[a-zA-Z]+")
_PROSE = re.compile(r"[^\W\d_]{2,} +[^\W\d_]{2,}")
_TAGS = ("code", "pre", "kbd", "samp", "math")
_OPENER = re.compile(
    rf"(?P<ticks>`{{1,64}})(?!`)|(?P<dollars>\${{1,2}})(?!\$)|\\(?P<maths>[(\[])"
    rf"|\\begin\{{(?P<environment>[a-z]{{1,16}}\*?)\}}|<(?P<tag>{'|'.join(_TAGS)})(?:\s[^<>\n]{{0,160}})?>"
)
_OPENER_START = re.compile(
    r"`{1,64}\Z|\${1,2}\Z|\\\Z|\\b[egin]{0,4}(?:\{[a-z]{0,16}\*?)?\Z|<[a-z]{0,4}(?:\s[^<>\n]{0,160})?\Z"
)
_NO_MATHS = re.compile(
    r"\$(?:\s|\d[\d.,]*(?:[ \t]+(?:[^\W\d_]{2,}|[\[(【])|[\n;:!?)\]]|[.,]?\Z|[.,]\s))"
)
_NO_MATHS_START = re.compile(r"\$(?:\d[\d.,]{0,24}(?:[ \t]{0,4}[^\W\d_]?)?)?\Z")


@dataclass(frozen=True, slots=True)
class Span:
    """Code or maths that has begun; it turns out to be none where its end never comes.

    Args:
        length: code points of the opener.
        end: what ends it, or the line or paragraph without it.
        dollar: True for `$...$`, which prices look like.
    """

    length: int
    end: re.Pattern[str]
    dollar: bool = False

    def close(self, window: str, *, whole: bool) -> int | None:
        """The length of the rest of the span, 0 where it is none after all, None to wait."""
        found = self.end.search(window)
        may_go_on = not found or (found["end"] and found.end() == len(window))
        if may_go_on and not whole:
            return None
        if not found or not found["end"]:
            return 0
        inside = window[: found.start()]
        if self.dollar and _PROSE.search(_MATHS.sub(" ", inside)):
            return 0
        return found.end()


def opener(window: str, *, whole: bool) -> Span | bool:
    """The span that begins with `window`; True to wait for more text, False where none does."""
    if not whole and (_OPENER_START.match(window) or _NO_MATHS_START.match(window)):
        return True
    found = _OPENER.match(window)
    if not found:
        return False
    if found["dollars"] == "$" and _NO_MATHS.match(window):
        return False
    return Span(found.end(), _ending(found), dollar=found["dollars"] == "$")


def _ending(opened: re.Match[str]) -> re.Pattern[str]:
    """What ends a span: inline ones go no further than their line, others than a paragraph."""
    paragraph = r"\n[ \t]*\n"
    if ticks := opened["ticks"]:
        return _until(rf"(?<!`){ticks}(?!`)", "\n")
    if opened["dollars"] == "$":
        return _until(r"(?<![\s\\])\$(?![\d$])", "\n")
    if opened["maths"] == "(":
        return _until(r"\\\)", "\n")
    if name := opened["environment"]:
        return _until(rf"\\end\{{{re.escape(name)}\}}", paragraph)
    if name := opened["tag"]:
        return _until(rf"</{name}>", paragraph)
    return _until(r"\$\$" if opened["dollars"] else r"\\\]", paragraph)


def _until(end: str, failure: str) -> re.Pattern[str]:
    return re.compile(rf"(?P<end>{end})|{failure}")


def closing_fence(fence: str) -> re.Pattern[str]:
    """What ends a block opened by `fence`, from the beginning of a line."""
    mark = re.escape(fence[0])
    return re.compile(rf"{_FENCE_INDENT}{mark}{{{len(fence)},128}}[ \t]{{0,16}}(?=\n|\Z)")


def closing_fence_start(fence: str) -> re.Pattern[str]:
    """A line that may become one that `closing_fence` matches."""
    return re.compile(rf"{_FENCE_INDENT}{re.escape(fence[0])}{{0,128}}[ \t]{{0,16}}\Z")
