"""Answers made of whole sentences of the sources, or none: what a notebook without a model says.

Two steps, since the vectors between them are a model's: `candidates` reads the passages, the caller
embeds their texts and the question, `choose` picks.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from domain.ports import Vectors
from domain.sentences import split
from domain.terms import chunk_terms, question_terms

MOST_CANDIDATES = 24
MOST_SENTENCES = 3

# Calibrated on the open XQuAD questions; see docs/decisions/0005-keyless-answers.md.
_PER_COSINE = 10.0
"""E5 cosines of related texts lie within .1 of each other."""
_COSINE_ZERO = 0.8
_WORDS = 1.4
_PASSAGE_WORDS = 1.0
_NEIGHBOUR = 0.8
"""What a word of the sentence next to it counts: half of all pronouns point there."""
_RANK = 0.2
_STANDOUT = 10.0
_LEAD_ALONE = 0.03
_PLACE_ALONE = 2.0
_USUAL_PASSAGES = 8
"""A passage without others to compare it with is taken for the best of so many."""
_CUT = 0.5
"""Taken off a sentence that seems to begin or end outside its passage."""
_FLOOR = 1.9
_FLOOR_ACROSS = 0.9
"""Where the sentence is in another language than the question: few words can match."""
_NEAR_BEST = 1.2
_TWIN = 0.97
_VARIETY = 0.3

_LONGEST = 1_000
_LONG = 300
"""Code points from which on the clauses between semicolons are quoted for themselves."""
_CLAUSE_END = re.compile(r";\s+")
_FEWEST_WORDS = 3
_FEWEST_WITHOUT_STOP = 8
_WORD = re.compile(r"[^\W\d_]+")
_STOP = re.compile(r"[.!…。！:;][\"'»«”“’‘)\]\d\s]*\Z")
_BOILERPLATE = re.compile(
    r"\A(?:#{1,6}\s|\||https?://\S+\Z)|\.{4,}|(?:\. ){4,}|[_=*-]{5,}|[?？]\W*\Z"
)
_LABELLED = re.compile(r"\w:\s*\S")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage that the search found.

    Args:
        number: its marker.
        text: the chunk.
        language: ISO 639-1, "" where unknown.
        similarity: raw cosine to the question.
        score: what the search ranked it by; only differences count.
        start: where the chunk begins in its page; a chunk that begins later may cut a sentence.
    """

    number: int
    text: str
    language: str
    similarity: float
    score: float
    start: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may be quoted.

    Args:
        number: the marker of its passage.
        start, end: code points into the passage's text.
        text: the sentence.
        support: what speaks for it besides its vector; comparable within one question.
        across: True where it is in another language than the question.
    """

    number: int
    start: int
    end: int
    text: str
    support: float
    across: bool


def candidates(
    question: str,
    question_language: str,
    evidence: Sequence[Evidence],
    *,
    most: int = MOST_CANDIDATES,
) -> list[Candidate]:
    """The sentences worth embedding, best supported first.

    Args:
        question: as typed.
        question_language: ISO 639-1.
        evidence: passages, best first.
        most: sentences to return at most.

    Returns:
        Whole sentences, or clauses of long ones, of at most 1,000 code points, each text once; headings, table rows and
        questions are left out.
    """
    if not evidence:
        return []
    asked = _Asked.of(question, question_language, evidence)
    standout = _STANDOUT * _lead([passage.similarity for passage in evidence])
    places = _standing([passage.score for passage in evidence])
    found: dict[str, Candidate] = {}
    for passage, place in zip(evidence, places, strict=True):
        across = passage.language not in {"", question_language}
        words = asked.share(asked.held(passage.text, passage.language))
        for (start, end), share in _sentences(passage, asked):
            text = passage.text[start:end]
            support = _WORDS * share + _PASSAGE_WORDS * words + _RANK * place + standout
            support -= _CUT * _seems_cut(passage, start, end)
            candidate = Candidate(passage.number, start, end, text, support, across)
            known = found.get(" ".join(text.split()))
            if not known or known.support < support:
                found[" ".join(text.split())] = candidate
    return sorted(found.values(), key=lambda candidate: -candidate.support)[:most]


def choose(
    question_vector: Vectors,
    candidate_vectors: Vectors,
    found: Sequence[Candidate],
    *,
    most: int = MOST_SENTENCES,
) -> list[Candidate]:
    """The sentences that answer, best first; none where the sources do not.

    Args:
        question_vector: shape (dimension,), unit length.
        candidate_vectors: a row a candidate, unit length.
        found: what `candidates` returned.
        most: sentences to return at most.

    Returns:
        The best sentence where it reaches the floor, then others that come close to it and say
        something else.

    Source: the order is that of maximal marginal relevance, Carbonell and Goldstein, SIGIR 1998.
    """
    if not found:
        return []
    cosines = candidate_vectors @ question_vector
    support = np.array([candidate.support for candidate in found])
    scores = _PER_COSINE * (cosines - _COSINE_ZERO) + support
    best = int(scores.argmax())
    if scores[best] < (_FLOOR_ACROSS if found[best].across else _FLOOR):
        return []
    alike = candidate_vectors @ candidate_vectors.T
    chosen = [best]
    while len(chosen) < most:
        likeness = alike[:, chosen].max(axis=1)
        worth = scores - _VARIETY * _PER_COSINE * (likeness - _COSINE_ZERO)
        worth[(likeness > _TWIN) | (scores < scores[best] - _NEAR_BEST)] = -np.inf
        following = int(worth.argmax())
        if worth[following] == -np.inf:
            break
        chosen.append(following)
    return [found[index] for index in chosen]


def refusal(language: str) -> str:
    """Says, in German or else English, that the sources do not answer."""
    if language == "de":
        return "Die Quellen beantworten diese Frage nicht."
    return "The sources do not answer this question."


def general_unavailable(language: str) -> str:
    """Says, in German or else English, that nothing is answered without sources."""
    if language == "de":
        return (
            "Ohne ein Sprachmodell kann ich nur aus Quellen zitieren. "
            "Wählen Sie mindestens eine Quelle aus."
        )
    return "Without a writing model I can only quote sources. Select at least one source."


@dataclass(frozen=True, slots=True)
class _Asked:
    """The words of a question, and what each weighs: the fewer passages have it, the more."""

    words: tuple[frozenset[str], ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, question: str, language: str, evidence: Sequence[Evidence]) -> "_Asked":
        languages = list(dict.fromkeys(passage.language for passage in evidence))
        words = tuple(
            frozenset(term.variants) for term in question_terms(question, language, languages)
        )
        texts = [chunk_terms(passage.text, passage.language).keys() for passage in evidence]
        weights = []
        for variants in words:
            holding = sum(not variants.isdisjoint(terms) for terms in texts)
            without = max(len(texts), _USUAL_PASSAGES) - holding
            weights.append(math.log(1 + (without + 0.5) / (holding + 0.5)))
        return cls(words, tuple(weights))

    def held(self, text: str, language: str) -> list[float]:
        """1 for each word that `text` has, else 0."""
        terms = chunk_terms(text, language).keys()
        return [float(not variants.isdisjoint(terms)) for variants in self.words]

    def share(self, held: Sequence[float]) -> float:
        """How much of the question that is, from 0 to 1."""
        total = sum(self.weights)
        found = sum(weight * part for weight, part in zip(self.weights, held, strict=True))
        return found / total if total else 0.0


def _sentences(passage: Evidence, asked: _Asked) -> list[tuple[tuple[int, int], float]]:
    """Offsets of the quotable sentences, each with the share of the question in and around it."""
    spans = [
        clause
        for start, end in split(passage.text, passage.language)
        for clause in _clauses(passage.text, start, end)
    ]
    held = [asked.held(passage.text[start:end], passage.language) for start, end in spans]
    rated = []
    for index, (start, end) in enumerate(spans):
        if not _is_quotable(passage.text[start:end]):
            continue
        beside = [*held[max(index - 1, 0) : index], *held[index + 1 : index + 2]]
        around = [
            max(own, *(_NEIGHBOUR * other[word] for other in beside)) if beside else own
            for word, own in enumerate(held[index])
        ]
        rated.append(((start, end), asked.share(around)))
    return rated


def _clauses(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence, or its parts between semicolons where it is long."""
    if end - start > _LONG:
        for gap in _CLAUSE_END.finditer(text, start, end):
            yield start, gap.start() + 1
            start = gap.end()
    yield start, end


