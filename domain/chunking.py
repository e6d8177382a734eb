"""Passages into overlapping windows that are embedded, indexed and cited."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
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

_TOKEN = re.compile(
    rf"[^\W{UNSPACED}](?:[^\W{UNSPACED}]|[{MARKS}]){{0,{_LONGEST_WORD - 1}}}|\S[{MARKS}]*"
)


@dataclass(frozen=True, slots=True)
class TokenWindowChunker:
    """Sliding windows of `tokens` tokens, the last `overlap` of them shared with the next.

    A token is a word of at most 48 letters, one character of a script without spaces (Han, kana,
    Thai ...), or one other visible character. A window begins and ends on a token.

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
        """Names the rule and its parameters; stored with the embedding set."""
        return f"token-window-{self.tokens}-{self.overlap}"

    def chunk(self, passages: Sequence[Passage]) -> list[Chunk]:
        """Every window of every passage, in order, numbered through; none crosses a passage.

        A passage of white space gives none. The last window of a passage always
        holds something the one before does not.
        """
        chunks: list[Chunk] = []
        for passage in passages:
            starts = [heading.start for heading in passage.headings]
            for start, end in self._windows(passage.text):
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

    def _windows(self, text: str) -> Iterator[tuple[int, int]]:
        """The code points [start, end) of each window."""
        spans = [match.span() for match in _TOKEN.finditer(text)]
        step = self.tokens - self.overlap
        for first in range(0, max(len(spans) - self.overlap, min(len(spans), 1)), step):
            last = min(first + self.tokens, len(spans)) - 1
            yield spans[first][0], spans[last][1]
