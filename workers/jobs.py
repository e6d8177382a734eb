"""The jobs: each hands its arguments to a use-case."""

from uuid import UUID

from app.services import Services
from domain.ids import SourceId
from domain.jobs import INGEST_SOURCE


async def ingest_source(services: Services, *, source_id: str) -> None:
    """Read a source."""
    await services.ingest_source(SourceId(UUID(source_id)))


JOBS = {INGEST_SOURCE: ingest_source}
"""What runs each kind of job."""