def _is_quotable(sentence: str) -> bool:
    """False for what only looks like a sentence: a heading, a table row, a line of dots."""
    words = len(_WORD.findall(sentence))
    if not words >= _FEWEST_WORDS or len(sentence) > _LONGEST or _BOILERPLATE.search(sentence):
        return False
    return bool(
        _STOP.search(sentence) or words >= _FEWEST_WITHOUT_STOP or _LABELLED.search(sentence)
    )


def _seems_cut(passage: Evidence, start: int, end: int) -> bool:
    """True where the sentence runs over an edge of its passage."""
    sentence = passage.text[start:end]
    first = _WORD.search(sentence)
    begins_before = not passage.text[:start].strip() and (
        passage.start > 0 or bool(first and first[0][0].islower())
    )
    return begins_before or not _STOP.search(sentence)


def _lead(similarities: Sequence[float]) -> float:
    """By how much the most similar passage stands out from the others.

    A passage that answers is nearer to the question than others on its topic; where none
    answers, they are all about equally near.
    """
    if len(similarities) == 1:
        return _LEAD_ALONE
    first, *others = sorted(similarities, reverse=True)
    return first - sum(others) / len(others)


def _standing(scores: Sequence[float]) -> list[float]:
    """How far each score lies from their mean, in standard deviations."""
    if len(scores) == 1:
        return [_PLACE_ALONE]
    mean = sum(scores) / len(scores)
    spread = math.sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    return [(score - mean) / spread if spread else 0.0 for score in scores]
