"""The forms of a citation marker, each read from the text that begins with it.

Every function takes `window`, the text from the form's first character on, and `whole`: True where
no longer window would change the answer. It returns what it found, HOLD where more text must
come first, or TEXT where this is no marker.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto

from domain import markers
from domain.markers import Body


class Verdict(Enum):
    """What a form is that is no marker (yet)."""

    HOLD = auto()
    TEXT = auto()


HOLD, TEXT = Verdict.HOLD, Verdict.TEXT


@dataclass(frozen=True, slots=True)
class Found:
    """A marker, or something that is cut out.

    Args:
        length: code points of the window that it takes.
        body: its numbers; None where it only disappears.
        bracket: length without a link behind it, where it is in square brackets; else 0.
    """

    length: int
    body: Body | None = None
    bracket: int = 0


Reading = Found | Verdict

_OPEN, _CLOSE = r"[\[［【]", r"[\]］】]"
_BRACKET = re.compile(
    rf"\\?{_OPEN}(?P<double>\\?{_OPEN})?"
    rf"(?P<body>[^\[\]［］【】\n\\]{{0,{markers.MAX_BODY}}})"
    rf"\\?{_CLOSE}(?(double)\\?{_CLOSE})"
)
_BRACKET_START = re.compile(
    rf"\\?{_OPEN}(?:\\?{_OPEN}|\\\Z)?(?P<body>[^\[\]［］【】\n\\]*)\\?(?:{_CLOSE}\\?)?\Z"
)
_TOOL = re.compile(r"\[cite_(?:start|end)\]")
_TOOL_START = re.compile(r"\[cite_(?:s(?:t(?:a(?:rt?)?)?)?|e(?:nd?)?)?\Z")
_LETTERS = re.compile(r"\s*[^\W\d_]+[\s:：=#._-]*")
_LINK = re.compile(
    r"\((?:<[^<>\n]*>|[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)(?:\s+\"[^\"\n]*\")?\)"
)
_LINK_START = re.compile(r"\((?:<[^<>\n]*>?|[^\s<>]*)(?:\s+(?:\"[^\"\n]*\"?)?)?\Z")
_TO_BRACKET = re.compile(rf"[-–—](?={_OPEN}(?P<last>\d{{1,3}}){_CLOSE})")
_TO_BRACKET_START = re.compile(rf"[-–—](?:{_OPEN}\d{{0,3}})?\Z")


def bracket(window: str, *, whole: bool, skip: int = 0) -> Reading:
    """`[1]`, `[[1]](url)`, `【1†source】`, `[^1]`, ...; `skip` code points of a prefix precede it.

    One that is unfinished at the end of the text disappears.
    """
    if tool := _TOOL.match(window, skip):
        return Found(tool.end())
    found = _BRACKET.match(window, skip)
    if not found:
        if not whole and _TOOL_START.match(window, skip):
            return HOLD
        start = _BRACKET_START.match(window, skip)
        if not start or not markers.may_become(start["body"]):
            return TEXT
        if not whole:
            return HOLD
        closed = start.end("body") < len(window) or _LETTERS.fullmatch(start["body"])
        return TEXT if closed else Found(len(window))
    body = markers.read(found["body"])
    if not body:
        return TEXT
    end = found.end()
    open_ended = (
        end == len(window) or _LINK_START.match(window, end) or _TO_BRACKET_START.match(window, end)
    )
    if open_ended and not whole and not _LINK.match(window, end):
        return HOLD
    if (to := _TO_BRACKET.match(window, end)) and body.bare and len(body.spans) == 1:
        body = Body(((body.spans[0][0], int(to["last"])),), labelled=False, bare=True)
        end = to.end() + len(to["last"]) + 2
    link = _LINK.match(window, end)
    return Found(link.end() if link else end, body, bracket=end)


_SUPERSCRIPT = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,40}(?:[,⁻][⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})*")


def superscript(window: str, *, whole: bool) -> Reading:
    """`¹`, `¹,²`, `¹⁻³`."""
    found = _SUPERSCRIPT.match(window)
    if not found:
        return TEXT
    if not whole and window[found.end() :] in {"", ",", "⁻"}:
        return HOLD
    body = markers.read(found[0].replace("⁻", "-"))
    return Found(found.end(), body) if body else TEXT


_CARET = re.compile(r"\^(?P<body>\d{1,3}(?:,\s?\d{1,3})*)\^?(?![\w{(]|\.\d)")
_CARET_START = re.compile(r"\^[\d,\s]*\^?\.?\Z")


def caret(window: str, *, whole: bool) -> Reading:
    """`^1`, `^1^`, `^[1]`."""
    if window[1:2] in {"[", "［", "【"}:
        return bracket(window, whole=whole, skip=1)
    if not whole and len(window) < markers.MAX_BODY and _CARET_START.match(window):
        return HOLD
    found = _CARET.match(window)
    body = markers.read(found["body"]) if found else None
    return Found(found.end(), body) if found and body else TEXT


_BRACES = re.compile(r"\{(?P<double>\{)?(?P<body>[^{}\n]{0,64})\}(?(double)\})")
_BRACES_START = re.compile(r"\{\{?(?P<body>[^{}\n]{0,64})\}?\Z")


def braces(window: str, *, whole: bool) -> Reading:
    """`{{source:1}}`, `{{1}}`, `{source:1}`."""
    found = _BRACES.match(window)
    if found:
        body = markers.read(found["body"])
        return Found(found.end(), body) if body and (body.labelled or found["double"]) else TEXT
    start = _BRACES_START.match(window)
    return HOLD if start and not whole and markers.may_become(start["body"]) else TEXT


_PARENTHESES = re.compile(r"\((?P<body>[^()\[\]{}<>\n]{1,64})\)")
_PARENTHESES_START = re.compile(r"\((?P<body>[^()\[\]{}<>\n]{0,64})\Z")
_ENDS_CLAIM = re.compile(r"[.;!?\n(]|\Z")


def parentheses(window: str, *, whole: bool) -> Reading:
    """`(ID: 1)`, and `(1)` where a claim ends behind it."""
    found = _PARENTHESES.match(window)
    if not found:
        start = _PARENTHESES_START.match(window)
        return HOLD if start and not whole and markers.may_become(start["body"]) else TEXT
    body = markers.read(found["body"])
    if not body or not (body.labelled or body.bare):
        return TEXT
    if not body.labelled:
        if found.end() == len(window) and not whole:
            return HOLD
        if not _ENDS_CLAIM.match(window, found.end()):
            return TEXT
    return Found(found.end(), body)


_REFERENCE = re.compile(r"[Rr]efs?\.?[ \u00a0](?P<number>\d{1,3})(?!\w|\.\d)")
_REFERENCE_START = re.compile(r"[Rr](?:e(?:f(?:s?\.?(?:[ \u00a0](?:\d{1,3}\.?)?)?)?)?)?\Z")


def reference(window: str, *, whole: bool) -> Reading:
    """`ref 1` in running text."""
    if not whole and _REFERENCE_START.match(window):
        return HOLD
    found = _REFERENCE.match(window)
    return Found(found.end(), markers.read(found["number"])) if found else TEXT


_COLON = ":cite["


def directive(window: str, *, whole: bool) -> Reading:
    """`:cite[1]`."""
    if window.startswith(_COLON):
        return bracket(window, whole=whole, skip=len(_COLON) - 1)
    return HOLD if not whole and _COLON.startswith(window) else TEXT


_COMMAND = re.compile(r"\\cite[a-z]{0,8}\{(?P<body>[^{}\n]{0,64})\}")
_COMMAND_START = re.compile(r"\\(?:c(?:i(?:t(?:e[a-z]{0,8}(?:\{(?P<body>[^{}\n]{0,64}))?)?)?)?)?\Z")


def command(window: str, *, whole: bool) -> Reading:
    r"""`\cite{1}`."""
    found = _COMMAND.match(window)
    if found:
        body = markers.read(found["body"])
        return Found(found.end(), body) if body else TEXT
    return HOLD if not whole and _COMMAND_START.match(window) else TEXT


_PRIVATE = re.compile(r"\ue200[^\ue200\ue201\n]{0,200}\ue201")
_PRIVATE_START = re.compile(r"\ue200[^\ue200\ue201\n]{0,200}\Z")


def private(window: str, *, whole: bool) -> Reading:
    """A marker of a model's own tool, between two private-use characters: it only disappears."""
    if found := _PRIVATE.match(window):
        return Found(found.end())
    if not _PRIVATE_START.match(window):
        return TEXT
    return Found(len(window)) if whole else HOLD


