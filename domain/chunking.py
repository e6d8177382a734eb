"""Passages into overlapping windows that are embedded, indexed and cited."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from domain.passage import Chunk, Passage

UNSPACED = (
    "\u0e01-\u0e5b\u0e81-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai to Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
"""Characters of scripts that put no space between words, as the inside of a regex class."""

MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8"
    "\u0900-\u0903\u093a-\u094f\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a4d"
    "\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b4d\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c4d"
    "\u0c81-\u0c83\u0cbc-\u0ccd\u0d00-\u0d03\u0d3b-\u0d4d\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u200c\u200d\ufe00-\ufe0f"
)
"""Signs that belong to the letter before them, which `\\w` leaves out."""

_LONGEST_WORD = 48
"""Letters; a longer run (base64, a URL without dots) counts as several tokens."""

_LETTER = rf"[^\W{UNSPACED}]"
_TOKEN = re.compile(
    rf"{_LETTER}{{1,{_LONGEST_WORD}}}(?![\w{MARKS}])"  # most words; the rest is for all others
    rf"|{_LETTER}(?:{_LETTER}|[{MARKS}]){{0,{_LONGEST_WORD - 1}}}|\S[{MARKS}]*"
)


def words_of(text: str) -> list[tuple[int, int]]:
    """The tokens of `text` as [start, end) in code points.

    A token is a word of at most 48 letters, one character of a script without spaces (Han, kana,
    Thai ...), or one other visible character.
    """
    return [match.span() for match in _TOKEN.finditer(text)]


def chunks_of(
    passages: Sequence[Passage], windows: Callable[[Passage], Iterable[tuple[int, int]]]
) -> list[Chunk]:
    """The windows of every passage as chunks, in order, numbered through.

    Args:
        windows: the code points [start, end) of a passage's windows, by growing start.
    """
    chunks: list[Chunk] = []
    for passage in passages:
        starts = [heading.start for heading in passage.headings]
        for start, end in windows(passage):
            under = bisect_right(starts, start) - 1
            chunks.append(
                Chunk(
                    ordinal=len(chunks),
                    passage=passage.ordinal,
                    page=passage.page,
                    start=start,
                    end=end,
                    text=passage.text[start:end],
                    heading=" › ".join(passage.headings[under].path) if under >= 0 else "",
                    language=passage.language,
                )
            )
    return chunks


@dataclass(frozen=True, slots=True)
class TokenWindowChunker:
    """Sliding windows of `tokens` tokens, the last `overlap` of them shared with the next.

    A token is what `words_of` counts; a window begins and ends on one.

    Raises:
        ValueError: `overlap` is negative or leaves no step.
    """

    tokens: int = 420
    overlap: int = 50

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.tokens:
            raise ValueError("The overlap must be smaller than the window.")

    @property
    def name(self) -> str:
        """See `Chunker.name`."""
        return f"token-window-{self.tokens}-{self.overlap}"

    def chunk(self, passages: Sequence[Passage]) -> list[Chunk]:
        """See `Chunker.chunk`."""
        return chunks_of(passages, self._windows)

    def _windows(self, passage: Passage) -> Iterator[tuple[int, int]]:
        spans = words_of(passage.text)
        step = self.tokens - self.overlap
        for first in range(0, max(len(spans) - self.overlap, min(len(spans), 1)), step):
            last = min(first + self.tokens, len(spans)) - 1
            yield spans[first][0], spans[last][1]


@dataclass(frozen=True, slots=True)
class CharacterWindowChunker:
    """Sliding windows of `characters` code points, `overlap` of them shared with the next.

    White space at both ends of a window is left out.

    Raises:
        ValueError: `overlap` is negative or leaves no step.
    """

    characters: int = 1000
    overlap: int = 200

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.characters:
            raise ValueError("The overlap must be smaller than the window.")

    @property
    def name(self) -> str:
        """See `Chunker.name`."""
        return f"character-window-{self.characters}-{self.overlap}"

    def chunk(self, passages: Sequence[Passage]) -> list[Chunk]:
        """See `Chunker.chunk`."""
        return chunks_of(passages, self._windows)

    def _windows(self, passage: Passage) -> Iterator[tuple[int, int]]:
        text, shown = passage.text, 0
        for first in range(0, len(text), self.characters - self.overlap):
            piece = text[first : first + self.characters]
            start = first + len(piece) - len(piece.lstrip())
            end = first + len(piece.rstrip())
            if start < end and end > shown:
                yield start, end
                shown = end
