"""A source as its rows tell it."""

import json

from adapters.postgres.connection import Row
from domain.errors import Problem
from domain.source import (
    CaptureMode,
    Progress,
    SkippedPage,
    Source,
    SourceKind,
    SourceStatus,
    Stage,
)
from domain.summary import Summary, SummaryKind

SOURCE = """
select s.*, v.language, v.pages, v.words, coalesce(v.chunk_count, 0) as chunk_count, v.skipped,
    m.kind as summary_kind, m.text as summary
from sources s left join source_versions v on v.id = s.version_id
    left join source_summaries m on m.version_id = s.version_id
"""


def source_of(row: Row) -> Source:
    """A source from the columns of `SOURCE`."""
    skipped = json.loads(row.skipped) if isinstance(row.skipped, str) else row.skipped or []
    return Source(
        id=row.id,
        owner_id=row.owner_id,
        kind=SourceKind(row.kind),
        capture_mode=CaptureMode(row.capture_mode),
        title=row.title,
        name=row.name,
        sha256=row.sha256,
        media_type=row.media_type,
        bytes=row.bytes,
        status=SourceStatus(row.status),
        progress=Progress(Stage(row.stage), row.done, row.total) if row.stage else None,
        error=Problem(row.error_code, row.error) if row.error_code else None,
        attempt=row.attempt,
        version_id=row.version_id,
        language=row.language or "",
        pages=row.pages,
        words=row.words,
        chunk_count=row.chunk_count,
        skipped=tuple(SkippedPage(page, reason) for page, reason in skipped),
        created_at=row.created_at,
        url=row.url,
        summary=Summary(SummaryKind(row.summary_kind), row.summary) if row.summary_kind else None,
    )
