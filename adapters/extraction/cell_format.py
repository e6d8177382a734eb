"""A cell of a workbook as Excel shows it: numbers and dates by their format.

Formats that depend on the reader's country are told in the one way nobody misreads: ISO dates,
a point before the decimals.
"""

import datetime as dt
import re

_BESIDE = re.compile(r'"([^"]*)"|\[\$([^-\]]*)[^\]]*\]|([€$£¥])')
"""What a format writes beside the number: a text in quotes, a currency."""
_NOT_DIGITS = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|_.|\*.')
_DIGITS = re.compile(r"[0#?]")
_NO_PLAIN_NUMBER = re.compile(r"[E/]|General", re.IGNORECASE)
_DECIMALS = re.compile(r"\.([0#?]+)")
_TOKENS = re.compile(r"(y+|m+|d+|h+|s+|am/pm|a/p)", re.IGNORECASE)
_BY_COUNTRY = "mm-dd-yy"
_SIGNIFICANT = 15


def shown(value: object, number_format: str) -> str:
    """The text of a value with that format; "" of None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return _number(value, number_format.split(";", 1)[0])
    if isinstance(value, dt.datetime):
        return _moment(value, number_format)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value)


def _number(value: float, number_format: str) -> str:
    """With the format's decimals, thousands, percent sign and currency."""
    digits = _NOT_DIGITS.sub("", number_format)
    if not _DIGITS.search(digits) or _NO_PLAIN_NUMBER.search(digits):
        return str(value) if isinstance(value, int) else f"{value:.{_SIGNIFICANT}g}"
    decimals = "".join(_DECIMALS.findall(digits)[:1])
    thousands = "," if "," in digits.split(".", 1)[0] else ""
    percent = "%" if "%" in digits else ""
    told = f"{value * 100 if percent else value:{thousands}.{len(decimals)}f}"
    if decimals.endswith("#"):
        told = told.rstrip("0").rstrip(".")
    beside = (" ".join("".join(found).split()) for found in _BESIDE.findall(number_format))
    return " ".join([f"{told}{percent}", *filter(None, beside)])


def _moment(value: dt.datetime, number_format: str) -> str:
    """By its format where that shows nothing but numbers, else as ISO 8601 has it."""
    pieces = _TOKENS.split(_NOT_DIGITS.sub("", number_format.split(";", 1)[0]).strip())
    if number_format != _BY_COUNTRY and len(pieces) > 1:
        written, after_hours = [pieces[0]], False
        for token, between in zip(pieces[1::2], pieces[2::2], strict=True):
            written += [_part(value, token.lower(), after_hours=after_hours), between]
            after_hours = token.lower() in {"h", "hh"}
        if all(written[1::2]):
            return "".join(written)
    if value.time() == dt.time():
        return value.date().isoformat()
    return value.isoformat(" ", "seconds")


def _part(value: dt.datetime, token: str, *, after_hours: bool) -> str:
    """What one token shows; "" for names, which depend on a language."""
    month_or_minute = value.minute if after_hours else value.month
    number = {
        "yyyy": value.year,
        "yy": value.year % 100,
        **dict.fromkeys(("m", "mm"), month_or_minute),
        **dict.fromkeys(("d", "dd"), value.day),
        **dict.fromkeys(("h", "hh"), value.hour),
        **dict.fromkeys(("s", "ss"), value.second),
    }.get(token)
    return "" if number is None else f"{number:0{len(token)}}"
