"""What some passages say together: their words, dates and numbers, ready to be looked up."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from domain import wording
from domain.dates import Calendar, Date
from domain.numbers import Number
from domain.retrieval import Hit
from domain.wording import Wording

_NEAR = 3
"""Words on either side of a number that tell what it counts."""
_SMALL = 31.0
"""Integers up to here stand in most passages somewhere: pages, lists, days of a month."""
_ABOUT = 0.05
"""How far off a number may be that is called approximate."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where passages have a number: its unit, and the stems around it."""

    unit: str
    near: frozenset[str]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the passages behind a claim hold.

    Args:
        language: theirs, "" where they differ or it is unknown.
        words: folded words and stems.
        places: by the value of a number, as `Number.values` has it.
    """

    language: str
    words: frozenset[str]
    places: dict[str, list[Place]]
    calendar: Calendar
    amounts: tuple[float, ...]

    @classmethod
    def of(cls, readings: Sequence[tuple[str, Wording]]) -> "Evidence":
        """From the language and the wording of each passage."""
        languages = {language for language, _ in readings}
        places: dict[str, list[Place]] = defaultdict(list)
        for _, reading in readings:
            for number in reading.numbers:
                place = Place(number.unit, near(reading, number))
                for value in number.values:
                    places[value].append(place)
        return cls(
            languages.pop() if len(languages) == 1 else "",
            frozenset(w for _, r in readings for word in r.words for w in (word.folded, word.stem)),
            dict(places),
            Calendar.of(date for _, reading in readings for date in reading.dates),
            tuple(sorted(filter(isfinite, (_amount(value) for value in places)))),
        )

    def doubt(self, number: Number, around: frozenset[str], *, about: bool) -> str:
        """Why the passages do not bear a number; "" where they do.

        Args:
            around: the stems around it; empty where they cannot be compared.
            about: True where the claim calls it approximate.
        """
        found = [place for value in number.values for place in self.places.get(value, ())]
        if not found:
            years = {str(year) for year in self.calendar.years}
            told = not number.unit and number.values & years
            return "" if told or (about and self._is_about(number)) else "nowhere"
        if number.unit:
            return "" if any(number.fits(place.unit) for place in found) else "unit"
        is_small = all(_amount(value) <= _SMALL for value in number.values)
        if not is_small or not around or any(place.near & around for place in found):
            return ""
        return "elsewhere"

    def tells(self, date: Date) -> bool:
        """True where the passages tell a date; a bare year may be any number of theirs."""
        bare = date.year is not None and date.month is None
        return self.calendar.tells(date) or (bare and str(date.year) in self.places)

    def _is_about(self, number: Number) -> bool:
        for value in map(_amount, number.values):
            low = bisect_left(self.amounts, value * (1 - _ABOUT))
            if low < bisect_right(self.amounts, value * (1 + _ABOUT)):
                return True
        return False


def reading_of(hit: Hit) -> tuple[str, Wording]:
    """The language of a passage, and its wording together with its title's."""
    text = wording.of_passage(f"{hit.text}\n\n{hit.source_title}\n\n{hit.page or ''}")
    return hit.language, wording.read(text, german=hit.language == "de")


def near(reading: Wording, number: Number) -> frozenset[str]:
    """The stems of the words around a number."""
    words = reading.words
    at = bisect_left(words, number.start, key=lambda word: word.start)
    behind = bisect_left(words, number.end, key=lambda word: word.start)
    around = [*words[max(0, at - _NEAR) : at], *words[behind : behind + _NEAR]]
    return frozenset(word.stem for word in around if len(word.stem) > 1)


def _amount(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return float("inf")
