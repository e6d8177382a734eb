import itertools
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.chunking import TokenWindowChunker
from domain.passage import Heading, Passage

texts = st.one_of(
    st.text(max_size=400),
    st.lists(
        st.sampled_from(["Wort", "word", "北京", "हिन्दी", "  ", "\n\n", ".", "§", "1.234,5"])
    ).map(" ".join),
)
windows = st.integers(1, 12).flatmap(
    lambda tokens: st.tuples(st.just(tokens), st.integers(0, tokens - 1))
)


def count_tokens(text: str) -> int:
    return len(TokenWindowChunker(1, 0).chunk([Passage(0, None, text)]))


@given(st.lists(texts, max_size=4), windows)
def test_every_chunk_is_the_text_its_offsets_name(
    pages: list[str], window: tuple[int, int]
) -> None:
    passages = [Passage(i, i + 1, text) for i, text in enumerate(pages)]
    chunks = TokenWindowChunker(*window).chunk(passages)
    for chunk in chunks:
        passage = passages[chunk.passage]
        assert passage.text[chunk.start : chunk.end] == chunk.text
        assert chunk.text.strip() == chunk.text != ""
        assert chunk.page == passage.page
        assert 1 <= count_tokens(chunk.text) <= window[0]
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))


@given(texts, windows)
def test_windows_cover_every_visible_character_and_each_adds_something(
    text: str, window: tuple[int, int]
) -> None:
    chunks = TokenWindowChunker(*window).chunk([Passage(0, None, text)])
    covered = {i for chunk in chunks for i in range(chunk.start, chunk.end)}
    assert all(i in covered for i, character in enumerate(text) if not character.isspace())
    for before, after in itertools.pairwise(chunks):
        assert before.start < after.start
        assert before.end < after.end


def test_windows_slide_by_the_tokens_that_do_not_overlap() -> None:
    text = " ".join(f"w{i}" for i in range(1000))
    chunks = TokenWindowChunker().chunk([Passage(0, None, text)])
    words = [chunk.text.split() for chunk in chunks]
    assert [len(w) for w in words] == [420, 420, 260]
    assert words[0][-50:] == words[1][:50]


@pytest.mark.parametrize(
    ("count", "expected"), [(0, 0), (1, 1), (10, 1), (11, 2), (18, 2), (19, 3)]
)
def test_no_window_repeats_only_what_the_one_before_holds(count: int, expected: int) -> None:
    passage = Passage(0, None, " ".join("a" * count))
    assert len(TokenWindowChunker(10, 2).chunk([passage])) == expected


def test_tokens_are_words_and_single_punctuation_characters() -> None:
    text = "Art. 1 (GG): „Die Würde“ — 3,5 % don't snake_case."
    assert count_tokens(text) == len(re.findall(r"\w+|[^\w\s]", text))


def test_scripts_without_spaces_count_by_character() -> None:
    assert count_tokens("北京是中国的首都") == 8
    chunks = TokenWindowChunker(100, 10).chunk([Passage(0, None, "漢" * 1000)])
    assert max(len(chunk.text) for chunk in chunks) == 100


def test_letters_keep_their_marks() -> None:
    assert count_tokens("हिन्दी भाषा") == 2


def test_a_word_without_end_is_cut_into_windows() -> None:
    chunks = TokenWindowChunker(10, 2).chunk([Passage(0, None, "A" * 10_000)])
    assert max(len(chunk.text) for chunk in chunks) == 480


def test_a_chunk_stands_under_the_last_heading_before_it() -> None:
    text = "vorweg " * 10 + "# A\n" + "eins " * 10 + "## B\n" + "zwei " * 10
    headings = (Heading(70, ("A",)), Heading(124, ("A", "B")))
    chunks = TokenWindowChunker(6, 0).chunk([Passage(0, None, text, "de", headings)])
    assert [chunk.heading for chunk in chunks] == ["", "", "A", "A", "A › B", "A › B"]
    assert {chunk.language for chunk in chunks} == {"de"}


def test_the_name_tells_the_parameters() -> None:
    assert TokenWindowChunker().name == "token-window-420-50"
    assert TokenWindowChunker(300, 40).name == "token-window-300-40"


@pytest.mark.parametrize(("tokens", "overlap"), [(10, 10), (10, -1), (0, 0)])
def test_a_window_that_cannot_slide_is_refused(tokens: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="overlap"):
        TokenWindowChunker(tokens, overlap)


def test_ten_times_the_text_takes_about_ten_times_as_long() -> None:
    def seconds(words: int) -> float:
        passage = Passage(0, None, "Würde des Menschen, " * words)
        start = time.perf_counter()
        TokenWindowChunker().chunk([passage])
        return time.perf_counter() - start

    seconds(1000)
    assert min(seconds(50_000) for _ in range(3)) < 30 * min(seconds(5_000) for _ in range(3))
