"""Text of a source as a model may read it: it can neither end its passage nor pass for a marker."""

import re
import unicodedata
from functools import lru_cache

from domain import citations, markers
from domain.citations import Marker

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\ufe00-\ufe0e\ufeff\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""What no reader sees and a model reads all the same: hidden letters, turned directions."""

_LEFT = (
    "<\u02c2\u1438\u16b2\u2039\u2329\u276e\u2770\u276c\u27e8\u27ea\u29fc\u3008\u300a\ufe3d\ufe3f\ufe64"
    "\uff1c\u226a\u22d6\u00ab"
)
# Here and below a set of first signs begins what is sought: it is found three times as fast.
_TAG = re.compile(
    rf"[{_LEFT}&\\](?:(?<=[{_LEFT}])|(?<=&)(?:lt|#0*60|#x0*3c);?|(?<=\\)(?:u003c|x3c))",
    re.IGNORECASE,
)
_TAG_REACH = 96
"""Code points behind a bracket in which the name of our delimiter may be hidden."""
_NAME = "passage"
_TWINS = {
    ord(twin): letter
    for letter, twins in {
        "p": "\u0440\u03c1\u1d18\u2374\u03f1\u01bf\u00fe",
        "a": "\u0430\u03b1\u0251\u1d00\u0259\u2202@4",
        "s": "\u0455\ua731\u01bd\u0282\u00a75$",
        "g": "\u0261\u0581\u0262\u0260\u01e59",
        "e": "\u0435\u0454\u03b5\u1d07\u04bd\u212e\u20ac3",
    }.items()
    for twin in twins
}
"""Letters of other scripts, and signs, that are drawn like those of the name."""

_OPEN = r"\[\uff3b\u3010\u3014\u27e6\u3016\u2045\u2772\u3018\u2e28"
_BRACKETS = re.compile(
    rf"[\\{_OPEN}](?:(?<!\\)|(?<=\\)[{_OPEN}])"
    "([^\\[\\]\n\uff3b\uff3d\u3010\u3011\u3014\u3015]{1,80}?)"
    "\\\\?[\\]\uff3d\u3011\u3015\u27e7\u3017\u2046\u2773\u3019\u2e29]"
)
_ENTITIES = re.compile(
    r"&(?:#0*91|#x0*5b|lbrack|lsqb);?|&(?:#0*93|#x0*5d|rbrack|rsqb);?", re.IGNORECASE
)
_RAISED = r"\u2070\u00b9\u00b2\u00b3\u2074-\u2079"
_OTHER_FORMS = re.compile(
    rf"[{_RAISED}<{{\\:\ue200](?:(?<=[{_RAISED}])[{_RAISED}]*"
    r"|(?<=<)(?P<tag>cite|ref|sup|source|citation)\b[^<>\n]{0,80}>(?:[^<>\n]{0,20}</(?P=tag)\s?>)?"
    r"|(?<=\{)\{[^{}\n]{1,40}\}\}|(?<=\\)cite[a-z]{0,2}\{[^{}\n]{1,40}\}"
    r"|(?<=:)cite\[[^\]\n]{1,40}\]|(?<=\ue200)[^\ue201\n]{0,80}\ue201)",
    re.IGNORECASE,
)
_BEFORE = 24
_MANY = 9_999


def quoted(text: str) -> str:
    """`text` as data for a prompt.

    Every sign that could begin or end one of our delimiters is another one, in whatever disguise;
    every number that our own grammar would take for a marker stands in ⟨brackets⟩ of its own; what
    is invisible is left out. Everything else stays; linear in the length of `text`.
    """
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    text = _TAG.sub(_harmless, text)
    text = _ENTITIES.sub(
        lambda found: "[" if found[0].lower().rstrip(";")[1:] in _OPENING else "]", text
    )
    text = _BRACKETS.sub(_unbracketed, text)
    return _OTHER_FORMS.sub(_unmarked, text)


_OPENING = {"#91", "#091", "#x5b", "#x05b", "lbrack", "lsqb"}


def _harmless(found: re.Match[str]) -> str:
    """Another sign where the name of our delimiter follows, however it is written or spaced."""
    text, left = found.string, _NAME
    for place in range(found.end(), min(found.end() + _TAG_REACH, len(text))):
        letters = _skeleton(text[place])
        if not left.startswith(letters) or text[place] in _LEFT:
            break
        left = left.removeprefix(letters)
        if not left:
            return "‹"
    return found[0]


@lru_cache(maxsize=4096)
def _skeleton(character: str) -> str:
    """The letter that `character` is drawn like; "" for what is none."""
    folded = unicodedata.normalize("NFKD", character).casefold().translate(_TWINS)
    return "".join(filter(str.isalpha, folded))


def _unbracketed(found: re.Match[str]) -> str:
    body = found[1].strip("^")
    return f"⟨{body}⟩" if markers.read(unicodedata.normalize("NFKC", body)) else found[0]


def _unmarked(found: re.Match[str]) -> str:
    """`⟨1⟩` for what our grammar takes for marker 1 in its place."""
    before = found.string[max(0, found.start() - _BEFORE) : found.start()]
    named = [
        piece.passage
        # Without the forms before it: their numbers are not its own.
        for piece in citations.parse(f"{_OTHER_FORMS.sub(' ', before)}{found[0]}", _MANY)
        if isinstance(piece, Marker)
    ]
    return f"⟨{', '.join(map(str, named))}⟩" if named else found[0]
