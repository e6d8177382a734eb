"""A claim laid beside the sentence that bears it: what was put in another's place."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from domain.dates import Date
from domain.numbers import Number
from domain.wording import Word, Wording

_LONGEST = 120
"""Tokens; a longer sentence is compared word by word elsewhere, not laid beside another."""
_LEAST_ALIKE = 0.6
_LEAST_SHARED = 3
_LEAST_KEPT = 0.9
_LISTED = re.compile(
    r"\W*(?:(?:and|or|und|oder|sowie|der|die|das|des|the|von|in|im)\W+)*", re.IGNORECASE
)
_LONGEST_CHANGE = 6
_LONGEST_AT_EDGE = 2
"""What the quote says before or behind the claim is mostly no change."""

Token = Date | Number | Word


@dataclass(frozen=True, slots=True)
class Change:
    """Tokens of the claim, and those of the quote that stand in their place; one may be empty.

    Args:
        start, end: code points of the claim's tokens; of the word beside the gap where none stand.
    """

    claim: Sequence[Token]
    quote: Sequence[Token]
    start: int
    end: int


def changes(claim: Wording, quote: Wording) -> list[Change] | None:
    """What differs between two sentences that are mostly the same.

    Only what stands between words that both share, or opens or ends the claim: the quote may
    say more before and behind.

    Returns:
        None where they have too little in common to tell.
    """
    said, borne = tokens(claim), tokens(quote)
    if not said or max(len(said), len(borne)) > _LONGEST:
        return None
    matcher = SequenceMatcher(None, [*map(key, said)], [*map(key, borne)], autojunk=False)
    steps = matcher.get_opcodes()
    shared = sum(i2 - i1 for tag, i1, i2, _, _ in steps if tag == "equal")
    if shared < max(_LEAST_SHARED, _LEAST_ALIKE * len(said)):
        return None
    found = []
    for tag, i1, i2, j1, j2 in steps:
        at_edge = i1 == i2 in {0, len(said)}
        longest = _LONGEST_AT_EDGE if at_edge else _LONGEST_CHANGE
        if tag != "equal" and max(i2 - i1, j2 - j1) <= longest:
            here = said[i1:i2] or said[i1 : i1 + 1] or said[-1:]
            found.append(Change(said[i1:i2], borne[j1:j2], here[0].start, here[-1].end))
    return found


def swapped(
    claim: Wording, quote: Wording, is_marked: Callable[[Wording, Token], bool]
) -> list[tuple[Token, Token]]:
    """Neighbours among the marked tokens that stand the other way round in the quote.

    Only where the other words keep their order, so that no turn of phrase explains it, and not
    where the two are parts of a list.

    Args:
        is_marked: True for the tokens that a swap would falsify.
    """
    said, borne = tokens(claim), tokens(quote)
    if not said or max(len(said), len(borne)) > _LONGEST:
        return []
    if exchanged := _exchanged(said, borne):
        return [exchanged]
    kept = [key(token) for token in said if not is_marked(claim, token)]
    quoted = [key(token) for token in borne if not is_marked(quote, token)]
    matcher = SequenceMatcher(None, kept, quoted, autojunk=False)
    if sum(block.size for block in matcher.get_matching_blocks()) < _LEAST_KEPT * len(kept):
        return []
    places = _only_once([token for token in borne if is_marked(quote, token)])
    marked = _only_once([token for token in said if is_marked(claim, token)])
    shared = [(token, places[name]) for name, token in marked.items() if name in places]
    return [
        (first, second)
        for (first, earlier), (second, later) in pairwise(shared)
        if earlier.start > later.start
        and not _LISTED.fullmatch(claim.text[first.end : second.start])
    ]


def _exchanged(said: Sequence[Token], borne: Sequence[Token]) -> tuple[Token, Token] | None:
    """The two tokens that changed places where nothing else differs."""
    if len(said) != len(borne):
        return None
    differ = [i for i, (a, b) in enumerate(zip(said, borne, strict=True)) if key(a) != key(b)]
    if len(differ) != 2:  # noqa: PLR2004 - two
        return None
    i, j = differ
    is_swap = key(said[i]) == key(borne[j]) and key(said[j]) == key(borne[i])
    return (said[i], said[j]) if is_swap and j > i + 2 else None


def _only_once(row: Sequence[Token]) -> dict[str, Token]:
    counts = Counter(map(key, row))
    return {key(token): token for token in row if counts[key(token)] == 1}


def tokens(wording: Wording) -> list[Token]:
    """Dates, numbers and words in one row."""
    counted = [number for number in wording.numbers if number.is_claim]
    return sorted([*wording.dates, *counted, *wording.words], key=lambda token: token.start)


def key(token: Token) -> str:
    """What makes two tokens the same."""
    match token:
        case Word():
            return token.stem
        case Number():
            return "#" + " ".join(sorted(token.values)) + token.unit
        case Date():
            return f"@{token.year} {token.month} {token.day} {token.decade}"
