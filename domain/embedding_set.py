"""Embedding sets: vectors of one model, one dimension and one chunker. Never mixed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EmbeddingSet:
    """A set of vectors that may be compared with each other."""

    id: int
    model: str
    dimension: int
    chunker: str
