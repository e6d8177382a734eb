"""Where the sentences of a text begin and end."""

import itertools
import re

import sentencex

_BREAK = re.compile(
    r"\n[^\S\n]*(?:\n\s*)+"  # an empty line
    r"|\n\s*(?=(?:[-*+•·▪‣◦●■]|\(\d{1,3}[a-z]?\)|\#{1,6})[^\S\n])"  # an item, a numbered clause
    r"|\f\s*"
)
_LABEL = re.compile(r"\s*(?:\(?\d{1,3}[a-z]?\)|\(?[a-z]{1,2}\)|\d{1,3}\.|[-*+•·▪‣◦●■])\s+")
"""What stands before the first sentence of an item; sentencex finds no end after "(1)"."""
_HEADING_LINE = re.compile(r"\#{1,6} [^\n]*\n\s*")

_ORDINAL = re.compile(r"(?:(?P<before>[^\W\d_]+)\s+)?(?P<number>\d{1,2}|[IVXL]{1,6})\.\s*\Z")
_BEFORE_ORDINAL = re.compile(
    r"d(?:er|ie|as|en|em|es)|(?:[ms]?ein|ihr|unser|jed|dies)(?:e[rsnm]?)?|[ai][mn]s?|zu[mr]?|vom|"
    r"beim|und|oder|sowie|bis|ab|seit|vor|nach",
    re.IGNORECASE,
)
_MONTH = re.compile(
    r"(?:januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|"
    r"dezember|jahrhundert|jahrtausend|jhd?)s?",
    re.IGNORECASE,
)
_BEGIN = r"(?:\A|[\s(\[„“\"'/])"
_ABBREVIATION = re.compile(
    rf"{_BEGIN}(?:"
    r"z\.\s?B|d\.\s?h|i\.\s?d\.\s?R|u\.\s?a|o\.\s?ä|s\.\s?o|s\.\s?u|v\.\s?a|i\.\s?V|i\.\s?S|"
    r"[Hh]rsg|[Vv]gl|[Ss]og|[Gg]gf|[Ee]vtl|[Bb]zw|[Cc]a|[Ii]nkl|[Ee]xkl|[Zz]zgl|[Bb]etr|[Gg]em|"
    r"[Ee]inschl|[Ee]ntspr|[Dd]r|[Pp]rof|[Dd]ipl|[Ii]ng|[Ff]r|[Hh]r|[Ss]t|[Gg]eb|[Gg]est|"
    r"[Cc]f|vs|e\.\s?g|i\.\s?e|et\sal|approx|Mr|Mrs|Ms|Gen|Col|Sen|Rep"
    r")\.\s*\Z"
)
"""Something always follows these."""
_BEFORE_NUMBER = re.compile(
    rf"{_BEGIN}(?:[Aa]bs|[Aa]rt|[Nn]rn?|[Zz]iff|[Rr][nz]|[Kk]ap|[Bb]de?|[Aa]bb|[Tt]ab|[Aa]nm|[Aa]ufl|"
    r"[Mm]ax|[Mm]in|[Mm]ind|Fn|Tel|[Ff]igs?|[Nn]os?|[Ee]qs?|[Ss]ecs?|[Cc]h|[Vv]ol|[Pp]p?|S|v"
    r")\.\s*\Z"
)
"""These belong to a number behind them."""
_WORD = re.compile(r"\w+")
_TAIL = 32
"""Code points of a piece that are looked at to see whether it really ends a sentence."""


def split(text: str, language: str) -> list[tuple[int, int]]:
    """The sentences of `text` as [start, end) in code points, in order, without outer space.

    Between two of them stands nothing but white space. A text without a full stop is one
    sentence; an empty line, an item of a list and a Markdown heading end one as well.

    Args:
        text: of any length; paragraphs are read one by one.
        language: ISO 639-1; where it is "" or unknown, English rules hold.
    """
    spans: list[tuple[int, int]] = []
    for start, end in _paragraphs(text):
        # Empty lines at its end may be millions.
        spans += _sentences(text[start:end].rstrip(), start, language)
    return spans


def _paragraphs(text: str) -> list[tuple[int, int]]:
    """The pieces of `text` that no sentence crosses."""
    cuts: list[int] = []
    for cut in (0, *(gap.end() for gap in _BREAK.finditer(text))):
        cuts.append(cut)
        if heading := _HEADING_LINE.match(text, cut):
            cuts.append(heading.end())
    cuts.append(len(text))
    return [(a, b) for a, b in itertools.pairwise(cuts) if a < b]


def _sentences(paragraph: str, offset: int, language: str) -> list[tuple[int, int]]:
    """The sentences of one paragraph that begins at `offset`."""
    spans: list[tuple[int, int]] = []
    label = _LABEL.match(paragraph)
    shift = label.end() if label else 0
    for piece in sentencex.get_sentence_boundaries(language or "en", paragraph[shift:]):
        start, end = piece["start_index"] + shift, piece["end_index"] + shift
        if not spans:
            start = 0
        if spans and _goes_on(paragraph, spans[-1][0], start, language):
            start = spans.pop()[0]
        spans.append((start, end))
    spans = spans or [(0, len(paragraph))]
    trimmed = (_trim(paragraph, start, end) for start, end in spans)
    return [(offset + start, offset + end) for start, end in trimmed if start < end]


def _goes_on(paragraph: str, first: int, cut: int, language: str) -> bool:
    """True where the sentence that began at `first` goes on past `cut`.

    The full stop before `cut` is then that of an abbreviation or of a German ordinal.
    """
    tail = paragraph[max(first, cut - _TAIL) : cut]
    if _ABBREVIATION.search(tail):
        return True
    if paragraph[cut : cut + 1].isdigit() and _BEFORE_NUMBER.search(tail):
        return True
    if language != "de" or not (ordinal := _ORDINAL.search(tail)):
        return False
    if not ordinal["before"]:
        return False
    following = _WORD.search(paragraph, cut, cut + _TAIL)
    return bool(
        _BEFORE_ORDINAL.fullmatch(ordinal["before"])
        or (following and _MONTH.fullmatch(following[0]))
    )


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """[start, end) without the white space at both ends."""
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
