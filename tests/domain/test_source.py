"""What is counted as a word of a source."""

import pytest

from domain.passage import Passage
from domain.source import Reading


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("The bridge  is\nred.", 4),
        ("Die Brücke ist schön.", 4),
        ("橋", 1),
        ("東京タワーは赤い", 4),
        ("東京 タワー", 3),
        ("東京にある ABC 社", 4),
        ("서울 대교는 붉다", 3),
        ("กขคง", 2),
        ("語" * 528_000, 264_000),
    ],
)
def test_two_characters_of_a_script_without_spaces_are_a_word(text: str, words: int) -> None:
    assert Reading((Passage(0, None, text, ""),), None).words == words


def test_words_of_all_passages_add_up() -> None:
    passages = (Passage(0, 1, "One two", "en"), Passage(1, 2, "東京", "ja"))
    assert Reading(passages, 2).words == 3
