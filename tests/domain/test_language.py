import json
import os
from pathlib import Path

import pytest

from domain.language import detect, detect_question, function_words

DATA = Path(os.environ.get("BELEG_TEST_DATA", Path(__file__).parents[2] / "../shared/data"))

GERMAN = "Die Würde des Menschen ist unantastbar. Sie zu achten ist Verpflichtung aller Gewalt."
ENGLISH = "Congress shall make no law respecting an establishment of religion, or of speech."


def test_passages_in_german_and_english() -> None:
    assert detect(GERMAN) == "de"
    assert detect(ENGLISH) == "en"


@pytest.mark.parametrize("text", ["", "   ", "308", "12.5 % 31.12.2023", "§§ 1–3", "?"])
def test_a_text_with_nothing_to_go_by_has_no_language(text: str) -> None:
    assert detect(text) == ""


@pytest.mark.parametrize("text", ["id,value\n1,2\n3,4\n", "Map", "Kapitel 3"])
def test_a_few_letters_are_no_language(text: str) -> None:
    assert detect(text) == ""


@pytest.mark.parametrize("row", ["id: {n} | value: {n}7", "Date: {n} | Open: {n}.5 | Low: {n}.1"])
def test_a_table_of_numbers_has_no_language_however_long_it_is(row: str) -> None:
    assert detect("\n".join(row.format(n=n) for n in range(300))) == ""


def test_a_table_of_words_and_a_short_sentence_have_one() -> None:
    row = "Name: Müller | Betrag: {n},00 Euro | Bemerkung: bezahlt und abgeschlossen"
    assert detect("\n".join(row.format(n=n) for n in range(300))) == "de"
    assert detect("Die Brücke ist rot.") == "de"
    assert detect("日本語の文章です。") == "ja"


def test_a_long_text_is_sampled_in_three_places() -> None:
    assert detect("1 2 3 4 " * 1000 + GERMAN * 50 + " 5 6 7" * 1000) == "de"


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Was?", "de"),
        ("Who?", "en"),
        ("Was ist unantastbar?", "de"),
        ("Wer wählt den Bundespräsidenten?", "de"),
        ("Kündigungsfrist", "de"),
        ("What was the price?", "en"),
        ("Was The Wall a hit?", "en"),
        ("Welches Prinzip wurde in The Mask of Anarchy dargestellt?", "de"),
        ("DEADLINE?", "en"),
        ("308", "en"),
        ("", "en"),
        ("???", "en"),
    ],
)
def test_short_questions(question: str, language: str) -> None:
    assert detect_question(question) == language


def test_other_languages_can_be_chosen_among() -> None:
    assert detect_question("Quelle est la capitale de la France ?", ("de", "en", "fr")) == "fr"


def test_english_nouns_are_no_function_words() -> None:
    assert {"system", "world", "state"}.isdisjoint(function_words("en"))
    assert {"the", "what", "of"} <= function_words("en")
    assert {"der", "welche", "wurde"} <= function_words("de")
    assert function_words("") == frozenset()


@pytest.mark.parametrize("language", ["de", "en"])
def test_nearly_all_real_questions_are_recognised(language: str) -> None:
    path = DATA / "retrieval" / "xquad" / f"queries.{language}.jsonl"
    if not path.exists():
        pytest.skip("the XQuAD questions are not there: set BELEG_TEST_DATA")
    questions = [json.loads(line)["query"] for line in path.read_text().splitlines()]
    right = sum(detect_question(question) == language for question in questions)
    assert right / len(questions) >= 0.99
