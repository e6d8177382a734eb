"""Numbers that a label tells apart: "§ 14", "Art. 5", "Table 2", "ISO 9001"."""

import re

_NAMES = {
    "§": ("§", "§§", "section", "sec", "paragraph"),
    "art": ("art", "artikel", "article"),
    "abs": ("abs", "absatz"),
    "abb": ("abb", "abbildung", "fig", "figure"),
    "tab": ("tab", "tabelle", "table"),
    "kap": ("kap", "kapitel", "chap", "chapter"),
    "nr": ("nr", "nummer", "no", "number"),
    "anh": ("anhang", "annex", "appendix"),
    "ziff": ("ziff", "ziffer"),
    "satz": ("satz",),
}
_LABELS = {name: label for label, names in _NAMES.items() for name in names}
_WORDS = "|".join(sorted((name for name in _LABELS if name.isalpha()), key=len, reverse=True))
# A class of characters first, and what may end a label before it: most numbers have none.
_NUMBER = re.compile(
    r"\d(?:(?<=[A-Za-z§][ .\u00a0]\d)|(?<=[A-Za-z]\.[ \u00a0]\d)|(?<=§\d))\d{0,8}[a-z]?(?!\w)"
)
_LABEL = re.compile(rf"(§{{1,2}}|(?<!\w)(?:(?i:{_WORDS})|[A-Z]{{2,6}}))\.?[ \u00a0]?$")
_LONGEST = 12
"""Characters from a label's first to its number's first."""


def labelled(text: str) -> list[tuple[str, str]]:
    """Every number with a label, in order, as (number, label and number in one).

    A label reads the same in German and English and however it is shortened; so does a code,
    which is two to six capitals, whether a space or a hyphen joins it to its number.

    Args:
        text: in its own case.
    """
    found = []
    for number in _NUMBER.finditer(text):
        before = text[max(number.start() - _LONGEST, 0) : number.start()]
        if label := _LABEL.search(before):
            name = label[1].casefold()
            found.append((number[0], _LABELS.get(name, name) + number[0]))
    return found
