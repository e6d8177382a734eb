import itertools
import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chunkers import chunker_named
from domain.chunking import CharacterWindowChunker, TokenWindowChunker
from domain.errors import Rejected
from domain.passage import Passage
from domain.ports import Chunker
from domain.recursive_chunking import RecursiveChunker

CHUNKERS: list[Callable[[], Chunker]] = [
    TokenWindowChunker,
    RecursiveChunker,
    CharacterWindowChunker,
    lambda: TokenWindowChunker(7, 3),
    lambda: RecursiveChunker(7, 3),
    lambda: CharacterWindowChunker(7, 3),
]
pieces = st.sampled_from(
    [
        *(
            "Wort",
            "Ein Satz ist das hier. ",
            "Noch einer? ",
            "z. B. ",
            "北京是中国的首都。",
            "हिन्दी",
        ),
        *("\n", "\n\n", "\n \n", " ", "\t", "\u00a0", ".", "§", "1.234,5", "🧪", "e\u0301", "\r\n"),
    ]
)
texts = st.one_of(st.text(max_size=300), st.lists(pieces, max_size=60).map("".join))
passages = st.lists(st.tuples(texts, st.sampled_from(["", "de", "en", "zh", "fi"])), max_size=4)


@pytest.mark.parametrize("make", CHUNKERS)
@given(pages=passages)
def test_every_chunk_is_the_text_its_offsets_name_and_nothing_is_left_out(
    make: Callable[[], Chunker], pages: list[tuple[str, str]]
) -> None:
    read = [Passage(n, n + 1, text, language) for n, (text, language) in enumerate(pages)]
    chunks = make().chunk(read)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert [chunk.passage for chunk in chunks] == sorted(chunk.passage for chunk in chunks)
    covered: dict[int, set[int]] = {passage.ordinal: set() for passage in read}
    for chunk in chunks:
        passage = read[chunk.passage]
        assert passage.text[chunk.start : chunk.end] == chunk.text
        assert chunk.text.strip() == chunk.text != ""
        assert (chunk.page, chunk.language) == (passage.page, passage.language)
        covered[chunk.passage].update(range(chunk.start, chunk.end))
    for passage in read:
        seen = covered[passage.ordinal]
        assert all(i in seen for i, sign in enumerate(passage.text) if not sign.isspace())
    for before, after in itertools.pairwise(chunks):
        if before.passage == after.passage:
            assert before.start <= after.start
            assert before.end < after.end


HOSTILE = {
    "one word": "A" * 5_000_000,
    "empty lines": "\n" * 5_000_000,
    "empty lines between two words": "a" + "\n" * 5_000_000 + "b",
    "lines of a letter": "a\n\n" * 1_000_000,
    "stops": ". " * 1_500_000,
    "abbreviations": "z. B. " * 500_000,
}


@pytest.mark.parametrize("make", CHUNKERS[1:3])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_cut_in_bounded_time(make: Callable[[], Chunker], name: str) -> None:
    start = time.process_time()
    chunks = make().chunk([Passage(0, None, HOSTILE[name], "de")])
    assert time.process_time() - start < 15
    assert bool(chunks) == bool(HOSTILE[name].strip())


def words(count: int, start: int = 0) -> str:
    return " ".join(f"w{n}" for n in range(start, start + count))


def test_a_recursive_window_ends_with_a_paragraph_where_one_ends_late_enough() -> None:
    text = f"{words(60)}.\n\n{words(150)}. {words(90)}.\n\n{words(300)}."
    first, second, *_ = RecursiveChunker(400, 40).chunk([Passage(0, None, text, "zh")])
    assert text[: first.end] == f"{words(60)}.\n\n{words(150)}. {words(90)}."
    assert second.start < first.end


def test_without_one_it_ends_with_a_sentence_and_the_next_begins_with_one() -> None:
    sentence = "Dieser Satz hat genau acht Wörter am Stück."
    text = " ".join([sentence] * 100)
    chunks = RecursiveChunker(400, 40).chunk([Passage(0, None, text, "de")])
    assert len(chunks) > 2
    for chunk in chunks:
        assert chunk.text.startswith("Dieser")
        assert chunk.text.endswith("Stück.")


def test_without_either_it_ends_with_a_word() -> None:
    text = words(1000)
    chunks = RecursiveChunker(400, 40).chunk([Passage(0, None, text, "zh")])
    assert [len(chunk.text.split()) for chunk in chunks] == [400, 400, 280]
    assert chunks[0].text.split()[-40:] == chunks[1].text.split()[:40]


@pytest.mark.parametrize(("language", "most"), [("en", 333), ("de", 285), ("fi", 235), ("xx", 266)])
def test_a_language_of_long_words_gets_fewer_of_them(language: str, most: int) -> None:
    chunks = RecursiveChunker().chunk([Passage(0, None, words(1000), language)])
    assert len(chunks[0].text.split()) == most


def test_a_character_window_has_that_many_and_shares_that_many() -> None:
    text = "".join(chr(0x4E00 + n) for n in range(2500))
    chunks = CharacterWindowChunker().chunk([Passage(0, None, text)])
    assert [(chunk.start, chunk.end) for chunk in chunks] == [(0, 1000), (800, 1800), (1600, 2500)]


@pytest.mark.parametrize("make", CHUNKERS)
def test_a_name_tells_the_chunker(make: Callable[[], Chunker]) -> None:
    assert chunker_named(make().name) == make()
    assert re.fullmatch(r"[a-z-]+-\d+-\d+", make().name)


@pytest.mark.parametrize(
    "name", ["", "recursive", "semantic-400-40", "recursive-400-x", "recursive-400-300"]
)
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(Rejected, match="no chunker"):
        chunker_named(name)


@pytest.mark.parametrize(("size", "overlap"), [(10, 10), (10, -1)])
@pytest.mark.parametrize("kind", [RecursiveChunker, CharacterWindowChunker])
def test_a_chunker_that_cannot_go_on_is_refused(
    kind: type[RecursiveChunker | CharacterWindowChunker], size: int, overlap: int
) -> None:
    with pytest.raises(ValueError, match="overlap"):
        kind(size, overlap)
