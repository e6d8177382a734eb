"""Numbers in a text, German and English, with their units."""

import re
from dataclasses import dataclass, replace

from domain.number_words import (
    ABBREVIATED,
    CARDINALS,
    CASED,
    HINTS,
    ORDINAL_ENDINGS,
    SCALE_LETTERS,
    SCALES,
    UNITS,
)

_SPACES = "\u00a0\u2009\u202f"
_DIGITS = re.compile(
    rf"(?<!\w)(?:(?P<plain>\d{{1,3}}(?:([.,'’ {_SPACES}])\d{{3}})(?:\2\d{{3}})*(?!\d))"
    r"(?:[.,](?P<rest>\d+))?"
    r"|(?P<whole>\d+)(?:[.,](?P<fraction>\d+))?)(?P<glued>[^\W\d_]*)"
)
_CODE = re.compile(r"\w*\d\w*(?:[.-]\w+)*")
_VERSION = re.compile(r"(?!\d{1,3}(?:\.\d{3})+(?![.\d]*\d))\d+(?:\.\d+){2,}")
_TIME = re.compile(
    r"(?P<hour>\d{1,2})(?:(?::|\.(?=\d\d\s?Uhr))(?P<minute>\d\d)(?!\d))?"
    r"(?:\s?(?P<half>[ap])\.?m\b\.?|\s?Uhr\b)?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")
_GAP = re.compile(r"(?:-|\s{1,8})?")
_BEFORE = re.compile(r"(?:(€|\$|£|¥)|(?<!\w)(EUR|USD|US\$|GBP|CHF)) ?\Z")
_JOINS = re.compile(r"\s?(?:[-‐‑–—]|bis|to|and|und|or|oder|through)\s?")
_SYMBOLS = re.compile(r"%|€|\$|£|°\s?[CF]\b|(?:[kcm]?m|km)[²³]")

_POUNDS = {"pound", "£", "lb"}
_LEAST_CLAIMED = 2
"""One is mostly an article."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number, or a code with digits in it.

    Args:
        start, end: code points of the number with its scale and unit.
        values: what it may mean, since "1.234" is read both ways; equal ones are equal strings.
        unit: its usual short form, "" where none stands beside it.
        is_claim: False for what only supports: ordinals in words, "both", "one".
        scale: what the word behind it multiplies it by.
    """

    start: int
    end: int
    values: frozenset[str]
    unit: str = ""
    is_claim: bool = True
    scale: float = 1

    def fits(self, unit: str) -> bool:
        """True where `unit` may be its own; a pound may be money or a weight."""
        may_be_pounds = "pound" in {unit, self.unit} and {unit, self.unit} <= _POUNDS
        return not self.unit or unit in {"", self.unit} or may_be_pounds


def find(text: str, *, german: bool) -> list[Number]:
    """The numbers of `text`, in order.

    Args:
        german: True where "Billion" is 10¹².
    """
    found = _in_digits(text, german=german)
    starts = {number.start for number in found}
    found += [n for n in _in_words(text, german=german) if n.start not in starts]
    return _with_shared_units(text, sorted(found, key=lambda number: number.start))


def _in_digits(text: str, *, german: bool) -> list[Number]:
    found: list[Number] = []
    at = 0
    for match in _DIGITS.finditer(text):
        if match.start() < at:
            continue
        special = _time(text, match.start()) or _code(text, match)
        if special:
            found.append(special)
            at = special.end
            continue
        end = match.start("glued") if match["glued"] else match.end()
        number = _measured(text, match.start(), end, _readings(match), german=german)
        found.append(number)
        at = number.end
    return found


def _time(text: str, at: int) -> Number | None:
    """A time of day: "14.30 Uhr", "2:30 pm"."""
    found = _TIME.match(text, at)
    if not found or (found["minute"] is None and found.end() == found.end("hour")):
        return None
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + (12 if found["half"] in "pP" else 0)
    return Number(*found.span(), frozenset({f"{hour}:{found['minute'] or '00'}"}))


def _code(text: str, match: re.Match[str]) -> Number | None:
    """The whole token: a version, or digits with letters that are no unit ("4x4a", "3GPP")."""
    code = _VERSION.match(text, match.start())
    glued = match["glued"]
    if not code:
        known = glued.casefold()
        if not glued or known in UNITS or known in SCALES or known in ORDINAL_ENDINGS:
            return None
        code = None if glued in SCALE_LETTERS else _CODE.match(text, match.start())
    return Number(*code.span(), frozenset({code[0].casefold()})) if code else None


