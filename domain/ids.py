"""NewTypes for every identifier, and how they are made."""

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


def new_id() -> UUID:
    """A fresh UUIDv7: 48 bits of Unix milliseconds, then random bits.

    Ids made later sort later (to the millisecond), so pages of a list can use them as cursor.

    Source: RFC 9562, section 5.7.
    """
    random = int.from_bytes(secrets.token_bytes(10), "big")
    value = (time.time_ns() // 1_000_000) << 80 | random
    value = value & ~(0xF << 76) | 0x7 << 76
    return UUID(int=value & ~(0x3 << 62) | 0x2 << 62)


def parse_id(text: str) -> UUID | None:
    """The identifier written as `text`, or None where it is no UUID."""
    try:
        return UUID(text)
    except ValueError:
        return None