THOUGHTS = ("think", "thinking", "thought", "reasoning")
_CITING = ("cite", "citation", "inref", "ref", "source", "co", "footnote", "fn")
_TAG = re.compile(
    r"<(?P<close>/)?(?P<name>[a-z]+)(?P<attributes>(?:\s|:\s?\d)[^<>\n]{0,160})?/?>", re.IGNORECASE
)
_TAG_START = re.compile(r"<(?:/?(?P<name>[a-z]*)(?P<rest>[\s:/][^<>\n]{0,160})?)?\Z", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:\A:|=)\s*[\"']?\s*(?P<body>\d[\d,\s]*)[\"']?\s*/?\Z")
_CONTENT = re.compile(r"(?P<body>[^\s<>]{1,128}|[\d,;\s-]{1,64})</(?P<name>[a-z]+)>", re.IGNORECASE)
_CONTENT_START = re.compile(
    r"(?:[^\s<>]{0,128}|[\d,;\s-]{0,64})(?:</?[a-z]{0,9})?\Z", re.IGNORECASE
)
_KEY = re.compile(r"[^\s]*[\d_:#/-][^\s]*")
_SUP = re.compile(r"<sup>(?P<body>[^<>\n]{1,128})</sup>", re.IGNORECASE)
_SUP_START = re.compile(r"<sup>[^<>\n]{0,128}(?:</?s?u?p?)?\Z", re.IGNORECASE)
_UNFINISHED = re.compile(r"<sup>[ \t]*\[?\d*\]?(?:</?s?u?p?)?\Z", re.IGNORECASE)