def _readings(match: re.Match[str]) -> list[float]:
    """Both readings of "1.234"; one of everything else."""
    if not match["plain"]:
        return [float(f"{match['whole']}.{match['fraction'] or 0}")]
    digits = re.sub(r"\D", "", match["plain"])
    separators = set(re.sub(r"\d", "", match["plain"]))
    readings = [float(f"{digits}.{match['rest'] or 0}")]
    if not match["rest"] and separators <= {".", ","} and len(digits) <= len("123456"):
        readings.append(float(re.sub(r"[.,]", ".", match["plain"])))
    return readings[1:] if match["plain"].startswith("0") else readings


def _in_words(text: str, *, german: bool) -> list[Number]:
    found: list[Number] = []
    for match in _WORD.finditer(text):
        if found and match.start() < found[-1].end:
            continue
        word = match[0].casefold()
        value = CARDINALS.get(word)
        if value is not None:
            number = _measured(text, *match.span(), [value], german=german)
            found.append(replace(number, is_claim=value >= _LEAST_CLAIMED))
        elif word in HINTS:
            found.append(Number(*match.span(), _keys([HINTS[word]]), is_claim=False))
        elif "-" in word and (first := CARDINALS.get(word.partition("-")[0])) is not None:
            end = match.start() + word.index("-")
            found.append(_measured(text, match.start(), end, [first], german=german))
    return found


def _measured(text: str, start: int, end: int, values: list[float], *, german: bool) -> Number:
    """The number with the scale and the unit that stand beside it."""
    whole = 1.0
    for _ in range(2):
        scale, length = _scale(text, end, german=german)
        if not length:
            break
        end += length
        whole *= scale
    values = [value * whole for value in values]
    before = _BEFORE.search(text, max(0, start - 4), start)
    unit, length = _unit(text, end)
    if before and not unit:
        unit = UNITS.get((before[1] or before[2]).casefold().removeprefix("us"), "")
        start = before.start()
    return Number(start, end + length, _keys(values), unit, scale=whole)


def _behind_gap(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    return gap.end() if gap else at


def _scale(text: str, at: int, *, german: bool) -> tuple[float, int]:
    """The scale word behind `at` and what it uses up; (1, 0) where there is none."""
    if text[at : at + 1] in SCALE_LETTERS and not text[at + 1 : at + 2].isalpha():
        return SCALE_LETTERS[text[at]], 1
    word = _WORD.match(text, _behind_gap(text, at))
    if not word:
        return 1, 0
    name = word[0].casefold().partition("-")[0]
    if name == "billion":
        return (1e12 if german else 1e9), word.start() + len(name) - at
    if name not in SCALES or (name == "k" and word.start() > at):
        return 1, 0
    dot = text[word.end() : word.end() + 1] == "." and name in ABBREVIATED
    return SCALES[name], word.start() + len(name) + dot - at


def _unit(text: str, at: int) -> tuple[str, int]:
    """The unit behind `at` and what it uses up; ("", 0) where there is none."""
    begin = _behind_gap(text, at)
    if symbol := _SYMBOLS.match(text, begin):
        unit = symbol[0].replace(" ", "").casefold()
        return unit, symbol.end() - at
    word = _WORD.match(text, begin)
    if not word:
        return "", 0
    name = word[0].partition("-")[0]
    if name in CASED or (len(name) == 1 and begin > at and text[begin - 1] == "-"):
        return "", 0
    if name == "per" and text[word.end() :].startswith(" cent"):
        return "%", word.end() + len(" cent") - at
    unit = UNITS.get(name.casefold(), "")
    if unit == "pp" and not text[word.end() :].startswith(" point") and name == "percentage":
        return "", 0
    return (unit, begin + len(name) - at) if unit else ("", 0)


def _with_shared_units(text: str, numbers: list[Number]) -> list[Number]:
    """In "10 to 20 %" both are percentages, and in "3 bis 5 Millionen" both may be millions."""
    for index in range(len(numbers) - 2, -1, -1):
        number, following = numbers[index], numbers[index + 1]
        if not _JOINS.fullmatch(text[number.end : following.start]):
            continue
        if not number.unit and following.unit:
            number = replace(number, unit=following.unit)
        if number.scale == 1 and following.scale != 1:
            scaled = [float(value) * following.scale for value in number.values if _is_plain(value)]
            number = replace(number, values=number.values | _keys(scaled))
        numbers[index] = number
    return numbers


def _is_plain(value: str) -> bool:
    return value.replace(".", "", 1).isdecimal()


def _keys(values: list[float]) -> frozenset[str]:
    return frozenset(f"{value:.12g}" for value in values)
