import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.evaluation import ndcg_at, quality, recall_at, reciprocal_rank

IDS = st.lists(st.integers(0, 20))
RELEVANT = st.frozensets(st.integers(0, 20), min_size=1)


def test_recall_is_the_share_of_the_relevant_that_was_found() -> None:
    assert recall_at(2, "abc", {"a", "c"}) == 0.5
    assert recall_at(3, "abc", {"a", "c"}) == 1
    assert recall_at(8, "abc", {"x"}) == 0
    assert recall_at(8, "", {"x"}) == 0


def test_an_id_that_comes_again_takes_no_place() -> None:
    assert recall_at(2, "aab", {"b"}) == 1
    assert reciprocal_rank("aab", {"b"}) == 0.5
    assert ndcg_at(2, "aab", {"b"}) == pytest.approx(1 / math.log2(3))


def test_the_reciprocal_rank_is_that_of_the_first_hit() -> None:
    assert reciprocal_rank("abc", {"b", "c"}) == 0.5
    assert reciprocal_rank("abc", {"x"}) == 0
    assert reciprocal_rank("", {"x"}) == 0


def test_ndcg_discounts_by_the_logarithm_of_the_rank() -> None:
    assert ndcg_at(10, "abc", {"a", "b"}) == 1
    gained, ideal = 1 + 1 / math.log2(4), 1 + 1 / math.log2(3)
    assert ndcg_at(10, "abc", {"a", "c"}) == pytest.approx(gained / ideal)
    assert ndcg_at(1, "ab", {"a", "b"}) == 1


def test_means_are_over_questions() -> None:
    judged = [("abc", {"a"}), ("abc", {"b"}), ("abc", {"x"}), ("abc", {"c", "x"})]
    found = quality(judged, k=2, ndcg_k=2)
    assert found.questions == 4
    assert found.recall == pytest.approx(2 / 4)
    assert found.mrr == pytest.approx((1 + 1 / 2) / 4)
    assert found.ndcg == pytest.approx((1 + 1 / math.log2(3)) / 4)


def test_what_cannot_be_judged_is_refused() -> None:
    with pytest.raises(ValueError, match="relevant"):
        recall_at(8, "abc", set[str]())
    with pytest.raises(ValueError, match="at least 1"):
        ndcg_at(0, "abc", {"a"})
    with pytest.raises(ValueError, match="no question"):
        quality([])


@given(IDS, RELEVANT, st.integers(1, 30))
def test_every_figure_is_a_share(ranked: list[int], relevant: frozenset[int], k: int) -> None:
    for figure in (
        recall_at(k, ranked, relevant),
        reciprocal_rank(ranked, relevant),
        ndcg_at(k, ranked, relevant),
    ):
        assert 0 <= figure <= 1 + 1e-12
    assert recall_at(k, ranked, relevant) <= recall_at(k + 1, ranked, relevant)


@given(RELEVANT, IDS)
def test_the_relevant_first_is_perfect(relevant: frozenset[int], others: list[int]) -> None:
    ranked = [*sorted(relevant), *others]
    assert ndcg_at(10, ranked, relevant) == pytest.approx(1)
    assert reciprocal_rank(ranked, relevant) == 1
