"""Notebooks: titled sets of sources that questions are asked of."""

from dataclasses import dataclass
from datetime import datetime

from domain.ids import NotebookId, UserId


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook with what it holds."""

    id: NotebookId
    owner_id: UserId
    title: str
    language: str
    source_count: int
    ready_count: int
    chunk_count: int
    created_at: datetime
