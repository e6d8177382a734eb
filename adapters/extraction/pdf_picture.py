"""A PDF's page as a picture, and where its words stand on it. Runs in the child process."""

import ctypes
import re
import struct
import zlib
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pypdfium2.raw as pdfium_c

from adapters.extraction.pdf_pages import Loaded, PdfFile
from domain.errors import Unreadable
from domain.text_gate import clean_page_mapped

_MOST_PIXELS = 40_000_000
_SHARED_BY_SMALLER, _SHARED_BY_LARGER = 0.5, 0.25
"""Shares of their heights that neighbours in one line have in common."""
_WIDEST_GAP = 3
"""In heights of the line: more is the next column."""
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
"""PDFium counts two for each of these, as UTF-16 does."""
_RUNS = 8
"""Runs of one line that a later one may adjoin: writing directions alternate, seldom more."""
_LINE_END = re.compile(r"[\n\r\ufffe\x02]")
_GRID = 1_000_000
"""PDFium maps page points to whole pixels: of a picture this wide and high."""


def drawn(file: PdfFile, number: int, width_px: int) -> bytes:
    """A page (from 1) as PNG, `width_px` wide.

    Raises:
        NotFound: the file has no such page.
        Unreadable: PDFium cannot draw it, or it is too long for its width.
    """
    loaded = file.load(number)
    try:
        width, height = loaded.page.get_size()
        if not width * height > 0 or width_px**2 * height / width > _MOST_PIXELS:
            raise Unreadable(f"Page {number} is too long to be drawn.")
        bitmap = loaded.page.render(scale=width_px / width, rev_byteorder=True, prefer_bgrx=False)
        return _png(bitmap)
    finally:
        file.close(loaded)


def _png(bitmap: Any) -> bytes:  # noqa: ANN401 - pypdfium2 has no types
    """RGB or grey as PNG, rows unfiltered: pages are mostly white and deflate well as they are."""
    width, height, stride = bitmap.width, bitmap.height, bitmap.stride
    colour_type, channels = {"L": (0, 1), "RGB": (2, 3)}[bitmap.mode]
    packer = zlib.compressobj(3)
    rows = memoryview(bitmap.buffer).cast("B")
    data = bytearray()
    for y in range(height):
        data += packer.compress(b"\0" + rows[y * stride : y * stride + width * channels])
    data += packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        _png_part(kind, body)
        for kind, body in ((b"IHDR", header), (b"IDAT", bytes(data)), (b"IEND", b""))
    )


