"""What an answer says that its cited passages do not: no model is asked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from domain import alignment, evidence, names, negations, wording
from domain.claims import Statement, statements
from domain.conversation import Answer, AnswerMode, Check, CheckKind
from domain.dates import Calendar, Date
from domain.evidence import Evidence
from domain.language import function_words
from domain.numbers import Number
from domain.wording import Word, Wording

_ABOUT = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|over|more than|under|"
    r"less than|up to|~|≈|etwa|rund|circa|ca\.?|ungefähr|fast|knapp|gut|über|mehr als|weniger als|"
    r"bis zu|unter)\s*(?:[€$£]\s?)?\Z",
    re.IGNORECASE,
)
_ABOUT_REACH = 16
_MOSTLY_THERE = 0.7
"""Share of a claim's words in one cited sentence from which on another one was put in it."""


def checks_of(answer: Answer) -> tuple[Check, ...]:
    """The doubts about a finished answer, in the order of its text; linear in its length.

    None about an answer without passages or one that quotes: its label tells what it is.
    """
    if answer.mode is not AnswerMode.SOURCES or not answer.retrieved:
        return ()
    return tuple(_Checker(answer).checks())


class _Checker:
    """Reads each passage once, and each set of cited passages once."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._mentions = sorted(
            ((mention, cited.rank) for cited in answer.citations for mention in cited.mentions),
            key=lambda pair: pair[0].answer_start,
        )
        cited = {citation.rank for citation in answer.citations}
        self._readings = {
            hit.rank: evidence.reading_of(hit) for hit in answer.retrieved if hit.rank in cited
        }
        self._known: dict[frozenset[int], Evidence] = {}
        self._quotes: dict[str, Wording] = {}
        german = wording.is_german(answer.text)
        languages = [language for language, _ in self._readings.values()]
        self._german = german if german is not None else "de" in languages

    def checks(self) -> list[Check]:
        markers = [(mention.answer_start, mention.answer_end) for mention, _ in self._mentions]
        found: list[Check] = []
        for statement in statements(self._answer.text, markers, "de" if self._german else "en"):
            if statement.places:
                found += self._doubts(statement)
            elif statement.is_claim:
                detail = "No marker stands behind this sentence."
                found.append(Check(statement.start, statement.end, CheckKind.UNCITED, detail))
        return found

    def _doubts(self, statement: Statement) -> list[Check]:
        """Each stretch once, the surest reason first."""
        ranks = frozenset(self._mentions[place][1] for place in statement.places)
        if ranks not in self._known:
            self._known[ranks] = Evidence.of([self._readings[rank] for rank in sorted(ranks)])
        quotes = dict.fromkeys(self._mentions[place][0].quote for place in statement.places)
        claim = wording.read(statement.text, german=self._german)
        doubts = _Doubts(
            claim, self._known[ranks], [self._quote(q) for q in quotes if q], german=self._german
        )
        taken: list[Check] = []
        for check in doubts.all():
            if not any(check.start < other.end and other.start < check.end for other in taken):
                taken.append(check)
        return [
            Check(statement.start + c.start, statement.start + c.end, c.kind, c.detail)
            for c in sorted(taken, key=lambda check: check.start)
        ]

    def _quote(self, quote: str) -> Wording:
        if quote not in self._quotes:
            self._quotes[quote] = wording.read(wording.of_passage(quote), german=self._german)
        return self._quotes[quote]


@dataclass(frozen=True, slots=True)
class _Doubts:
    """One claim against its evidence.

    Args:
        quotes: the sentences that its markers quote.
    """

    claim: Wording
    evidence: Evidence
    quotes: Sequence[Wording]
    german: bool

    def all(self) -> list[Check]:
        return [*self._dates(), *self._numbers(), *self._names(), *self._compared()]

    @property
    def _same_language(self) -> bool:
        return self.evidence.language in {"", "de" if self.german else "en"}

    def _dates(self) -> list[Check]:
        return [
            self._check(date, CheckKind.DATE, "stands in none of the cited passages")
            for date in self.claim.dates
            if not self.evidence.tells(date)
        ]

    def _numbers(self) -> list[Check]:
        found = []
        for number in self.claim.numbers:
            if not number.is_claim:
                continue
            before = self.claim.text[max(0, number.start - _ABOUT_REACH) : number.start]
            about = _ABOUT.search(before) is not None
            around = evidence.near(self.claim, number) if self._same_language else frozenset()
            if any(self._quotes_number(number, quote) for quote in self.quotes):
                around = frozenset()
            if doubt := self.evidence.doubt(number, around, about=about):
                found.append(self._check(number, CheckKind.NUMBER, _REASONS[doubt]))
        return found

    def _quotes_number(self, number: Number, quote: Wording) -> bool:
        return any(number.values & other.values for other in quote.numbers)

    def _names(self) -> list[Check]:
        mostly = max((self._share(quote) for quote in self.quotes), default=0.0) >= _MOSTLY_THERE
        unknown = names.unknown(
            self.claim, self.evidence.words, german=self.german, same_language=self._same_language
        )
        return [
            self._check(word, CheckKind.NAME, "stands in none of the cited passages")
            for word in _joined([name.word for name in unknown if name.sure or mostly])
        ]

    def _share(self, quote: Wording) -> float:
        """How much of the claim's words one cited sentence has."""
        ignored = function_words("de" if self.german else "en")
        there = {word.stem for word in quote.words}
        told = [word.stem in there for word in self.claim.words if word.folded not in ignored]
        return sum(told) / max(1, len(told))

    def _compared(self) -> list[Check]:
        """What the claim changes in the quote that it is closest to."""
        compared = [
            (changes, quote)
            for quote in self.quotes
            if (changes := alignment.changes(self.claim, quote)) is not None
        ]
        if not compared:
            return []
        changes, quote = min(compared, key=lambda pair: sum(len(c.claim) for c in pair[0]))
        return [*self._changed(changes, quote), *self._swapped(quote)]

    def _changed(self, changes: Sequence[alignment.Change], quote: Wording) -> list[Check]:
        """What it puts in another's place, and what it denies."""
        found = [
            Check(start, end, CheckKind.NEGATION, _sentence(self.claim.text[start:end], detail))
            for start, end, detail in negations.opposed(changes, self.claim.text, quote.text)
        ]
        for change in changes:
            is_exchange = self._is_exchange(change, quote)
            for token in change.claim:
                if isinstance(token, Word) and not is_exchange:
                    continue
                if self._is_replaced(token, change.quote, quote):
                    kind = _KINDS[type(token)]
                    reason = f"stands where its passage has another {kind}"
                    found.append(self._check(token, kind, reason))
        return found

    def _is_exchange(self, change: alignment.Change, quote: Wording) -> bool:
        """True where a name stands for another; where words moved, it is another phrase."""
        said = [token for token in change.claim if self._is_marked(self.claim, token)]
        there = [token for token in change.quote if self._is_marked(quote, token)]
        here = {alignment.key(token) for token in self.claim.words}
        return len(said) == len(there) and not any(alignment.key(t) in here for t in there)

    def _swapped(self, quote: Wording) -> list[Check]:
        """Names, numbers and dates that change places while the rest stays."""
        pairs = alignment.swapped(self.claim, quote, self._is_marked)
        return [
            self._check(token, _KINDS[type(token)], "stands in another place in its passage")
            for pair in pairs
            for token in pair
        ]

    def _is_marked(self, wording_: Wording, token: alignment.Token) -> bool:
        return not isinstance(token, Word) or names.is_name(wording_, token, german=self.german)

    def _is_replaced(
        self, token: alignment.Token, there: Sequence[alignment.Token], quote: Wording
    ) -> bool:
        """True where the quote has something else of the same kind in the place of `token`."""
        match token:
            case Number():
                numbers = [other for other in there if isinstance(other, Number)]
                return bool(numbers) and not any(_are_equal(token, other) for other in numbers)
            case Date():
                dates = [other for other in there if isinstance(other, Date)]
                return bool(dates) and not Calendar.of(dates).tells(token)
            case Word():
                if not self._same_language or not self._is_marked(self.claim, token):
                    return False
                others = [o for o in there if isinstance(o, Word) and self._is_marked(quote, o)]
                return bool(others) and all(other.stem != token.stem for other in others)

    def _check(self, token: alignment.Token, kind: CheckKind, reason: str) -> Check:
        said = self.claim.text[token.start : token.end]
        return Check(token.start, token.end, kind, _sentence(said, reason))


_REASONS = {
    "nowhere": "stands in none of the cited passages",
    "unit": "stands in the cited passages with another unit",
    "elsewhere": "counts something else in the cited passages",
}
_KINDS: dict[type, CheckKind] = {
    Number: CheckKind.NUMBER,
    Date: CheckKind.DATE,
    Word: CheckKind.NAME,
}


def _are_equal(one: Number, other: Number) -> bool:
    return bool(one.values & other.values) and one.fits(other.unit)


def _joined(words: Sequence[Word]) -> list[Word]:
    """Words beside each other as one name."""
    found: list[Word] = []
    for word in words:
        if found and word.start == found[-1].end + 1:
            found[-1] = msgspec.structs.replace(found[-1], end=word.end)
        else:
            found.append(word)
    return found


def _sentence(said: str, reason: str) -> str:
    return f"“{' '.join(said.split())}” {reason}."
