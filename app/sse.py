"""Server-sent events on the wire."""

import re
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from litestar.response import Stream

HEADERS = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
PING = b": ping\n\n"
_EVENT_ID = re.compile("[0-9]{1,9}")


def event(kind: str, data: Any, event_id: int | None = None) -> bytes:  # noqa: ANN401 - any JSON
    """One event with JSON as its data."""
    head = f"id: {event_id}\n" if event_id is not None else ""
    return f"{head}event: {kind}\n".encode() + b"data: " + msgspec.json.encode(data) + b"\n\n"


def stream(events: AsyncIterator[bytes]) -> Stream:
    """A response that stays open and is not buffered on its way."""
    return Stream(events, media_type="text/event-stream", headers=HEADERS)


def last_event_id(header: str | None) -> int:
    """The id a reader has seen last; 0 for none, or for something that is no id of ours."""
    return int(header) if header and _EVENT_ID.fullmatch(header) else 0


def html(fragment: str, event_id: int | str) -> bytes:
    """One unnamed event with HTML as its data: htmx swaps it in."""
    data = "".join(f"data: {line}\n" for line in _LINE.split(fragment))
    return f"id: {event_id}\n{data}\n".encode()


_LINE = re.compile(r"\r\n|\r|\n")
