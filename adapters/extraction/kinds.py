"""What a file is, from its first bytes."""

import re

from adapters.extraction.text import utf16_without_mark
from domain.errors import UnsupportedType
from domain.sound import sound_type
from domain.source import SourceKind

_PDF_WITHIN = 1_024
_HEADERLESS_PDF = re.compile(rb"%[^\n]{0,40}\s+\d+ \d+ obj\s*<<")
_MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")
_PAGES = (".html", ".htm", ".xhtml")
_TABLES = (".csv", ".tsv")
_READABLE = (
    "Readable are PDF, DOCX, PPTX, XLSX, CSV, EPUB and HTML files, plain text and Markdown, and"
    " PNG, JPEG, WebP, GIF and HEIC images, and MP3, WAV, M4A, MP4, AAC, Ogg, FLAC and WebM"
    " recordings."
)
_EPUB_WITHIN = 200
# A file's entry in the directory at an archive's end: 46 bytes, then its name.
_MAIN_PARTS = re.compile(rb"PK\x01\x02.{42}(word/|ppt/|xl/|META-INF/container\.xml)", re.DOTALL)
_ZIPPED_KINDS = {
    b"word/": SourceKind.DOCX,
    b"ppt/": SourceKind.PPTX,
    b"xl/": SourceKind.XLSX,
    b"META-INF/container.xml": SourceKind.EPUB,
}
_STREAMS: tuple[tuple[str, str], ...] = (
    (
        "EncryptedPackage",
        "This Office file is protected by a password. Save it without one and upload that.",
    ),
    ("WordDocument", "This is an old Word document (.doc). Save it as .docx and upload that."),
    (
        "PowerPoint Document",
        "This is an old presentation (.ppt). Save it as .pptx and upload that.",
    ),
    ("Workbook", "This is an old Excel workbook (.xls). Save it as .xlsx and upload that."),
)

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"\x00\x00\x01\x00", "an icon"),
    (b"8BPS", "a Photoshop image"),
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
    (b"application/vnd.oasis.opendocument", "an OpenDocument file"),
    (b"[Content_Types].xml", "an Office document of another program"),
)
_IMAGE = re.compile(
    rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|RIFF.{4}WEBP"
    rb"|.{4}ftyp(?:hei[cxms]|hev[cx]|mif1|msf1)",
    re.DOTALL,
)
_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|meta|title)\b"
)
_SVG = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<![^>]*>\s*)*<svg\b")
_NO_TEXT = frozenset(range(0x20)) - frozenset(b"\t\n\x0b\x0c\r\x1b\x00")


def kind_of(head: bytes, name: str) -> SourceKind:
    """See `Reader.kind_of`."""
    if b"%PDF-" in head[:_PDF_WITHIN] or _HEADERLESS_PDF.match(head):
        return SourceKind.PDF
    if _IMAGE.match(head):
        return SourceKind.IMAGE
    if sound_type(head):
        return SourceKind.AUDIO
    if (old := _old_office(head)) is not None:
        raise UnsupportedType(old)
    if (zipped := _zipped_kind(head)) is not None:
        return zipped
    if (other := _other_kind(head)) is not None:
        raise UnsupportedType(f"This looks like {other}, which cannot be read yet. {_READABLE}")
    if not _is_text(head):
        raise UnsupportedType(f"This is no text, and no kind of file known here. {_READABLE}")
    return _text_kind(head, name.lower())


def _text_kind(head: bytes, name: str) -> SourceKind:
    """What kind of text; only here a name may tell, because the bytes do not."""
    start = head.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe").lower()
    if _HTML.match(start):
        return SourceKind.HTML
    if name.endswith(_MARKDOWN):
        return SourceKind.MARKDOWN
    if name.endswith(_PAGES) and start.lstrip().startswith(b"<"):
        return SourceKind.HTML
    return SourceKind.CSV if name.endswith(_TABLES) else SourceKind.TEXT


def _zipped_kind(content: bytes) -> SourceKind | None:
    """The kind of an archive, by what its directory lists; None where it is none of ours."""
    if not content.startswith(b"PK\x03\x04"):
        return None
    if b"mimetypeapplication/epub+zip" in content[:_EPUB_WITHIN]:
        return SourceKind.EPUB
    # The last: documents inside this one have directories of their own, which stand before.
    listed = _MAIN_PARTS.findall(content)
    return _ZIPPED_KINDS[listed[-1]] if listed else None


def _old_office(content: bytes) -> str | None:
    """What an old Office container holds, and the way out; None where it is something else."""
    if not content.startswith(b"\xd0\xcf\x11\xe0"):
        return None
    for stream, told in _STREAMS:
        if stream.encode("utf-16-le") in content:
            return told
    return None


def _other_kind(head: bytes) -> str | None:
    """What a file that is no text is called, with its article."""
    for signature, called in _SIGNATURES:
        if head.startswith(signature):
            return called
    lower = head.removeprefix(b"\xef\xbb\xbf").lower()
    if _SVG.match(lower):
        return "an SVG image"
    return _container(head)


def _container(head: bytes) -> str | None:
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return next((called for part, called in _ZIPPED if part in head), "a ZIP archive")
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        return "an AVI video"
    if head[4:12] in {b"ftypavif", b"ftypavis"}:
        return "an AVIF image"
    if head[257:262] == b"ustar":
        return "a TAR archive"
    if head.startswith(b"BM") and head[6:10] == b"\0\0\0\0":
        return "a BMP image"
    if head.startswith(b"MZ") and b"\0" in head[:64]:
        return "a program"
    return None


def _is_text(head: bytes) -> bool:
    """Few control characters, once UTF-16's and UTF-32's NUL bytes are accounted for."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")) or utf16_without_mark(head):
        return True
    controls = sum(byte in _NO_TEXT for byte in head)
    return head.count(0) * 50 <= len(head) + 50 and controls * 50 <= len(head)