def tag(window: str, *, whole: bool) -> Reading:
    """`<sup>1</sup>`, `<cite>1</cite>`, `<ref id="1"/>`; citing tags without numbers disappear."""
    found = _TAG.match(window)
    if not found:
        start = _TAG_START.match(window)
        return HOLD if start and not whole and _may_cite(start) else TEXT
    name, end = found["name"].lower(), found.end()
    if name == "sup" and not found["close"]:
        return _sup(window, whole=whole)
    if name in THOUGHTS:
        return Found(end) if found["close"] else TEXT
    if name not in _CITING:
        return TEXT
    attributes = _NUMBERED.search(found["attributes"] or "")
    body = markers.read(attributes["body"]) if attributes else None
    if found["close"] or found[0].endswith("/>"):
        return Found(end, body)
    if content := _CONTENT.match(window, end):
        inside = markers.read(content["body"])
        if inside or _KEY.fullmatch(content["body"]):
            return Found(content.end(), inside or body)
    elif not whole and _CONTENT_START.match(window, end):
        return HOLD
    return Found(end, body)


def _may_cite(start: re.Match[str]) -> bool:
    name = (start["name"] or "").lower()
    names = (*_CITING, *THOUGHTS, "sup")
    return name in names if start["rest"] else any(known.startswith(name) for known in names)


def _sup(window: str, *, whole: bool) -> Reading:
    found = _SUP.match(window)
    if not found:
        if not whole:
            return HOLD if _SUP_START.match(window) else TEXT
        return Found(len(window)) if _UNFINISHED.match(window) else TEXT
    inside = found["body"].strip()
    if inside[:1] in {"[", "［", "【"}:
        bodies = [markers.read(item["body"]) for item in _BRACKET.finditer(inside)]
        spans = tuple(span for body in bodies if body for span in body.spans)
        return Found(found.end(), Body(spans, labelled=True, bare=False)) if spans else TEXT
    body = markers.read(inside)
    return Found(found.end(), body) if body else TEXT
