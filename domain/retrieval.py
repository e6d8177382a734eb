"""What a search is, and what it finds. The ranking itself is one SQL statement."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from domain.ids import ChunkId, NotebookId, SourceId, VersionId


class RetrievalMode(StrEnum):
    """How the two sides of a search make one ranking."""

    VECTOR = "vector"
    """Cosine alone, above the floor."""
    RRF = "rrf"
    """Reciprocal rank fusion of both sides."""
    WEIGHTED = "weighted"
    """0.7 z(cosine) + 0.3 coverage z(BM25)."""
    KEYWORD = "keyword"
    """BM25 alone; to compare with."""


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """How many chunks a search returns, and which.

    Args:
        mode: how the sides are fused.
        k: chunks a question gets.
        scoped_k: chunks it gets when one source is searched alone.
        candidates: chunks each side puts forward.
        rrf_k: rank offset of reciprocal rank fusion.
        floor: least cosine of a chunk that only the vector side found, or of a generated one.
        diversity: in the last quarter of the k, further chunks of a source give way to the best
            chunk of each other source whose cosine is at most so many standard deviations (of all
            cosines) below the nearest chunk's; 0: never.
        generated_slots: chunks of generated documents among the k at most.
    """

    mode: RetrievalMode = RetrievalMode.WEIGHTED
    k: int = 8
    scoped_k: int = 12
    candidates: int = 30
    rrf_k: int = 50
    floor: float = 0.3
    diversity: float = 2.0
    generated_slots: int = 2


@dataclass(frozen=True, slots=True)
class Scope:
    """What is searched: ready sources of the notebook, or fewer.

    Args:
        source_ids: only these; None for all. Ids that are not the notebook's are ignored.
        about: this one alone, with more chunks and without a floor.
    """

    notebook_id: NotebookId
    source_ids: Sequence[SourceId] | None = None
    about: SourceId | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that a search found.

    Args:
        rank: from 1; also the number of its passage in the prompt.
        passage: the ordinal of its passage.
        start: where it begins in that passage, in code points.
        similarity: raw cosine of question and chunk.
        score: what it was ranked by; its scale depends on the mode.
    """

    rank: int
    chunk_id: ChunkId
    source_id: SourceId
    version_id: VersionId
    source_title: str
    passage: int
    page: int | None
    start: int
    language: str
    text: str
    similarity: float
    score: float


def evenly(found: Sequence[Sequence[Hit]], most: int) -> list[Hit]:
    """What several searches found as one, of each its first ones, about `most` together."""
    if len(found) == 1:
        return list(found[0])
    each = max(1, most // max(1, len(found)))
    hits = (hit for one in found for hit in one[:each])
    return [replace(hit, rank=rank) for rank, hit in enumerate(hits, 1)]
