"""The text gate: everything from outside passes it before it reaches a column or a page.

What it does, in this order: line ends become newlines; controls, lone surrogates, noncharacters and
characters nobody sees (soft hyphen, zero-width space, byte order mark, tags) go; ligatures and
presentation forms become their letters; joiners stay only between letters of scripts that need
them; runs of combining marks end after 30; the rest is composed (NFC). Private-use characters stay:
whether they are text is for `domain.legibility` to say.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache

_Step = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]

_MOST_MARKS = 30
"""Marks on one letter; more is no writing system (UAX #15 draws the same line)."""
_SECOND_PLANE = "\U00010000"


def _letters_of_forms() -> dict[str, str]:
    """Ligatures, Arabic and Hebrew presentation forms and Kangxi radicals, with their letters.

    Forms that are marks on a blank, and phrases written as one sign, stay what they are.
    """
    ranges = ((0x2E80, 0x2FD6), (0xFB00, 0xFDC8), (0xFE80, 0xFEFD))
    found = {}
    for point in (p for low, high in ranges for p in range(low, high)):
        letters = unicodedata.normalize("NFKC", chr(point))
        if letters != chr(point) and letters.replace("\u0640", "").isalpha():
            found[chr(point)] = letters
    return found


_FORMS = _letters_of_forms()

# Line ends and what goes are told apart by the first character of a match.
_LINE_END = "\r\n\x0b\x0c\x85\u2028\u2029"
_FIRST_PLANE_GONE = (
    r"\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u200b\u2060\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\ufdd0-\ufdef\ufffe\uffff"
)
_LATER_PLANES_GONE = r"\U000e0000-\U000e007f" + "".join(
    rf"\U{plane:04x}fffe\U{plane:04x}ffff" for plane in range(1, 0x11)
)
_GONE = _FIRST_PLANE_GONE + _LATER_PLANES_GONE
# A class of characters first, with the later planes as one range: the engine looks for the next of
# them much faster than for a choice, or for each of many ranges.
_SPECIAL = re.compile(
    rf"[\r\x0b\x0c\x85\u2028\u2029\u200c\u200d{_FIRST_PLANE_GONE}{''.join(_FORMS)}"
    rf"{_SECOND_PLANE}-\U0010ffff](?<=[\0-\uffff{_LATER_PLANES_GONE}])"
    r"(?:(?<=\r)\n|(?<=[\u200c\u200d])[\u200c\u200d]+)?"
)

# Letters that never need a joiner beside them, and what is composed or unfolded to such.
_NEEDS_NO_JOINER = re.compile(
    rf"[\u0000-\u05ff\u1e00-\u200b\u200e-\u206f\u2126\u212a\u212b\ufb00-\ufb4f{_GONE}]"
)


def _special(match: re.Match[str]) -> str:
    found = match[0]
    if found[0] in _LINE_END:
        return "\n"
    if found[0] in "\u200c\u200d":
        before = match.string[match.start() - 1 : match.start()]
        after = match.string[match.end() : match.end() + 1]
        return found if _may_need_joiner(before) and _may_need_joiner(after) else ""
    return _FORMS.get(found, "")


def _may_need_joiner(neighbour: str) -> bool:
    return neighbour != "" and not _NEEDS_NO_JOINER.match(neighbour)


@cache
def _too_many_marks() -> re.Pattern[str]:
    # Built on first use: looking through all code points takes tens of milliseconds.
    marks = "".join(
        chr(point) for point in range(0x300, 0x1F000) if unicodedata.combining(chr(point))
    )
    # The engine looks for one of the first plane fast, and through each of the others in turn.
    first = "".join(mark for mark in marks if mark < _SECOND_PLANE) + f"{_SECOND_PLANE}-\U0010ffff"
    return re.compile(f"([{first}](?<=[{marks}])[{marks}]{{{_MOST_MARKS - 1}}})[{marks}]+")


# PDFium puts one of these in place of a hyphen and the line end after it.
_HYPHEN = re.compile(
    r"[\ufffe\x02\x0b\x0c\x1c-\x1f\x85]"
    r"(?:(?<=\w[\ufffe\x02])(?=\w|\Z)"
    r"|(?<=[\x0b\x0c\x1c-\x1f\x85]))"  # in a PDF these are codes of glyphs, not line ends
)
_CONJUNCTION = re.compile(r"(?:und|oder|bzw\.) ")
_CAPITALISED = re.compile(r"\b[^\W\d_a-zß-öø-ÿ]\w*\Z")


def _hyphen(match: re.Match[str]) -> str:
    if match[0] not in "\ufffe\x02":
        return ""
    text, after = match.string, match.string[match.end() : match.end() + 1]
    if not after or after.isupper() or after.isdigit():
        return "-"
    word = text[max(0, match.start() - 40) : match.start()]
    return "- " if _CONJUNCTION.match(text, match.end()) and _CAPITALISED.search(word) else ""


def clean(text: str) -> str:
    """`text` through the gate. Applying it again changes nothing; time is linear."""
    text = _SPECIAL.sub(_special, text)
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _too_many_marks().sub(r"\1", text))


