"""Which stretches of a text can stand as a quotation, and what they tell."""

import re
from collections.abc import Iterator

from domain.chunking import UNSPACED
from domain.sentences import split

_LONGEST = 1_000
_LONG = 300
"""Code points from which on the clauses between semicolons are quoted for themselves."""
_CLAUSE_END = re.compile(r";\s+")
_FEWEST_WORDS = 3
_FEWEST_WITHOUT_STOP = 8
_WORD = re.compile(rf"[{UNSPACED}]{{1,2}}|[^\W\d_{UNSPACED}]+")
"""Without spaces between words, two letters are about one."""
_STOP = re.compile(r"[.!…。！:;][\"'»«”“’‘」』）)\]\d\s]*\Z")
_BOILERPLATE = re.compile(
    r"\A(?:#{1,6}\s|\||https?://\S+\Z)|\.{4,}|(?:\. ){4,}|[_=*-]{5,}|[?？]\W*\Z"
)
_LABELLED = re.compile(r"\w:\s*\S")
_POINTS_BACK = re.compile(
    r"(?:He|She|It|They|His|Her|Its|Their|This|These|That|Those|Such|However|Therefore|Thus|"
    r"Er|Sie|Es|Seine[rmns]?|Ihre[rmns]?|Sein|Ihr|Diese[rmns]?|Dies|Deren|Dessen|Dabei|Dadurch|"
    r"Daher|Damit|Danach|Dazu|Deshalb|Solche[rmns]?|Jedoch)\b"
)
"""The beginning of a sentence that is read with the one before."""
_ASKS_AMOUNT = re.compile(
    r"\b(?:how (?:many|much|long|large|tall|high|old|far|often|big|fast|deep|wide)|when|"
    r"(?:what|which) (?:year|date|day|month|century|decade|percent\w*|number|amount|share)|"
    r"wie ?(?:viele?[nr]?|hoch|lang|lange|groß|alt|oft|weit|schnell|tief|breit|schwer|häufig)|wann|"
    r"welche[mnrs]? (?:jahr|datum|tag|monat|jahrhundert|jahrzehnt|zahl|höhe|menge|anteil)\w*)\b",
    re.IGNORECASE,
)
_AMOUNT_TOLD = re.compile(
    r"(?<![(\w§])\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|"
    r"thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|[mb]illions?|half|third|"
    r"quarter|once|twice|zwei|drei|vier|fünf|sechs|sieben|acht|neun|elf|zwölf|\w*zehn|\w*zwanzig|"
    r"\w+(?:ß|z)ig|\w*hundert|\w*tausend|million(?:en)?|milliarden?|hälfte|drittel|viertel|"
    r"\w+mal)\b",
    re.IGNORECASE,
)


def clauses(text: str, language: str) -> list[tuple[int, int]]:
    """The sentences of `text` as [start, end), long ones cut at their semicolons."""
    return [clause for start, end in split(text, language) for clause in _parts(text, start, end)]


def is_quotable(sentence: str) -> bool:
    """False for what only looks like a sentence: a heading, a table row, a line of dots.

    Questions are no answers, and more than 1,000 code points no sentence.
    """
    words = len(_WORD.findall(sentence))
    if words < _FEWEST_WORDS or len(sentence) > _LONGEST or _BOILERPLATE.search(sentence):
        return False
    return bool(
        _STOP.search(sentence) or words >= _FEWEST_WITHOUT_STOP or _LABELLED.search(sentence)
    )


def with_antecedent(text: str, before: tuple[int, int], span: tuple[int, int]) -> tuple[int, int]:
    """`span`, begun at the sentence before it where its own beginning points back there."""
    joined = (before[0], span[1])
    points_back = _POINTS_BACK.match(text, span[0])
    if points_back and joined[1] - joined[0] <= _LONGEST and is_quotable(text[slice(*before)]):
        return joined
    return span


def seems_cut(text: str, start: int, end: int, *, continues: bool) -> bool:
    """True where the sentence runs over an edge of `text`.

    Args:
        text: a chunk.
        start, end: the sentence in it.
        continues: True where the page began before the chunk.
    """
    first = _WORD.search(text, start, end)
    is_first = not text[:start].strip()
    begins_before = is_first and (continues or bool(first and first[0][0].islower()))
    return begins_before or not _STOP.search(text[start:end])


def asks_amount(question: str) -> bool:
    """True where a German or English question wants a number or a time."""
    return bool(_ASKS_AMOUNT.search(question))


def tells_amount(sentence: str) -> bool:
    """True where a sentence has a number, in digits or in German or English words."""
    return bool(_AMOUNT_TOLD.search(sentence))


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence, or its parts between semicolons where it is long."""
    begin = start
    if end - start > _LONG:
        for gap in _CLAUSE_END.finditer(text, start, end):
            yield begin, gap.start() + 1
            begin = gap.end()
    if begin < end:
        yield begin, end
