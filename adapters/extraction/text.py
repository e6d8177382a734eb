"""Text files: their encoding, their text through the gate, their headings."""

import codecs
import re

from adapters.extraction.charsets import as_declared
from adapters.extraction.wire import WholeText
from domain.errors import Unreadable
from domain.headings import headings
from domain.text_gate import clean

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE_BYTES = 100_000
_LEGACY = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r"),
    *("shift_jis", "euc_jp", "gb18030", "big5", "euc_kr", "cp437", "cp850", "mac_roman"),
]
_BLANK = "This file holds only white space: there is no text in it. Upload one that has some."
_UNKNOWN = "The encoding of this text file is not known. Save it as UTF-8 and upload that."
_CP1252_BYTES = re.compile(rb"[\x80-\xff]")
_WESTERN = frozenset(
    "ÄÖÜäöüßÀÁÂÃÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕØÙÚÛàáâãåæçèéêëìíîïñòóôõøùúûŒœ€„“”‚‘’–—…«»§°·•\u00a0¡¿º²³µ×±¼½¾©®™"
)


def read_text(content: bytes, charset: str = "", *, markdown: bool) -> WholeText:
    """The text of a file, and its headings if it is Markdown.

    Args:
        charset: the encoding that a web server named, "" where none did.

    Raises:
        Unreadable: empty, or in no encoding known.
    """
    text = clean(decoded(content, charset))
    if not text.strip():
        raise Unreadable(_BLANK)
    found = headings(text) if markdown else ()
    return WholeText(text, [(heading.start, heading.path) for heading in found])


def decoded(content: bytes, charset: str = "") -> str:
    """`content` as text: by its mark, as it was declared, or by guess.

    Raises:
        Unreadable: in no encoding known.
    """
    is_marked = any(content.startswith(mark) for mark, _ in _BOMS)
    if not is_marked and (text := as_declared(content, charset)) is not None:
        return text
    encoding = encoding_of(content)
    try:
        # Lone surrogates may stand in either; the gate drops them.
        return content.decode(encoding, "surrogatepass" if encoding[:3] == "utf" else "strict")
    except UnicodeDecodeError as error:
        raise Unreadable(_UNKNOWN) from error


def encoding_of(content: bytes) -> str:
    """The name of the encoding that `content` is most probably in.

    Raises:
        Unreadable: in no encoding known.
    """
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return encoding
    if (wide := utf16_without_mark(content)) is not None:
        return wide
    try:
        content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return _legacy(content)
    return "utf-8"


def utf16_without_mark(content: bytes) -> str | None:
    """The UTF-16 that `content` looks like: nearly all its NUL bytes are on one side."""
    sample = content[: _SAMPLE_BYTES - _SAMPLE_BYTES % 2]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    least = max(2, len(sample) // 2 // 10)
    if odd >= least and even * 20 <= odd:
        return "utf-16-le"
    if even >= least and odd * 20 <= even:
        return "utf-16-be"
    return None


def _legacy(content: bytes) -> str:
    if _looks_western(content):
        return "cp1252"
    # Only here: it takes a tenth of a second to import.
    from charset_normalizer import from_bytes  # noqa: PLC0415

    best = from_bytes(_telling_part(content), cp_isolation=_LEGACY, threshold=0.5).best()
    if best is None:
        raise Unreadable(_UNKNOWN)
    return best.encoding


def _looks_western(content: bytes) -> bool:
    """Windows-1252 reads it, and all it has beyond ASCII are letters and marks of the West."""
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        return False
    beyond = [character for character in text if not character.isascii()]
    accented, letters = sum(map(str.isalpha, beyond)), sum(map(str.isalpha, text))
    return 2 * accented <= letters and _WESTERN.issuperset(beyond)


def _telling_part(content: bytes) -> bytes:
    """A sample from where the bytes beyond ASCII begin; they alone tell encodings apart."""
    first = _CP1252_BYTES.search(content)
    start = max(0, (first.start() if first else 0) - 200)
    return content[start : start + _SAMPLE_BYTES]
