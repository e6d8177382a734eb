"""The text gate: what goes, what stays, and where it came from."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.text_gate import clean, clean_page, clean_page_mapped

anything = st.text(
    st.one_of(
        st.characters(codec=None),
        st.sampled_from("ab é\u0301\u0323\u200d\u200c\u00ad\r\n\x00\x02\ufffe\ufb01\ufefb\u0628"),
        st.sampled_from(
            "\ud800\udfff\u1100\u1161\u11a8\u09c7\u09be\u304b\u3099\u2126\u2f00\U0001f469"
        ),
    ),
    max_size=60,
)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("a\x00b\x07c\x9f", "abc"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb\rc\u2028d\x0ce", "a\nb\nc\nd\ne"),
        ("a\ud800b\udfffc", "abc"),
        ("a\ufffeb\uffff\U0001fffec\ufdd0", "abc"),
        ("U\u0308bermut", "Übermut"),
        ("Silben\u00adtrennung", "Silbentrennung"),
        ("zero\u200bwidth\ufeff\u2060", "zerowidth"),
        ("Auf\u200clage", "Auflage"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क्\u200dष", "क्\u200dष"),
        ("\U0001f469\u200d\U0001f4bb", "\U0001f469\u200d\U0001f4bb"),
        ("ﬁnden, Auﬂage, aﬀable, ﬃ, ﬆ", "finden, Auflage, affable, ffi, st"),
        ("\ufee3\ufeae\ufea3\ufe92\ufe8e \ufefb", "مرحبا لا"),
        ("\u2f64\u6237", "\u7528\u6237"),
        ("see\U000e0069\U000e0067nothing", "seenothing"),
        ("\u202e005.1\u202c", "\u202e005.1\u202c"),
        ("العربية עברית 日本語 한국어", "العربية עברית 日本語 한국어"),
        ("\ue000", "\ue000"),
    ],
)
def test_the_gate(raw: str, expected: str) -> None:
    assert clean(raw) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("down\ufffestream tasks", "downstream tasks"),
        ("down\x02stream", "downstream"),
        ("Schwarz\ufffeWeiß", "Schwarz-Weiß"),
        ("Waren\ufffeund Zahlungsverkehr", "Waren- und Zahlungsverkehr"),
        ("ge\ufffeund ", "geund "),
        ("1914\ufffe1918", "1914-1918"),
        ("the word con\ufffe", "the word con-"),
        ("x\x0cy\x02 z", "xy z"),
    ],
)
def test_words_cut_at_a_lines_end(raw: str, expected: str) -> None:
    assert clean_page(raw) == expected


@given(anything)
def test_a_second_time_changes_nothing(raw: str) -> None:
    once = clean(raw)
    assert clean(once) == once
    assert unicodedata.is_normalized("NFC", once)
    once.encode()


@given(anything)
def test_every_code_point_knows_where_it_came_from(raw: str) -> None:
    text, origins = clean_page_mapped(raw)
    assert text == clean_page(raw)
    assert len(origins) == len(text)
    assert origins == sorted(origins)
    assert all(0 <= origin < len(raw) for origin in origins)


def test_the_origin_of_a_word_after_everything_that_changes() -> None:
    raw = "ﬁ\x00\u00ad\r\nA\u030a down\ufffestream Waren\ufffeund Ziel"
    text, origins = clean_page_mapped(raw)
    assert text == "fi\nÅ downstream Waren- und Ziel"
    for word in ("down", "stream", "Waren", "und", "Ziel"):
        assert origins[text.index(word)] == raw.index(word)


@pytest.mark.parametrize(
    "piece",
    ["Z" + "\u0301\u0323" * 500, "\u200d", "\u200dب", "\ufffe", "A\ufffeund ", "か\u3099", "\r"],
)
def test_time_is_linear(piece: str) -> None:
    started = time.perf_counter()
    clean_page(piece * (1_000_000 // len(piece)))
    assert time.perf_counter() - started < 5


def test_marks_on_one_letter_are_bounded() -> None:
    assert len(clean("Z" + "\u0301" * 5000 + "algo")) <= 36
