"""The faults that `planted_faults.py` plants: patterns that know nothing of the support checks."""

import random
import re
from collections.abc import Callable, Mapping, Sequence

_EN_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_DE_MONTHS = (
    *("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September"),
    *("Oktober", "November", "Dezember"),
)
_EN_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve")
_DE_WORDS = ("zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "zwölf")
_PEOPLE = {
    "en": ("Miller", "Thompson", "Garcia", "Novak", "Okafor", "Lindqvist"),
    "de": ("Schneider", "Weber", "Wagner", "Hoffmann", "Schuster", "Lehmann"),
}
_PLACES = {
    "en": "Germany|California|Washington|America|Japan|London|France|Boston|Hollywood|Florida|"
    "Alaska|Chicago|Canada|Europe|England|Philadelphia|Pennsylvania|Virginia|Massachusetts",
    "de": "Deutschland|Berlin|Bayern|Hamburg|Bremen|Baden|Hessen|Württemberg|Hohenzollern|"
    "Thüringen|Sachsen|Saarland|Rheinland|Norwegen|Karlsruhe|Bonn|München|Köln",
}
_KNOWN_PEOPLE = {
    "en": r"(?<=[a-z,] )[A-Z][a-z]{3,}(?= et al)|(?<=\b[A-Z][a-z]{3} )[A-Z][a-z]{3,}(?=[ ,.])|"
    r"Lessig|Jefferson|Valenti|Eldred|Causby|Armstrong|Disney|Stallman|Rehnquist|Franklin|Lewis|Karpukhin",
    "de": r"Eukl?id(?:es)?|Hilbert|Jordan|Möbius|Gauß|Riemann|Hausdorff|Heuss|Adenauer|Poincar[ée]|"
    r"Brouwer|Cauchy|Lebesgue|Euler|Mustermann|Müller|Meier|Klein\b",
}
_ORGS = {
    "en": r"\b(?:RAG|BART|DPR|ALCE|NLI|ChatGPT|GPT|PaSa|RIAA|MPAA|FCC|BBC|RCA|NASA|"
    r"Google|Microsoft|Congress|Mozilla|Wikipedia|Apple|Sony|Stanford)\b",
    "de": r"\b(?:Bundestag|Bundesrat|Bundesregierung|Bundesverfassungsgericht|Bundesbank|"
    r"Bundeskanzler|Bundespräsident|Bundesgerichtshof|Bundeswehr|NATO|EU|Wikipedia)(?:e?s|en)?\b",
}
_OTHER_ORGS = {
    "en": ("NVIDIA", "Oracle", "UNESCO", "TriviaNet", "Senate", "IBM"),
    "de": ("UNESCO", "Reichsbank", "Siemens", "Landtag", "Volkskammer", "Zollamt"),
}
_UNITS = (
    ("km", "Meilen"), ("miles", "kilometers"), ("years", "months"), ("Jahre", "Monate"),
    ("Jahren", "Monaten"), ("days", "weeks"), ("Tage", "Wochen"), ("Tagen", "Wochen"),
    ("hours", "minutes"), ("minutes", "hours"), ("seconds", "minutes"), ("months", "weeks"),
    ("Monate", "Wochen"), ("Monaten", "Wochen"), ("percent", "years"), ("ms", "minutes"),
    ("Stunden", "Minuten"), ("Wochen", "Tage"), ("feet", "meters"), ("inches", "meters"),
    ("%", " km"),
)  # fmt: skip
_OPPOSITES = (
    ("more", "less"), ("higher", "lower"), ("before", "after"), ("always", "never"),
    ("increase", "decrease"), ("larger", "smaller"), ("better", "worse"), ("most", "least"),
    ("all", "no"), ("with", "without"), ("must", "may"), ("mehr", "weniger"), ("mit", "ohne"),
    ("alle", "keine"), ("vor", "nach"), ("unzulässig", "zulässig"), ("größer", "kleiner"),
    ("innerhalb", "außerhalb"), ("mindestens", "höchstens"), ("darf", "muss"),
    ("zulässig", "unzulässig"),
)  # fmt: skip

Planted = tuple[str, tuple[int, int]]
Plant = Callable[[str, str, random.Random], Planted | None]


def _put(text: str, match: re.Match[str], new: str, group: int = 0) -> Planted | None:
    start, end = match.span(group)
    if text[start:end] == new:
        return None
    return text[:start] + new + text[end:], (start, start + len(new))


def _any(pattern: str, text: str, rng: random.Random) -> re.Match[str] | None:
    found = list(re.finditer(pattern, text))
    return rng.choice(found) if found else None


def _integer(text: str, _: str, rng: random.Random) -> Planted | None:
    match = _any(r"(?<![\w.,§/-])\d{2,6}(?![\w.,]*\d|[%\w]|\s?(?:%|Prozent|percent))", text, rng)
    if not match or re.fullmatch(r"1[4-9]\d\d|20\d\d", match[0]):
        return None
    new = str(int(match[0]) + rng.choice((3, 7, 20, 110)))
    return _put(text, match, new)


def _small(text: str, _: str, rng: random.Random) -> Planted | None:
    match = _any(r"(?<![\w.,§/-])\d(?=\s[a-zäöü]{3,}|\s[A-ZÄÖÜ][a-zäöü]{3,})", text, rng)
    return match and _put(text, match, str((int(match[0]) + rng.choice((2, 3, 4))) % 9 + 1))


def _decimal(text: str, _: str, rng: random.Random) -> Planted | None:
    match = _any(r"(?<![\w.,/-])\d+[.,](\d{1,2})(?![\w.,]*\d|%|\s?%)", text, rng)
    if not match or re.match(r"\.\s?\d", text[match.end() :]) or len(match[0]) > 5:
        return None
    digit = str((int(match[1]) + rng.choice((11, 23, 38))) % 100).rjust(len(match[1]), "0")
    return _put(text, match, digit[-len(match[1]) :], 1)


def _percent(text: str, _: str, rng: random.Random) -> Planted | None:
    match = _any(r"(?<![\w.,-])(\d{1,3})(?:[.,]\d+)?\s?(?:%|percent|Prozent)", text, rng)
    return match and _put(text, match, str((int(match[1]) + rng.choice((4, 9, 17))) % 100), 1)


def _number_word(text: str, language: str, rng: random.Random) -> Planted | None:
    words = _DE_WORDS if language == "de" else _EN_WORDS
    match = _any(rf"\b(?:{'|'.join(words)})\b", text, rng)
    return match and _put(text, match, rng.choice([word for word in words if word != match[0]]))


def _magnitude(text: str, _: str, rng: random.Random) -> Planted | None:
    for old, new in (("million", "billion"), ("billion", "thousand"), ("Millionen", "Milliarden")):
        if match := _any(rf"(?<=\d\s){old}\b", text, rng):
            return _put(text, match, new)
    match = _any(r"(?<![\w.,-])(?:[1-9]\d{0,2})(?:,\d{3}|000)(?![\d,.]*\d)", text, rng)
    return match and _put(text, match, match[0] + ("0" if "," not in match[0] else ",000"))


def _unit(text: str, _: str, rng: random.Random) -> Planted | None:
    found = [
        (match, new)
        for old, new in _UNITS
        for match in re.finditer(rf"(?<=\d)\s?{re.escape(old)}(?!\w)|(?<=\d-){old}(?!\w)", text)
    ]
    if not found:
        return None
    match, new = rng.choice(found)
    if planted := _put(text, match, (" " if match[0].startswith(" ") else "") + new.strip()):
        text, (start, end) = planted
        begin = re.search(r"[\d.,]+[\s-]?\Z", text[:start])
        return text, (begin.start() if begin else start, end)
    return None


def _currency(text: str, _: str, rng: random.Random) -> Planted | None:
    match = _any(r"\$(?=\d)|(?<=\d\s)(?:EUR|Euro|€|dollars)", text, rng)
    swaps = {"$": "€", "EUR": "USD", "Euro": "Dollar", "€": "$", "dollars": "euros"}
    if not match:
        return None
    new, (start, end) = _put(text, match, swaps[match[0]]) or (text, (0, 0))
    return new, (max(0, start - 12), min(len(new), end + 12))


def _swapped_numbers(text: str, _: str, rng: random.Random) -> Planted | None:
    found = list(re.finditer(r"(?<![\w.,§/-])\d+(?:[.,]\d+)?(?![\w,.]*\d|\w)", text))
    pairs = [(a, b) for a in found for b in found if a.end() + 3 < b.start() and a[0] != b[0]]
    pairs = [(a, b) for a, b in pairs if _apart(text, a, b)]
    return _swapped(text, rng.choice(pairs)) if pairs else None


def _apart(text: str, a: re.Match[str], b: re.Match[str]) -> bool:
    """True where more stands between the two than a list or a date has."""
    between = re.findall(
        r"\b(?!and|und|oder|der|die|das|the|von|des)[a-zäöü]{3,}", text[a.end() : b.start()]
    )
    return len(between) >= 2


def _swapped(text: str, pair: tuple[re.Match[str], re.Match[str]]) -> Planted:
    a, b = pair
    new = text[: a.start()] + b[0] + text[a.end() : b.start()] + a[0] + text[b.end() :]
    return new, (a.start(), b.end())


def _year(text: str, _: str, rng: random.Random) -> Planted | None:
    match = _any(r"(?<![\w.,/-])(?:1[5-9]|20)\d\d(?![\w/-]|[.,]\d)", text, rng)
    return match and _put(text, match, str(int(match[0]) - rng.choice((2, 3, 11))))


def _months(language: str) -> str:
    return "|".join(_DE_MONTHS if language == "de" else _EN_MONTHS)


def _day(text: str, language: str, rng: random.Random) -> Planted | None:
    months = _months(language)
    match = _any(
        rf"\b(\d{{1,2}})(?=\. (?:{months}))|(?<=\b)(?:{months}) (\d{{1,2}})(?=,|\b)|"
        r"\b(\d{1,2})(?=\.\d{1,2}\.\d{4})", text, rng,
    )  # fmt: skip
    if not match:
        return None
    group = next(number for number in (1, 2, 3) if match[number])
    return _put(text, match, str(int(match[group]) % 27 + 2), group)


def _month(text: str, language: str, rng: random.Random) -> Planted | None:
    months = _DE_MONTHS if language == "de" else _EN_MONTHS
    match = _any(
        rf"\b(?:{'|'.join(months)})\b(?= \d)|(?<=\d\. )(?:{'|'.join(months)})\b", text, rng
    )
    return match and _put(text, match, months[(months.index(match[0]) + rng.choice((2, 5))) % 12])


def _other_format(text: str, language: str, rng: random.Random) -> Planted | None:
    if language == "de":
        match = _any(rf"\b(\d{{1,2}})\. ({_months('de')}) (\d{{4}})", text, rng)
        if not match:
            return None
        day, month, year = int(match[1]), _DE_MONTHS.index(match[2]) + 1, match[3]
    else:
        match = _any(rf"\b({_months('en')}) (\d{{1,2}}), (\d{{4}})", text, rng)
        if not match:
            return None
        day, month, year = int(match[2]), _EN_MONTHS.index(match[1]) + 1, match[3]
    day = day % 27 + 1
    forms = (
        f"{day}.{month}.{year}",
        f"{year}-{month:02}-{day:02}",
        f"{day} {_EN_MONTHS[month - 1]} {year}",
    )
    return _put(text, match, rng.choice(forms))


def _replaced(patterns: Mapping[str, str], pool: Mapping[str, Sequence[str]]) -> Plant:
    def plant(text: str, language: str, rng: random.Random) -> Planted | None:
        match = _any(patterns[language], text[1:], rng)
        if not match:
            return None
        new = rng.choice(pool[language])
        start, end = match.start() + 1, match.end() + 1
        return (
            (text[:start] + new + text[end:], (start, start + len(new)))
            if new not in text
            else None
        )

    return plant


_OTHER_PLACES = {
    "en": ("Portugal", "Nebraska", "Toronto", "Sweden", "Madrid", "Peru"),
    "de": ("Portugal", "Kärnten", "Dortmund", "Schweden", "Madrid", "Kiel"),
}


def _swapped_names(text: str, language: str, rng: random.Random) -> Planted | None:
    pattern = f"(?:{_KNOWN_PEOPLE[language]}|{_PLACES[language]}|{_ORGS[language]})"
    found = list(re.finditer(pattern, text))
    pairs = [
        (a, b)
        for a in found
        for b in found
        if a.end() + 4 < b.start() and a[0] != b[0]
        and a[0][:6] != b[0][:6] and _apart(text, a, b)
    ]  # fmt: skip
    return _swapped(text, rng.choice(pairs)) if pairs else None


def _not_dropped(text: str, language: str, rng: random.Random) -> Planted | None:
    match = _any(
        r" nicht(?= \w)|(?<= )kein(?=e?[nrsm]? )" if language == "de" else r" not(?= \w)", text, rng
    )
    if not match:
        return None
    new = text[: match.start()] + ("" if match[0].startswith(" ") else "ein") + text[match.end() :]
    return new, (max(0, match.start() - 12), min(len(new), match.start() + 16))


def _not_added(text: str, language: str, rng: random.Random) -> Planted | None:
    verbs = (
        r"(?:ist|sind|wird|werden|kann|hat|haben)"
        if language == "de"
        else r"(?:is|are|was|were|will|can|has|have)"
    )
    negated = r"\b(?:not|no|never|nicht|keine?[rnsm]?|n't)\b"
    match = _any(rf"(?<=[a-zäöü] ){verbs}(?= [a-zäöü])", text, rng)
    if not match or re.search(negated, text):
        return None
    word = " nicht" if language == "de" else " not"
    new = text[: match.end()] + word + text[match.end() :]
    return new, (match.end(), match.end() + len(word))


def _opposite(text: str, _: str, rng: random.Random) -> Planted | None:
    found = [
        (match, new)
        for old, new in _OPPOSITES
        for match in re.finditer(rf"(?<=[a-zäöü,] ){old}(?= [\wÄÖÜ])", text)
    ]
    return _put(text, *rng.choice(found)) if found else None


KINDS: dict[str, tuple[str, Plant]] = {
    "integer": ("number", _integer),
    "small number": ("number", _small),
    "decimal": ("number", _decimal),
    "percentage": ("number", _percent),
    "number in words": ("number", _number_word),
    "magnitude": ("number", _magnitude),
    "unit": ("number", _unit),
    "currency": ("number", _currency),
    "swapped numbers": ("number", _swapped_numbers),
    "year": ("date", _year),
    "day": ("date", _day),
    "month": ("date", _month),
    "day, reformatted": ("date", _other_format),
    "person": ("name", _replaced(_KNOWN_PEOPLE, _PEOPLE)),
    "place": ("name", _replaced({k: rf"\b(?:{v})\b" for k, v in _PLACES.items()}, _OTHER_PLACES)),
    "organisation": ("name", _replaced(_ORGS, _OTHER_ORGS)),
    "swapped names": ("name", _swapped_names),
    "negation dropped": ("negation", _not_dropped),
    "negation added": ("negation", _not_added),
    "opposite": ("negation", _opposite),
}


def reformatted(text: str, language: str) -> str:
    """The same facts, numbers and dates written the other language's way."""
    text = re.sub(
        rf"\b(\d{{1,2}})\. ({_months('de')}) (\d{{4}})",
        lambda m: f"{int(m[1])}.{_DE_MONTHS.index(m[2]) + 1}.{m[3]}", text,
    )  # fmt: skip
    text = re.sub(
        rf"\b({_months('en')}) (\d{{1,2}}), (\d{{4}})",
        lambda m: f"{m[3]}-{_EN_MONTHS.index(m[1]) + 1:02}-{int(m[2]):02}", text,
    )  # fmt: skip
    text = re.sub(r"(?<![\w.,])(\d{1,3}),(\d{3})(?![\d,.]\d|\d)", r"\1.\2", text)
    text = re.sub(r"(?<![\w.,])(\d+)\.(\d{1,2})(?=\s?%)", r"\1,\2", text)
    text = re.sub(r"(\d)\s?%", r"\1 Prozent" if language == "de" else r"\1 percent", text)
    words = dict(
        zip(
            _DE_WORDS if language == "de" else _EN_WORDS,
            (2, 3, 4, 5, 6, 7, 8, 9, 10, 12),
            strict=True,
        )
    )
    return re.sub(rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])", lambda m: str(words[m[0]]), text)
