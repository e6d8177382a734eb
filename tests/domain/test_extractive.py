import hashlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.extractive import Candidate, Evidence, candidates, choose
from domain.ports import Vectors
from domain.quotable import asks_amount, clauses, is_quotable, seems_cut, tells_amount

CONSTITUTION = (
    "GG Art 1\n\n(1) Die Würde des Menschen ist unantastbar. Sie zu achten und zu schützen ist "
    "Verpflichtung aller staatlichen Gewalt.\n\n(2) Das Deutsche Volk bekennt sich darum zu "
    "unverletzlichen Menschenrechten.\n"
)
PRESIDENT = (
    "V. Der Bundespräsident\n\n(1) Der Bundespräsident wird ohne Aussprache von der "
    "Bundesversammlung gewählt.\n\n(2) Das Amt des Bundespräsidenten dauert fünf Jahre."
)


def evidence(*texts: str, language: str = "de") -> list[Evidence]:
    return [
        Evidence(number, text, language, 0.9 - number / 50, 3 - number)
        for number, text in enumerate(texts, 1)
    ]


def unit(*numbers: float) -> Vectors:
    vector = np.array(numbers, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def candidate(text: str, support: float, *, floor: float = 1.8, start: int = 0) -> Candidate:
    return Candidate(1, start, start + len(text), text, support, floor)


def near(cosine: float, axis: int, of: int = 6) -> Vectors:
    """A unit vector at that cosine from the first axis, apart from others along its own."""
    vector = np.zeros(of, dtype=np.float32)
    vector[0], vector[axis] = cosine, np.sqrt(1 - cosine**2)
    return vector


def test_offsets_name_the_sentence() -> None:
    passages = evidence(CONSTITUTION, PRESIDENT)
    found = candidates("Was ist unantastbar?", "de", passages)
    for one in found:
        assert passages[one.number - 1].text[one.start : one.end] == one.text


def test_the_sentence_with_the_words_of_the_question_comes_first() -> None:
    found = candidates("Was ist unantastbar?", "de", evidence(PRESIDENT, CONSTITUTION))
    assert found[0].text == "(1) Die Würde des Menschen ist unantastbar."
    assert found[0].number == 2


def test_another_form_of_the_word_counts() -> None:
    found = candidates("Wer wählt den Bundespräsidenten?", "de", evidence(CONSTITUTION, PRESIDENT))
    assert "Bundesversammlung" in found[0].text


def test_headings_tables_and_questions_are_no_candidates() -> None:
    text = (
        "# Die Würde\n\nDie Würde\n\n| Würde | 5 |\n\nWas ist Würde?\n\n"
        "Die Würde ........ 12\n\nDie Würde ist ein hohes Gut."
    )
    found = candidates("Was ist die Würde?", "de", evidence(text))
    assert [one.text for one in found] == ["Die Würde ist ein hohes Gut."]


def test_a_sentence_that_points_back_brings_the_one_before() -> None:
    text = (
        "Der Bundestag wird auf vier Jahre gewählt. Seine Wahlperiode endet mit dem Zusammentritt."
    )
    found = candidates("Wie lange dauert die Wahlperiode?", "de", evidence(text))
    assert text in [one.text for one in found]


def test_a_sentence_in_two_passages_is_one_candidate() -> None:
    found = candidates("Was ist unantastbar?", "de", evidence(CONSTITUTION, CONSTITUTION))
    assert len({one.text for one in found}) == len(found)


def test_no_more_candidates_than_asked_for() -> None:
    text = " ".join(f"Die Würde Nummer {i} ist wichtig." for i in range(100))
    assert len(candidates("Was ist Würde?", "de", evidence(text))) == 24
    assert len(candidates("Was ist Würde?", "de", evidence(text), most=5)) == 5


def test_a_cut_sentence_is_worth_less() -> None:
    text = "Würde ist ein hohes Gut der Menschen. Das ist so."
    whole, cut = (
        candidates("Was ist Würde?", "de", [Evidence(1, text, "de", 0.9, 1, start)])
        for start in (0, 500)
    )
    assert next(c.support for c in cut if c.start == 0) < whole[0].support


def test_nothing_found_gives_nothing() -> None:
    assert candidates("Was?", "de", []) == []
    assert choose(unit(1, 0), np.zeros((0, 2), dtype=np.float32), []) == []


def test_refuses_below_the_floor() -> None:
    question, vectors = near(1.0, 1), np.stack([near(0.85, 1)])
    assert choose(question, vectors, [candidate("Ein Satz.", 1.0)]) == []
    assert len(choose(question, vectors, [candidate("Ein Satz.", 1.0, floor=0.8)])) == 1
    assert len(choose(question, vectors, [candidate("Ein Satz.", 2.5)])) == 1


def test_the_floor_is_lower_where_words_cannot_match() -> None:
    german, english = (
        candidates("Was ist unantastbar?", "de", evidence(CONSTITUTION, language=language))[0]
        for language in ("de", "en")
    )
    assert english.floor < german.floor


def test_the_best_comes_first_and_far_ones_stay_out() -> None:
    found = [candidate("B.", 3.0, start=10), candidate("A.", 3.5, start=20), candidate("C.", 1.0)]
    vectors = np.stack([near(0.9, 1), near(0.9, 2), near(0.9, 3)])
    assert [one.text for one in choose(near(1.0, 1), vectors, found)] == ["A.", "B."]


def test_what_says_the_same_or_overlaps_is_said_once() -> None:
    twins = [candidate("A.", 3.5), candidate("A!", 3.4, start=50)]
    same = np.stack([near(0.9, 1), near(0.9, 1)])
    assert [one.text for one in choose(near(1.0, 1), same, twins)] == ["A."]
    nested = [candidate("Anfang und Ende.", 3.5), candidate("Ende.", 3.4, start=11)]
    apart = np.stack([near(0.9, 1), near(0.9, 2)])
    assert [one.text for one in choose(near(1.0, 1), apart, nested)] == ["Anfang und Ende."]


def test_a_sentence_that_overlaps_makes_the_quote_longer() -> None:
    text = "Erstens gilt dies. Es gilt immer. Es gilt überall. Anderes gilt nie."
    spans = [(19, 33), (19, 50), (0, 33), (51, 68)]
    found = [
        Candidate(1, start, end, text[start:end], support, 1.8)
        for (start, end), support in zip(spans, [3.5, 3.3, 3.2, 3.1], strict=True)
    ]
    vectors = np.stack([near(0.9, 1), near(0.9, 1), near(0.9, 1), near(0.9, 2)])
    chosen = choose(near(1.0, 1), vectors, found)
    assert [(one.start, one.end) for one in chosen] == [(0, 50), (51, 68)]
    assert all(text[one.start : one.end] == one.text for one in chosen)


def test_quotes_that_a_sentence_connects_become_one() -> None:
    text = "Eins ist wahr. Zwei ist wahr. Drei ist wahr."
    found = [
        Candidate(1, start, end, text[start:end], support, 1.8)
        for start, end, support in [(0, 14, 3.5), (30, 44, 3.4), (10, 40, 3.0)]
    ]
    chosen = choose(near(1.0, 1), np.stack([near(0.9, axis) for axis in (1, 2, 3)]), found)
    assert [one.text for one in chosen] == [text]


def test_a_related_word_counts_less_than_the_word_itself() -> None:
    texts = ("Das Briefgeheimnis ist unverletzlich.", "Den Brief liest niemand.", "Das gilt immer.")
    passages = [Evidence(1, text, "de", 0.9, 1) for text in texts]
    related, same, neither = (
        candidates("Wer liest Briefe?", "de", [passage])[0].support for passage in passages
    )
    assert neither < related < same


def test_a_question_for_a_number_prefers_a_sentence_that_has_one() -> None:
    text = "Die Wahlperiode dauert lange. Die Wahlperiode dauert vier Jahre."
    with_number, without = candidates("Wie lange dauert die Wahlperiode?", "de", evidence(text))
    assert "vier" in with_number.text
    assert without.support < with_number.support


def test_a_passage_that_stands_out_supports_more_than_one_among_equals() -> None:
    alone, among = (
        candidates(
            "Was ist unantastbar?",
            "de",
            [
                Evidence(1, CONSTITUTION, "de", 0.9, 2),
                Evidence(2, PRESIDENT, "de", similarity, 1),
            ],
        )[0].support
        for similarity in (0.8, 0.89)
    )
    assert among < alone


def test_at_most_four_sentences() -> None:
    found = [candidate(f"Satz {i}.", 3.0, start=100 * i) for i in range(6)]
    vectors = np.stack([near(0.9, i, of=8) for i in range(1, 7)])
    assert len(choose(near(1.0, 1, of=8), vectors, found)) == 4


@pytest.mark.parametrize(
    ("text", "quotable"),
    [
        ("Die Würde des Menschen ist unantastbar.", True),
        ("Passwort: hunter2 im Keller", True),
        ("Kapitel Eins Anfang", False),
        ("Eine Zeile ohne Punkt, die aber lang genug für einen Satz ist", True),
        ("Ja.", False),
        ("Was ist das hier?", False),
        ("東京は日本の首都です。", True),
        ("法律的目的是保护人民！", True),
        ("第一章 总则", False),
        ("東京は何ですか？", False),
        ("Einleitung . . . . . . . . . 7", False),
        ("https://example.com/a/b/c", False),
        ("Wort " * 400 + ".", False),
    ],
)
def test_what_can_be_quoted(text: str, *, quotable: bool) -> None:
    assert is_quotable(text) is quotable


def test_long_sentences_are_cut_at_semicolons() -> None:
    text = "; ".join(f"Mitglied Nummer {i} ist Herr Meier aus Musterstadt" for i in range(10)) + "."
    spans = clauses(text, "de")
    assert len(spans) == 10
    assert all(text[start:end].endswith((";", ".")) for start, end in spans)
    assert clauses("Kurz; aber gut.", "de") == [(0, 15)]


def test_an_edge_shows_by_case_stop_or_page() -> None:
    assert seems_cut("und so weiter.", 0, 14, continues=False)
    assert seems_cut("Und so weiter", 0, 13, continues=False)
    assert seems_cut("Und so weiter.", 0, 14, continues=True)
    assert not seems_cut("Und so weiter.", 0, 14, continues=False)


@pytest.mark.parametrize(
    "question", ["Wie lange dauert das?", "How many?", "Wann?", "In which year?", "Wie viele?"]
)
def test_questions_for_a_number(question: str) -> None:
    assert asks_amount(question)
    assert not asks_amount("Wer wählt den Präsidenten?")


def test_sentences_with_a_number() -> None:
    assert all(map(tells_amount, ["auf vier Jahre", "1949", "sechzig Tage", "twenty men"]))
    assert not any(map(tells_amount, ["(1) Der Bundestag", "§5 gilt", "niemand"]))


@given(st.text(max_size=300), st.lists(st.text(max_size=300), max_size=5), st.integers(0, 3))
def test_any_text_gives_true_offsets(question: str, texts: list[str], most: int) -> None:
    passages = evidence(*texts)
    found = candidates(question, "de", passages)
    for one in found:
        assert passages[one.number - 1].text[one.start : one.end] == one.text
    vectors = np.stack([_pseudo(one.text) for one in found] or [_pseudo("")])[: len(found)]
    chosen = choose(_pseudo(question), vectors, found, most=most + 1)
    assert len(chosen) <= most + 1
    for one in chosen:
        assert passages[one.number - 1].text[one.start : one.end] == one.text
    places = sorted((one.number, one.start, one.end) for one in chosen)
    assert all(a[0] != b[0] or a[2] <= b[1] for a, b in pairwise(places))


def _pseudo(text: str) -> Vectors:
    digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
    return unit(*(byte + 1 for byte in digest))
