"""Recordings in a request, and what the provider's ears make of them."""

import hashlib
import io
import math
from email.parser import BytesParser
from email.policy import HTTP

import av

MOST_BYTES = 25 << 20


def form_of(content_type: str, body: bytes) -> dict[str, bytes]:
    """The fields of a multipart form, by name."""
    head = f"content-type: {content_type}\r\n\r\n".encode()
    parts = BytesParser(policy=HTTP).parsebytes(head + body).iter_parts()
    form: dict[str, bytes] = {}
    for part in parts:
        payload = part.get_payload(decode=True)
        assert isinstance(payload, bytes)
        form[str(part.get_param("name", header="content-disposition"))] = payload
    return form


def seconds_of(recording: bytes) -> int:
    """How long a recording lasts, as the provider bills it: whole seconds, up."""
    with av.open(io.BytesIO(recording), "r") as container:
        stream = container.streams.audio[0]
        length = sum(packet.duration or 0 for packet in container.demux(stream))
        return math.ceil(length * (stream.time_base or 0))


def transcript(recording: bytes) -> str:
    """What the provider hears in a recording."""
    digest = hashlib.sha1(recording).hexdigest()
    return f"In the recording {digest} somebody says that the harbour froze over that winter."
