"""Is a page's text layer text? Letters among the visible, and letters that look like a language.

The rule: of the visible characters that are neither digits nor punctuation, at least 60 % are
letters of any script, and letters that look like no language count as none. What a language looks
like is measured by letter pairs (Latin, Greek, Cyrillic, Hebrew, Arabic) and by how common the
characters are (Han, Hangul); other scripts are taken at their word. A layer shifted by a letter or
with its letters swapped has a mean surprise of 5.4 bits a pair and more; words of forty languages
stay between 3.4 and 4.6.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import chain, combinations, pairwise
from math import sqrt

from domain.letter_pairs import ALPHABETS, PAIRS

LEAST_LETTERS = 0.6
_FEWEST_PAIRS = 60
_MOST_BITS = 5.0
_SPREAD = 7.0
"""Bits by which the mean of one pair may stray; that of n pairs by this over sqrt(n)."""
_SURE_BITS = 4.4
_TELLING_WORDS = 150
"""Some eight hundred pairs, whose mean strays by a tenth of a bit."""
_DOUBTFUL_BITS = 4.7
"""Above it, a text that much likelier words can be made of has its letters swapped."""
_MOST_WITH_GAIN = 5.6
_SPREAD_WITH_GAIN = 12.0
"""The same of these bits and those by which swapping letters makes the text likelier together."""
_MOST_SWEEPS = 8
_MANY_LETTERS = 40
_UNKNOWN_PAIR = 12.0
"""Bits of a pair with a letter that no alphabet here has."""
_MOST_ACCENTED = 0.6
"""Share of a Latin text's letters; Vietnamese has a third, Cyrillic read as Latin-1 nearly all."""
_LEAST_COMMON = 0.7
"""Share of characters in a national standard's first level; random ones reach a third."""
_FEWEST_CHARACTERS = 20


class Verdict(StrEnum):
    """What a text layer is."""

    LEGIBLE = "legible"
    EMPTY = "empty"
    """Nothing visible."""
    CODES = "codes"
    """Too few letters: codes of glyphs, or drawings."""
    GARBLED = "garbled"
    """Letters, but of no language: shifted or swapped."""


@dataclass(frozen=True, slots=True)
class Legibility:
    """A verdict and what it rests on.

    Args:
        verdict: what the layer is.
        visible: its visible characters.
        letters: share of letters that look like a language among the visible characters that are
            neither digits nor punctuation, 0 to 1; 1 where there are only those two.
    """

    verdict: Verdict
    visible: int
    letters: float


def judge(raw: str) -> Legibility:
    """Whether `raw`, a page's text before the gate, can be read. Time is linear."""
    characters = Counter(raw)
    kinds: Counter[str] = Counter()
    for character, count in characters.items():
        kinds[_kind(character)] += count
    visible = kinds.total() - kinds["blank"]
    if not visible:
        return Legibility(Verdict.EMPTY, 0, 0.0)
    counted = kinds["letter"] + kinds["other"]
    if kinds["letter"] < LEAST_LETTERS * counted:
        return Legibility(Verdict.CODES, visible, kinds["letter"] / counted)
    letters = kinds["letter"] - _garbled_letters(raw, characters)
    share = letters / counted if counted else 1.0
    verdict = Verdict.LEGIBLE if share >= LEAST_LETTERS else Verdict.GARBLED
    return Legibility(verdict, visible, share)


_KINDS = {"L": "letter", "M": "letter", "N": "digit", "P": "punctuation"}


@cache
def _kind(character: str) -> str:
    category = unicodedata.category(character)
    if character in "\t\n\r\ufffe" or category[0] == "Z" or category == "Cf":
        return "blank"
    # Signs of currency and arithmetic belong to numbers as digits and punctuation do.
    if category in ("Sc", "Sm", "Sk"):
        return "punctuation"
    return _KINDS.get(category[0], "other")


def _garbled_letters(raw: str, characters: Counter[str]) -> int:
    """How many letters belong to a script whose letters look like no language."""
    by_script: Counter[str] = Counter()
    common: Counter[str] = Counter()
    for character, count in characters.items():
        script = _script(character)
        by_script[script] += count
        if script in _STANDARDS and _is_common(character):
            common[script] += count
    garbled = 0
    for script in _STANDARDS:
        if by_script[script] >= _FEWEST_CHARACTERS:
            odd = common[script] < _LEAST_COMMON * by_script[script]
            garbled += by_script[script] if odd else 0
    strange = _garbled_alphabets(raw)
    for script in ALPHABETS:
        if script in strange or (script == "LATIN" and _is_mojibake(characters)):
            garbled += by_script[script]
    return garbled


def _is_mojibake(characters: Counter[str]) -> bool:
    """Latin letters nearly all of which have accents: another script's bytes read as Latin-1."""
    latin = {c: count for c, count in characters.items() if _script(c) == "LATIN"}
    plain = sum(count for letter, count in latin.items() if letter.isascii())
    total = sum(latin.values())
    return total >= _FEWEST_PAIRS and plain < (1 - _MOST_ACCENTED) * total


_STANDARDS = {
    "CJK": (("gb2312", 0xB0, 0xD7), ("big5", 0xA4, 0xC6), ("euc_jp", 0xB0, 0xCF)),
    "HANGUL": (("euc_kr", 0xB0, 0xC8),),
}
"""By script: encodings, and the lead bytes of the characters they call common."""


