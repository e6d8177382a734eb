"""Answers made of whole sentences of the sources, or none: what a notebook without a model says.

Two steps, since the vectors between them are a model's: `candidates` reads the passages, the caller
embeds their texts and the question, `choose` picks.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from domain.commands import spoken_to_a_model, touches
from domain.ports import Vectors
from domain.quotable import (
    asks_amount,
    clauses,
    is_quotable,
    seems_cut,
    tells_amount,
    with_antecedent,
)
from domain.terms import chunk_terms, question_terms

MOST_CANDIDATES = 24
MOST_SENTENCES = 4

# Calibrated on the open XQuAD questions; see docs/decisions/0005-keyless-answers.md.
_PER_COSINE = 10.0
"""E5 cosines of related texts lie within .1 of each other."""
_COSINE_ZERO = 0.8
_WORDS = 0.9
_PASSAGE_WORDS = 0.8
_NEIGHBOUR = 0.8
"""What a word of the sentence next to it counts: pronouns point there."""
_KIN = 0.5
"""What a related word counts: "Briefe" where the text has "Briefgeheimnis"."""
_KIN_LETTERS = 5
_RANK = 0.15
_LEAD = 5.0
_RIVALS = 2
_LEAD_ALONE = 0.04
_PLACE_ALONE = 2.0
_USUAL_PASSAGES = 8
"""A passage without others to compare it with is taken for the best of so many."""
_NO_AMOUNT = 0.4
"""Taken off a sentence without a number where the question asks for one."""
_CUT = 0.5
"""Taken off a sentence that seems to begin or end outside its passage."""
_FLOOR = 1.87
_FLOOR_ENGLISH = 2.0
"""E5 puts English questions nearer to English texts than it does in other languages."""
_FLOOR_ACROSS = 0.55
"""Where the sentence is in another language than the question: few words can match."""
_NEAR_BEST = 1.2
_TWIN = 0.97
_VARIETY = 0.3


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
        floor: the score from which on it counts as an answer; depends on both languages.
    """

    number: int
    start: int
    end: int
    text: str
    support: float
    floor: float


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
        Whole sentences, clauses of long ones, or two sentences of which the second points back to
        the first ("He ..."); at most 1,000 code points, each text once, though two may overlap.
        Headings, table rows and questions are left out.
    """
    if not evidence:
        return []
    asked = _Asked.of(question, question_language, evidence)
    lead = _LEAD * _lead([passage.similarity for passage in evidence])
    places = _standing([passage.score for passage in evidence])
    wants_amount = asks_amount(question)
    found: dict[str, Candidate] = {}
    for passage, place in zip(evidence, places, strict=True):
        floor = _floor(question_language, passage.language)
        words = asked.share(asked.held(passage.text, passage.language))
        for (start, end), share in _sentences(passage, asked):
            text = passage.text[start:end]
            support = _WORDS * share + _PASSAGE_WORDS * words + _RANK * place + lead
            if seems_cut(passage.text, start, end, continues=passage.start > 0):
                support -= _CUT
            if wants_amount and not tells_amount(text):
                support -= _NO_AMOUNT
            candidate = Candidate(passage.number, start, end, text, support, floor)
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
        something else; one that overlaps a sentence before it makes that one longer.

    Source: the order is that of maximal marginal relevance, Carbonell and Goldstein, SIGIR 1998.
    """
    if not found:
        return []
    cosines = candidate_vectors @ question_vector
    support = np.array([candidate.support for candidate in found])
    scores = _PER_COSINE * (cosines - _COSINE_ZERO) + support
    best = int(scores.argmax())
    if scores[best] < found[best].floor:
        return []
    alike = candidate_vectors @ candidate_vectors.T
    chosen, quotes = [best], [found[best]]
    while len(chosen) < most:
        likeness = alike[:, chosen].max(axis=1)
        worth = scores - _VARIETY * _PER_COSINE * (likeness - _COSINE_ZERO)
        told = [
            any(_holds(quote, one) for quote in quotes)
            or (like > _TWIN and not any(_overlap(quote, one) for quote in quotes))
            for one, like in zip(found, likeness, strict=True)
        ]
        worth[told | (scores < scores[best] - _NEAR_BEST)] = -np.inf
        following = int(worth.argmax())
        if worth[following] == -np.inf:
            break
        chosen.append(following)
        quotes = _with(found[following], quotes)
    return quotes


def _overlap(one: Candidate, other: Candidate) -> bool:
    return one.number == other.number and one.start < other.end and other.start < one.end


