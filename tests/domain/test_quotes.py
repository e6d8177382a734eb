"""The sentence that bears a claim, and the claim that a marker closes."""

import json
import os
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.checks import checks_of
from domain.quotes import Claim, choose, claim_before
from tests.domain.answers import answer_of

DATA = Path(os.environ.get("BELEG_TEST_DATA", "../shared/data"))
BRIDGE = (
    "ended in the year before. The bridge was built in 1932 of granite. "
    "Anna Berg designed it. It carries many cars every day. The mayor opened it in"
)


def quote(claim: str, chunk: str, language: str = "en") -> str:
    return choose(Claim(claim, claim), chunk, offset=0, language=language).text


def test_a_sentence_that_is_quoted_word_for_word_is_the_quote() -> None:
    assert quote("It carries many cars", BRIDGE) == "It carries many cars every day."


@pytest.mark.parametrize(
    ("claim", "chunk"),
    [
        ("Die Brücke wurde 1932 gebaut", "Vorher. Die Bru\u0308cke wurde 1932 gebaut."),
        ("The international court ruled.", "Before. The inter-\nnational court ruled."),
        ("The well-known court ruled.", "Before. The well-\nknown court ruled."),
        ('He said "yes" - twice.', "Before. He said “yes” — twice."),
        ("Softhyphen and zerowidth", "Before. Soft\u00adhyphen and zero\u200bwidth."),
        ("The bridge ... is red.", "Before. The bridge … is red."),
    ],
)
def test_typography_is_no_difference(claim: str, chunk: str) -> None:
    assert quote(claim, chunk) == chunk.partition(". ")[2]


def test_a_claim_of_two_sentences_is_quoted_whole() -> None:
    claim = "Anna Berg designed it. It carries many cars every day."
    assert quote(claim, BRIDGE) == claim


def test_the_sentence_that_shares_most_with_a_paraphrase_is_the_quote() -> None:
    assert quote("Every day, cars cross it.", BRIDGE) == "It carries many cars every day."


def test_numbers_weigh_more_than_words() -> None:
    chunk = "The old bridge of granite is red. In 1932 it rained."
    assert quote("The bridge is from 1932.", chunk) == "In 1932 it rained."


def test_words_are_compared_by_their_stems_in_the_language_of_the_chunk() -> None:
    chunk = "Die Stadt ist alt. Der Bundestag wählte den Präsidenten. Er ging."
    assert quote("Präsident wählen", chunk, "de") == "Der Bundestag wählte den Präsidenten."


def test_names_and_numbers_find_the_sentence_across_languages() -> None:
    assert quote("Entworfen hat sie Anna Berg.", BRIDGE) == "Anna Berg designed it."


def test_without_anything_in_common_the_first_whole_sentence_is_the_quote() -> None:
    assert quote("Völlig anderes", BRIDGE) == "The bridge was built in 1932 of granite."
    assert quote("", BRIDGE) == "The bridge was built in 1932 of granite."


def test_the_earlier_of_two_equal_sentences_wins() -> None:
    claim = Claim("It is red.", "It is red.")
    found = choose(claim, "Ok then. It is red. It is red.", offset=0, language="en")
    assert found.start == 9


def test_a_whole_sentence_wins_over_one_that_the_window_cuts() -> None:
    chunk = "bridge is red, they say. The bridge is red, they say."
    assert quote("They say that a bridge is red.", chunk) == "The bridge is red, they say."


def test_offsets_count_code_points_of_the_passage() -> None:
    passage = "🙂🙂 Before. The bridge is red. It is old."
    claim = Claim("The bridge is red.", "The bridge is red.")
    found = choose(claim, passage[3:], offset=3, language="en")
    assert passage[found.start : found.end] == found.text == "The bridge is red."


@given(
    st.text(alphabet="aB1 .!?\n-é🙂„“ß\u0308", max_size=40),
    st.text(alphabet="aB1 .!?\n-é🙂„“ß\u0308", min_size=1, max_size=120),
    st.text(max_size=10),
    st.sampled_from(["de", "en", "ja", ""]),
)
def test_a_quote_always_stands_in_the_passage(
    claim: str, chunk: str, before: str, language: str
) -> None:
    passage = before + chunk
    found = choose(Claim(claim, claim), chunk, offset=len(before), language=language)
    assert passage[found.start : found.end] == found.text
    assert found.start >= len(before)


