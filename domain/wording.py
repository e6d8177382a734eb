"""A text read for comparison: its dates, its numbers, and its words without spelling."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from domain import dates, numbers
from domain.dates import Date
from domain.language import function_words
from domain.numbers import Number

_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]{1,2}(?!\w))?")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_LINE_END_HYPHEN = re.compile(r"(?<=[^\W\d_])[-‐‑]\n\s*(?=[^\W\d_])")
_POSSESSIVE = re.compile(r"['’][^\W\d_]{0,2}\Z")
_ENDINGS = ("ern", "en", "er", "es", "em", "e", "n", "s")
_SHORTEST_STEM = 3


class Word(msgspec.Struct, frozen=True, gc=False):
    """A word, or a part of one with hyphens.

    Args:
        start, end: code points.
        folded: without case, accents and a possessive ending.
        stem: without its inflexion, roughly.
    """

    start: int
    end: int
    folded: str
    stem: str


@dataclass(frozen=True, slots=True)
class Wording:
    """What a text says in dates, numbers and other words, each in order; no two overlap."""

    text: str
    dates: Sequence[Date]
    numbers: Sequence[Number]
    words: Sequence[Word]


def read(text: str, *, german: bool) -> Wording:
    """The wording of `text`."""
    counted = numbers.find(text, german=german)
    measured = {number.start for number in counted if number.unit}
    told = [d for d in dates.find(text) if d.month or d.decade or d.start not in measured]
    taken = bytearray(len(text))
    for date in told:
        taken[date.start : date.end] = b"\1" * (date.end - date.start)
    counted = [number for number in counted if not any(taken[number.start : number.end])]
    for number in counted:
        if number.is_claim:
            taken[number.start : number.end] = b"\1" * (number.end - number.start)
    words = [
        Word(*match.span(), *_forms(match[0]))
        for match in _WORD.finditer(text)
        if not taken[match.start()]
    ]
    return Wording(text, told, counted, words)


def of_passage(text: str) -> str:
    """A passage with the words whole that its line ends cut."""
    return _LINE_END_HYPHEN.sub("", _INVISIBLE.sub("", text))


def fold(word: str) -> str:
    """`word` without case and accents."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def is_german(text: str) -> bool | None:
    """By its function words; None where they do not tell."""
    words = [match[0].lower() for match in _WORD.finditer(text[:4000])]
    german = sum(word in function_words("de") for word in words)
    english = sum(word in function_words("en") for word in words)
    return None if german == english else german > english


@lru_cache(maxsize=100_000)
def _forms(word: str) -> tuple[str, str]:
    """The word folded, and its stem."""
    folded = fold(_POSSESSIVE.sub("", word))
    stem = folded
    for ending in _ENDINGS:
        if stem.endswith(ending) and len(stem) - len(ending) >= _SHORTEST_STEM:
            stem = stem.removesuffix(ending)
            break
    return folded, stem
