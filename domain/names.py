"""Names in a claim: which of its words are some, and which of those the passages do not have."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from domain.language import function_words
from domain.wording import Word, Wording, fold

_SHORTEST = 2
_SHORTEST_PART = 4
_LONGEST = 80
_OPENING = 6
"""Code points before a word that tell whether it opens a sentence."""
_ACRONYM = re.compile(r"[A-ZÄÖÜ]{2,}s?|\w*[a-zäöüß][A-ZÄÖÜ]\w*|(?=\w*\d)\w*[^\W\d_]\w*")
"""Capitals, capitals inside, letters with digits: no common word looks so."""
_TRANSLATED = re.compile(
    r"[IVXLC]+|USA?|UK|EU|UNO?|EUR|USD|GBP|CHF|BC|AD|BCE|CE|TV|AIDS|HIV|NATO|GmbH|AG"
)
"""Those that are a numeral, or that another language spells out."""
_OPENS = re.compile(r"[.!?:;…]\s*[\"'“”„«»‚‘(\[]*\s*\Z")
_COMMON_ENDINGS = (
    *("ung", "ungen", "heit", "heiten", "keit", "keiten", "schaft", "schaften", "ität", "itäten"),
    *("ismus", "nis", "nisse", "tion", "tionen", "sion", "sionen", "tum", "tümer", "ling", "chen"),
)
"""What German nouns end in that are no names."""
_COMMON_ENGLISH = (
    "ing",
    "ly",
    "ed",
    "tion",
    "tions",
    "ness",
    "ments",
    "ment",
    "ers",
    "ors",
    "ists",
)
_TITLES = {
    *("herr", "herrn", "frau", "dr", "prof", "professor", "professorin", "konig", "konigin"),
    *("kaiser", "papst", "kanzler", "kanzlerin", "prasident", "prasidentin", "minister"),
    *("ministerin", "stadt", "firma", "universitat", "mr", "mrs", "ms"),
}
_BEFORE_NOUNS = {
    *("pro", "per", "laut", "gemass", "dank", "trotz", "binnen", "mangels", "mittels", "zwecks"),
    *("inklusive", "exklusive", "zuzuglich", "abzuglich", "insgesamt", "samt"),
}
_INFLECTED = ("e", "em", "en", "er", "es", "lich", "ig")
"""What German adjectives and adverbs end in that open a sentence before a noun."""
_GAP = re.compile(r"[ \u00a0-]")


@dataclass(frozen=True, slots=True)
class Name:
    """A word that is a name.

    Args:
        sure: False for what may as well be a common noun: a German one, or what opens a sentence.
    """

    word: Word
    sure: bool


def unknown(
    claim: Wording, known: Collection[str], *, german: bool, same_language: bool
) -> list[Name]:
    """The names in `claim` that do not stand in its passages.

    In another language only what is written alike in all of them counts: acronyms and codes.

    Args:
        known: folded words and stems of the passages.
        german: True where nouns have capitals, too.
        same_language: False where the passages are in another language.
    """
    initials = "".join(word.folded[0] for word in claim.words)
    found = []
    for index, word in enumerate(claim.words):
        spelled = claim.text[word.start : word.end]
        if not _is_capital(spelled) or len(spelled) < _SHORTEST or _stands(word, known):
            continue
        if _ACRONYM.fullmatch(spelled):
            translated = not same_language and _TRANSLATED.fullmatch(spelled)
            if not translated and fold(spelled.rstrip("s")) not in initials:
                found.append(Name(word, sure=True))
        elif same_language and word.folded not in function_words("de" if german else "en"):
            sure = _is_sure(claim, index, german=german)
            if sure or not (_opens(claim, index) or _has_known_part(word, known)):
                found.append(Name(word, sure=sure))
    return found


def is_name(claim: Wording, word: Word, *, german: bool) -> bool:
    """True for a word with a capital that is no mere beginning of its sentence."""
    spelled = claim.text[word.start : word.end]
    if not _is_capital(spelled) or word.folded in function_words("de" if german else "en"):
        return False
    return not (german and spelled.casefold().endswith(_COMMON_ENDINGS))


def _is_capital(spelled: str) -> bool:
    return spelled != spelled.lower()


def _stands(word: Word, known: Collection[str]) -> bool:
    """True where the passages have the word, inflected or in a compound."""
    if word.folded in known or word.stem in known:
        return True
    if len(word.folded) > _LONGEST:
        return False
    if word.folded.endswith("s") and word.folded[:-1] in known:
        return True
    return any(
        word.folded[:cut] in known and word.folded[cut:].removeprefix("s") in known
        for cut in range(_SHORTEST_PART, len(word.folded) - _SHORTEST_PART + 1)
    )


def _has_known_part(word: Word, known: Collection[str]) -> bool:
    """True for a compound with a word of the passages in it: a common noun."""
    long = word.folded[:_LONGEST]
    cuts = range(_SHORTEST_PART, len(long) - _SHORTEST_PART + 1)
    return any(long[:cut] in known or long[cut:] in known for cut in cuts)


def _opens(claim: Wording, index: int) -> bool:
    """True for the first word of a sentence, of a quotation or behind a colon."""
    start = claim.words[index].start
    if index == 0:
        return not any(map(str.isalnum, claim.text[:start]))
    return _OPENS.search(claim.text[max(0, start - _OPENING) : start]) is not None


def _is_sure(claim: Wording, index: int, *, german: bool) -> bool:
    """True where its neighbours or its place tell that the word is a name."""
    word = claim.words[index]
    spelled = claim.text[word.start : word.end]
    if not german:
        if not _opens(claim, index):
            return True
        beside = _beside(claim, index, index + 1)
        return beside and not spelled.endswith(_COMMON_ENGLISH)
    if spelled.casefold().endswith(_COMMON_ENDINGS):
        return False
    if index and claim.words[index - 1].folded in _TITLES:
        return True
    if _leads_to_noun(claim, index):
        return False
    after_name = (
        not _opens(claim, index)
        and _beside(claim, index, index - 1)
        and not _leads_to_noun(claim, index - 1)
    )
    return after_name or _beside(claim, index, index + 1)


def _leads_to_noun(claim: Wording, index: int) -> bool:
    """True for "Laut" and "Große" where they open a German sentence: a noun has a capital, too."""
    folded = claim.words[index].folded
    return (folded in _BEFORE_NOUNS or folded.endswith(_INFLECTED)) and _opens(claim, index)


def _beside(claim: Wording, index: int, other: int) -> bool:
    """True where another word with a capital stands right beside, and is no common noun."""
    if not 0 <= other < len(claim.words):
        return False
    first, second = claim.words[min(index, other)], claim.words[max(index, other)]
    neighbour = claim.words[other]
    spelled = claim.text[neighbour.start : neighbour.end]
    return (
        _GAP.fullmatch(claim.text[first.end : second.start]) is not None
        and spelled[0].isupper()
        and neighbour.folded not in function_words("de") | function_words("en")
        and not spelled.casefold().endswith(_COMMON_ENDINGS)
    )
