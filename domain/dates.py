"""Dates in a text, German and English, whole or in part."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_MONTHS = (
    "january januar jänner jan", "february februar feb", "march märz maerz mar mrz",
    "april apr", "may mai", "june juni jun", "july juli jul", "august aug",
    "september sept sep", "october oktober oct okt", "november nov", "december dezember dec dez",
)  # fmt: skip
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_NAMES = "|".join(
    sorted({f(name) for name in _MONTH_OF for f in (str.title, str.upper)}, key=len, reverse=True)
)
# No assertion before the names: the search then skips to their first letters.
_MONTH = rf"(?P<month>{_NAMES})(?![^\W\d_])\.?"
_DAY = r"(?<![\w.,/:])(?P<day>\d{1,2})(?!\d)"
_YEAR = r"(?P<year>(?:1\d|20|21)\d\d)(?!\d)"
_FORMS = (
    re.compile(rf"{_DAY}(?:\.|st\b|nd\b|rd\b|th\b)?\s{{1,3}}(?:of\s{{1,3}})?{_MONTH}(?:,?\s{{1,3}}{_YEAR})?"),
    re.compile(rf"{_MONTH}\s{{1,3}}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\w)(?!\.\d)(?:,?\s{{1,3}}{_YEAR})?"),
    re.compile(rf"{_MONTH},?\s{{1,3}}(?:of\s{{1,3}})?{_YEAR}"),
    re.compile(rf"(?<![\w./-]){_YEAR}[-/](?P<month>\d{{2}})[-/](?P<day>\d{{2}})(?!\d)"),
    re.compile(rf"{_DAY}\.\s?(?P<month>\d{{1,2}})\.\s?(?:{_YEAR}|(?P<short>\d\d)(?![\d.]))"),
    re.compile(rf"{_DAY}/(?P<month>\d{{1,2}})/(?:{_YEAR}|(?P<short>\d\d)(?!\d))"),
    re.compile(_MONTH),
    re.compile(
        r"(?<![\w.,])(?P<decade>(?:1\d|20)\d0|\d0(?=er)|(?<=(?i:the|mid|rly|ate)[ -])\d?\d0)"
        r"(?:['’]?s|er)(?!\w)"
    ),
    re.compile(rf"(?<![\w.,'’€$£]){_YEAR}(?![\w%€$£]|[.,]\d)"),
)  # fmt: skip
_BEFORE_MONTH = re.compile(
    r"(?<!\w)(?:in|im|of|since|until|till|by|from|during|early|mid|late|last|next|seit|bis|ab|vom|"
    r"anfang|mitte|ende|and|und|to)\s{1,3}\Z",
    re.IGNORECASE,
)
"""Without one of these "May" and "March" are other words."""
_REACH = 12
_LAST_MONTH, _LAST_DAY, _CENTURY, _CENTURY_TURN = 12, 31, 100, 50


@dataclass(frozen=True, slots=True)
class Date:
    """A date, or what a text tells of it.

    Args:
        start, end: code points.
        year, month, day: None where the text leaves it out; `month` counts from 1.
        decade: the first year of a decade, or None.
        other: (month, day) the other way round, where "3/4/2024" may be read so.
    """

    start: int
    end: int
    year: int | None = None
    month: int | None = None
    day: int | None = None
    decade: int | None = None
    other: tuple[int, int] | None = None

    def days(self) -> set[tuple[int, int]]:
        """Every (month, day) it may mean."""
        if self.month is None or self.day is None:
            return set()
        return {(self.month, self.day), *([self.other] if self.other else [])}


@dataclass(frozen=True, slots=True)
class Calendar:
    """Every date that some texts tell."""

    years: frozenset[int]
    months: frozenset[tuple[int | None, int]]
    """(year, month), the year None where none is told with it."""
    days: frozenset[tuple[int | None, int, int]]
    decades: frozenset[int]

    @classmethod
    def of(cls, dates: Iterable[Date]) -> "Calendar":
        """What those dates tell."""
        known = list(dates)
        return cls(
            frozenset(d.year for d in known if d.year is not None),
            frozenset((d.year, m) for d in known for m in _months(d)),
            frozenset((d.year, m, day) for d in known for m, day in d.days()),
            frozenset(d.decade for d in known if d.decade is not None),
        )

    def tells(self, date: Date) -> bool:
        """True where every part of `date` is told, and together.

        A year may stand apart from a day or month that is told without one.
        """
        if date.decade is not None:
            return any(
                date.decade == known
                or (min(date.decade, known) < _CENTURY and (date.decade - known) % _CENTURY == 0)
                for known in self.decades | {year - year % 10 for year in self.years}
            )
        year_known = date.year is None or date.year in self.years
        if date.days():
            return year_known and any(
                (date.year, *day) in self.days
                or (None, *day) in self.days
                or (date.year is None and any(known[1:] == day for known in self.days))
                for day in date.days()
            )
        if date.month is not None:
            return year_known and any(
                month == date.month and (date.year is None or year in {None, date.year})
                for year, month in self.months
            )
        return year_known


def find(text: str) -> list[Date]:
    """The dates of `text`, in order; the more a form tells, the sooner it is taken.

    A number from 1000 to 2199 that stands alone is a year, unless a unit follows it.
    """
    found: list[Date] = []
    taken = bytearray(len(text))
    for form in _FORMS:
        for match in form.finditer(text):
            date = _date(match)
            if date and not any(taken[date.start : date.end]):
                taken[date.start : date.end] = b"\1" * (date.end - date.start)
                found.append(date)
    return sorted(found, key=lambda date: date.start)


def _date(match: re.Match[str]) -> Date | None:
    parts, text, start = match.groupdict(), match.string, match.start()
    if start and text[start].isalpha() and text[start - 1].isalnum():
        return None
    if set(parts) == {"month"} and not _BEFORE_MONTH.search(text, max(0, start - _REACH), start):
        return None
    if parts.get("decade"):
        return Date(start, match.end(), decade=int(parts["decade"]))
    year = int(parts["year"]) if parts.get("year") else None
    if parts.get("short"):
        short = int(parts["short"])
        year = short + (1900 if short >= _CENTURY_TURN else 2000)
    if not parts.get("month"):
        return Date(start, match.end(), year)
    name = parts["month"].casefold()
    month = _MONTH_OF.get(name) or int(name)
    day = int(parts["day"]) if parts.get("day") else None
    if "/" in match[0] and day and parts["month"].isdigit() and day <= _LAST_MONTH >= month:
        return Date(start, match.end(), year, month, day, other=(day, month))
    if day and month > _LAST_MONTH and "/" in match[0]:
        month, day = day, month
    if month > _LAST_MONTH or (day is not None and not 0 < day <= _LAST_DAY) or not month:
        return None
    return Date(start, match.end(), year, month, day)


def _months(date: Date) -> list[int]:
    if date.month is None:
        return []
    return [date.month, *([date.other[0]] if date.other else [])]
