"""Pictures in a chat request, and what the provider's eyes make of them.

A page drawn by `coded` bears its number as a row of black and white cells; what its transcript
says is known. Of any other picture the provider says its size and its hash.
"""

import base64
import hashlib
from collections.abc import Iterable
from io import BytesIO
from typing import Any

from PIL import Image

_CELLS = 16
_BLACK_BELOW = 128
_COLUMN = (0.1, 0.9)
"""Where the row of cells begins and ends, as shares of the width; it stands at half the height."""
TOKENS_A_PICTURE = 1000


def pictures_of(messages: list[dict[str, Any]]) -> list[bytes]:
    """The pictures in these messages, decoded from their data URLs."""
    return [
        base64.b64decode(part["image_url"]["url"].partition(",")[2], validate=True)
        for message in messages
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "image_url"
    ]


def text_of(content: str | list[dict[str, Any]]) -> str:
    """The text of a message, whichever form it has."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def coded(number: int, *, side: int = 300) -> Image.Image:
    """A square page in black and white that bears `number`, 0 (blank) to 65,535."""
    width = height = side
    page = Image.new("L", (side, side), 255)
    for cell in range(_CELLS):
        if number >> cell & 1:
            left, right = _edges(cell, width)
            page.paste(0, (left, height * 9 // 20, right, height * 11 // 20))
    return page


def scan(numbers: Iterable[int]) -> bytes:
    """A PDF of such pages without a text layer, 3 inches wide."""
    first, *others = map(coded, numbers)
    out = BytesIO()
    first.save(out, "PDF", save_all=True, append_images=others, resolution=100)
    return out.getvalue()


def page_text(number: int) -> str:
    """What is read off the page that bears `number`."""
    return (
        f"Page {number} of the register says that bridge {number * 7} was built by mason {number}."
    )


def transcript(picture: bytes) -> str:
    """What the provider reads off a picture."""
    with Image.open(BytesIO(picture)) as image:
        grey = image.convert("L")
    number = 0
    for cell in range(_CELLS):
        left, right = _edges(cell, grey.width)
        dark = grey.getpixel(((left + right) // 2, grey.height // 2))
        assert isinstance(dark, int | float)
        number |= (dark < _BLACK_BELOW) << cell
    if number:
        return page_text(number)
    digest = hashlib.sha1(picture).hexdigest()
    return f"A picture of {grey.width} by {grey.height} pixels, known as {digest}."


def _edges(cell: int, width: int) -> tuple[int, int]:
    start, end = (share * width for share in _COLUMN)
    step = (end - start) / _CELLS
    return int(start + cell * step), int(start + (cell + 1) * step)
