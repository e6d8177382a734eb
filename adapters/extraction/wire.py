"""What the reading process is asked and what it answers: frames of MessagePack over pipes.

A frame is its length in four bytes, big-endian, then the message.
"""

from typing import BinaryIO, Literal

import msgspec

HEADER_BYTES = 4


class ReadPdf(msgspec.Struct, tag=True, array_like=True):
    """Every page's text. Answered by `Pages`, some at a time, then `Done`."""

    content: bytes


class ReadText(msgspec.Struct, tag=True, array_like=True):
    """A text file's text. Answered by `WholeText`."""

    content: bytes
    markdown: bool


class Draw(msgspec.Struct, tag=True, array_like=True):
    """A page (from 1) as PNG. Answered by `Drawing`."""

    content: bytes
    page: int
    width_px: int


class Locate(msgspec.Struct, tag=True, array_like=True):
    """Where code points of a page's text stand. Answered by `Places`."""

    content: bytes
    page: int
    start: int
    end: int


Request = ReadPdf | ReadText | Draw | Locate


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


class Drawing(msgspec.Struct, tag=True, array_like=True):
    """A picture."""

    png: bytes


class Places(msgspec.Struct, tag=True, array_like=True):
    """Boxes as (left, top, width, height), fractions of the page as shown."""

    boxes: list[tuple[float, float, float, float]]


class Failed(msgspec.Struct, tag=True, array_like=True):
    """The file cannot be read, or has no such page."""

    kind: Literal["unreadable", "not_found", "memory"]
    message: str


Reply = Pages | Done | WholeText | Drawing | Places | Failed

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
