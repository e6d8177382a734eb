"""What a document is made from: the selected sources share a room of characters fairly."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from domain.ids import ChunkId, SourceId, VersionId
from domain.retrieval import Hit
from domain.sentences import split

CUT = "[…]"
"""Stands in a prompt where a source was cut."""
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a source: a chunk up to where the next one begins. None overlaps another.

    Args:
        passage: the ordinal of its passage.
        start, end: code points into that passage's text.
    """

    chunk_id: ChunkId
    source_id: SourceId
    version_id: VersionId
    source_title: str
    passage: int
    page: int | None
    start: int
    end: int
    language: str

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Part:
    """The code points [start, end) of a piece.

    Args:
        is_cut_before, is_cut_behind: the source goes on there, and what follows is left out.
    """

    piece: Piece
    start: int
    end: int
    is_cut_before: bool = False
    is_cut_behind: bool = False


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A numbered passage of a prompt.

    Args:
        hit: where its text stands, which is cited by its rank.
        shown: its text, marked where the source was cut.
    """

    hit: Hit
    shown: str


def shares(sizes: Sequence[int], room: int) -> list[int]:
    """How much of a room each of them gets: small ones all they are, the others as much each."""
    given = [0] * len(sizes)
    left = room
    for waiting, index in zip(
        range(len(sizes), 0, -1), sorted(range(len(sizes)), key=sizes.__getitem__), strict=True
    ):
        given[index] = min(sizes[index], left // waiting)
        left -= given[index]
    return given


def parts_of(pieces: Sequence[Piece], room: int) -> list[Part]:
    """Of every source of `pieces` what fits: all of it, or its start, middle and end.

    Args:
        pieces: in order, those of a source together.
        room: code points, for all of them.
    """
    sources = [list(group) for _, group in groupby(pieces, lambda piece: piece.source_id)]
    given = shares([sum(map(len, source)) for source in sources], room)
    return [
        part for source, share in zip(sources, given, strict=True) for part in _of(source, share)
    ]


def _of(pieces: Sequence[Piece], share: int) -> Iterator[Part]:
    total = sum(map(len, pieces))
    if total <= share:
        yield from (Part(piece, piece.start, piece.end) for piece in pieces)
        return
    third = max(1, share // 3 - len(f"{CUT} {CUT} "))
    middle = (total - third) // 2
    for first, last in ((0, third), (middle, middle + third), (total - third, total)):
        yield from _between(pieces, first, last, total)


def _between(pieces: Sequence[Piece], first: int, last: int, total: int) -> Iterator[Part]:
    """The parts of what stands from `first` to `last`, counted through all pieces."""
    at = 0
    for piece in pieces:
        start, end = max(first, at), min(last, at + len(piece))
        if start < end:
            yield Part(
                piece,
                piece.start + start - at,
                piece.start + end - at,
                is_cut_before=start == first > 0,
                is_cut_behind=end == last < total,
            )
        at += len(piece)


def excerpts(parts: Sequence[Part], texts: Mapping[ChunkId, str]) -> list[Excerpt]:
    """The parts as numbered passages, cut at sentences or words; empty ones are left out.

    Args:
        texts: of the chunks; one that is gone meanwhile is left out.
    """
    found: list[Excerpt] = []
    for part in parts:
        # A piece begins where its chunk does.
        at, whole = part.start - part.piece.start, texts.get(part.piece.chunk_id, "")
        start, text = _trimmed(part, whole[at : at + part.end - part.start])
        if text:
            before, behind = f"{CUT} " * part.is_cut_before, f" {CUT}" * part.is_cut_behind
            hit = _hit(part.piece, len(found) + 1, part.start + start, text)
            found.append(Excerpt(hit, f"{before}{text}{behind}"))
    return found


def _hit(piece: Piece, rank: int, start: int, text: str) -> Hit:
    return Hit(
        rank=rank,
        chunk_id=piece.chunk_id,
        source_id=piece.source_id,
        version_id=piece.version_id,
        source_title=piece.source_title,
        passage=piece.passage,
        page=piece.page,
        start=start,
        language=piece.language,
        text=text,
        similarity=0.0,
        score=0.0,
    )


def _trimmed(part: Part, text: str) -> tuple[int, str]:
    """What is left of a cut part's text without half sentences, and where that begins in it."""
    spans = split(text, part.piece.language)
    start, end = (spans[0][0], spans[-1][1]) if spans else (0, 0)
    if part.is_cut_before:
        start = spans[1][0] if len(spans) > 1 else _behind_space(text, start)
    if part.is_cut_behind:
        whole = [span for span in spans if span[0] >= start][:-1]
        end = whole[-1][1] if whole else _before_space(text, start, end)
    return start, text[start:end].rstrip()


def _behind_space(text: str, start: int) -> int:
    gap = _SPACE.search(text, start)
    return gap.end() if gap else start


def _before_space(text: str, start: int, end: int) -> int:
    gaps = [gap.start() for gap in _SPACE.finditer(text, start, end)]
    return gaps[-1] if gaps else end
