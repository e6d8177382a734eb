"""What a model writes becomes an answer: text, markers, citations. Pure; fed delta by delta."""

from collections.abc import Sequence
from dataclasses import replace

from domain.citations import Marker, MarkerStream, Text
from domain.conversation import Citation, Mention
from domain.quotes import Quote, choose, claim_before
from domain.retrieval import Hit
from domain.text_gate import DeltaGate


class AnswerWriter:
    """Turns deltas into what a reader sees.

    `feed` and `finish` give the new pieces in order: a `Citation` (with its first mention) before
    the text that shows its marker, and text. The pieces joined are `text`, always.

    Args:
        hits: the passages by number; a marker that names none is stripped.
    """

    def __init__(self, hits: Sequence[Hit]) -> None:
        self._hits = {hit.rank: hit for hit in hits}
        self._gate = DeltaGate()
        self._markers = MarkerStream(len(hits))
        self._citations: dict[int, Citation] = {}
        self._written: list[str] = []
        self._length = 0
        self._tail = ""

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._written)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """One a marker, by number, each with all its mentions so far."""
        return tuple(self._citations.values())

    @property
    def stripped_markers(self) -> int:
        """How many numbers named no passage so far; the text has none of them."""
        return self._markers.stripped

    def feed(self, delta: str) -> list[str | Citation]:
        """The pieces that `delta` adds."""
        return self._pieces(self._markers.feed(self._gate.passed(delta)))

    def finish(self) -> list[str | Citation]:
        """The pieces that were held back until the end."""
        return self._pieces(self._markers.finish())

    def quote(self, rank: int, start: int, end: int) -> list[str | Citation]:
        """The pieces of a sentence quoted from a hit, with its marker.

        Args:
            rank: the hit.
            start, end: code points of the sentence in the hit's text.
        """
        hit = self._hits[rank]
        text = hit.text[start:end]
        known = next((c.marker for c in self._citations.values() if c.rank == rank), None)
        number = known or len(self._citations) + 1
        gap = "\n\n" if self._length else ""
        shown = self._write(f"{gap}{' '.join(text.split())} ")
        quote = Quote(hit.start + start, hit.start + end, text)
        citation = self._cite(number, hit, quote)
        marker = self._write(f"[{number}]")
        return [shown, marker] if known else [shown, citation, marker]

    def _pieces(self, parsed: Sequence[Text | Marker]) -> list[str | Citation]:
        pieces: list[str | Citation] = []
        for piece in parsed:
            if isinstance(piece, Text):
                pieces.append(self._write(piece.text))
                continue
            first = piece.number not in self._citations
            hit = self._hits[piece.passage]
            claim = claim_before(self._tail, len(self._tail))
            quote = choose(claim, hit.text, offset=hit.start, language=hit.language)
            citation = self._cite(piece.number, hit, quote)
            if first:
                pieces.append(citation)
            pieces.append(self._write(f"[{piece.number}]"))
        return pieces

    def _write(self, text: str) -> str:
        self._written.append(text)
        self._length += len(text)
        # A claim is looked for in the last stretch only, which keeps a long answer linear.
        self._tail = (self._tail + text)[-_CLAIM_REACH:]
        return text

    def _cite(self, number: int, hit: Hit, quote: Quote) -> Citation:
        mention = Mention(
            answer_start=self._length,
            answer_end=self._length + len(f"[{number}]"),
            quote=quote.text,
            start=quote.start,
            end=quote.end,
        )
        known = self._citations.get(number)
        citation = (
            replace(known, mentions=(*known.mentions, mention))
            if known
            else Citation(
                marker=number,
                rank=hit.rank,
                chunk_id=hit.chunk_id,
                source_id=hit.source_id,
                version_id=hit.version_id,
                source_title=hit.source_title,
                passage=hit.passage,
                page=hit.page,
                similarity=hit.similarity,
                mentions=(mention,),
            )
        )
        self._citations[number] = citation
        return citation


_CLAIM_REACH = 2000
"""Code points before a marker in which its claim is looked for."""
