"""Chunks that end where a paragraph ends, else where a sentence does, else between two words."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from domain import sentences
from domain.chunking import chunks_of, words_of
from domain.passage import Chunk, Passage

_FACTORS = {
    **dict.fromkeys(("en", "es", "pt", "it"), 1.2),
    **dict.fromkeys(("fr", "nl", "pl", "ru", "de", "da", "sv", "no"), 1.4),
    **dict.fromkeys(("tr", "hu", "fi", "et"), 1.7),
    **dict.fromkeys(("ar", "he", "fa"), 1.9),
    **dict.fromkeys(("zh", "ja", "th", "lo", "km"), 1.0),
}
"""Model tokens a regex token has, as the tokenizer of multilingual-e5 counts them."""
_UNKNOWN_FACTOR = 1.5
_SENTENCE, _PARAGRAPH = b"\1", b"\2"
_LINES_APART = 2


@dataclass(frozen=True, slots=True)
class RecursiveChunker:
    """Windows of at most `tokens` tokens, at most `overlap` of them shared with the next.

    A token counts as many as the passage's language makes of it. A window ends at the last end of
    a paragraph in its second half, else of a sentence, else of a word; the next begins with the
    first sentence within the overlap, else with the overlap itself.

    Raises:
        ValueError: `overlap` is negative, or half of `tokens` or more.
    """

    tokens: int = 400
    overlap: int = 40

    def __post_init__(self) -> None:
        if not 0 <= 2 * self.overlap < self.tokens:
            raise ValueError("The overlap must be smaller than half of the window.")

    @property
    def name(self) -> str:
        """See `Chunker.name`."""
        return f"recursive-{self.tokens}-{self.overlap}"

    def chunk(self, passages: Sequence[Passage]) -> list[Chunk]:
        """See `Chunker.chunk`."""
        return chunks_of(passages, self._windows)

    def _windows(self, passage: Passage) -> Iterator[tuple[int, int]]:
        factor = _FACTORS.get(passage.language, _UNKNOWN_FACTOR)
        room, overlap = max(int(self.tokens / factor), 1), int(self.overlap / factor)
        spans = words_of(passage.text)
        begins = _begins(passage, spans) if len(spans) > room else bytearray(len(spans))
        first, count = 0, len(spans)
        while first < count:
            end = first + room
            if end < count:
                # Past the middle, and so past the overlap: every window adds something.
                end = _last(begins, first + room // 2 + 1, end)
            end = min(end, count)
            yield spans[first][0], spans[end - 1][1]
            first = count if end == count else _next(begins, end - overlap, end)


def _begins(passage: Passage, spans: Sequence[tuple[int, int]]) -> bytearray:
    """What begins with each token: a paragraph, a sentence, or only a word."""
    text, starts = passage.text, [start for start, _ in spans]
    begins = bytearray(len(spans))
    for start, _ in sentences.split(text, passage.language):
        place = bisect_left(starts, start)
        if place == len(spans):
            continue
        begins[place] = _SENTENCE[0]
        gap = text[spans[place - 1][1] : starts[place]] if place else ""
        if gap.count("\n") >= _LINES_APART:
            begins[place] = _PARAGRAPH[0]
    return begins


def _last(begins: bytearray, least: int, most: int) -> int:
    """The best token in [least, most] for the next window to begin with."""
    for rank in (_PARAGRAPH, _SENTENCE):
        place = begins.rfind(rank, least, most + 1)
        if place >= 0:
            return place
    return most


def _next(begins: bytearray, first: int, end: int) -> int:
    """The token in [first, end] that the window after `end` begins with."""
    found = [begins.find(rank, first, end) for rank in (_PARAGRAPH, _SENTENCE)]
    return min((place for place in found if place >= 0), default=first)
