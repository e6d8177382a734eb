"""What the reading process is asked and what it answers: frames of MessagePack over pipes.

A frame is its length in four bytes, big-endian, then the message.
"""

from typing import BinaryIO, Literal

import msgspec

HEADER_BYTES = 4


class ReadPdf(msgspec.Struct, tag=True, array_like=True):
    """Every page's text. Answered by `Pages`, some at a time, then `Done`."""

    content: bytes
    password: str = ""


class ReadText(msgspec.Struct, tag=True, array_like=True):
    """A text file's text. Answered by `WholeText`."""

    content: bytes
    markdown: bool
    charset: str = ""


class ReadDocument(msgspec.Struct, tag=True, array_like=True):
    """Any other kind's text, `kind` a `SourceKind`. Answered by `Document`."""

    content: bytes
    kind: str
    charset: str


class Draw(msgspec.Struct, tag=True, array_like=True):
    """A page (from 1) as PNG. Answered by `Drawing`."""

    content: bytes
    page: int
    width_px: int


class DrawPages(msgspec.Struct, tag=True, array_like=True):
    """Pages (from 1) as a model reads them. Answered by `Pictures`."""

    content: bytes
    pages: list[int]
    dpi: int
    password: str = ""


class ReadPicture(msgspec.Struct, tag=True, array_like=True):
    """An image file, upright, of at most so many pixels. Answered by `Pictures`."""

    content: bytes
    most_pixels: int


class Locate(msgspec.Struct, tag=True, array_like=True):
    """Where code points of a page's text stand. Answered by `Places`."""

    content: bytes
    page: int
    start: int
    end: int


Request = ReadPdf | ReadText | ReadDocument | Draw | DrawPages | ReadPicture | Locate


class PageText(msgspec.Struct, array_like=True):
    """A page's text through the gate, and what is wrong with it, if anything.

    `problem` is a `Verdict` or "broken" (then there is no text), or "form" (then the text is a
    placeholder's).
    """

    page: int
    text: str
    problem: str = ""


class Pages(msgspec.Struct, tag=True, array_like=True):
    """The next pages, in order, of `total` that the file is believed to have."""

    pages: list[PageText]
    total: int


class Done(msgspec.Struct, tag=True, array_like=True):
    """All pages were sent."""

    pages: int
    title: str


class WholeText(msgspec.Struct, tag=True, array_like=True):
    """A text file's text, and its headings as (code point, path)."""

    text: str
    headings: list[tuple[int, tuple[str, ...]]]


class Part(msgspec.Struct, array_like=True):
    """A part's text through the gate, what it is called, its headings as (code point, path)."""

    text: str
    label: str = ""
    headings: list[tuple[int, tuple[str, ...]]] = []


class Document(msgspec.Struct, tag=True, array_like=True):
    """A document's parts, in order; they are its pages where it is `paged`.

    `title` is its own, "" where it has none.
    """

    parts: list[Part]
    title: str
    paged: bool


class PictureFile(msgspec.Struct, array_like=True):
    """A picture as it is sent on."""

    content: bytes
    media_type: str
    width: int
    height: int


class Pictures(msgspec.Struct, tag=True, array_like=True):
    """Pictures in the order asked for; None where a page cannot be drawn."""

    pictures: list[PictureFile | None]


class Drawing(msgspec.Struct, tag=True, array_like=True):
    """A picture."""

    png: bytes


class Places(msgspec.Struct, tag=True, array_like=True):
    """Boxes as (left, top, width, height), fractions of the page as shown."""

    boxes: list[tuple[float, float, float, float]]


class Failed(msgspec.Struct, tag=True, array_like=True):
    """The file cannot be read, or has no such page."""

    kind: Literal["unreadable", "not_found", "memory", "locked"]
    message: str


Reply = Pages | Done | WholeText | Document | Pictures | Drawing | Places | Failed

_ENCODER = msgspec.msgpack.Encoder()
_REQUESTS: msgspec.msgpack.Decoder[Request] = msgspec.msgpack.Decoder(Request)
_REPLIES: msgspec.msgpack.Decoder[Reply] = msgspec.msgpack.Decoder(Reply)


def frame(message: Request | Reply) -> bytes:
    """`message` as it goes over the pipe."""
    body = _ENCODER.encode(message)
    return len(body).to_bytes(HEADER_BYTES, "big") + body


def reply(body: bytes) -> Reply:
    """The answer in a frame's body."""
    return _REPLIES.decode(body)


def next_request(stream: BinaryIO) -> Request | None:
    """The next question on a blocking pipe; None where the other side closed it."""
    header = stream.read(HEADER_BYTES)
    if len(header) < HEADER_BYTES:
        return None
    return _REQUESTS.decode(stream.read(int.from_bytes(header, "big")))
