"""How good a ranking is, measured against what is relevant."""

import math
from collections.abc import Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeVar

Id = TypeVar("Id", bound=Hashable)


@dataclass(frozen=True, slots=True)
class RankingQuality:
    """Means over questions, each 0 to 1."""

    recall: float
    mrr: float
    ndcg: float
    questions: int


def recall_at(k: int, ranked: Sequence[Id], relevant: AbstractSet[Id]) -> float:
    """The share of what is relevant that stands among the first `k` different ids.

    Args:
        ranked: ids, best first; an id that comes again counts where it came first.
        relevant: at least one.

    Raises:
        ValueError: nothing is relevant, or `k` is less than 1.
    """
    return sum(one in relevant for one in _first(k, ranked, relevant)) / len(relevant)


def reciprocal_rank(ranked: Sequence[Id], relevant: AbstractSet[Id]) -> float:
    """One over the rank of the first relevant id; 0 where there is none. Its mean is the MRR.

    Raises:
        ValueError: nothing is relevant.
    """
    found = enumerate(_first(max(len(ranked), 1), ranked, relevant), 1)
    return next((1 / rank for rank, one in found if one in relevant), 0.0)


def ndcg_at(k: int, ranked: Sequence[Id], relevant: AbstractSet[Id]) -> float:
    """Normalised discounted cumulative gain of the first `k` different ids, relevance 0 or 1.

    Raises:
        ValueError: nothing is relevant, or `k` is less than 1.

    Source: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 2002.
    """
    gain = sum(
        1 / math.log2(rank + 1)
        for rank, one in enumerate(_first(k, ranked, relevant), 1)
        if one in relevant
    )
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(relevant)) + 1))
    return gain / ideal


def quality(
    judged: Iterable[tuple[Sequence[Id], AbstractSet[Id]]], *, k: int = 8, ndcg_k: int = 10
) -> RankingQuality:
    """Means over (ranked ids, relevant ids) of questions.

    Args:
        k: how far down recall and MRR look.
        ndcg_k: how far down nDCG looks.

    Raises:
        ValueError: there is no question, or one without anything relevant.
    """
    each = [
        (
            recall_at(k, ranked, relevant),
            reciprocal_rank(list(dict.fromkeys(ranked))[:k], relevant),
            ndcg_at(ndcg_k, ranked, relevant),
        )
        for ranked, relevant in judged
    ]
    if not each:
        raise ValueError("There is no question to judge.")
    recall, mrr, ndcg = (sum(column) / len(each) for column in zip(*each, strict=True))
    return RankingQuality(recall, mrr, ndcg, len(each))


def _first(k: int, ranked: Sequence[Id], relevant: AbstractSet[Id]) -> list[Id]:
    if k < 1:
        raise ValueError("k is at least 1.")
    if not relevant:
        raise ValueError("A question without anything relevant cannot be judged.")
    return list(dict.fromkeys(ranked))[:k]
