"""Jobs: their names, queues and limits."""

from dataclasses import dataclass

QUEUES = ("ingest", "studio")


@dataclass(frozen=True, slots=True)
class JobKind:
    """How a kind of job is run.

    Args:
        name: the worker's function.
        queue: the pool that runs it.
        timeout_s: a run that takes longer is ended and tried again.
        retries: runs in all, those ended by a kill included.
        retry_delay_s: wait before the second run; it doubles each time, with jitter.
        retry_delay_max_s: the longest wait.
        priority: within its queue; the smallest goes first.
    """

    name: str
    queue: str
    timeout_s: int
    retries: int
    retry_delay_s: float = 1.0
    retry_delay_max_s: float = 30.0
    priority: int = 0


INGEST_SOURCE = JobKind(
    # Four hours of sound take the local model most of an hour.
    name="ingest_source",
    queue="ingest",
    timeout_s=4 * 3600,
    retries=30,
    retry_delay_max_s=60.0,
)
SUMMARISE_SOURCE = JobKind(
    name="summarise_source", queue="ingest", timeout_s=900, retries=8, priority=10
)
"""After every source that waits: nobody waits for it."""
MAKE_DOCUMENT = JobKind(name="make_document", queue="studio", timeout_s=3600, retries=30)
EXPORT_ACCOUNT = JobKind(
    name="export_account", queue="ingest", timeout_s=3600, retries=30, priority=5
)
DELETE_ACCOUNT = JobKind(
    name="delete_account", queue="ingest", timeout_s=3600, retries=30, priority=5
)
