"""Which sentence of a passage bears a claim of the answer."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt

from domain import sentences
from domain.chunking import UNSPACED
from domain.terms import chunk_terms

_NUMBER_WEIGHT, _NAME_WEIGHT = 3.0, 1.5
_SHORTEST_VERBATIM = 8
"""Letters and digits below which a claim that stands in the passage proves nothing; a letter of
a script without spaces counts as three."""
_LONGEST_CLAIM = 1_000
_FEWEST_WORDS = 2
"""Words between two markers below which they share a claim."""
_AROUND = 0.2
"""What a word of the sentence counts that stands before the marker before."""

_MARKERS_AT_END = re.compile(r"(?:\s*\[\d+\])+\s*\Z")
_MARKER = re.compile(r"\s*\[\d+\]")
_LINE_LEAD = re.compile(r"\s*(?:(?:[-*+•>]|\d{1,3}[.)]|#{1,6})\s+)*")
_WORD = re.compile(r"\w+")
_UNSPACED_LETTER = re.compile(f"[{UNSPACED}]")
_MARKUP = re.compile(r"\*\*|__|`")
_GERMAN = re.compile(r"\b(?:der|die|das|und|ist|nicht|eine?)\b", re.IGNORECASE)
_NAME = re.compile(r"(?<=\S )[^\W\d_a-zß-öø-ÿ][^\W_]+(?:[-‐][^\W_]+)*")
_SENTENCE_END = re.compile(r"[.!?…。！？:][\"'“”’»)\]*_]*\Z")


@dataclass(frozen=True, slots=True)
class Quote:
    """A piece of a passage: `passage.text[start:end] == text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What a marker vouches for.

    Args:
        text: the words between the marker before it in the sentence and itself.
        sentence: the whole sentence up to the marker, without markers.
    """

    text: str
    sentence: str


def claim_before(answer_text: str, position: int) -> Claim:
    """The claim of an answer that a marker at `position` closes.

    A marker may stand before or behind the full stop; adjacent markers share the claim; of two
    markers in one sentence the second vouches for what follows the first; an item of a list, a
    line and a cell of a table are claims of their own.

    Args:
        answer_text: the answer up to the marker, at least.
        position: code point at which the marker begins.
    """
    text = answer_text[max(0, position - _LONGEST_CLAIM) : position]
    text = _MARKERS_AT_END.sub("", text).rstrip()
    line = text[text.rfind("\n") + 1 :]
    if line.lstrip().startswith("|"):
        line = line.rstrip(" |").rpartition("|")[2]
    line = _MARKUP.sub("", _LINE_LEAD.sub("", line, count=1))
    behind = line[max((found.end() for found in _MARKER.finditer(line)), default=0) :]
    line = _MARKER.sub("", line)
    spans = sentences.split(line, "de" if _GERMAN.search(line) else "en")
    sentence = line[slice(*spans[-1])] if spans else ""
    alone = len(_WORD.findall(behind)) >= _FEWEST_WORDS and len(behind) < len(sentence)
    return Claim(behind.strip(" ,;:–—-") if alone else sentence, sentence)


def choose(claim: Claim, chunk_text: str, *, offset: int, language: str) -> Quote:
    """The sentence of a chunk that bears `claim`, verbatim.

    The sentences that contain the claim word for word; else the one that shares most with it,
    numbers and names counting more; else, where it shares nothing (another language), the first
    whole one. The earlier wins a tie, and a whole sentence wins over one that the window cuts.
    The rest of the claim's sentence counts a little, for it may name what the claim is about.

    Args:
        claim: what the answer says, in any language.
        chunk_text: a window of a passage, with something to read in it.
        offset: code point of the passage at which the window begins.
        language: ISO 639-1 of the chunk; "" where unknown.

    Returns:
        Code points into the passage's text.
    """
    chunk = _prepared(chunk_text, language)
    start, end = chunk.verbatim(claim) or chunk.best(claim)
    return Quote(offset + start, offset + end, chunk_text[start:end])


@dataclass(frozen=True, slots=True)
class _Sentence:
    start: int
    end: int
    whole: bool
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A chunk that several claims are looked up in."""

    language: str
    sentences: tuple[_Sentence, ...]
    text: str
    folded: str

    def verbatim(self, claim: Claim) -> tuple[int, int] | None:
        """From the first to the last sentence that the claim covers, where it stands there."""
        wanted = _fold(claim.text)
        length = len(wanted) + 2 * len(_UNSPACED_LETTER.findall(wanted))
        at = self.folded.find(wanted) if length >= _SHORTEST_VERBATIM else -1
        if at < 0:
            return None
        first, last = _place(self.text, at), _place(self.text, at + len(wanted) - 1)
        covered = [s for s in self.sentences if s.start <= last and s.end > first]
        return covered[0].start, covered[-1].end

    def best(self, claim: Claim) -> tuple[int, int]:
        """The sentence that shares most with the claim."""
        around = self._weights(claim.sentence)
        wanted = {term: weight * _AROUND for term, weight in around.items()}
        wanted |= self._weights(claim.text)
        ranked = max(self.sentences, key=lambda s: (self._score(s, wanted), s.whole, -s.start))
        return ranked.start, ranked.end

    def _weights(self, claim: str) -> dict[str, float]:
        """What each term of the claim counts: more where few sentences have it."""
        names = chunk_terms(" ".join(_NAME.findall(claim)), self.language)
        count = len(self.sentences)
        weights: dict[str, float] = {}
        for term in chunk_terms(claim, self.language):
            having = sum(term in sentence.terms for sentence in self.sentences)
            if having:
                kind = _NUMBER_WEIGHT if term[0].isdigit() else _NAME_WEIGHT if term in names else 1
                weights[term] = kind * log(1 + count / having)
        return weights

    def _score(self, sentence: _Sentence, wanted: dict[str, float]) -> float:
        shared = sum(weight for term, weight in wanted.items() if term in sentence.terms)
        return round(shared / sqrt(sqrt(8 + len(sentence.terms))), 9)


@lru_cache(maxsize=64)
def _prepared(chunk_text: str, language: str) -> _Prepared:
    spans = sentences.split(chunk_text, language) or [(0, len(chunk_text))]
    return _Prepared(
        language,
        tuple(
            _Sentence(
                start,
                end,
                _is_whole(chunk_text, start, end),
                frozenset(chunk_terms(chunk_text[start:end], language)),
            )
            for start, end in spans
        ),
        chunk_text,
        _fold(chunk_text),
    )


def _is_whole(chunk_text: str, start: int, end: int) -> bool:
    """False where the window's edge may have cut the sentence."""
    begins = start > 0 or not chunk_text[start : start + 1].islower()
    ends = end < len(chunk_text.rstrip()) or _SENTENCE_END.search(chunk_text[start:end]) is not None
    return begins and ends


class _Folding(dict[int, str]):
    """What each code point is in a comparison; looked up once."""

    def __missing__(self, code: int) -> str:
        parts = unicodedata.normalize("NFKD", chr(code)).casefold()
        self[code] = folded = "".join(
            part for part in parts if part.isalnum() or unicodedata.category(part) in {"Mn", "Mc"}
        )
        return folded


_FOLDING = _Folding()


def _fold(text: str) -> str:
    """Letters, digits and their marks alone, case-folded.

    What typography changes (spaces, hyphens, quotes, dashes, composed letters) is no difference.
    """
    return text.translate(_FOLDING)


def _place(text: str, folded_at: int) -> int:
    """Where the code point of `text` stands that `_fold` made the one at `folded_at` of."""
    made = 0
    for place, character in enumerate(text):
        made += len(_FOLDING[ord(character)])
        if made > folded_at:
            return place
    return len(text)
