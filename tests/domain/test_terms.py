import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.labels import labelled
from domain.terms import ANALYSER, QueryTerm, chunk_terms, question_terms, weight


def test_words_are_stemmed_by_their_language() -> None:
    assert chunk_terms("Häuser Haus haeuser Straße STRASSE", "de") == {"hau": 3, "strass": 2}
    assert chunk_terms("wählt gewählt Wahl", "de") == {"wahl": 3}
    assert chunk_terms("running runs", "en") == {"run": 2}
    assert chunk_terms("running runs", "") == {"running": 1, "runs": 1}


def test_function_words_are_left_out() -> None:
    assert chunk_terms("The dignity of the person", "en") == {"digniti": 1, "person": 1}
    assert chunk_terms("Die Würde des Menschen", "de") == {"wurd": 1, "mensch": 1}


@pytest.mark.parametrize(
    ("german", "english"),
    [
        ("1.234,5", "1,234.5"),
        ("1.234", "1,234"),
        ("3,5", "3.5"),
        ("1.234.567,89", "1,234,567.89"),
        ("1’234.5", "1,234.5"),
        ("1\u202f234", "1234"),
    ],
)
def test_a_number_is_the_same_in_both_notations(german: str, english: str) -> None:
    assert chunk_terms(german, "de") == chunk_terms(english, "en")


def test_dates_keep_their_parts() -> None:
    assert {"31", "12", "2023", "31122023"} == set(chunk_terms("31.12.2023", "de"))


def test_a_fraction_is_no_digit_of_its_number() -> None:
    assert "6" in chunk_terms("6½ Sacks", "de")


def test_codes_and_compounds_count_whole_and_in_parts() -> None:
    assert set(chunk_terms("DIN-4108", "de")) == {"din", "4108", "din4108"}
    assert set(chunk_terms("H2O", "de")) == {"h", "2", "o", "h2o"}
    assert "email" in chunk_terms("E-Mail", "de")
    assert set(chunk_terms("und/oder Ende.Anfang", "de")) == {"end", "anfang"}


def test_scripts_without_spaces_give_bigrams() -> None:
    assert set(chunk_terms("首都は北京", "ja")) == {"首都", "都は", "は北", "北京"}
    assert set(chunk_terms("水", "zh")) == {"水"}


def test_letters_keep_their_marks() -> None:
    assert set(chunk_terms("भाषा", "")) == {"भाषा"}


def test_what_no_reader_sees_is_ignored() -> None:
    assert chunk_terms("Bundes\u00adtag\u200b \ufb01nden", "") == {"bundestag": 1, "finden": 1}


@given(st.text(), st.sampled_from(["de", "en", "", "zh", "xx"]))
def test_terms_fit_the_index(text: str, language: str) -> None:
    for term, count in chunk_terms(text, language).items():
        assert 1 <= len(term) <= 48
        assert "\0" not in term
        assert not any("\ud800" <= character <= "\udfff" for character in term)
        assert count >= 1


@given(st.text(), st.sampled_from(["de", "en", ""]))
def test_a_question_finds_the_text_it_repeats(text: str, language: str) -> None:
    terms = chunk_terms(text, language)
    words = question_terms(text, language, [language])
    assert all(word.variants for word in words)
    assert len({word.word for word in words}) == len(words)
    if terms:
        assert any(variant in terms for word in words for variant in word.variants)


def test_a_word_has_a_variant_for_each_language_searched() -> None:
    assert question_terms("Wer sind die Quarterbacks?", "de", ["de", "en", ""]) == [
        QueryTerm(
            "quarterbacks", ("quarterback", "quarterbacks"), ("erback", "quar", "rback", "back")
        )
    ]


def test_a_question_of_function_words_keeps_them() -> None:
    assert [term.word for term in question_terms("Wer will was?", "de", ["de"])] == [
        "wer",
        "will",
        "was",
    ]


def test_words_that_no_searched_language_indexes_are_left_out() -> None:
    asked = "Quelle est la capitale de la France ?"
    assert [term.word for term in question_terms(asked, "en", ["fr"])] == ["capitale", "france"]
    kept = {term.word for term in question_terms(asked, "en", ["fr", "en"])}
    assert {"quelle", "capitale", "france"} <= kept


def test_a_part_of_a_code_may_stand_in_the_whole() -> None:
    assert question_terms("DIN-4108", "de", ["de"]) == [
        QueryTerm("din", ("din", "din4108")),
        QueryTerm("4108", ("4108", "din4108")),
    ]
    assert question_terms("H2O?", "de", ["de"]) == [QueryTerm("h2o", ("h2o",))]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("§ 14 Abs. 2", "§14 Absatz 2"),
        ("Art. 5", "Artikel 5"),
        ("Article 5", "Art. 5"),
        ("Fig. 3", "Abb. 3"),
        ("Table 12", "Tabelle 12"),
        ("ISO 9001", "ISO-9001"),
        ("DIN 4108", "DIN4108"),
        ("Anhang 1a", "Annex 1a"),
    ],
)
def test_a_number_with_a_label_is_the_same_however_it_is_written(one: str, other: str) -> None:
    shared = {term for term in chunk_terms(one, "de") if any(map(str.isdecimal, term))}
    assert any(not term.isdecimal() and term in chunk_terms(other, "de") for term in shared)
    asked = {variant for word in question_terms(other, "de", ["de"]) for variant in word.variants}
    assert any(not term.isdecimal() and term in asked for term in shared)


@pytest.mark.parametrize("text", ["Part 5", "in 2015", "the 5", "H2 5", "§ 1234567890", "a 5, b 6"])
def test_a_number_without_a_label_is_a_number(text: str) -> None:
    assert labelled(text) == []


def test_a_long_german_word_is_also_sought_by_what_may_be_its_halves() -> None:
    (word,) = question_terms("Bundestagswahl?", "de", ["de"])
    assert word.variants == ("bundestagswahl",)
    assert "bundestag" in word.halves
    (word,) = question_terms("Krankenversicherung", "de", ["de"])
    assert set(chunk_terms("Versicherung", "de")) <= set(word.halves)
    (word,) = question_terms("dissatisfaction?", "en", ["en"])
    assert word.halves == ()


def test_words_that_only_ask_are_left_out() -> None:
    assert [
        term.word for term in question_terms("Wie lange dauert die Wahlperiode?", "de", ["de"])
    ] == ["wahlperiode"]
    assert [term.word for term in question_terms("What is it called?", "en", ["en"])] == ["called"]


def test_an_empty_question_has_no_terms() -> None:
    assert question_terms("?!", "de", ["de"]) == []


def test_weight_saturates() -> None:
    assert weight(1) == pytest.approx(1)
    assert weight(2) == pytest.approx(1.375)
    assert weight(1000) < 2.2


def test_a_megabyte_takes_less_than_a_second() -> None:
    text = " ".join(f"Wort{i % 5000} und Häuser" for i in range(50_000))
    start = time.perf_counter()
    chunk_terms(text, "de")
    assert (time.perf_counter() - start) / len(text.encode()) < 1e-6


def test_the_analyser_has_a_version() -> None:
    assert ANALYSER.rsplit("-", 1)[1].isdecimal()
