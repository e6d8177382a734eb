"""A question as it is searched: its words, and what its quotes and minus signs demand."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from domain.chunking import UNSPACED
from domain.terms import QueryTerm, question_terms, required_terms


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that a chunk holds or does not.

    A chunk holds it where it has one term of each part, and its text matches the pattern.

    Args:
        parts: the terms each of its words may stand under in the index; at least one word.
        pattern: a regular expression of PostgreSQL; "" where the parts suffice.
        excludes: True: chunks that hold it are not found. False: they come first.
    """

    parts: tuple[tuple[str, ...], ...]
    pattern: str
    excludes: bool


@dataclass(frozen=True, slots=True)
class Query:
    """What the keyword side of a search looks for."""

    words: tuple[QueryTerm, ...] = ()
    conditions: tuple[Condition, ...] = ()


_SOME = "{1,300}"
_SIGNS = re.compile(
    rf"""(?P<minus>(?<!\S)-)?(?:
        (?<!\w)"(?P<straight>[^"\n]{_SOME})"(?!\w)
        | [„“](?P<curly>[^“”"\n]{_SOME})[“”"]
        | «(?P<french>[^«»\n]{_SOME})» | »(?P<german>[^«»\n]{_SOME})«
        | 「(?P<corner>[^」\n]{_SOME})」 | 『(?P<white>[^』\n]{_SOME})』
    )
    | (?<!\S)-(?P<word>[^\W\d_][^\s"„“«»「『]*)""",
    re.VERBOSE,
)
_PHRASES = ("straight", "curly", "french", "german", "corner", "white")
_BEFORE_A_SECOND_HALF = re.compile(r"(?:(?:^|\s)(?:und|oder|bzw\.?|sowie|and|or|&)|[-/],?)\s+$")
""""Lohnsteuer und -abgaben", "Ein- und -ausfuhr": the hyphen stands for the word before."""
_LONGEST_BEFORE = 20
"""Characters of that: whoever looks at all that is before each of many words looks for long."""
_ENDS_IN_A_DASH = re.compile(r"(?:[ ][^\W\d_][^\s-]*){1,8}-(?!\S)")
""""when it came -late as ever- that year": a pair of dashes around a few words."""
_AFTER_A_WORD = ".,;:!?)"
_SHORTEST_EXCLUDED = 2
_IN_A_PHRASE = re.compile(r"[^\W_]+|[§%€$£+#&@]")
_BETWEEN_WORDS, _AROUND_SIGNS = "[^[:alnum:]]+", "[[:space:]]*"
_NO_SPACES = re.compile(f"[{UNSPACED}]")


def search_query(question: str, question_language: str, languages: Sequence[str]) -> Query:
    """Read a question as people type it into a search.

    "Quoted words" come first where some chunk has them in a row, in whatever case and with
    whatever punctuation between; elsewhere they are words like any other. `-word` and `-"some
    words"` leave out the chunks that have them, in any form of the word.

    Args:
        question: as typed.
        question_language: ISO 639-1.
        languages: of the texts that are searched; "" for unknown.
    """
    searched = tuple(dict.fromkeys(languages)) or (question_language,)
    conditions = tuple(
        condition
        for sign in _SIGNS.finditer(question)
        if sign["word"] is None or _excludes(sign)
        for condition in _conditions(sign, searched)
    )
    words = question_terms(wanted(question), question_language, languages)
    return Query(tuple(words), conditions)


def left_out(question: str) -> tuple[str, ...]:
    """The words and phrases behind a minus, as typed: who asks is told of them."""
    signs = filter(_excludes, _SIGNS.finditer(question))
    return tuple(sign[0].removeprefix("-").rstrip(_AFTER_A_WORD) for sign in signs)


def wanted(question: str) -> str:
    """The question without what it leaves out; as it is where nothing else would be left."""
    rest = _SIGNS.sub(lambda sign: " " if _excludes(sign) else sign[0], question)
    return rest if rest.strip() else question


def _excludes(sign: re.Match[str]) -> bool:
    """Whether a sign leaves something out: a minus, and not a hyphen that looks like one."""
    word = sign["word"]
    if word is None:
        return sign["minus"] is not None
    if len(word) < _SHORTEST_EXCLUDED and not _NO_SPACES.match(word):
        return False
    if word.rstrip(_AFTER_A_WORD).endswith("-") or _ENDS_IN_A_DASH.match(sign.string, sign.end()):
        return False
    start = sign.start()
    return not _BEFORE_A_SECOND_HALF.search(sign.string, max(0, start - _LONGEST_BEFORE), start)


def _conditions(sign: re.Match[str], languages: Sequence[str]) -> Iterator[Condition]:
    """The condition of a phrase or word; none where the index knows nothing of its words."""
    phrase = next(filter(None, sign.group(*_PHRASES)), "")
    text = phrase or sign["word"]
    parts = required_terms(text, languages, in_parts=bool(phrase))
    if parts:
        in_a_row = bool(phrase) or len(parts) > 1
        yield Condition(tuple(parts), _pattern(text) if in_a_row else "", _excludes(sign))


def _pattern(phrase: str) -> str:
    """The phrase as a regular expression that needs no locale: `[aA]` for a letter."""
    tokens = _IN_A_PHRASE.findall(phrase)
    pattern = "".join(
        _joint(before, token) + "".join(map(_either_case, token))
        for before, token in zip(["", *tokens], tokens, strict=False)
    )
    first, last = tokens[0][0], tokens[-1][-1]
    start = "(^|[^[:alnum:]])" if _has_edges(first) else ""
    end = "($|[^[:alnum:]])" if _has_edges(last) else ""
    return f"{start}{pattern}{end}"


def _joint(before: str, token: str) -> str:
    if not before:
        return ""
    return _BETWEEN_WORDS if before[-1].isalnum() and token[0].isalnum() else _AROUND_SIGNS


def _has_edges(character: str) -> bool:
    return character.isalnum() and not _NO_SPACES.match(character)


def _either_case(character: str) -> str:
    if not character.isalnum():
        return f"\\{character}" if character.isascii() else character
    cases = sorted({character, character.lower(), character.upper()})
    cases = [case for case in cases if len(case) == 1]
    return cases[0] if len(cases) == 1 else f"[{''.join(cases)}]"
