"""Small PDFs, written by hand so that tests know every byte."""

import zlib
from collections.abc import Sequence


def line(text: str, *, x: int = 72, y: int = 700, size: int = 12, font: str = "F") -> bytes:
    """Page content that shows one line in Helvetica (WinAnsi)."""
    escaped = text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(")
    escaped = escaped.replace(b")", b"\\)")
    return b"BT /%b %d Tf %d %d Td (%b) Tj ET\n" % (font.encode(), size, x, y, escaped)


def pdf(
    pages: Sequence[bytes],
    *,
    page: bytes = b"/MediaBox[0 0 612 792]",
    title: str = "",
    count: int | None = None,
    to_unicode: dict[int, str] | None = None,
    deflated: bool = False,
) -> bytes:
    """A PDF with a page per content.

    Args:
        pages: content streams; fonts are /F (Helvetica) and /G (Helvetica with `to_unicode`).
        page: further entries of every page.
        title: goes into the properties.
        count: what the page tree claims; by default the truth.
        to_unicode: text of single codes in font /G.
        deflated: True where the contents already are.
    """
    kids = b" ".join(b"%d 0 R" % (7 + 2 * i) for i in range(len(pages)))
    winansi = b"/Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%b]/Count %d>>" % (kids, len(pages) if count is None else count),
        b"<<%b>>" % winansi,
        b"<<%b/ToUnicode 5 0 R>>" % winansi,
        _stream(_cmap(to_unicode or {})),
        b"<</Title<feff%b>>>" % title.encode("utf-16-be").hex().encode(),
    ]
    for i, content in enumerate(pages):
        objects += (
            b"<</Type/Page/Parent 2 0 R%b/Resources<</Font<</F 3 0 R/G 4 0 R>>>>/Contents %d 0 R>>"
            % (page, 8 + 2 * i),
            _stream(content, b"/Filter/FlateDecode" if deflated else b""),
        )
    return _file(objects)


def _file(objects: Sequence[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<</Size %d/Root 1 0 R/Info 6 0 R>>\n" % (len(objects) + 1)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def _stream(body: bytes, entries: bytes = b"") -> bytes:
    return b"<<%b/Length %d>>\nstream\n%b\nendstream" % (entries, len(body), body)


def _cmap(to_unicode: dict[int, str]) -> bytes:
    pairs = "\n".join(
        f"<{code:02x}> <{text.encode('utf-16-be', 'surrogatepass').hex()}>"
        for code, text in to_unicode.items()
    )
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"
        "1 begincodespacerange <00> <ff> endcodespacerange\n"
        f"{len(to_unicode)} beginbfchar\n{pairs}\nendbfchar\nendcmap end end"
    ).encode()


def bomb(megabytes: int) -> bytes:
    """A page whose content inflates to so much."""
    packer = zlib.compressobj(1)
    packed = b"".join(packer.compress(b" " * 1_000_000) for _ in range(megabytes))
    return pdf([packed + packer.flush()], deflated=True)
