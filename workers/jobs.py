"""The jobs: each hands its arguments to a use-case."""

from collections.abc import Awaitable, Callable
from uuid import UUID

from app.services import Services
from domain.ids import DocumentId, ExportId, SourceId, UserId, VersionId
from domain.jobs import (
    DELETE_ACCOUNT,
    EXPORT_ACCOUNT,
    INGEST_SOURCE,
    MAKE_DOCUMENT,
    SUMMARISE_SOURCE,
    JobKind,
)


async def ingest_source(services: Services, *, source_id: str) -> None:
    """Read a source."""
    await services.ingest_source(SourceId(UUID(source_id)))


async def summarise_source(services: Services, *, version_id: str) -> None:
    """Summarise a source that was read."""
    await services.summarise_source(VersionId(UUID(version_id)))


async def make_document(services: Services, *, document_id: str) -> None:
    """Make a document from sources."""
    await services.generate_document(DocumentId(UUID(document_id)))


async def export_account(services: Services, *, user_id: str, export_id: str) -> None:
    """Make an archive of an account."""
    await services.export_account(UserId(UUID(user_id)), ExportId(UUID(export_id)))


async def delete_account(services: Services, *, user_id: str) -> None:
    """Delete an account that leaves."""
    await services.delete_account(UserId(UUID(user_id)))


JOBS: dict[JobKind, Callable[..., Awaitable[None]]] = {
    INGEST_SOURCE: ingest_source,
    SUMMARISE_SOURCE: summarise_source,
    MAKE_DOCUMENT: make_document,
    EXPORT_ACCOUNT: export_account,
    DELETE_ACCOUNT: delete_account,
}
"""What runs each kind of job."""
