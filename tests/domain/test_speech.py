"""Lines, voices, and how a text is cut into requests."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import ModelAnswerInvalid, Rejected
from domain.speech import (
    LANGUAGES,
    VOICES,
    Line,
    SpeechLimits,
    batches,
    characters,
    default_voices,
    require_whole,
    voice_named,
)
from domain.usage import TokenUsage

LINDE, AHORN, _, WILLOW, _ = VOICES
SEVERAL = SpeechLimits(100, 3, several_voices=True)
ALONE = SpeechLimits(100, 3, several_voices=False)


def test_there_are_three_german_and_two_english_voices_and_a_pair_of_each() -> None:
    assert [voice.language for voice in VOICES] == ["de", "de", "de", "en", "en"]
    assert LANGUAGES == ("de", "en")
    assert default_voices("de") == (LINDE,)
    assert default_voices("en", 2) == VOICES[3:]
    assert voice_named("ahorn") is AHORN


def test_an_unknown_voice_or_language_says_which_there_are() -> None:
    with pytest.raises(Rejected, match=r"'anna'.*linde \(de\).*rowan \(en\)"):
        voice_named("anna")
    with pytest.raises(Rejected, match=r"'fr'.*de, en"):
        default_voices("fr")


def test_lines_share_a_request_as_long_as_it_takes_them() -> None:
    lines = [Line(LINDE, "Ja."), Line(AHORN, "Nein."), Line(LINDE, "Doch."), Line(AHORN, "Na.")]
    assert batches(lines, SEVERAL) == [tuple(lines[:3]), tuple(lines[3:])]
    assert batches(lines, ALONE) == [(line,) for line in lines]
    assert batches([lines[0], lines[0]], ALONE) == [(lines[0], lines[0])]


def test_a_long_line_is_cut_behind_a_sentence_else_behind_a_word() -> None:
    text = "Am 3. Oktober wurde gefeiert. " * 4 + "Donaudampfschiff " * 9
    cut = [request[0].text for request in batches([Line(LINDE, text)], ALONE)]
    assert "".join(cut) == text
    assert cut[0] == "Am 3. Oktober wurde gefeiert. " * 3
    assert all(piece.endswith(" ") for piece in cut)


def test_a_word_that_is_too_long_is_cut_anywhere() -> None:
    cut = batches([Line(WILLOW, "x" * 250)], ALONE)
    assert [len(request[0].text) for request in cut] == [100, 100, 50]


def test_lines_without_anything_to_say_are_left_out() -> None:
    assert batches([Line(LINDE, " \n"), Line(LINDE, "")], SEVERAL) == []
    gap = Line(LINDE, "Ja." + " " * 300 + "Nein.")
    assert "".join(each.text.strip() for (each,) in batches([gap], ALONE)) == "Ja.Nein."


_LINES = st.lists(
    st.builds(Line, st.sampled_from(VOICES), st.text("ab. \n!ß日", max_size=300)), max_size=12
)


@given(_LINES, st.integers(1, 80), st.integers(1, 5), st.booleans())
def test_no_character_is_lost_and_no_limit_is_broken(
    lines: list[Line],
    most: int,
    most_lines: int,
    several: bool,  # noqa: FBT001 - drawn
) -> None:
    limits = SpeechLimits(most, most_lines, several)
    requests = batches(lines, limits)
    for request in requests:
        assert characters(request) <= most
        assert 1 <= len(request) <= most_lines
        assert several or len({line.voice for line in request}) == 1
    pieces = [piece for request in requests for piece in request]
    assert all(piece.text.strip() for piece in pieces)
    assert "".join("".join(piece.text.split()) for piece in pieces) == "".join(
        "".join(line.text.split()) for line in lines
    )


@pytest.mark.parametrize(("seconds", "whole"), [("80", True), ("33", True), ("20", False)])
def test_a_recording_too_short_for_its_text_is_refused(seconds: str, *, whole: bool) -> None:
    lines, usage = [Line(LINDE, "abcde fghij " * 100)], TokenUsage(0, characters=1_200)
    if whole:
        require_whole(lines, Decimal(seconds), usage, "a-voice")
        return
    with pytest.raises(ModelAnswerInvalid, match=r"1000 letters in 20\.0 seconds") as caught:
        require_whole(lines, Decimal(seconds), usage, "a-voice")
    assert caught.value.usage == usage
