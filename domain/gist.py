"""Questions for the gist of sources: no sentence answers one, several together do."""

import re
from collections.abc import Sequence

from domain.ids import SourceId
from domain.notebook import Holding

_NAME = "(?P<name>.+?)"
_ASKS = tuple(
    re.compile(rf"(?:(?:please|bitte),? )?{words}", re.IGNORECASE)
    for words in (
        rf"worum geht(?:[’']s| es)(?: hier| darin)?(?: i[nm] {_NAME})?",
        rf"wovon handel[nt] {_NAME}",
        rf"fasse?(?: mir)?(?: bitte)? {_NAME}(?: bitte)?(?: kurz)? zusammen",
        rf"gib(?: mir)? eine[n]? (?:überblick|zusammenfassung)(?: (?:über|von|zu) {_NAME})?",
        rf"was (?:steht|ist der inhalt)(?: hier| darin)?(?: (?:i[nm]|vo[nm]) {_NAME})?",
        rf"(?:kannst|könntest) du(?: mir)?(?: bitte)? {_NAME}(?: bitte)?(?: kurz)? zusammenfassen",
        rf"was sind die wichtigsten (?:punkte|aussagen)(?: (?:in|von|aus) {_NAME})?",
        rf"what(?:[’']s| is| are) {_NAME}(?: all)? about",
        rf"what are the (?:main|key) points(?: (?:in|of) {_NAME})?",
        rf"(?:(?:can|could) you (?:please )?)?summari[sz]e(?: {_NAME})?",
        rf"give(?: me)? an? (?:short |brief )?(?:summary|overview)(?: of {_NAME})?",
        r"zusammenfassung|überblick|summary|overview",
    )
)
_THEM = (
    "(?:all(?:e[nrs]?)?(?: of)?(?: the| these)?|this|these|the|my|diese[mnrs]?|die|das|dem|den|der|"
    "meine[nr]?)"
)
_SOURCES = (
    "(?:sources?|documents?|files?|texts?|pdfs?|papers?|notebook|quellen?|dokument(?:en?)?|"
    "datei(?:en)?|texte?s?n?|notizbuchs?)"
)
_ALL = re.compile(rf"it|alles|all|{_THEM}|(?:{_THEM} )?{_SOURCES}", re.IGNORECASE)
_QUOTES = " \t\n\"'„“”‚‘’«»‹›"


def asked_of(question: str, documents: Sequence[Holding]) -> tuple[SourceId, ...] | None:
    """Those of `documents` whose gist is asked for; None where something else is asked.

    "What is this about?" asks for all of them, "What is “Bridges” about?" for what is called so.
    """
    line = " ".join(question.split()).rstrip(" ?.!")
    for words in _ASKS:
        if asked := words.fullmatch(line):
            name = asked.groupdict().get("name")
            if name is None or _ALL.fullmatch(name):
                return tuple(document.id for document in documents) or None
            return tuple(one.id for one in documents if _is_called(one.title, name)) or None
    return None


def _is_called(title: str, name: str) -> bool:
    """Whether that is the title, with or without a file's ending, or its beginning and "…"."""
    full, asked = (" ".join(text.casefold().split()).strip(_QUOTES) for text in (title, name))
    if asked.endswith("…"):
        return full.startswith(asked[:-1])
    return asked in {full, full.rpartition(".")[0]}
