"""Fixed sentences of answers, in German and English: what no model is trusted to say."""

import re
from collections.abc import Sequence

_SOURCES = (
    r"(?:sources?|passages?|documents?|notebook|excerpts?|texts?|context|materials?|papers?|"
    r"stud(?:y|ies)|reports?|articles?|Quellen?|Passagen?|Dokumente?n?|Notizbuch|Auszügen?|"
    r"Textstellen?|Unterlagen|Texte?n?|Studien?|Berichte?|Artikel)"
)
_OPEN = re.compile(
    rf"\b{_SOURCES}\b.{{0,60}}\b(?:do|does|did|can)(?: not|n['’]t)\b"
    rf"|\b{_SOURCES}\b.{{0,80}}\b(?:leaves?|lassen?|lässt)\b.{{0,80}}\b(?:open|offen)\b"
    rf"|\b{_SOURCES}\b.{{0,40}}\b(?:beantworte|nenne|enth[aä]lte?|erwähne|sage|gebe?|gib|mache|liefere|"
    rf"verrate|belege|erkläre|beschreibe|gehe|contain|give|offer|provide|make)[nst]*\b.{{0,80}}"
    rf"\b(?:nicht|nichts|keine?[nr]?|no|nothing)\b"
    rf"|\b(?:not|n['’]t|nicht|keine?|no)\b.{{0,60}}\b(?:in|by|from|aus|von)\s(?:\w+\s){{0,3}}{_SOURCES}\b"
    rf"|\b(?:aus|in|from)\s(?:\w+\s){{0,3}}{_SOURCES}\b.{{0,80}}\b(?:nicht|keine?|not|no)\b"
    r"|\bno (?:information|mention|answer|details?)\b|\bkeine (?:Angaben?|Informationen|Antwort)\b"
    r"|\b(?:remains?|bleibt|bleiben)\s(?:\w+\s){0,3}(?:open|offen|unclear|unklar)\b"
    r"|\b(?:cannot|can['’]t|could not|unable to)\b.{0,40}\banswer",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST_OPEN = 400
_SHORTEST_TITLE = 3

_TEXTS = {
    "not_in_the_sources": {
        "de": "Die Quellen beantworten diese Frage nicht.",
        "en": "The sources do not answer this question.",
    },
    "notebook_is_empty": {
        "de": "Dieses Notizbuch hat noch keine lesbare Quelle. Füge eine hinzu und frage dann noch"
        " einmal.",
        "en": "This notebook has no readable source yet. Add one, then ask again.",
    },
    "nothing_selected": {
        "de": "Keine der ausgewählten Quellen steht in diesem Notizbuch bereit. Wähle andere aus.",
        "en": "None of the selected sources is ready in this notebook. Select others.",
    },
    "general_knowledge": {
        "de": "Allgemeinwissen eines Sprachmodells, nicht aus deinen Quellen:",
        "en": "General knowledge of a language model, not from your sources:",
    },
    "general_needs_a_model": {
        "de": "Ohne ausgewählte Quellen antwortet ein Sprachmodell aus Allgemeinwissen, und hier"
        " ist keines eingerichtet. Ich kann nur aus Quellen zitieren: Wähle mindestens eine aus.",
        "en": "Without selected sources a language model answers from general knowledge, and none"
        " is configured here. I can only quote sources: select at least one.",
    },
}


def not_in_the_sources(language: str) -> str:
    """The sources do not answer the question."""
    return _text("not_in_the_sources", language)


def notebook_is_empty(language: str) -> str:
    """There is no source to answer from."""
    return _text("notebook_is_empty", language)


def nothing_selected(language: str) -> str:
    """Nothing remains of the selection."""
    return _text("nothing_selected", language)


def general_knowledge(language: str) -> str:
    """What follows comes from no source."""
    return _text("general_knowledge", language)


def general_needs_a_model(language: str) -> str:
    """Zero-source mode without a writing model."""
    return _text("general_needs_a_model", language)


def names_one(text: str, titles: Sequence[str]) -> bool:
    """True for an answer about the notebook itself: it names one of its documents."""
    said = text.casefold()
    return any(
        re.search(rf"(?<!\w){re.escape(title.casefold())}(?!\w)", said) is not None
        for title in titles
        if len(title) >= _SHORTEST_TITLE
    )


def is_refusal(sentence: str) -> bool:
    """True for a sentence that tells what the sources leave open, in a model's words."""
    return len(sentence) <= _LONGEST_OPEN and _OPEN.search(sentence) is not None


def _text(name: str, language: str) -> str:
    texts = _TEXTS[name]
    return texts.get(language, texts["en"])