def _holds(quote: Candidate, one: Candidate) -> bool:
    return quote.number == one.number and quote.start <= one.start and one.end <= quote.end


def _with(one: Candidate, quotes: Sequence[Candidate]) -> list[Candidate]:
    """The quotes and one more; what overlaps becomes one, so that no text is quoted twice."""
    met = [quote for quote in quotes if _overlap(quote, one)]
    if not met:
        return [*quotes, one]
    text, start = "", min(part.start for part in (one, *met))
    for part in sorted((one, *met), key=lambda part: part.start):
        text += part.text[start + len(text) - part.start :]
    whole = replace(met[0], start=start, end=start + len(text), text=text)
    return [whole if quote is met[0] else quote for quote in quotes if quote not in met[1:]]


@dataclass(frozen=True, slots=True)
class _Asked:
    """The words of a question, and what each weighs: the fewer passages have it, the more.

    Args:
        words: the terms that each may stand under.
        kin: terms of the passages that have the beginning of one of those in them.
        weights: the square root of each one's idf: common words tell answers apart as well.
    """

    words: tuple[frozenset[str], ...]
    kin: tuple[frozenset[str], ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, question: str, language: str, evidence: Sequence[Evidence]) -> "_Asked":
        languages = list(dict.fromkeys(passage.language for passage in evidence))
        words = tuple(
            frozenset(term.variants) for term in question_terms(question, language, languages)
        )
        texts = [chunk_terms(passage.text, passage.language).keys() for passage in evidence]
        known = frozenset[str]().union(*texts)
        weights = []
        for variants in words:
            holding = sum(not variants.isdisjoint(terms) for terms in texts)
            without = max(len(texts), _USUAL_PASSAGES) - holding
            weights.append(math.sqrt(math.log(1 + (without + 0.5) / (holding + 0.5))))
        return cls(words, tuple(_kin(variants, known) for variants in words), tuple(weights))

    def held(self, text: str, language: str) -> list[float]:
        """1 for each word that `text` has, less where it has a related one, else 0."""
        terms = chunk_terms(text, language).keys()
        return [
            1.0 if not variants.isdisjoint(terms) else 0.0 if kin.isdisjoint(terms) else _KIN
            for variants, kin in zip(self.words, self.kin, strict=True)
        ]

    def share(self, held: Sequence[float]) -> float:
        """How much of the question that is, from 0 to 1."""
        total = sum(self.weights)
        found = sum(weight * part for weight, part in zip(self.weights, held, strict=True))
        return found / total if total else 0.0


def _kin(variants: frozenset[str], known: frozenset[str]) -> frozenset[str]:
    stems = {
        stem[:_KIN_LETTERS] for stem in variants if len(stem) >= _KIN_LETTERS and stem.isalpha()
    }
    return frozenset(term for term in known if any(stem in term for stem in stems))


def _sentences(passage: Evidence, asked: _Asked) -> list[tuple[tuple[int, int], float]]:
    """Offsets of the quotable sentences, each with the share of the question in and around it."""
    spans = clauses(passage.text, passage.language)
    held = [asked.held(passage.text[start:end], passage.language) for start, end in spans]
    rated = []
    commands = spoken_to_a_model(passage.text)
    for index, span in enumerate(spans):
        if touches(commands, *span) or not is_quotable(passage.text[slice(*span)]):
            continue
        beside = [*held[max(index - 1, 0) : index], *held[index + 1 : index + 2]]
        around = [
            max(own, *(_NEIGHBOUR * other[word] for other in beside)) if beside else own
            for word, own in enumerate(held[index])
        ]
        whole = with_antecedent(passage.text, spans[index - 1], span) if index else span
        rated.append((whole, asked.share(around)))
    return rated


def _floor(question_language: str, language: str) -> float:
    if language not in {"", question_language}:
        return _FLOOR_ACROSS
    return _FLOOR_ENGLISH if question_language == "en" else _FLOOR


def _lead(similarities: Sequence[float]) -> float:
    """By how much the most similar passage stands out from the two that follow it.

    A passage that answers is nearer to the question than others on its topic; where none
    answers, they are all about equally near.
    """
    if len(similarities) == 1:
        return _LEAD_ALONE
    first, *others = sorted(similarities, reverse=True)[: 1 + _RIVALS]
    return first - sum(others) / len(others)


def _standing(scores: Sequence[float]) -> list[float]:
    """How far each score lies from their mean, in standard deviations."""
    if len(scores) == 1:
        return [_PLACE_ALONE]
    mean = sum(scores) / len(scores)
    spread = math.sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    return [(score - mean) / spread if spread else 0.0 for score in scores]
