"""A document, and what it is made of, as their rows tell them."""

import json
from dataclasses import replace
from typing import Any

import msgspec

from adapters.postgres.connection import Row
from domain.conversation import Citation
from domain.document import (
    Document,
    DocumentKind,
    DocumentProgress,
    DocumentStage,
    DocumentStatus,
)
from domain.errors import Problem
from domain.excerpts import Piece

DOCUMENT = """
select d.*, (select coalesce(sum(c.cost), 0) from model_calls c
        where c.document_id = d.id and c.status <> 'pending') as cost,
    (select jsonb_agg(c.data || jsonb_build_object('removed', not exists (
            select from notebook_sources l
            where l.notebook_id = d.notebook_id and l.source_id = c.source_id)) order by c.marker)
        from document_citations c where c.document_id = d.id) as citations
from documents d
"""


def document_of(row: Row) -> Document:
    """A document from the columns of `DOCUMENT`."""
    return Document(
        id=row.id,
        notebook_id=row.notebook_id,
        owner_id=row.owner_id,
        kind=DocumentKind(row.kind),
        title=row.title,
        is_titled=row.is_titled,
        focus=row.focus,
        language=row.language,
        voices=tuple(row.voices),
        source_ids=tuple(row.source_ids),
        status=DocumentStatus(row.status),
        progress=DocumentProgress(DocumentStage(row.stage), row.done, row.total)
        if row.stage
        else None,
        error=Problem(row.error_code, row.error) if row.error_code else None,
        attempt=row.attempt,
        text=row.text,
        citations=tuple(map(_citation, json.loads(row.citations or "[]"))),
        seconds=row.seconds,
        bytes=row.bytes,
        source_id=row.source_id,
        cost=row.cost,
        created_at=row.created_at,
    )


def _citation(data: dict[str, Any]) -> Citation:
    """A citation as it may be shown: of what left the notebook nothing is quoted."""
    citation = msgspec.convert(data, Citation)
    if not citation.removed:
        return citation
    mentions = tuple(replace(mention, quote="") for mention in citation.mentions)
    return replace(citation, source_title="", mentions=mentions)


def piece_of(row: Row) -> Piece:
    """A stretch of a source from its columns."""
    return Piece(
        chunk_id=row.chunk_id,
        source_id=row.source_id,
        version_id=row.version_id,
        source_title=row.source_title,
        passage=row.passage,
        page=row.page,
        start=row.start_at,
        end=row.end_at,
        language=row.language,
    )
