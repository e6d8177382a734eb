"""Links to files that are good without a sign-in, for ten minutes."""

import hmac
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from domain.errors import Expired, Forbidden
from domain.ids import DocumentId
from domain.secret import derived

LIFETIME = timedelta(seconds=600)


@dataclass(frozen=True, slots=True)
class FileLink:
    """What a link carries beside the id of what it leads to.

    Args:
        expires: seconds since 1970.
        signature: over the id and the end.
    """

    expires: int
    signature: str

    @property
    def expires_at(self) -> datetime:
        """When it ends."""
        return datetime.fromtimestamp(self.expires, UTC)


def signed(secret: str, document_id: DocumentId, now: datetime) -> FileLink:
    """A link to a document's file."""
    expires = int((now + LIFETIME).timestamp())
    return FileLink(expires, _signature(secret, document_id, expires))


def require_valid(secret: str, document_id: DocumentId, link: FileLink, now: datetime) -> None:
    """Let a link pass.

    Raises:
        Forbidden: it was not signed here, or for something else.
        Expired: its time is over.
    """
    expected = _signature(secret, document_id, link.expires)
    if not hmac.compare_digest(expected.encode(), link.signature.encode("utf-8", "replace")):
        raise Forbidden("This link is not valid. Open the document, which has a new one.")
    if now.timestamp() >= link.expires:
        raise Expired("This link has expired. Open the document, which has a new one.")


def _signature(secret: str, document_id: DocumentId, expires: int) -> str:
    return derived(secret, f"file of {document_id} until {expires}")
