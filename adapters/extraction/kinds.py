"""What a file is, from its first bytes."""

import re

from adapters.extraction.text import utf16_without_mark
from domain.errors import UnsupportedType
from domain.source import SourceKind

_PDF_WITHIN = 1_024
_HEADERLESS_PDF = re.compile(rb"%[^\n]{0,40}\s+\d+ \d+ obj\s*<<")
_MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")
_READABLE = "Readable are PDF, plain text and Markdown."

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"\x00\x00\x01\x00", "an icon"),
    (b"8BPS", "a Photoshop image"),
    (b"ID3", "an MP3 recording"),
    (b"fLaC", "a FLAC recording"),
    (b"OggS", "an Ogg recording"),
    (b"\x1aE\xdf\xa3", "a WebM or Matroska recording"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Microsoft Office document"),
    (b"{\\rtf", "an RTF document"),
    (b"%!PS", "a PostScript file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"wOFF", "a font"),
)
_ZIPPED: tuple[tuple[bytes, str], ...] = (
    (b"application/epub+zip", "an EPUB book"),
    (b"application/vnd.oasis.opendocument", "an OpenDocument file"),
    (b"word/", "a Word document (DOCX)"),
    (b"ppt/", "a PowerPoint presentation (PPTX)"),
    (b"xl/", "an Excel workbook (XLSX)"),
    (b"[Content_Types].xml", "an Office document"),
)
_RIFF = {b"WAVE": "a WAV recording", b"WEBP": "a WebP image", b"AVI ": "an AVI video"}
_HEIF = (b"heic", b"heix", b"hevc", b"mif1", b"msf1", b"avif")
# Frames of MP3 and AAC; UTF-16's byte order mark, FF FE, is none.
_FRAMES = (b"\xff\xf1", b"\xff\xf2", b"\xff\xf3", b"\xff\xf9", b"\xff\xfa", b"\xff\xfb")
_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b"
)
_SVG = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<![^>]*>\s*)*<svg\b")
_NO_TEXT = frozenset(range(0x20)) - frozenset(b"\t\n\x0b\x0c\r\x1b\x00")


def kind_of(head: bytes, name: str) -> SourceKind:
    """See `Reader.kind_of`."""
    if b"%PDF-" in head[:_PDF_WITHIN] or _HEADERLESS_PDF.match(head):
        return SourceKind.PDF
    if (other := _other_kind(head)) is not None:
        raise UnsupportedType(f"This looks like {other}, which cannot be read yet. {_READABLE}")
    if not _is_text(head):
        raise UnsupportedType(f"This is no text, and no kind of file known here. {_READABLE}")
    if name.lower().endswith(_MARKDOWN):
        return SourceKind.MARKDOWN
    return SourceKind.TEXT


def _other_kind(head: bytes) -> str | None:
    """What a file that is no text is called, with its article."""
    for signature, called in _SIGNATURES:
        if head.startswith(signature):
            return called
    lower = head.removeprefix(b"\xef\xbb\xbf").lower()
    if _HTML.match(lower):
        return "an HTML page"
    if _SVG.match(lower):
        return "an SVG image"
    return _container(head) or _recording(head)


def _container(head: bytes) -> str | None:
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return next((called for part, called in _ZIPPED if part in head), "a ZIP archive")
    if head[:4] == b"RIFF":
        return _RIFF.get(head[8:12])
    if head[257:262] == b"ustar":
        return "a TAR archive"
    if head.startswith(b"BM") and head[6:10] == b"\0\0\0\0":
        return "a BMP image"
    if head.startswith(b"MZ") and b"\0" in head[:64]:
        return "a program"
    return None


def _recording(head: bytes) -> str | None:
    if head[4:8] == b"ftyp":
        return "a HEIC image" if head[8:12] in _HEIF else "an MP4 or M4A recording"
    return "an MP3 or AAC recording" if head.startswith(_FRAMES) else None


def _is_text(head: bytes) -> bool:
    """Few control characters, once UTF-16's and UTF-32's NUL bytes are accounted for."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")) or utf16_without_mark(head):
        return True
    controls = sum(byte in _NO_TEXT for byte in head)
    return head.count(0) * 50 <= len(head) + 50 and controls * 50 <= len(head)
