"""What of the selected sources a document is made from."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.excerpts import CUT, Excerpt, Piece, excerpts, parts_of, shares
from domain.ids import ChunkId, SourceId, VersionId, new_id


def a_source(*texts: str) -> tuple[list[Piece], dict[ChunkId, str], str]:
    """Its pieces, the texts of their chunks, and the passage they stand in."""
    source, version = SourceId(new_id()), VersionId(new_id())
    pieces: list[Piece] = []
    chunks: dict[ChunkId, str] = {}
    at = 0
    for text in texts:
        chunk = ChunkId(new_id())
        piece = Piece(chunk, source, version, "Bridges", 0, 1, at, at + len(text), "en")
        pieces.append(piece)
        chunks[chunk] = text
        at += len(text)
    return pieces, chunks, "".join(texts)


def sentences(first: int, count: int) -> str:
    return "".join(f"Sentence number {n} is here. " for n in range(first, first + count))


def taken(pieces: Sequence[Piece], chunks: dict[ChunkId, str], room: int) -> list[Excerpt]:
    return excerpts(parts_of(pieces, room), chunks)


@pytest.mark.parametrize(
    ("sizes", "room", "given"),
    [
        ([10, 10], 100, [10, 10]),
        ([1000, 10], 100, [90, 10]),
        ([1000, 1000, 10], 100, [45, 45, 10]),
        ([5, 30, 1000, 40], 100, [5, 30, 33, 32]),
        ([], 100, []),
    ],
)
def test_small_sources_leave_their_rest_to_the_others(
    sizes: list[int], room: int, given: list[int]
) -> None:
    assert sorted(shares(sizes, room)) == sorted(given)


@given(st.lists(st.integers(0, 5_000), max_size=60), st.integers(1, 24_000))
def test_nobody_gets_more_than_there_is_nor_less_than_a_fair_share(
    sizes: list[int], room: int
) -> None:
    got = shares(sizes, room)
    assert all(0 <= mine <= size for mine, size in zip(got, sizes, strict=True))
    assert sum(got) == min(room, sum(sizes))
    short = [mine for mine, size in zip(got, sizes, strict=True) if mine < size]
    assert not short or max(got) - min(short) <= 1


def test_a_source_that_fits_is_taken_whole() -> None:
    pieces, chunks, text = a_source(sentences(0, 10), sentences(10, 10))
    found = taken(pieces, chunks, 24_000)
    assert [excerpt.hit.rank for excerpt in found] == [1, 2]
    assert " ".join(excerpt.shown for excerpt in found) == text.strip()


def test_a_long_source_keeps_its_start_middle_and_end_in_whole_sentences() -> None:
    pieces, chunks, text = a_source(*(sentences(n * 20, 20) for n in range(50)))
    found = taken(pieces, chunks, 3_000)
    assert sum(len(excerpt.shown) for excerpt in found) <= 3_000
    assert found[0].shown.startswith("Sentence number 0 is")
    assert found[-1].shown.endswith("Sentence number 999 is here.")
    assert any("Sentence number 500 is" in excerpt.shown for excerpt in found)
    assert sum(excerpt.shown.startswith(CUT) for excerpt in found) == 2
    assert sum(excerpt.shown.endswith(CUT) for excerpt in found) == 2
    for excerpt in found:
        hit = excerpt.hit
        assert text[hit.start : hit.start + len(hit.text)] == hit.text
        assert hit.text.startswith("Sentence number")
        assert hit.text.endswith("is here.")


def test_a_sentence_without_end_is_cut_at_words() -> None:
    pieces, chunks, _ = a_source("word " * 5_000)
    found = taken(pieces, chunks, 600)
    assert found
    for excerpt in found:
        assert set(excerpt.hit.text.split()) == {"word"}


def test_sources_share_the_room() -> None:
    short, short_chunks, text = a_source(sentences(0, 5))
    long, long_chunks, _ = a_source(*(sentences(n * 20, 20) for n in range(50)))
    found = taken([*long, *short], long_chunks | short_chunks, 3_000)
    assert found[-1].shown == text.strip()
    of_long = [e for e in found if e.hit.source_id == long[0].source_id]
    assert 2_000 < sum(len(excerpt.shown) for excerpt in of_long) <= 3_000 - len(text)
    assert [excerpt.hit.rank for excerpt in found] == list(range(1, len(found) + 1))


def test_what_was_deleted_meanwhile_is_left_out() -> None:
    pieces, chunks, _ = a_source(sentences(0, 5), sentences(5, 5))
    del chunks[pieces[0].chunk_id]
    [only] = taken(pieces, chunks, 24_000)
    assert only.hit.rank == 1
    assert only.shown.startswith("Sentence number 5 is")


def test_many_tiny_shares_are_still_something() -> None:
    sources = [a_source(sentences(n, 40)) for n in range(50)]
    pieces = [piece for source in sources for piece in source[0]]
    chunks = {chunk: text for source in sources for chunk, text in source[1].items()}
    found = taken(pieces, chunks, 24_000)
    assert len({excerpt.hit.source_id for excerpt in found}) == 50
    assert sum(len(excerpt.shown) for excerpt in found) <= 24_000
