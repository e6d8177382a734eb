"""Titles are cut between words, and say that they are cut."""

import pytest

from domain.titles import shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Short", "Short"),
        ("  two\n lines ", "two lines"),
        ("The bridge was built in 1932.", "The bridge was built in…"),
        ("The bridge was built, rightly", "The bridge was built…"),
        ("Donaudampfschifffahrtsgesellschaft", "Donaudampfschifffahrtsges…"),
        ("A Donaudampfschifffahrtsgesellschaft", "A Donaudampfschifffahrtsg…"),
    ],
)
def test_a_title_is_cut_between_words_where_it_can_be(text: str, shown: str) -> None:
    assert shortened(text, 26) == shown
    assert len(shown) <= 26
