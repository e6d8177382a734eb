"""Whether a claim says the opposite of the sentence that bears it."""

import re
from collections.abc import Sequence

from domain.alignment import Change, Token
from domain.wording import Word

_NEGATED = re.compile(
    r"not|no|never|none|neither|nor|without|cannot|nobody|nothing|nowhere|hardly|barely|scarcely|"
    r"nicht|keine?[mnrs]?|nie|niemals|niemand(?:en|em)?|nichts|ohne|weder|kaum|keinesfalls|keineswegs"
)
_CONTRACTED = re.compile(r"[^\W\d_]+n['’]t\Z", re.IGNORECASE)
_PREFIXES = ("un", "non", "in", "im", "ir", "il", "dis", "miss", "anti")
_SHORTEST_BASE = 4

_OPPOSITES = (
    "increase decrease reduce rise fall grow shrink decline drop",
    "increased decreased reduced rose fell grew shrank declined dropped",
    "increases decreases reduces rises falls grows shrinks declines drops",
    "higher lower", "high low", "highest lowest", "more less fewer", "most least fewest",
    "larger smaller", "large small", "largest smallest", "better worse", "best worst",
    "greater lesser", "before after", "above below", "over under", "always never sometimes",
    "all some few no none", "allow forbid prohibit", "allowed forbidden prohibited",
    "accept reject", "accepted rejected", "first last", "early late", "earlier later",
    "positive negative", "true false", "correct wrong incorrect", "win lose", "won lost",
    "include exclude", "includes excludes", "included excluded", "minimum maximum",
    "internal external", "open closed", "faster slower", "fast slow", "longer shorter",
    "long short", "old new", "strong weak", "stronger weaker", "same different",
    "must may should", "with without", "public private", "outperform underperform",
    "outperforms underperforms", "improve worsen", "improves worsens", "improved worsened",
    "start end", "begins ends", "supports opposes", "support oppose", "up down", "left right",
    "steigt sinkt fällt", "stieg sank fiel", "steigen sinken fallen", "gestiegen gesunken gefallen",
    "erhöht gesenkt verringert", "mehr weniger", "höher niedriger", "hoch niedrig",
    "höchste niedrigste", "größer kleiner", "groß klein", "große kleine", "größte kleinste",
    "größten kleinsten", "besser schlechter", "vor nach", "über unter",
    "immer nie niemals manchmal",
    "alle einige wenige keine", "aller einiger weniger", "erlaubt verboten", "zulässig unzulässig",
    "erste letzte", "ersten letzten", "früher später", "früh spät", "positiv negativ",
    "wahr falsch", "richtig falsch", "gewonnen verloren", "gewann verlor", "mindestens höchstens",
    "maximal minimal", "innen außen", "offen geschlossen", "schneller langsamer",
    "länger kürzer", "lang kurz", "alt neu", "stark schwach", "gleich verschieden",
    "muss kann darf soll", "müssen können dürfen sollen", "mit ohne", "öffentlich privat",
    "beginnt endet", "darf muss", "oberhalb unterhalb", "links rechts", "innerhalb außerhalb",
)  # fmt: skip
_GROUPS: dict[str, frozenset[int]] = {}
for _number, _group in enumerate(_OPPOSITES):
    for _word in _group.split():
        _GROUPS[_word] = _GROUPS.get(_word, frozenset()) | {_number}


def opposed(changed: Sequence[Change], claim: str, quote: str) -> list[tuple[int, int, str]]:
    """Where a claim denies what its quote says, says what it denies, or turns a word round.

    Args:
        changed: how the claim differs from the quote.
        claim, quote: the texts that the tokens stand in.

    Returns:
        (start, end, what) in code points of the claim.
    """
    denials = [
        (
            [token for token in change.claim if _is_negation(token, claim)],
            [token for token in change.quote if _is_negation(token, quote)],
        )
        for change in changed
    ]
    # As many on both sides: they only stand elsewhere, or are other words for the same.
    moved = sum(len(said) - len(borne) for said, borne in denials) == 0
    found = []
    for change, (said, borne) in zip(changed, denials, strict=True):
        if said and not borne and not moved:
            found.append((said[0].start, said[-1].end, "denies what the cited passage says"))
        elif borne and not said and not moved:
            found.append((change.start, change.end, "is denied in the cited passage"))
        found += _turned(change, claim, quote)
    return found


def _is_negation(token: Token, text: str) -> bool:
    if not isinstance(token, Word):
        return False
    word = text[token.start : token.end]
    return bool(_NEGATED.fullmatch(word.lower()) or _CONTRACTED.match(word))


def _turned(change: Change, claim: str, quote: str) -> list[tuple[int, int, str]]:
    """Words of the claim whose opposites the quote has in their place."""
    found = []
    replaced = [quote[t.start : t.end].lower() for t in change.quote if isinstance(t, Word)]
    for token in change.claim:
        if not isinstance(token, Word):
            continue
        word = claim[token.start : token.end].lower()
        if any(_are_opposites(word, other) for other in replaced):
            found.append((token.start, token.end, "is the opposite of what the cited passage says"))
    return found


def _are_opposites(one: str, other: str) -> bool:
    if one == other:
        return False
    if _GROUPS.get(one, frozenset()) & _GROUPS.get(other, frozenset()):
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= _SHORTEST_BASE and any(long == prefix + short for prefix in _PREFIXES)