def clean_page(raw: str) -> str:
    """A page's text as PDFium gives it, through the gate, words cut at a line's end rejoined.

    A hyphen that belongs to the word stays: before a capital or a digit, and before a German
    conjunction ("Waren- und").
    """
    return clean(_HYPHEN.sub(_hyphen, raw))


def clean_page_mapped(raw: str) -> tuple[str, list[int]]:
    """`clean_page(raw)`, and where each of its code points came from.

    Returns:
        The text, and for each of its code points the index in `raw`, ascending; slower.
    """
    text, origins = raw, list(range(len(raw)))
    steps: list[_Step] = [
        (_HYPHEN, _hyphen),
        (_SPECIAL, _special),
        (_too_many_marks(), lambda match: match[1]),
    ]
    for pattern, replace in steps:
        text, origins = _rewritten(
            text, origins, ((m.start(), m.end(), replace(m)) for m in pattern.finditer(text))
        )
    return _rewritten(text, origins, _compositions(text))


def _rewritten(
    text: str, origins: list[int], edits: Iterable[tuple[int, int, str]]
) -> tuple[str, list[int]]:
    """Apply (start, end, replacement) in order, keeping the origins in step."""
    parts: list[str] = []
    kept: list[int] = []
    at = 0
    for start, end, replacement in edits:
        parts += text[at:start], replacement
        kept += origins[at:start]
        kept += [origins[min(start + i, end - 1)] for i in range(len(replacement))]
        at = end
    return "".join([*parts, text[at:]]), kept + origins[at:]


def _compositions(text: str) -> Iterable[tuple[int, int, str]]:
    """The edits that compose `text`: one letter with its marks (or one Hangul syllable) each."""
    start = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and _continues(text[end]):
            continue
        cluster = text[start:end]
        if not cluster.isascii():
            yield start, end, unicodedata.normalize("NFC", cluster)
        start = end


def _continues(character: str) -> bool:
    """True where `character` may be composed with the one before it."""
    return unicodedata.category(character)[0] == "M" or "\u1160" <= character <= "\u11ff"


class DeltaGate:
    """The gate for a text that comes in pieces: what no column takes is left out.

    Composing (NFC) would need what follows, so only characters that cannot be stored go: NUL and
    lone surrogates. A pair that was cut between two pieces is put together again.
    """

    def __init__(self) -> None:
        self._held = ""

    def passed(self, piece: str) -> str:
        """What may pass now; a high surrogate at the end waits for its other half."""
        text = self._held + piece
        self._held = text[-1] if text and "\ud800" <= text[-1] <= "\udbff" else ""
        text = text[: len(text) - len(self._held)].replace("\0", "")
        if _SURROGATE.search(text):
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
        return text


_SURROGATE = re.compile("[\ud800-\udfff]")