@pytest.mark.parametrize(
    ("answer", "claim"),
    [
        ("Before. It is so [1", "It is so"),
        ("Before. It is so.[1", "It is so."),
        ("Before. It is so [2][1", "It is so"),
        ("Before. It is so.[2] [1", "It is so."),
        ("It is red [2], but old [1", "but old"),
        ("- One thing [2]\n- The **other** thing [1", "The other thing"),
        ("1. One\n2. Two [1", "Two"),
        ("| Year | Built |\n| 1932 | of granite [1", "of granite"),
        ("| 1932 | of granite | [1", "of granite"),
        ("## Heading\n\n> Quoted. Really so [1", "Really so"),
        ("Er kam. Der Bau begann am 1. September 1939 [1", "Der Bau begann am 1. September 1939"),
        ("[1", ""),
    ],
)
def test_a_marker_closes_the_sentence_before_it(answer: str, claim: str) -> None:
    position = answer.rindex("[1")
    assert claim_before(answer + "].", position).text == claim


def test_a_long_answer_costs_no_more_than_a_short_one() -> None:
    answer = "It is so [1]. " * 50_000
    started = time.perf_counter()
    for _ in range(200):
        claim_before(answer, len(answer))
    assert time.perf_counter() - started < 2


def test_real_quote_cases_hold() -> None:
    cases = DATA / "citation" / "quote_cases.jsonl"
    if not cases.is_file():
        pytest.skip("needs the folder of shared test data (BELEG_TEST_DATA)")
    for case in rows(cases):
        said, chunk = case["quote"], case["chunk"]
        before = "Vorher. " if len(letters(said)) >= 8 or case["id"] == "q19" else ""
        found = choose(Claim(said, said), before + chunk, offset=0, language="")
        assert (before + chunk)[found.start : found.end] == found.text, case["id"]
        if case["expect"].startswith(("exact", "normalised", "ambiguous", "elided")):
            assert letters(said)[-7:] in letters(found.text), case["id"]
            assert found.start >= len(before), case["id"]
        else:
            assert found.text != said, case["id"]
        if "digit" in case["expect"] or "negation" in case["expect"]:
            assert checks_of(answer_of(f"{said} [1]", (chunk,))), case["id"]


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text)))


@pytest.mark.parametrize(("language", "least"), [("en", 0.93), ("de", 0.91)])
def test_the_quote_holds_the_answer_of_real_questions(language: str, least: float) -> None:
    folder = DATA / "retrieval" / "xquad"
    if not folder.is_dir():
        pytest.skip("needs the folder of shared test data (BELEG_TEST_DATA)")
    docs = {d["id"]: d["text"] for d in rows(folder / f"docs.{language}.jsonl")}
    questions = rows(folder / f"queries.{language}.jsonl")
    right = 0
    for question in questions:
        claim = f"{question['query'].rstrip('?')} {question['answer']}."
        found = choose(Claim(claim, claim), docs[question["doc"]], offset=0, language=language)
        right += found.start <= question["start"] < found.end
    assert right / len(questions) >= least


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("answer", "claim"),
    [
        ("The bridge was opened in 1932 [1], and is red", "and is red"),
        (
            "Sie wird auf vier Jahre gewählt [1], während er fünf Jahre amtiert",
            "während er fünf Jahre amtiert",
        ),
        ("It is so [1]", "It is so"),
        ("It is so [1] too", "It is so too"),
        ("Old [1]. It is red", "It is red"),
    ],
)
def test_the_second_marker_of_a_sentence_vouches_for_what_follows_the_first(
    answer: str, claim: str
) -> None:
    assert claim_before(answer, len(answer)).text == claim


def test_two_claims_of_one_sentence_are_borne_by_two_sentences() -> None:
    chunk = "The bridge was opened in 1932 by the mayor. It is red. Ships pass below."
    answer = "The bridge was opened in 1932 [1], and is red"
    second = choose(claim_before(answer, len(answer)), chunk, offset=0, language="en")
    assert second.text == "It is red."
    first = choose(claim_before(answer, answer.index(" [1]")), chunk, offset=0, language="en")
    assert first.text == "The bridge was opened in 1932 by the mayor."


def test_what_a_claim_is_about_may_stand_before_the_marker_before() -> None:
    chunk = "Der Bundestag wird auf vier Jahre gewählt. Der Bundespräsident amtiert fünf Jahre."
    answer = "Der Bundespräsident wird gewählt [1] und amtiert fünf Jahre"
    found = choose(claim_before(answer, len(answer)), chunk, offset=0, language="de")
    assert found.text == "Der Bundespräsident amtiert fünf Jahre."