def _png_part(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


@dataclass(slots=True)
class _Line:
    """A growing box, in grid units from the upper left corner as shown."""

    left: float
    top: float
    right: float
    bottom: float

    def beside(self, other: "_Line", *, sideways: bool) -> bool:
        """True where the two share enough height (width, if `sideways`) to stand in one line."""
        if sideways:
            shared = min(self.right, other.right) - max(self.left, other.left)
            sizes = self.right - self.left, other.right - other.left
        else:
            shared = min(self.bottom, other.bottom) - max(self.top, other.top)
            sizes = self.bottom - self.top, other.bottom - other.top
        return shared > _SHARED_BY_SMALLER * min(sizes) and shared > _SHARED_BY_LARGER * max(sizes)

    def gap(self, other: "_Line", *, sideways: bool) -> float:
        """Empty space between the two along the line, in heights (widths) of a line."""
        if sideways:
            space = max(self.top, other.top) - min(self.bottom, other.bottom)
            return space / max(self.right - self.left, 1.0)
        space = max(self.left, other.left) - min(self.right, other.right)
        return space / max(self.bottom - self.top, 1.0)

    def adjoins(self, other: "_Line", *, sideways: bool) -> bool:
        """True where the two are parts of one line."""
        close = self.gap(other, sideways=sideways) < _WIDEST_GAP
        return close and self.beside(other, sideways=sideways)

    def take_in(self, other: "_Line") -> None:
        """Grow over `other`."""
        self.left, self.top = min(self.left, other.left), min(self.top, other.top)
        self.right, self.bottom = max(self.right, other.right), max(self.bottom, other.bottom)


def located(
    file: PdfFile, number: int, start: int, end: int
) -> list[tuple[float, float, float, float]]:
    """Boxes of the code points [start, end) of a page's text, one a line.

    Returns:
        (left, top, width, height) as fractions of the page as shown; nothing where only pypdf
        could read the page.

    Raises:
        NotFound: the file has no such page.
    """
    try:
        loaded = file.load(number)
    except Unreadable:
        return []
    try:
        raw = loaded.text_page.get_text_range()
        wanted = list(dict.fromkeys(clean_page_mapped(raw)[1][max(start, 0) : max(end, 0)]))
        pieces: list[list[_Line]] = [[]]
        for before, index in zip([*wanted[:1], *wanted], wanted, strict=False):
            if _LINE_END.search(raw, before, index):
                pieces.append([])
            beyond_bmp = len(_ASTRAL.findall(raw, 0, index))
            if box := _glyph_box(loaded, index + beyond_bmp):
                pieces[-1].append(box)
    finally:
        file.close(loaded)
    boxes = [box for piece in pieces for box in piece]
    sideways = _is_sideways(boxes)
    return [_fractions(line) for piece in pieces for line in _lines(piece, sideways=sideways)]


def _glyph_box(loaded: Loaded, text_index: int) -> _Line | None:
    """The box of a character, its line's full height; None for blanks and what has no place."""
    index = pdfium_c.FPDFText_GetCharIndexFromTextIndex(loaded.text_page, text_index)
    rect = pdfium_c.FS_RECTF()
    if index < 0 or chr(pdfium_c.FPDFText_GetUnicode(loaded.text_page, index)).isspace():
        return None
    if not pdfium_c.FPDFText_GetLooseCharBox(loaded.text_page, index, rect):
        return None
    x1, y1 = _shown(loaded.page, rect.left, rect.top)
    x2, y2 = _shown(loaded.page, rect.right, rect.bottom)
    box = _Line(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))
    return box if box.right > box.left and box.bottom > box.top else None


def _shown(page: Any, x: float, y: float) -> tuple[int, int]:  # noqa: ANN401 - see _png
    """A point of the page's own space on the grid, rotation and crop applied."""
    left, top = ctypes.c_int(), ctypes.c_int()
    pdfium_c.FPDF_PageToDevice(page, 0, 0, _GRID, _GRID, 0, x, y, left, top)
    return left.value, top.value


def _is_sideways(boxes: list[_Line]) -> bool:
    """True where the text runs up or down the page as shown."""
    pairs = list(pairwise(boxes))
    across = sum(a.beside(b, sideways=False) for a, b in pairs)
    return sum(a.beside(b, sideways=True) for a, b in pairs) > across


def _lines(boxes: list[_Line], *, sideways: bool) -> list[_Line]:
    """Boxes of one line's characters in reading order, joined where they adjoin.

    Character by character first, as a line may slope; then what a change of writing direction
    left apart.
    """
    lines: list[_Line] = []
    before: _Line | None = None
    for box in boxes:
        if before and before.adjoins(box, sideways=sideways):
            lines[-1].take_in(box)
        else:
            lines.append(replace(box))
        before = box
    joined: list[_Line] = []
    for line in lines:
        near = next((one for one in joined[-_RUNS:] if one.adjoins(line, sideways=sideways)), None)
        if near:
            near.take_in(line)
        else:
            joined.append(line)
    return joined


def _fractions(line: _Line) -> tuple[float, float, float, float]:
    left, right = (min(max(x / _GRID, 0.0), 1.0) for x in (line.left, line.right))
    top, bottom = (min(max(y / _GRID, 0.0), 1.0) for y in (line.top, line.bottom))
    return left, top, right - left, bottom - top