@cache
def _script(character: str) -> str:
    """The first word of a letter's Unicode name: "LATIN", "CJK", ...; "" for what is no letter."""
    if unicodedata.category(character)[0] != "L":
        return ""
    return unicodedata.name(character, "").partition(" ")[0]


@cache
def _is_common(character: str) -> bool:
    for encoding, low, high in _STANDARDS[_script(character)]:
        try:
            code = character.encode(encoding)
        except UnicodeEncodeError:
            continue
        if len(code) > 1 and low <= code[0] <= high:
            return True
    return False


_PLAIN = dict(zip("ıłøđßæœþðħŋə", "ilodsaotdhne", strict=True))


class _Fold(dict[int, str]):
    """For `str.translate`: a letter without its marks, "?" where no alphabet has it."""

    def __missing__(self, point: int) -> str:
        letter = unicodedata.normalize("NFD", chr(point).lower())[0]
        letter = _PLAIN.get(letter, letter)
        self[point] = letter if letter in _ALPHABET_OF or letter == " " else "?"
        return self[point]


_ALPHABET_OF = {letter: script for script, letters in ALPHABETS.items() for letter in letters}
_FOLD = _Fold()
_WORD = re.compile(r"[^\W\d_]{3,}")


@cache
def _bits() -> dict[tuple[str, str], float]:
    """Surprise in bits of each pair (letter or " " before, letter)."""
    found = {}
    for script, letters in ALPHABETS.items():
        cells = iter(PAIRS[script])
        for before in " " + letters:
            for letter in letters:
                # All alphabets share the blank before a word, none a letter.
                found[before, letter] = int(next(cells), 36) / 2
    return found


def _garbled_alphabets(raw: str) -> set[str]:
    """The alphabets whose letter pairs are stranger than a language's may be.

    Words of three letters and more count; alphabets with too few pairs to tell are left out.
    """
    words = _WORD.findall(raw)
    # On nearly every page a part of the words leaves no doubt, and counting pairs takes long.
    part = _pairs(words[:: 1 + len(words) // _TELLING_WORDS])
    if all(_mean_bits(pairs) < _SURE_BITS for pairs in part.values()):
        return set()
    return {script for script, pairs in _pairs(words).items() if _is_strange(script, pairs)}


def _pairs(words: Sequence[str]) -> dict[str, Counter[tuple[str, str]]]:
    """How often each pair of letters, or of the blank before a word and a letter, occurs."""
    folded = " ".join(words).translate(_FOLD)
    pairs: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for (before, letter), count in Counter(pairwise(" " + folded)).items():
        script = _ALPHABET_OF.get(letter) or _ALPHABET_OF.get(before)
        if script and letter != " ":
            pairs[script][before, letter] = count
    return pairs


def _is_strange(script: str, pairs: Counter[tuple[str, str]]) -> bool:
    total = pairs.total()
    if total < _FEWEST_PAIRS:
        return False
    bits = _mean_bits(pairs)
    if bits > _MOST_BITS + _SPREAD / sqrt(total):
        return True
    if bits <= _DOUBTFUL_BITS:
        return False
    gain = bits - _unswapped_bits(script, pairs)
    return bits + gain > _MOST_WITH_GAIN + _SPREAD_WITH_GAIN / sqrt(total)


def _mean_bits(pairs: Counter[tuple[str, str]]) -> float:
    bits = _bits()
    return sum(bits.get(pair, _UNKNOWN_PAIR) * n for pair, n in pairs.items()) / pairs.total()


def _unswapped_bits(script: str, pairs: Counter[tuple[str, str]]) -> float:
    """The mean bits of the likeliest text that swapping letters, step by step, makes of this one.

    Of a language's own words hardly likelier ones can be made; of swapped ones much likelier.
    """
    bits = _bits()
    neighbours: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
    for pair, count in pairs.items():
        for letter in set(pair):
            neighbours[letter].append((*pair, count))
    stands_for = {letter: letter for letter in chain(ALPHABETS[script], *pairs)}

    @cache
    def touched(one: str, other: str) -> list[tuple[str, str, int]]:
        apart = (pair for pair in neighbours[other] if one not in pair[:2])
        return [*neighbours[one], *apart]

    def cost(one: str, other: str) -> float:
        stands, unknown = stands_for, _UNKNOWN_PAIR
        return sum(
            [bits.get((stands[a], stands[b]), unknown) * n for a, b, n in touched(one, other)]
        )

    letters = ALPHABETS[script]
    if len(letters) > _MANY_LETTERS:  # a language uses half of them
        letters = "".join(letter for letter in letters if neighbours[letter])
    total, better = _mean_bits(pairs) * pairs.total(), 0.0
    for _ in range(_MOST_SWEEPS):
        gained = better
        for one, other in combinations(letters, 2):
            before = cost(one, other)
            stands_for[one], stands_for[other] = stands_for[other], stands_for[one]
            if (gain := before - cost(one, other)) > 0:
                better += gain
            else:
                stands_for[one], stands_for[other] = stands_for[other], stands_for[one]
        if better == gained:
            break
    return (total - better) / pairs.total()
