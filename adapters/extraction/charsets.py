"""Encodings that somebody named: a web server, or a page of itself."""

import codecs

_AS_BROWSERS_DO = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}
_NEVER = frozenset({"utf-7", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "idna", "punycode"})
_ONE_FAULT_IN = 50
"""Of the characters beyond ASCII, so many for each that cannot be decoded: a typing error."""


def as_declared(content: bytes, *names: str) -> str | None:
    """The text in the first of these encodings that is known and fits; None where none does.

    Args:
        names: as they were written down, the most trusted first; "" is passed over.
    """
    for encoding in map(_codec, names):
        if encoding and (text := _mostly(content, encoding)) is not None:
            return text
    return None


def _codec(name: str) -> str:
    """Python's name of an encoding that pages may be in, "" for any other."""
    try:
        codec = codecs.lookup(name.strip().strip("\"'"))
    except (LookupError, ValueError):
        return ""
    known = codec.name if codec._is_text_encoding else ""  # noqa: SLF001 - nothing public tells
    return "" if known in _NEVER else _AS_BROWSERS_DO.get(known, known)


def _mostly(content: bytes, encoding: str) -> str | None:
    """The text where `encoding` fits all but a typing error; None where it was a lie."""
    text = content.decode(encoding, "replace")
    faults = text.count("\ufffd")
    if faults and faults * _ONE_FAULT_IN > sum(not c.isascii() for c in text):
        return None
    return text
