"""What a model may write for a citation: the grammar inside the brackets."""

import re
from dataclasses import dataclass

MAX_BODY = 256
"""Code points between two brackets; what is longer is no marker."""

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_DIGITS = "[0-9０-９⁰¹²³⁴⁵⁶⁷⁸⁹]{1,40}"
_LABELS = (
    "source", "sources", "src", "quelle", "quellen", "ref", "refs", "reference", "references",
    "referenz", "citation", "citations", "cite", "cit", "doc", "docs", "document", "documents",
    "dok", "dokument", "id", "ids", "passage", "passages", "excerpt", "chunk", "context",
    "kontext", "textstelle", "fundstelle", "auszug", "beleg", "belege", "snippet", "footnote",
    "fußnote", "fn", "note", "来源", "引用", "文档", "出典",
)  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")
_LABEL = (
    rf"(?:(?P<word>{'|'.join(sorted(_LABELS, key=len, reverse=True))})[\s:：=#._-]{{0,3}}|[#^@n])?"
)
_ITEM = re.compile(rf"\s*{_LABEL}\s*(?P<number>{_DIGITS})", re.IGNORECASE)
_RANGE = re.compile(
    r"\s*(?:[-‐‑–—−~～]|\.{2,3}|…|\bto\b|\bbis\b)(?=\s*[#^n]?\s*[0-9０-９⁰¹²³⁴⁵⁶⁷⁸⁹])",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"\s*(?:[,，、;；&+]|\band\b|\bund\b)\s*", re.IGNORECASE)
_PLACES = (
    "s", "seite", "seiten", "p", "pp", "page", "pages", "pg", "abs", "absatz", "art", "artikel",
    "article", "kap", "kapitel", "ch", "chapter", "sec", "section", "abschnitt", "line", "lines",
    "zeile", "zeilen", "para", "paragraph", "rn", "rz", "satz", "nr", "no", "tab", "tabelle",
    "table", "fig", "figure", "abb", "abbildung", "slide", "folie", "vgl", "see", "siehe",
)  # fmt: skip
_PLACE = "|".join(sorted(_PLACES, key=len, reverse=True))
_NOTE = re.compile(
    r"\s*\^\s*$"  # [^1^]
    r"|(?::\d{1,6})?\s*[†‡].*"  # 【1†source】, 【4:0†report.pdf】
    r"|\s*[:：|]\s*[\"'“„«‚‘].*|\s*[:：|]\s+[^\d\s].*"  # [1: "opened in 1932"], [1: report.pdf]
    r"|\s+[\"“„«].*|\s+[-–—]\s+[^\d\s].*"  # [1 "opened in 1932"], [1 – Title]
    rf"|(?:\s*[,;]\s*|\s+)(?:§|(?:{_PLACE})(?![^\W\d_]))[^;]*",  # [1, S. 12]
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"\s*\d{1,3}(?:,\d{3})+\s*")
_AFTER_SEPARATOR = re.compile(r"\s*(?:[,，、;；&+:：|†‡^…~～-]|[‐‑–—−]|\.{1,3})\s*")
_GOES_ON = (*_LABELS, *_PLACES, "and", "und", "to", "bis")


@dataclass(frozen=True, slots=True)
class Body:
    """What stands between two brackets.

    Args:
        spans: (first, last) of every number or range, as written, in order.
        labelled: True where a word says that it is a source ("Source 1").
        bare: True where there is nothing but numbers and separators.
    """

    spans: tuple[tuple[int, int], ...]
    labelled: bool
    bare: bool

    @property
    def numbers(self) -> list[int]:
        """Both ends of every span."""
        return [number for span in self.spans for number in dict.fromkeys(span)]


def read(body: str) -> Body | None:
    """The numbers in `body`, or None where it is no marker's."""
    if _THOUSANDS.fullmatch(body):
        return None
    spans: list[tuple[int, int]] = []
    labelled, bare, at = False, True, 0
    while item := _ITEM.match(body, at):
        first = last = _int(item["number"])
        labelled |= item["word"] is not None
        bare &= item[0].strip() == item["number"]
        at = item.end()
        if (dash := _RANGE.match(body, at)) and (end := _ITEM.match(body, dash.end())):
            last, at = _int(end["number"]), end.end()
        spans.append((first, last))
        if note := _NOTE.match(body, at):
            bare, at = False, note.end()
        if not body[at:].strip():
            return Body(tuple(spans), labelled, bare)
        if not (separator := _SEPARATOR.match(body, at)):
            return None
        at = separator.end()
    return None


def apart(body: Body, known: range) -> Body:
    """`¹²` read as 1 and 2 where there is no passage 12 but both of those."""
    spans: list[tuple[int, int]] = []
    for span in body.spans:
        digits = [int(digit) for digit in str(span[1])]
        split = span[0] == span[1] not in known and all(digit in known for digit in digits)
        spans += [(digit, digit) for digit in digits] if split else [span]
    return Body(tuple(spans), body.labelled, body.bare)


def may_become(body: str) -> bool:
    """True where `body`, still without its closing bracket, could become a marker's."""
    if len(body) > MAX_BODY:
        return False
    at = 0
    while item := _ITEM.match(body, at):
        at = item.end()
        if not (separator := _AFTER_SEPARATOR.match(body, at)):
            rest = body[at:]
            return not rest.strip() or (rest[0].isspace() and _opens_note(rest.lstrip()))
        if _NOTE.match(body, at):
            return True
        at = separator.end()
    return _opens_note(body[at:].lstrip()) if at else _opens_item(body)


def _opens_item(body: str) -> bool:
    """True where `body`, without any number yet, could begin with one."""
    rest = body.strip()
    if rest in {"", "#", "^", "@", "n", "N"}:
        return True
    word = _WORD.match(rest)
    if not word:
        return False
    label, after = word[0].lower(), rest[word.end() :]
    if after or body != body.rstrip():
        return label in _LABELS and not after.strip(":：=#._- \t")
    return any(known.startswith(label) for known in _LABELS)


def _opens_note(rest: str) -> bool:
    """True where `rest`, behind a number, could be a page, a quote or the next number."""
    if not rest or rest[0] in "\"'“„«‚‘§†‡#^@n":
        return True
    word = _WORD.match(rest)
    if not word:
        return rest[0] in "-–—"
    if word.end() < len(rest):
        return word[0].lower() in _GOES_ON
    return any(known.startswith(word[0].lower()) for known in _GOES_ON)


def _int(digits: str) -> int:
    return int(digits.translate(_SUPERSCRIPTS))
