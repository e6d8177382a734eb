"""The words around an answer, in German and English."""

from collections.abc import Mapping

ANSWER_TEXTS: Mapping[str, tuple[str, str]] = {
    "check_uncited": (
        "Für diesen Satz ist keine Stelle genannt.",
        "No passage is named for this sentence.",
    ),
    "check_number": (
        "Diese Zahl steht so nicht in den genannten Stellen.",
        "The cited passages do not have this number like that.",
    ),
    "check_date": (
        "Dieses Datum steht so nicht in den genannten Stellen.",
        "The cited passages do not have this date like that.",
    ),
    "check_name": (
        "Dieser Name steht so nicht in den genannten Stellen.",
        "The cited passages do not have this name like that.",
    ),
    "check_negation": (
        "Die genannte Stelle sagt hier das Gegenteil.",
        "The cited passage says the opposite here.",
    ),
    "checks_one": ("1 Stelle zum Nachprüfen", "1 place to check"),
    "checks_many": ("{n} Stellen zum Nachprüfen", "{n} places to check"),
    "copy_markdown": ("Als Markdown kopieren", "Copy as Markdown"),
    "copy_formatted": ("Formatiert kopieren", "Copy formatted"),
    "copy": ("Kopieren", "Copy"),
    "copied": ("Kopiert", "Copied"),
    "not_copied": ("Ließ sich nicht kopieren", "Could not be copied"),
    "citations_heading": ("Belege", "Citations"),
    "feedback": ("War das hilfreich?", "Was this helpful?"),
    "helpful": ("Hilfreich", "Helpful"),
    "not_helpful": ("Nicht hilfreich", "Not helpful"),
    "feedback_comment": ("Was fehlt, was stimmt nicht?", "What is missing, what is wrong?"),
    "feedback_keep": ("Anmerkung speichern", "Save the note"),
    "feedback_kept": (
        "Danke, deine Rückmeldung ist gespeichert.",
        "Thank you, your feedback is saved.",
    ),
    "about_ask": ("Nur diese Quelle befragen", "Ask about this source alone"),
    "about_now": ("Nur aus „{title}“", "About “{title}” alone"),
    "about_end": ("Wieder alle Quellen befragen", "Ask all sources again"),
    "suggested": ("Fragen zum Anfangen", "Questions to begin with"),
    "suggest": ("Fragen vorschlagen lassen", "Have questions suggested"),
    "suggest_more": (
        "Das Sprachmodell liest dafür einmal in die Quellen hinein.",
        "The language model looks into the sources once for this.",
    ),
}
