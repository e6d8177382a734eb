"""Which language a text or a question is in, and the words that carry no topic in it."""

import re
from collections.abc import Sequence
from functools import lru_cache

import stop_words
from py3langid.langid import MODEL_FILE, LanguageIdentifier

_WORD = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+")
_SAMPLE = 250
"""Code points of each of the three samples that are looked at: twice as many say the same."""
_LONGEST_PAGE = 10_000
_SURE = 0.95
_BYTES_TO_BE_SURE = 100
_LONGEST_QUESTION = 1_000
"""Code points of a question that are looked at."""
_LEAST_BYTES = 12
"""Of the words of a text, each counted once: less could be of any language."""
_TWO_LETTERS = 2
"""The model also knows languages that ISO 639-1 has no code for."""
_LEAST_CONFIDENCE = 0.5
_ENOUGH_BYTES = 200
"""From here on the most likely language is taken however sure the model is."""

# The package's English list also drops nouns that people search for ("system", "world", "state").
_ENGLISH = """
a about above after again against all am an and any are as at be because been before being below
between both but by can could d did do does doing done down during each either else ever every few
for from further had has have having he her here hers herself him himself his how however i if in
into is it its itself just ll m many may me might mine more most much must my myself neither no nor
not of off often on once only onto or other others ought our ours ourselves out over own per quite
rather re s same shall she should since so some such t than that the their theirs them themselves
then there therefore these they this those though through thus to too toward towards under until up
upon us ve very was we were what whatever when where whether which while who whom whose why will
with within without would yet you your yours yourself yourselves
"""
# Its German one lacks common auxiliaries and question words, and holds two that are nouns, too.
_MORE_GERMAN = """
ab ans bereits beim beiden beide bzw dabei dafür daran darauf darin davon dazu denen deren darf
dürfen durfte durften etwa eher ganz gar gibt ging hätte hätten ihrerseits innerhalb je jeweils
konnte konnten mag mehr mehrere meist mittels möchte mögen neben sei seien seit sobald sogar
soll sollten statt trotz viele vielen warst wäre wären wem wen wessen wodurch wofür womit woran
worauf woraus worin worüber wovon wozu wurde wurden worden
"""
_GERMAN_NOUNS = frozenset({"weg", "würde"})


_ASKING = {
    "de": """
        art bezeichnet bezeichnete dauern dauert dauerte dauerten gab gaben gelten gilt geschah
        heissen heisst hiess hiessen lag lagen lange lauten lautet lautete liegen liegt namen name
        nannte nannten nennen nennt genannt befand befinden befindet passiert passierte viel
        viele hoch wieviel wieviele
    """,
    "en": """
        call called give happen happened happens kind known last lasted lasts list located long
        many much name named names tell type
    """,
}


@lru_cache(maxsize=64)
def asking_words(language: str) -> frozenset[str]:
    """Words that make a question and seldom stand in its answer, case-folded."""
    return frozenset(_ASKING.get(language, "").split())


@lru_cache(maxsize=64)
def function_words(language: str) -> frozenset[str]:
    """The words, case-folded, that a keyword search in that language leaves out.

    Args:
        language: ISO 639-1.

    Returns:
        The empty set for a language without a list.
    """
    if language == "en":
        return frozenset(_ENGLISH.split())
    try:
        listed = stop_words.get_stop_words("nb" if language in {"no", "nn"} else language)
    except stop_words.StopWordError:
        return frozenset()
    if language == "de":
        listed = [*_MORE_GERMAN.split(), *(word for word in listed if word not in _GERMAN_NOUNS)]
    return frozenset(word.casefold() for word in listed)


def detect(text: str) -> str:
    """The language of a passage, from samples of its beginning, middle and end.

    Of a page the middle is enough where the model is sure of it.

    Returns:
        ISO 639-1, or "" where there is too little to go by.
    """
    if 3 * _SAMPLE < len(text) <= _LONGEST_PAGE:
        middle = _middle(text)
        language, confidence = _likeliest(middle)
        if confidence >= _SURE and _bytes(middle) >= _BYTES_TO_BE_SURE:
            return language
    sample = _sample(text)
    told = _bytes(sample)
    if told < _LEAST_BYTES:
        return ""
    language, confidence = _likeliest(sample)
    return language if confidence >= _LEAST_CONFIDENCE or told >= _ENOUGH_BYTES else ""


def _likeliest(sample: str) -> tuple[str, float]:
    """The likeliest language that ISO 639-1 has a code for, and the model's confidence in it.

    Digits say nothing, but the model takes them for a language all the same.
    """
    return next(
        (language, confidence)
        for language, confidence in _identifier().rank(_DIGITS.sub(" ", sample))
        if len(language) == _TWO_LETTERS
    )


def _bytes(sample: str) -> int:
    """UTF-8 bytes of the different words.

    A Han character tells more than a Latin letter does, and a table tells no more by repeating
    the names of its columns.
    """
    return sum(len(word.encode()) for word in set(_WORD.findall(sample)))


def detect_question(question: str, among: Sequence[str] = ("de", "en")) -> str:
    """The language of a question, which may be a word or two.

    Function words decide first, since they tell short questions apart better than a model
    trained on long texts does.

    Args:
        question: as typed.
        among: ISO 639-1 codes to choose from.

    Returns:
        One of `among`; "en" where nothing speaks for any of them.
    """
    words = [word.casefold() for word in _WORD.findall(question[:_LONGEST_QUESTION])]
    votes = {
        language: sum(word in function_words(language) for word in words) for language in among
    }
    best = max(votes.values(), default=0)
    leading = [language for language, count in votes.items() if count == best]
    if len(leading) == 1 and best > 0:
        return leading[0]
    if not words:
        return "en"
    return next(
        (
            language
            for language, _ in _identifier().rank(question[:_LONGEST_QUESTION])
            if language in leading
        ),
        "en",
    )


def _sample(text: str) -> str:
    """At most three stretches of `text`."""
    if len(text) <= 3 * _SAMPLE:
        return text
    return "\n".join((text[:_SAMPLE], _middle(text), text[-_SAMPLE:]))


def _middle(text: str) -> str:
    start = (len(text) - _SAMPLE) // 2
    return text[start : start + _SAMPLE]


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    """The model, which lies in its package; about a second to load."""
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
