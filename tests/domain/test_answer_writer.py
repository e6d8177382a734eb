"""What a model writes becomes text and citations, at every cut of its deltas."""

from collections.abc import Sequence

import pytest

from domain.answer_writer import AnswerWriter
from domain.conversation import Citation
from domain.ids import ChunkId, SourceId, VersionId, new_id
from domain.retrieval import Hit

BRIDGE = "Bridges are old. The bridge was built in 1932. It is red."
RIVER = "The river is long. It carries ships."
OFFSET = 100


def hits(*texts: str) -> list[Hit]:
    return [
        Hit(
            rank=rank,
            chunk_id=ChunkId(new_id()),
            source_id=SourceId(new_id()),
            version_id=VersionId(new_id()),
            source_title=f"Source {rank}",
            passage=0,
            page=rank,
            start=OFFSET * rank,
            language="en",
            text=text,
            similarity=0.5,
            score=1.0,
        )
        for rank, text in enumerate(texts, 1)
    ]


def written(writer: AnswerWriter, deltas: Sequence[str]) -> list[str | Citation]:
    pieces = [piece for delta in deltas for piece in writer.feed(delta)]
    return pieces + writer.finish()


def joined(pieces: Sequence[str | Citation]) -> str:
    return "".join(piece for piece in pieces if isinstance(piece, str))


ANSWER = "It was built in 1932 [2]. It is red【2】 and the river is long [1, 2][9]."
SHOWN = "It was built in 1932 [1]. It is red[1] and the river is long [2][1]."


@pytest.mark.parametrize("cut", range(len(ANSWER) + 1))
def test_every_cut_gives_the_same_answer(cut: int) -> None:
    found = hits(RIVER, BRIDGE)
    writer, whole = AnswerWriter(found), AnswerWriter(found)
    pieces = written(writer, [ANSWER[:cut], ANSWER[cut:]])
    written(whole, [ANSWER])
    assert joined(pieces) == writer.text == whole.text == SHOWN
    assert writer.citations == whole.citations


def test_a_citation_comes_once_and_before_the_text_that_shows_its_marker() -> None:
    writer = AnswerWriter(hits(RIVER, BRIDGE))
    pieces = written(writer, list(ANSWER))
    seen: list[int] = []
    text = ""
    for piece in pieces:
        if isinstance(piece, Citation):
            assert f"[{piece.marker}]" not in text
            assert len(piece.mentions) == 1
            seen.append(piece.marker)
        else:
            text += piece
    assert seen == [1, 2]


def test_each_mention_names_its_place_in_the_answer_and_its_sentence_in_the_passage() -> None:
    found = hits(RIVER, BRIDGE)
    writer = AnswerWriter(found)
    written(writer, [ANSWER])
    bridge, river = writer.citations
    assert [len(citation.mentions) for citation in (bridge, river)] == [3, 1]
    for citation in writer.citations:
        hit = found[citation.rank - 1]
        assert (citation.chunk_id, citation.page) == (hit.chunk_id, hit.page)
        for mention in citation.mentions:
            marker = writer.text[mention.answer_start : mention.answer_end]
            assert marker == f"[{citation.marker}]"
            start, end = mention.start - hit.start, mention.end - hit.start
            assert hit.text[start:end] == mention.quote
    assert bridge.mentions[0].quote == "The bridge was built in 1932."
    assert bridge.mentions[1].quote == "It is red."
    assert river.mentions[0].quote == "The river is long."


def test_without_passages_every_marker_is_stripped() -> None:
    writer = AnswerWriter([])
    assert joined(written(writer, ["Bridges [1] are old【2】."])) == "Bridges are old."
    assert writer.citations == ()
    assert writer.stripped_markers == 2


def test_half_a_marker_is_held_back_and_cut_at_the_end() -> None:
    writer = AnswerWriter(hits(BRIDGE))
    assert joined(writer.feed("Built in 1932 [1")) == "Built in 1932"
    assert joined(writer.finish()) == ""
    assert writer.text == "Built in 1932"
    assert writer.citations == ()


def test_quoted_sentences_carry_their_markers() -> None:
    writer = AnswerWriter(hits(RIVER, BRIDGE))
    pieces = writer.quote(2, 17, 46) + writer.quote(1, 0, 18) + writer.quote(2, 47, 57)
    expected = "The bridge was built in 1932. [1]\n\nThe river is long. [2]\n\nIt is red. [1]"
    assert joined(pieces) == writer.text == expected
    assert [piece.marker for piece in pieces if isinstance(piece, Citation)] == [1, 2]
    first = writer.citations[0].mentions[0]
    assert (first.start, first.end) == (2 * OFFSET + 17, 2 * OFFSET + 46)
