"""Why something failed or was left out, in German, and in English where that differs."""

from collections.abc import Mapping

from app.page_problem_texts import PAGE_PROBLEMS
from app.studio_problem_texts import STUDIO_PROBLEMS

REASONS: Mapping[str, tuple[str, str]] = {
    # why a page gave no text, as a reader of files says it: (German, English after a colon)
    "has no text layer": ("keine Textebene", "no text layer"),
    "has a text layer of symbols or glyph codes, not of letters": (
        "Textebene aus Zeichencodes statt Buchstaben",
        "a text layer of glyph codes, not of letters",
    ),
    "has a text layer whose letters are scrambled": (
        "Textebene mit vertauschten Buchstaben",
        "a text layer whose letters are scrambled",
    ),
    "holds no text": ("kein Text", "no text"),
    "cannot be opened": ("nicht zu öffnen", "cannot be opened"),
    "is only the placeholder of a dynamic form (XFA): to read its content, open it in Adobe"
    " Reader, print it to a new PDF, and upload that": (
        (
            "nur der Platzhalter eines dynamischen Formulars (XFA): öffne es in Adobe Reader,"
            " drucke es in ein neues PDF und lade das hoch"
        ),
        (
            "only the placeholder of a dynamic form (XFA): open it in Adobe Reader, print it to a"
            " new PDF, and upload that"
        ),
    ),
    "shows nothing that can be read": ("nichts Lesbares", "nothing that can be read"),
    "shows nothing that tesseract can read": (
        "nichts, was Tesseract lesen kann",
        "nothing that tesseract can read",
    ),
    "was not transcribed: the vision model refuses to": (
        "nicht gelesen: das Bildmodell weigert sich",
        "not transcribed: the vision model refuses to",
    ),
    "was cut off: its text is longer than one answer of the vision model may be": (
        "abgeschnitten: länger, als eine Antwort des Bildmodells sein darf",
        "cut off: longer than one answer of the vision model may be",
    ),
    "was read for its text alone: describing it needs a vision model (set VISION_MODEL)": (
        "nur der Text gelesen: eine Beschreibung braucht ein Bildmodell (VISION_MODEL)",
        "only its text was read: describing it needs a vision model (set VISION_MODEL)",
    ),
}

