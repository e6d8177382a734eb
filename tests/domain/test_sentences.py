"""Sentence boundaries, with offsets."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.sentences import split


def sentences(text: str, language: str) -> list[str]:
    return [text[start:end] for start, end in split(text, language)]


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("de", ["Der 2. Weltkrieg begann am 1. September 1939.", "Er endete 1945."]),
        ("de", ["Das war im 19. Jahrhundert.", "Heute gilt das nicht."]),
        ("de", ["Nach Art. 1 Abs. 2 GG gilt das.", "Vgl. Dr. Müller, S. 12 oben.", "Ja."]),
        ("de", ["Das war Platz 3.", "Danach kam er."]),
        ("de", ["Es sind ca. 5 m, z. B. hier.", "Gut."]),
        ("de", ["(1) Die Würde ist unantastbar.", "Sie zu achten ist Pflicht."]),
        ("en", ["See Fig. 3 and No. 5 of Smith et al. 2001.", "It ends."]),
        ("en", ["He said no.", "Then he left in 5 min.", "She stayed."]),
        ("en", ["Mr. Smith went to St. Louis.", "He left."]),
        ("ja", ["これは本です。", "それはペンです。"]),
    ],
)
def test_a_text_is_cut_where_a_reader_would_cut_it(language: str, expected: list[str]) -> None:
    glue = "" if language == "ja" else " "
    assert sentences(glue.join(expected), language) == expected


def test_a_line_break_inside_a_sentence_does_not_end_it() -> None:
    assert sentences("The bridge\nis red. It\nis old.", "en") == [
        "The bridge\nis red.",
        "It\nis old.",
    ]


def test_an_empty_line_an_item_and_a_heading_end_a_sentence() -> None:
    text = "# Titel\nErster Satz ohne Punkt\n\n- eins\n- zwei\n(2) drei"
    assert sentences(text, "de") == [
        "# Titel",
        "Erster Satz ohne Punkt",
        "- eins",
        "- zwei",
        "(2) drei",
    ]


def test_a_label_alone_is_kept() -> None:
    assert sentences("(1) \n\n(2)", "de") == ["(1)", "(2)"]


@pytest.mark.parametrize("text", ["", " ", "\n\n \n"])
def test_white_space_has_no_sentence(text: str) -> None:
    assert split(text, "de") == []


def test_offsets_count_code_points() -> None:
    assert split("🙂🙂 Ja. Nein.", "de") == [(0, 6), (7, 12)]


@pytest.mark.parametrize("language", ["", "xx", "de", "zh"])
def test_any_language_code_is_taken(language: str) -> None:
    assert sentences("One is here. Two is there.", language) == ["One is here.", "Two is there."]


@given(
    st.text(alphabet='aB1 .!?()[]\n-#🙂„“"IX\t\f\r\u2028', max_size=200) | st.text(max_size=100),
    st.sampled_from(["de", "en", "ja", ""]),
)
def test_between_sentences_stands_only_white_space(text: str, language: str) -> None:
    spans = split(text, language)
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    assert edges == sorted(edges)
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in spans)
    gaps = zip(edges[::2], edges[1::2], strict=True)
    assert all(not text[start:end].strip() for start, end in gaps)


@pytest.mark.parametrize("unit", ["a. ", "\n", " \n", "1. ", "( ", "z. B. ", "- ", "[", "„", "."])
def test_hostile_texts_take_time_in_proportion(unit: str) -> None:
    started = time.perf_counter()
    split(unit * 50_000, "de")
    assert time.perf_counter() - started < 3
