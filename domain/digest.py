"""What sources say, in a few of their own sentences, without any model call."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from domain.commands import spoken_to_a_model, touches
from domain.passage import Chunk
from domain.ports import Vectors
from domain.quotable import is_quotable, seems_cut
from domain.retrieval import Hit
from domain.sentences import split
from domain.source import count_words
from domain.terms import chunk_terms

_WORDS = 120
_MOST_WORDS = 150
_MOST_SENTENCES = 8
_MOST_CHUNKS = 24
_MOST_CANDIDATES = 400
_FEWEST_WORDS = 6
_LONGEST_WORDS = 60
_WHOLE = re.compile(r"[«»„“‘('\"]*[^\Wa-zäöü].*[.!…。！](?:[\d'\"»«”“’‘)\]]| )*", re.DOTALL)
_LETTERS = 0.85
"""Share of a sentence's visible characters."""
_CENTRAL = 0.5
"""What the place of its chunk among the others counts, beside the sentence's own words."""
_OPENING = 0.25
"""What a sentence of the first chunk gains: there a text says what it is about."""
_VARIETY = 0.6
_TWIN = 0.6
"""A sentence this much like one that was taken tells nothing new."""

Weights = dict[str, float]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that stands for the whole.

    Args:
        chunk: the place of its chunk among those given.
        start, end: code points into that chunk's text.
        text: on one line.
    """

    chunk: int
    start: int
    end: int
    text: str
    terms: Counter[str]
    support: float


def gist(hits: Sequence[Hit]) -> list[tuple[int, int, int]]:
    """What each source among the hits tells: rank, start and end of each sentence."""
    ordered = sorted(hits, key=lambda hit: (hit.source_id, hit.passage, hit.start))
    sources = [list(group) for _, group in groupby(ordered, lambda hit: hit.source_id)]
    return [
        (group[one.chunk].rank, one.start, one.end)
        for group in sources
        for one in telling(
            *(group, [hit.similarity for hit in group], range(len(group))),
            most=max(1, _MOST_SENTENCES // len(sources)),
        )
    ]


def digest(chunks: Sequence[Chunk], vectors: Vectors) -> str:
    """About 120 words in whole sentences of the source, in its order; "" where it has none.

    Sentences are taken that stand for the whole (their words, and their chunk's vector, lie near
    the middle of all) and that do not repeat each other.

    Args:
        chunks: of one version.
        vectors: a row of unit length a chunk.

    Source: centroid-based summarisation (Radev et al., 2004) with maximal marginal relevance
    (Carbonell and Goldstein, SIGIR 1998).
    """
    if not chunks:
        return ""
    near = vectors @ vectors.mean(axis=0)
    places = {0, *map(int, np.argsort(-near, kind="stable")[:_MOST_CHUNKS])}
    central = near.tolist()
    return " ".join(sentence.text for sentence in telling(chunks, central, sorted(places)))


def telling(
    chunks: Sequence[Chunk | Hit],
    near: Sequence[float],
    places: Sequence[int],
    *,
    most: int = _MOST_SENTENCES,
) -> list[Sentence]:
    """The sentences that `digest` puts together, in their order.

    Args:
        chunks: the first of them is taken for an opening.
        near: how near each lies to what is told about; only differences count.
        places: which of them sentences are taken from.
        most: sentences.
    """
    candidates = _candidates(chunks, near, places)
    if not candidates:
        return []
    weighed = [_weighed(sentence.terms) for sentence in candidates]
    middle: Weights = {}
    for weights in weighed:
        for term, value in weights.items():
            middle[term] = middle.get(term, 0.0) + value / len(weighed)
    scores = [
        _cosine(weights, middle) + sentence.support
        for sentence, weights in zip(candidates, weighed, strict=True)
    ]
    chosen = [candidates[place] for place in _picked(candidates, weighed, scores)[:most]]
    chosen.sort(key=lambda sentence: (sentence.chunk, sentence.start))
    return chosen


def _candidates(
    chunks: Sequence[Chunk | Hit], near: Sequence[float], places: Sequence[int]
) -> list[Sentence]:
    """The quotable sentences of the chunks at those places."""
    least = min(near, default=0.0)
    spread = max(near, default=0.0) - least or 1.0
    found: dict[str, Sentence] = {}
    for place in places:
        chunk = chunks[place]
        commands = spoken_to_a_model(chunk.text)
        for start, end in split(chunk.text, chunk.language):
            text = " ".join(chunk.text[start:end].split())
            if touches(commands, start, end) or not _fits(text):
                continue
            if seems_cut(chunk.text, start, end, continues=chunk.start > 0):
                continue
            support = (near[place] - least) / spread * _CENTRAL + (0 if place else _OPENING)
            terms = Counter(chunk_terms(text, chunk.language))
            found.setdefault(text, Sentence(place, start, end, text, terms, support))
    return list(found.values())[:_MOST_CANDIDATES]


def has_sentences(text: str, language: str) -> bool:
    """Whether there is one that a digest may have in it."""
    spans = split(text, language)
    return any(_fits(" ".join(text[start:end].split())) for start, end in spans)


def _fits(text: str) -> bool:
    """True for a sentence that stands alone: no list of names and signs, no second half."""
    letters = sum(map(str.isalpha, text))
    return bool(
        _FEWEST_WORDS <= count_words(text) <= _LONGEST_WORDS
        and _WHOLE.fullmatch(text)
        and letters >= _LETTERS * len(text.replace(" ", ""))
        and is_quotable(text)
    )


def _weighed(terms: Counter[str]) -> Weights:
    """A vector of unit length: stop words are no terms, so each of them counts alike."""
    length = math.sqrt(sum(count * count for count in terms.values())) or 1.0
    return {term: count / length for term, count in terms.items()}


def _cosine(one: Weights, other: Weights) -> float:
    """Of two vectors, the first of unit length; the second's length counts for all alike."""
    return sum(value * other.get(term, 0.0) for term, value in one.items())


def _picked(
    candidates: Sequence[Sentence], weighed: Sequence[Weights], scores: Sequence[float]
) -> list[int]:
    """The best sentences, each unlike those before it, until they have enough words."""
    picked: list[int] = []
    words, likeness = 0, [0.0] * len(candidates)
    while len(picked) < _MOST_SENTENCES and words < _WORDS:
        room = [
            place
            for place, sentence in enumerate(candidates)
            if place not in picked
            and likeness[place] < _TWIN
            and words + count_words(sentence.text) <= _MOST_WORDS
        ]
        if not room:
            break
        best = max(room, key=lambda place: scores[place] - _VARIETY * likeness[place])
        picked.append(best)
        words += count_words(candidates[best].text)
        for place in room:
            likeness[place] = max(likeness[place], _cosine(weighed[place], weighed[best]))
    return picked
