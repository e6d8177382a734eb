import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.query import Condition, Query, left_out, search_query, wanted


def _asked(question: str) -> Query:
    return search_query(question, "en", ("en",))


def _words(query: Query) -> list[str]:
    return [word.word for word in query.words]


def _matches(question: str, text: str) -> bool:
    """Whether a text matches the pattern, which is one of PostgreSQL's, in Python."""
    (condition,) = _asked(question).conditions
    pattern = condition.pattern.replace("[^[:alnum:]]", r"(?:[^\w]|_)")
    return bool(re.search(pattern.replace("[[:space:]]", r"\s"), text))


def test_a_question_without_signs_is_its_words() -> None:
    query = _asked("Who built the bridge?")
    assert _words(query) == ["built", "bridge"]
    assert query.conditions == ()


@pytest.mark.parametrize(
    "quoted",
    [
        '"red bridge"',
        "“red bridge”",
        "„red bridge“",
        "«red bridge»",
        "»red bridge«",
        "「red bridge」",
    ],
)
def test_quotes_of_every_kind_make_a_phrase(quoted: str) -> None:
    query = _asked(f"Who built the {quoted}?")
    (condition,) = query.conditions
    assert condition.parts == (("red",), ("bridg",))
    assert not condition.excludes
    assert _words(query) == ["built", "red", "bridge"]


def test_a_phrase_is_words_in_a_row_whatever_stands_between_and_in_whatever_case() -> None:
    for text in ("a Red bridge.", "RED-BRIDGE", "the red\nbridge", "(red) bridge"):
        assert _matches('"red bridge"', text)
    for text in ("bridge red", "red old bridge", "tired bridge", "red bridges"):
        assert not _matches('"red bridge"', text)
    assert _matches('"§ 14 Abs. 2"', "nach §14 Abs. 2 Satz 1")
    assert not _matches('"§ 14 Abs. 2"', "nach § 14 Abs. 21")
    assert _matches('"Größe über alles"', "GRÖßE ÜBER ALLES")
    assert _matches('"C++"', "in c++ or C")
    assert _matches("「東京」", "首都は東京です")


def test_an_inch_is_no_quote() -> None:
    assert _asked('Is 15" or 17" wider?').conditions == ()


def test_a_minus_leaves_a_word_out_in_every_form() -> None:
    query = search_query("jaguar -Autos", "de", ("de", "en"))
    assert query.conditions == (Condition((("auto",),), "", excludes=True),)
    assert _words(query) == ["jaguar"]


def test_a_minus_leaves_a_phrase_a_code_and_an_unspaced_word_out() -> None:
    (phrase,) = _asked('jaguar -"big cat"').conditions
    assert phrase.excludes
    assert phrase.parts == (("big",), ("cat",))
    assert phrase.pattern
    (code,) = _asked("bolts -AB-123/4").conditions
    assert code == Condition((("ab1234",),), "", excludes=True)
    (unspaced,) = _asked("東京 -大阪府").conditions
    assert unspaced.excludes
    assert unspaced.parts == (("大阪",), ("阪府",))
    assert unspaced.pattern == "大阪府"


@pytest.mark.parametrize(
    "question",
    [
        "a rate of -5 degrees",
        "E-Mail",
        "wage tax and -levies",
        "Ein- und -ausfuhr",
        "the Model-C schools",
        "yes - no",
        "ls -l",
        "„Model C“-Schulen",
        "it came -late- that year",
        "Did it come -late as ever- that year?",
    ],
)
def test_a_hyphen_that_is_no_minus_leaves_nothing_out(question: str) -> None:
    assert not any(condition.excludes for condition in _asked(question).conditions)


def test_what_is_left_out_is_told_as_it_was_typed() -> None:
    asked = 'What is a jaguar -Cars, -"big cat" -AB-12/4, and -levies, or -5 -東京?'
    assert left_out(asked) == ("Cars", '"big cat"', "AB-12/4", "東京")
    assert left_out("Ein- und -ausfuhr") == ()


def test_what_is_left_out_is_not_wanted() -> None:
    assert wanted("jaguar -car speed").split() == ["jaguar", "speed"]
    assert wanted('jaguar -"big cat" "top speed"').split() == ["jaguar", '"top', 'speed"']
    assert wanted('who said "yes -sir"?') == 'who said "yes -sir"?'
    assert wanted("-car") == "-car"
    assert wanted("Lohnsteuer und -abgaben") == "Lohnsteuer und -abgaben"


def test_a_phrase_of_function_words_is_searched_as_words() -> None:
    query = _asked('"to be or not to be"')
    assert query.conditions == ()
    assert "be" in _words(query)


@given(st.text() | st.from_regex(r'[-"„“» a.:§]{1,40}'))
def test_every_condition_has_a_part_and_a_pattern_that_compiles(question: str) -> None:
    for condition in _asked(question).conditions:
        assert condition.parts
        assert all(condition.parts)
        re.compile(condition.pattern.replace("[^[:alnum:]]", r"\W").replace("[[:space:]]", r"\s"))


@pytest.mark.parametrize("piece", ['"', '-"', "-a", " -aa", " und -aa", "„a", '"a ', "- ", "\n"])
def test_the_longest_question_takes_no_time(piece: str) -> None:
    start = time.perf_counter()
    question = piece * (8000 // len(piece))
    _asked(question)
    assert time.perf_counter() - start < 1
    start = time.perf_counter()
    left_out(question)
    assert time.perf_counter() - start < 1
