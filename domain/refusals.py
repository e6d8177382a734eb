"""Fixed sentences of answers, in German and English: what no model is trusted to say."""

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


def _text(name: str, language: str) -> str:
    texts = _TEXTS[name]
    return texts.get(language, texts["en"])
