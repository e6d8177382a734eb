"""Notebooks: titled sets of sources that questions are asked of."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from domain.access import Role
from domain.ids import NotebookId, SourceId, UserId


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook with what it holds, as one person sees it.

    Args:
        owner: the owner's address.
        role: that person's.
    """

    id: NotebookId
    owner_id: UserId
    owner: str
    role: Role
    title: str
    language: str
    source_count: int
    ready_count: int
    failed_count: int
    chunk_count: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Share:
    """A guest of a notebook."""

    user_id: UserId
    email: str
    role: Role
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Holding:
    """A ready source of a notebook, as far as prompt and search need it."""

    id: SourceId
    kind: str
    title: str
    language: str


def may_hold_answers(
    documents: Iterable[Holding], source_ids: Collection[SourceId] | None, about: SourceId | None
) -> bool:
    """True where a search with that scope has one of them to look into."""
    return any(
        (source_ids is None or document.id in source_ids) and about in {None, document.id}
        for document in documents
    )


def languages_of(documents: Sequence[Holding]) -> tuple[str, ...]:
    """Their languages, most frequent first."""
    counts = Counter(document.language for document in documents)
    return tuple(sorted(counts, key=lambda language: (-counts[language], language)))
