"""A file, or the part of it that a player asks for."""

import re
from collections.abc import AsyncGenerator, Callable, Mapping

import msgspec
from litestar.response import Stream

from app.errors import problem_body

_RANGE = re.compile(r"bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))")

Opened = Callable[[int], AsyncGenerator[bytes, None]]
"""The bytes of a file from the one counted so on."""


def ranged(
    opened: Opened, size: int, media_type: str, wanted: str | None, headers: Mapping[str, str]
) -> Stream:
    """What a Range header asks for; all of it where there is none, or one that is not understood.

    Args:
        size: bytes of the file.
        headers: of the answer, besides those of its range.
    """
    safe = {
        **headers,
        "Accept-Ranges": "bytes",
        "Content-Security-Policy": "sandbox",
        "X-Content-Type-Options": "nosniff",
    }
    asked = _asked(wanted or "")
    if asked is None:
        whole = {**safe, "Content-Length": str(size)}
        return Stream(opened(0), media_type=media_type, headers=whole)
    first, last = _bounds(asked, size)
    if first > last:
        none = {**safe, "Content-Range": f"bytes */{size}"}
        body = msgspec.json.encode(problem_body("no_such_range", f"This has {size:,} bytes.", 416))
        return Stream(
            iter((body,)), status_code=416, media_type="application/problem+json", headers=none
        )
    part = {
        **safe,
        "Content-Range": f"bytes {first}-{last}/{size}",
        "Content-Length": str(last + 1 - first),
    }
    content = _first(opened(first), last + 1 - first)
    return Stream(content, status_code=206, media_type=media_type, headers=part)


def _asked(wanted: str) -> re.Match[str] | None:
    """One range of bytes; None also where it ends before it begins, which is to be ignored."""
    asked = _RANGE.fullmatch(wanted)
    return None if asked and asked[2] and int(asked[2]) < int(asked[1]) else asked


def _bounds(asked: re.Match[str], size: int) -> tuple[int, int]:
    """The first and the last byte; the first is behind the last where there is none of them."""
    if asked[3]:
        count = min(int(asked[3]), size)
        return size - count, size - 1
    first = int(asked[1])
    return first, min(int(asked[2]), size - 1) if asked[2] else size - 1


async def _first(content: AsyncGenerator[bytes, None], count: int) -> AsyncGenerator[bytes, None]:
    """So many bytes of it."""
    async for block in content:
        yield block[:count]
        count -= len(block)
        if count <= 0:
            return
