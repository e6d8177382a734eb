"""The jobs: each hands its arguments to a use-case."""

from collections.abc import Awaitable, Callable
from uuid import UUID

from app.services import Services
from domain.ids import SourceId, VersionId
from domain.jobs import INGEST_SOURCE, SUMMARISE_SOURCE, JobKind


async def ingest_source(services: Services, *, source_id: str) -> None:
    """Read a source."""
    await services.ingest_source(SourceId(UUID(source_id)))


async def summarise_source(services: Services, *, version_id: str) -> None:
    """Summarise a source that was read."""
    await services.summarise_source(VersionId(UUID(version_id)))


JOBS: dict[JobKind, Callable[..., Awaitable[None]]] = {
    INGEST_SOURCE: ingest_source,
    SUMMARISE_SOURCE: summarise_source,
}
"""What runs each kind of job."""
