"""NewTypes for every identifier, and how they are made."""

import re
import secrets
import time
from typing import NewType
from uuid import UUID

UserId = NewType("UserId", UUID)
TokenId = NewType("TokenId", UUID)
NotebookId = NewType("NotebookId", UUID)
SourceId = NewType("SourceId", UUID)
VersionId = NewType("VersionId", UUID)
ChunkId = NewType("ChunkId", UUID)
AnswerId = NewType("AnswerId", UUID)
CallId = NewType("CallId", UUID)
SessionId = NewType("SessionId", UUID)
InvitationId = NewType("InvitationId", UUID)
ExportId = NewType("ExportId", UUID)
DocumentId = NewType("DocumentId", UUID)


def new_id() -> UUID:
    """A fresh UUIDv7: 48 bits of Unix milliseconds, 12 bits of their fraction, then random bits.

    Ids made later sort later (to a quarter of a microsecond), so pages of a list can use them as
    cursor.

    Source: RFC 9562, sections 5.7 and 6.2 (method 3).
    """
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    fraction = rest * 4096 // 1_000_000
    random = secrets.randbits(62)
    return UUID(int=milliseconds << 80 | 0x7 << 76 | fraction << 64 | 0x2 << 62 | random)


_WRITTEN = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def parse_id(text: str) -> UUID | None:
    """The identifier written as `text`, or None where that is none in the form that we write."""
    return UUID(text) if _WRITTEN.fullmatch(text) else None