GERMAN_PROBLEMS = (
    # a code, words that the detail then holds, and what is said; the first that fits is taken.
    # {0} and {1} are how much there is, and the limit
    *STUDIO_PROBLEMS,
    (
        *("password_needed", "not by the one that was entered"),
        "Dieses Passwort öffnet das PDF nicht. Gib es noch einmal ein.",
    ),
    ("password_needed", "", "Das PDF ist mit einem Passwort geschützt. Gib es ein."),
    (
        *("unreadable", 'Capture mode "text"'),
        (
            "Auf keiner Seite steht lesbarer Text, und gelesen wird hier nur die Textebene. Füge"
            " die Datei noch einmal hinzu, automatisch oder als Bild gelesen."
        ),
    ),
    (
        *("not_set_up", "nothing here reads pictures"),
        (
            "Auf keiner Seite steht lesbarer Text, und hier liest nichts Bilder: Setze"
            " INFERENCE_API_KEY oder VISION_BASE_URL, oder installiere tesseract-ocr."
        ),
    ),
    (
        *("unreadable", "had pictures of them read"),
        "Auch auf den Bildern der Seiten ist kein Text zu lesen. Lade einen schärferen Scan hoch.",
    ),
    (
        *("not_set_up", "Nothing here reads images"),
        (
            "Hier liest nichts Bilder: Setze INFERENCE_API_KEY oder VISION_BASE_URL, oder"
            " installiere tesseract-ocr."
        ),
    ),
    (
        *("unreadable", "no text in this image"),
        "In diesem Bild ist kein Text zu lesen. Lade ein schärferes hoch.",
    ),
    (
        *("unreadable", "image is damaged"),
        "Das Bild ist beschädigt. Speichere es in einem anderen Programm neu und lade das hoch.",
    ),
    (
        *("not_set_up", "Nothing here transcribes"),
        (
            "Hier schreibt nichts Aufnahmen ab: Setze STT_MODEL mit STT_API_KEY oder STT_BASE_URL,"
            " oder installiere beleg[speech]."
        ),
    ),
    (
        *("unreadable", "No speech was heard"),
        "In dieser Aufnahme war keine Sprache zu hören. Der Aufruf bleibt berechnet.",
    ),
    (
        *("unreadable", "recording is silent"),
        "Diese Aufnahme ist still; es wurde nichts berechnet. Prüfe das Mikrofon oder die Datei.",
    ),
    (
        *("unreadable", "recording is damaged"),
        "Die Aufnahme ist beschädigt. Speichere sie in einem anderen Programm neu.",
    ),
    (
        *("unreadable", "holds no sound"),
        "In dieser Datei ist kein Ton. Füge eine Aufnahme hinzu.",
    ),
    (
        *("too_large", "recording lasts"),
        "Die Aufnahme ist länger als vier Stunden. Teile sie und füge die Teile hinzu.",
    ),
    ("unreadable", "pixels", "Das Bild ist zu groß. Verkleinere es und lade das hoch."),
    (
        *("too_large", "PDF_VISION_MAX_PAGES"),
        (
            "Zu viele Seiten müssten als Bild gelesen werden (PDF_VISION_MAX_PAGES). Teile das PDF,"
            " oder lass nur die Textebene lesen."
        ),
    ),
    (
        *("unreadable", "text layer"),
        "Auf keiner Seite steht lesbarer Text. Lade eine Fassung mit Textebene hoch.",
    ),
    ("unreadable", "file is empty", "Die Datei ist leer."),
    (
        *("unreadable", "only white space"),
        "In der Datei stehen nur Leerzeichen. Lade eine mit Text hoch.",
    ),
    (
        *("unreadable", "whether a human"),
        "Die Seite fragt, ob ein Mensch liest. Öffne sie im Browser und füge ihren Text ein.",
    ),
    (
        *("unreadable", "made by a script"),
        (
            "Die Seite entsteht erst durch ein Skript im Browser. Öffne sie dort und füge ihren"
            " Text ein."
        ),
    ),
    (
        *("unreadable", "consent to cookies"),
        "Die Seite fragt nur nach Cookies. Öffne sie im Browser und füge ihren Text ein.",
    ),
    ("unreadable", "access is denied", "Die Seite verweigert den Zugriff."),
    ("unreadable", "next to no text", "Auf der Seite steht fast kein Text."),
    (
        "unreadable",
        "macros",
        "Die Datei enthält Makros. Speichere sie ohne Makros und lade das hoch.",
    ),
    ("unreadable", "DRM", "Das Buch ist kopiergeschützt (DRM) und lässt sich nicht lesen."),
    (
        *("unreadable", "protected by a password. Save"),
        "Die Datei ist mit einem Passwort geschützt. Speichere sie ohne und lade das hoch.",
    ),
    ("unsupported_type", ".docx", "Ein altes Word-Dokument (.doc). Speichere es als .docx."),
    ("unsupported_type", ".pptx", "Eine alte Präsentation (.ppt). Speichere sie als .pptx."),
    ("unsupported_type", ".xlsx", "Eine alte Excel-Mappe (.xls). Speichere sie als .xlsx."),
    (
        *("unreadable", "PDF is broken"),
        "Das PDF ist beschädigt. Speichere es in einem anderen Programm neu und lade das hoch.",
    ),
    (
        *("unreadable", "took too long"),
        "Das Lesen dauerte zu lange. Teile die Datei oder speichere sie neu und lade das hoch.",
    ),
    (
        *("unreadable", "damaged"),
        "Die Datei ist beschädigt. Speichere sie in einem anderen Programm neu.",
    ),
    ("unreadable", "encoding of this text", "Die Textdatei ist unklar codiert. Nimm UTF-8."),
    ("unreadable", "", "Aus dieser Datei ließ sich kein Text lesen."),
    (
        *("unsupported_type", ""),
        (
            "Diese Art von Datei ist nicht lesbar. Lesbar sind PDF, Word, PowerPoint, Excel, CSV,"
            " EPUB, HTML, Text und Markdown, Bilder und Tonaufnahmen."
        ),
    ),
    (
        *("too_large", " words; "),
        "Diese Quelle hat {0} Wörter; {1} ist die Grenze. Teile sie auf mehrere Dateien auf.",
    ),
    (
        *("too_large", "MB as MP3"),
        "Als MP3 hat die Aufnahme {0} MB; {1} MB ist die Grenze. Teile sie auf.",
    ),
    ("too_large", " MB; ", "Diese Datei hat {0} MB; {1} MB ist die Grenze. Teile sie auf."),
    (
        *("too_large", " sources, and "),
        (
            "Dieses Notizbuch hat {0} Quellen; {1} ist die Grenze. Nimm eine heraus, oder benutze"
            " ein anderes Notizbuch."
        ),
    ),
    (
        *("too_large", "MB, the limit"),
        "Die Seite hat mehr als {0} MB, die Grenze. Füge nur den Text ein, den du brauchst.",
    ),
    ("too_large", "", "Das überschreitet die erlaubte Größe."),
    ("address_refused", "", "Das ist keine Adresse einer öffentlichen Webseite."),
    ("unreachable", "", "Unter dieser Adresse kam keine Seite. Versuche es später noch einmal."),
    ("model_unavailable", "", "Das Modell antwortet gerade nicht."),
    ("model_refused", "", "Der Anbieter des Modells weist die Anfrage ab."),
    ("model_cut", "", "Die Antwort des Modells brach vor ihrem Ende ab."),
    ("answer_too_long", "", "Die Antwort stieß an die Grenze des Modells."),
    ("model_answer_invalid", "", "Die Antwort des Modells ist nicht zu gebrauchen."),
    ("stopped", "", "Drücke auf „Erneut versuchen“, um dort weiterzumachen."),
    ("credit_exhausted", "", "Dein Guthaben reicht dafür nicht."),
    (
        *("quota_exhausted", "questions"),
        "Deine Fragen von heute sind in diesem Notizbuch aufgebraucht. Frage morgen weiter (UTC).",
    ),
    ("unavailable", "", "Das ist gerade nicht möglich. Versuche es gleich noch einmal."),
    ("internal_error", "", "Das lag an einem Fehler in Beleg."),
    ("not_signed_in", "Address or password", "Adresse oder Passwort stimmt nicht."),
    ("wrong_password", "", "Das Passwort stimmt nicht."),
    (
        *("too_many_attempts", ""),
        "Zu viele Versuche schlugen fehl. Warte einige Minuten und versuche es dann noch einmal.",
    ),
    ("conflict", "has an account already", "Diese Adresse hat schon ein Konto. Melde dich an."),
    ("invalid_request", "no e-mail address", "Das ist keine E-Mail-Adresse."),
    ("invalid_request", "A password has", "Ein Passwort hat 8 bis 1.024 Zeichen."),
    (
        *("forbidden", "Sign-up is closed"),
        "Neue Konten legt hier nur die Verwaltung an. Bitte sie um eines.",
    ),
    (
        *("forbidden", "by invitation"),
        "Konten gibt es hier auf Einladung, und diese gilt nicht (mehr). Frage die Verwaltung.",
    ),
    (
        *("forbidden", "by a token with every scope"),
        (
            "Dieses Konto hat kein Passwort. Lösche es auf seiner Seite, oder mit einem Schlüssel,"
            " der alles darf."
        ),
    ),
    (
        *("not_found", "This link does not count"),
        "Dieser Link gilt nicht mehr. Bitte die Verwaltung um einen neuen.",
    ),
    ("not_found", "has no account here", "Diese Adresse hat hier kein Konto."),
    (
        *("invalid_request", "/usage.csv"),
        (
            "Diese Seite zeigt höchstens 366 Tage. Wähle einen kürzeren Zeitraum, oder nimm"
            " /usage.csv, das jeden fasst."
        ),
    ),
    ("invalid_request", "yours already", "Dieses Notizbuch gehört dir schon."),
    (
        *("conflict", "you would lock yourself out"),
        "Das muss jemand anders aus der Verwaltung tun: du würdest dich aussperren.",
    ),
    (
        *("conflict", "the only admin"),
        "Das ist die einzige Person in der Verwaltung. Ernenne erst jemand anderen.",
    ),
    *PAGE_PROBLEMS,
)
