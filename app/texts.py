"""The words of the pages, in German and English."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from app.account_texts import ACCOUNT_TEXTS
from app.answer_texts import ANSWER_TEXTS
from app.library_texts import LIBRARY_TEXTS
from app.operations_texts import OPERATIONS_TEXTS
from app.problem_texts import GERMAN_PROBLEMS, REASONS
from app.studio_texts import STUDIO_TEXTS
from domain.errors import Problem

LANGUAGES = ("de", "en")

TEXTS: Mapping[str, tuple[str, str]] = {
    **ACCOUNT_TEXTS,
    **LIBRARY_TEXTS,
    **OPERATIONS_TEXTS,
    **STUDIO_TEXTS,
    "tagline": (
        "Antworten aus deinen eigenen Dokumenten, jede Aussage mit Beleg.",
        "Answers from your own documents, every claim with its evidence.",
    ),
    "skip": ("Zum Inhalt springen", "Skip to the content"),
    "skip_to_question": ("Zur Frage springen", "Skip to the question"),
    "notebooks": ("Notizbücher", "Notebooks"),
    "language": ("Sprache", "Language"),
    "close": ("Schließen", "Close"),
    "notices": ("Hinweise zum Betrieb", "Notices about this installation"),
    "offline": (
        "Der Server antwortet nicht. Prüfe die Verbindung und versuche es noch einmal.",
        "The server does not answer. Check the connection and try again.",
    ),
    "error_title": ("Das ging nicht", "That did not work"),
    "not_found_title": ("Hier ist nichts", "There is nothing here"),
    "to_notebooks": ("Zu deinen Notizbüchern", "To your notebooks"),
    "your_notebooks": ("Deine Notizbücher", "Your notebooks"),
    "new_notebook": ("Neues Notizbuch", "New notebook"),
    "title_label": ("Titel", "Title"),
    "title_example": ("z. B. Mietrecht", "e.g. Tenancy law"),
    "no_notebooks": ("Noch kein Notizbuch", "No notebook yet"),
    "no_notebooks_more": (
        "Ein Notizbuch sammelt Quellen zu einem Thema. Lege eines an, füge Dateien dazu, frage.",
        "A notebook gathers sources on one subject. Create one, add files to it, and ask.",
    ),
    "source_count": ("{n} Quellen", "{n} sources"),
    "one_source": ("1 Quelle", "1 source"),
    "preparing_count": ("{n} in Arbeit", "{n} in preparation"),
    "failed_count": ("{n} fehlgeschlagen", "{n} failed"),
    "more_notebooks": ("Ältere Notizbücher", "Older notebooks"),
    "manage": ("Bearbeiten", "Manage"),
    "rename": ("Umbenennen", "Rename"),
    "delete": ("Löschen", "Delete"),
    "delete_notebook": ("Notizbuch löschen", "Delete notebook"),
    "delete_notebook_more": (
        "Fragen und Antworten gehen verloren; die Quellen bleiben in deiner Bibliothek.",
        "Its questions and answers are lost; its sources stay in your library.",
    ),
    "sources": ("Quellen", "Sources"),
    "chat": ("Chat", "Chat"),
    "viewer": ("Beleg", "Evidence"),
    "add_files": ("Dateien hinzufügen", "Add files"),
    "add_files_more": ("oder hierher ziehen: {kinds}", "or drop them here: {kinds}"),
    "pdf_capture": ("PDF lesen", "Read PDF"),
    "pdf_capture_auto": ("automatisch", "automatically"),
    "pdf_capture_text": ("nur Textebene", "text layer only"),
    "pdf_capture_vision": ("alle Seiten als Bild", "all pages as pictures"),
    "pdf_password": ("Passwort des PDFs", "The PDF's password"),
    "locked": ("Gesperrt", "Locked"),
    "open_locked": ("Öffnen", "Open"),
    "file_kinds": (
        "PDF, Office, CSV, EPUB, HTML, Text, Bilder, Ton",
        "PDF, Office, CSV, EPUB, HTML, text, images, audio",
    ),
    "upload": ("Hochladen", "Upload"),
    "paste_text": ("Text oder Adresse einfügen", "Paste text or an address"),
    "paste_label": ("Text oder Webadresse", "Text or web address"),
    "add_text": ("Hinzufügen", "Add"),
    "refresh": ("Seite neu abrufen", "Fetch the page again"),
    "open_page": ("Webseite öffnen", "Open the web page"),
    "not_refreshed": (
        "Nicht neu gelesen; der letzte gute Text bleibt. {why}",
        "Not read anew; the last good text stays. {why}",
    ),
    "no_sources": ("Noch keine Quellen", "No sources yet"),
    "no_sources_more": (
        "Füge Dateien, Webadressen oder Text hinzu; Antworten kommen nur daraus.",
        "Add files, web addresses or text; answers come from them alone.",
    ),
    "pick_all": ("Alle auswählen", "Select all"),
    "use_source": ("„{title}“ für Antworten verwenden", "Use “{title}” for answers"),
    "open_source": ("„{title}“ ansehen", "View “{title}”"),
    "source_menu": ("Mehr zu „{title}“", "More about “{title}”"),
    "download": ("Original herunterladen", "Download original"),
    "remove": ("Aus dem Notizbuch entfernen", "Remove from notebook"),
    "remove_confirm": (
        "„{title}“ aus dem Notizbuch entfernen? In deiner Bibliothek bleibt die Quelle.",
        "Remove “{title}” from this notebook? The source stays in your library.",
    ),
    "queued": ("Wartet", "Queued"),
    "processing": ("Wird vorbereitet …", "Preparing …"),
    "reading": ("Liest Seite {done} von {total}", "Reading page {done} of {total}"),
    "listening": (
        "Hört {done} von {total} Sekunden",
        "Listening: {done} of {total} seconds",
    ),
    "transcribing": ("Liest Bild {done} von {total}", "Reading picture {done} of {total}"),
    "embedding": ("Erschließt Abschnitt {done} von {total}", "Indexing section {done} of {total}"),
    "failed": ("Fehlgeschlagen", "Failed"),
    "retry": ("Erneut versuchen", "Retry"),
    "remove_failed": ("Entfernen", "Remove"),
    "page_count": ("{n} Seiten", "{n} pages"),
    "one_page": ("1 Seite", "1 page"),
    "word_count": ("{n} Wörter", "{n} words"),
    "skipped_one": ("Seite {pages}: {reason}", "Page {pages}: {reason}"),
    "skipped_many": ("Seiten {pages}: {reason}", "Pages {pages}: {reason}"),
    "selection_all": ("Antworten aus allen Quellen", "Answers from all sources"),
    "selection_some": (
        "Antworten aus {n} von {total} Quellen",
        "Answers from {n} of {total} sources",
    ),
    "selection_none": (
        "Keine Quelle ausgewählt: Antworten kommen aus Allgemeinwissen, ohne Belege.",
        "No source selected: answers are general knowledge, without citations.",
    ),
    "selection_none_keyless": (
        "Keine Quelle ausgewählt: Ohne Sprachmodell gibt es dann keine Antwort.",
        "No source selected: without a language model there will be no answer.",
    ),
    "selection_empty": ("Noch keine Quelle ist bereit.", "No source is ready yet."),
    "keyless": (
        "Ohne Sprachmodell zitiert Beleg und schreibt nicht selbst.",
        "Without a language model Beleg quotes and does not write.",
    ),
    "keyless_change": ("So änderst du das", "How to change that"),
    "keyless_how": (
        (
            "Starte Beleg mit INFERENCE_API_KEY, oder mit LLM_BASE_URL für einen eigenen Server."
            " Dann schreibt es Antworten und belegt sie."
        ),
        (
            "Restart Beleg with INFERENCE_API_KEY set, or LLM_BASE_URL for a server of your own."
            " Then it writes answers and cites."
        ),
    ),
    **ANSWER_TEXTS,
    "ask_label": ("Deine Frage", "Your question"),
    "ask_placeholder": ("Frage deine Quellen …", "Ask your sources …"),
    "ask": ("Fragen", "Ask"),
    "ask_hint": (
        "Enter sendet, Umschalt+Enter beginnt eine neue Zeile",
        "Enter sends, Shift+Enter starts a new line",
    ),
    "empty_chat": ("Was möchtest du wissen?", "What would you like to know?"),
    "empty_chat_more": (
        "Jede Antwort nennt ihre Stellen. Ein Klick auf eine Nummer zeigt den Satz in der Quelle.",
        "Every answer names its passages. Click a number to see the sentence in its source.",
    ),
    "add_first": ("Quellen hinzufügen", "Add sources"),
    "earlier_turns": ("Frühere Fragen", "Earlier questions"),
    "clear": ("Chat leeren", "Clear chat"),
    "clear_more": (
        "Alle Fragen und Antworten dieses Notizbuchs werden gelöscht.",
        "All questions and answers of this notebook are deleted.",
    ),
    "you_asked": ("Frage", "Question"),
    "left_out": (
        "Nicht gesucht (wegen des Minus davor): {what}",
        "Left out, for the minus before it: {what}",
    ),
    "answer": ("Antwort", "Answer"),
    "writing": ("Antwort wird geschrieben", "The answer is being written"),
    "reload_hint": (
        "Ohne JavaScript: Lade die Seite neu, um die Antwort zu sehen.",
        "Without JavaScript: reload the page to see the answer.",
    ),
    "stop": ("Anhalten", "Stop"),
    "stopped": ("Angehalten. Was geschrieben war, bleibt.", "Stopped. What was written is kept."),
    "stopped_empty": (
        "Angehalten, bevor etwas geschrieben war.",
        "Stopped before a word was written.",
    ),
    "answer_failed": ("Die Antwort ist abgebrochen", "The answer broke off"),
    "ask_again": ("Noch einmal fragen", "Ask again"),
    "extractive": ("Zitierte Stellen, kein Sprachmodell", "Quoted passages, no language model"),
    "general": (
        "Allgemeinwissen, nicht aus deinen Quellen",
        "General knowledge, not from your sources",
    ),
    "refused": ("Keine Antwort aus den Quellen", "No answer from the sources"),
    "cited": ("Zitierte Stellen", "Cited passages"),
    "cite_label": ("Beleg {n}: {title}, {where}", "Citation {n}: {title}, {where}"),
    "cite_label_plain": ("Beleg {n}: {title}", "Citation {n}: {title}"),
    "page_n": ("Seite {n}", "page {n}"),
    "page_short": ("S. {n}", "p. {n}"),
    "similarity": ("Ähnlichkeit", "Similarity"),
    "retrieved": ("Fundstellen", "What was retrieved"),
    "rank": ("Rang", "Rank"),
    "source": ("Quelle", "Source"),
    "page": ("Seite", "Page"),
    "was_cited": ("zitiert", "cited"),
    "not_cited": ("nicht zitiert", "not cited"),
    "use": ("Verwendet", "Use"),
    "source_removed": ("Quelle entfernt", "Source removed"),
    "source_removed_more": (
        (
            "Diese Quelle ist nicht mehr im Notizbuch. Die Antwort bleibt, ihre Stelle lässt sich"
            " nicht mehr öffnen."
        ),
        (
            "This source is no longer in the notebook. The answer stays; its passage can no"
            " longer be opened."
        ),
    ),
    "quoted_then": ("Zitiert wurde", "It was quoted as"),
    "empty_viewer": ("Belege prüfen", "Check the evidence"),
    "empty_viewer_more": (
        (
            "Klicke auf eine Nummer in einer Antwort: Hier erscheint die Stelle, und der"
            " belegende Satz ist markiert."
        ),
        (
            "Click a number in an answer: the passage appears here with the sentence that bears it"
            " marked."
        ),
    ),
    "as_text": ("Text", "Text"),
    "as_image": ("Seitenbild", "Page image"),
    "slide_of": ("Folie {n} von {total}", "Slide {n} of {total}"),
    "sheet_of": ("Blatt {n} von {total}", "Sheet {n} of {total}"),
    "chapter_of": ("Kapitel {n} von {total}", "Chapter {n} of {total}"),
    "one_slide": ("1 Folie", "1 slide"),
    "one_sheet": ("1 Blatt", "1 sheet"),
    "one_chapter": ("1 Kapitel", "1 chapter"),
    "slide_count": ("{n} Folien", "{n} slides"),
    "sheet_count": ("{n} Blätter", "{n} sheets"),
    "chapter_count": ("{n} Kapitel", "{n} chapters"),
    "page_of": ("Seite {n} von {total}", "Page {n} of {total}"),
    "previous_page": ("Vorherige Seite", "Previous page"),
    "next_page": ("Nächste Seite", "Next page"),
    "earlier_text": ("Vorheriger Text", "Earlier text"),
    "later_text": ("Weiterer Text", "Later text"),
    "page_image_alt": (
        "Bild von Seite {n} aus „{title}“",
        "Image of page {n} of “{title}”",
    ),
    "no_text_here": (
        "Auf dieser Seite wurde kein Text gelesen. Das Seitenbild zeigt sie.",
        "No text was read on this page. The page image shows it.",
    ),
    "summary": ("Zusammenfassung", "Summary"),
    "summary_quoted": (
        "Sätze aus der Quelle, ohne Sprachmodell zusammengestellt.",
        "Sentences of the source, put together without a language model.",
    ),
    "summary_none": ("Es gibt keine Zusammenfassung: {why}", "There is no summary: {why}"),
    "not_read_yet": ("Diese Quelle ist noch nicht gelesen.", "This source has not been read yet."),
    "pages_locked": (
        (
            "Das Passwort dieses PDFs wurde nur zum Lesen gebraucht und nicht behalten, deshalb"
            " gibt es keine Bilder seiner Seiten. Lade das Original herunter, um sie zu sehen."
        ),
        (
            "The password of this PDF was used for reading it and not kept, so there are no images"
            " of its pages. Download the original to see them."
        ),
    ),
    "no_highlight": (
        "Die Stelle ließ sich auf dem Seitenbild nicht einzeichnen.",
        "The sentence could not be marked on the page image.",
    ),
    "open_alone": ("Auf eigener Seite öffnen", "Open on a page of its own"),
    "back_to_notebook": ("Zurück zum Notizbuch", "Back to the notebook"),
}

_MEGABYTE = 1_000_000
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


_CENT = Decimal("0.01")
_GERMAN = str.maketrans(",.", ".,")
_AMOUNTS = re.compile(
    r".*has (?:more than )?([\d.,]+) (?:words|MB|MB as MP3|sources)"
    r"(?:(?:;|, and) ([\d.,]+) .*the limit.*|, the limit\.)",
    re.DOTALL,
)
"""How much there is of something, and its limit, in a sentence that says so."""


@dataclass(frozen=True, slots=True)
class Words:
    """The texts in one language; calling it with a name gives a text."""

    language: str

    def __call__(self, name: str, **values: object) -> str:
        """A text with its values filled in.

        Raises:
            KeyError: there is no such text, or a value is missing.
        """
        text = TEXTS[name][LANGUAGES.index(self.language)]
        return text.format(**values) if values else text

    def reason(self, clause: str) -> str:
        """Why a page was skipped; a clause that is not known here is shown as it is."""
        known = REASONS.get(clause)
        return known[LANGUAGES.index(self.language)] if known else clause

    def problem(self, problem: Problem) -> str:
        """What went wrong: in German where its code is known here, else the detail itself."""
        if self.language == "de":
            for code, words_of_it, text in GERMAN_PROBLEMS:
                if code == problem.code and words_of_it in problem.detail:
                    amounts = _AMOUNTS.fullmatch(problem.detail)
                    return (
                        text.format(*(n.translate(_GERMAN) for n in amounts.groups("")))
                        if amounts
                        else text
                    )
        return problem.detail

    def number(self, value: int) -> str:
        """1,234 or 1.234."""
        text = f"{value:,}"
        return text.replace(",", ".") if self.language == "de" else text

    def size(self, count: int) -> str:
        """950 KB, 1.2 MB or 1,2 MB."""
        if count < _MEGABYTE:
            return f"{max(1, round(count / 1000))} KB" if count else "0 KB"
        text = f"{count / _MEGABYTE:.1f}".removesuffix(".0")
        return f"{text.replace('.', ',') if self.language == 'de' else text} MB"

    def money(self, amount: Decimal | int) -> str:
        """$1.50 or 1,50 $; the smaller it is, the more decimals."""
        decimals = 2 if amount >= 1 or not amount else 4 if amount >= _CENT else 6
        text = f"{amount:,.{decimals}f}"
        whole, point, parts = text.partition(".")
        text = f"{whole}{point}{parts[:2]}{parts[2:].rstrip('0')}"
        if self.language == "de":
            return f"{text.translate(_GERMAN)} $"
        return f"${text}"

    def share(self, value: float) -> str:
        """0.83 or 0,83."""
        text = f"{value:.2f}"
        return text.replace(".", ",") if self.language == "de" else text

    def date(self, moment: date) -> str:
        """29.11.2026 or 29 Nov 2026."""
        if self.language == "de":
            return f"{moment.day}.{moment.month}.{moment.year}"
        return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"

    def moment(self, moment: datetime) -> str:
        """29.11.2026, 14:05 UTC or 29 Nov 2026, 14:05 UTC."""
        return f"{self.date(moment)}, {moment:%H:%M} UTC"


_WORDS = {language: Words(language) for language in LANGUAGES}


def words(language: str) -> Words:
    """The texts in that language, or in English."""
    return _WORDS.get(language, _WORDS["en"])


def preferred(accept_language: str) -> str:
    """The language of ours that a browser ranks highest; English where it names none.

    Args:
        accept_language: the header, such as `de-AT,de;q=0.8,en;q=0.5`.
    """
    best, best_weight = "en", 0.0
    for part in accept_language.split(","):
        tag, _, weight = part.partition(";q=")
        language = tag.strip().lower().split("-", 1)[0]
        try:
            weighs = float(weight) if weight else 1.0
        except ValueError:
            continue
        if language in LANGUAGES and weighs > best_weight:
            best, best_weight = language, weighs
    return best
