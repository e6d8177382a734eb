"""Why a page did not do what was asked of it, in German."""

PAGE_PROBLEMS = (
    # as in `app.problem_texts`: a code, words that the detail then holds, and what is said
    (
        *("not_signed_in", "did not begin here"),
        "Diese Anmeldung begann nicht hier oder dauerte zu lange. Versuche es noch einmal.",
    ),
    ("not_signed_in", "is shut", "Dieses Konto ist gesperrt. Frage die Verwaltung."),
    (
        *("not_signed_in", "signed nobody in"),
        "Der Anmeldedienst hat niemanden angemeldet. Versuche es noch einmal.",
    ),
    ("not_signed_in", "", "Melde dich zuerst an."),
    ("forbidden", "Only the admin", "Das darf nur die Verwaltung."),
    (
        *("forbidden", "only its owner"),
        "Dieses Notizbuch ist mit dir geteilt. Das darf nur, wem es gehört.",
    ),
    (
        *("forbidden", "shared with you to read"),
        "Dieses Notizbuch ist zum Lesen mit dir geteilt. Fragen kann, wem der Besitzer es erlaubt.",
    ),
    (
        *("forbidden", "has not verified your e-mail"),
        "Der Anmeldedienst hat deine E-Mail-Adresse nicht bestätigt.",
    ),
    (
        *("forbidden", "form is out of date"),
        "Dieses Formular ist veraltet. Lade die Seite neu und versuche es noch einmal.",
    ),
    (
        *("forbidden", "CSRF token"),
        "Dieses Formular ist veraltet. Lade die Seite neu und versuche es noch einmal.",
    ),
    ("forbidden", "", "Das darfst du hier nicht."),
    ("conflict", "another identity", "Deine Adresse gehört hier schon zu einer anderen Anmeldung."),
    ("conflict", "is being deleted", "Dieses Konto wird gerade gelöscht."),
    ("conflict", "can be stopped", "Diese Quelle wird gerade nicht gelesen."),
    ("conflict", "source that failed", "Diese Quelle ist nicht mehr fehlgeschlagen."),
    ("conflict", "being read already", "Diese Quelle wird gerade gelesen."),
    ("conflict", "How this call ended", "Wie dieser Aufruf endete, ist schon bekannt."),
    ("conflict", "", "Das geht so nicht mehr. Lade die Seite neu."),
    ("not_found", "no such notebook", "Dieses Notizbuch gibt es nicht (mehr)."),
    ("not_found", "no such source", "Diese Quelle gibt es nicht (mehr)."),
    ("not_found", "no such answer", "Diese Antwort gibt es nicht (mehr)."),
    ("not_found", "", "Die Adresse stimmt nicht, oder was hier stand, gibt es nicht mehr."),
    ("invalid_request", " is empty.", "Diese Datei ist leer."),
    ("invalid_request", "Write a question", "Schreibe zuerst eine Frage."),
    ("invalid_request", "This question has", "Diese Frage ist zu lang. Kürze sie."),
    ("invalid_request", "This comment has", "Diese Anmerkung ist zu lang. Kürze sie."),
    ("invalid_request", "notebook needs a title", "Gib dem Notizbuch einen Titel."),
    ("invalid_request", "A title has at most", "Dieser Titel ist zu lang. Kürze ihn."),
    ("invalid_request", "password of a PDF", "So lang ist das Passwort eines PDFs nie."),
    ("invalid_request", "key of this form", "Dieses Formular ist veraltet. Lade die Seite neu."),
    (
        *("invalid_request", "The amount"),
        "Der Betrag ist eine Zahl größer als 0, in USD, mit höchstens neun Nachkommastellen.",
    ),
    ("invalid_request", "no whole number", "Trage eine ganze Zahl ein."),
    (
        *("invalid_request", "or null for the setting"),
        "Eine Grenze ist eine ganze Zahl ab 0. Leer gilt, was in den Einstellungen steht.",
    ),
    (
        *("invalid_request", "do not all read the language"),
        "Diese Stimmen lesen nicht alle diese Sprache. Wähle Stimmen einer Sprache.",
    ),
    ("invalid_request", "cannot be spoken", "Diese Sprache spricht der Anbieter hier nicht."),
    ("not_set_up", "", "Was dafür gebraucht wird, ist hier nicht eingerichtet."),
    ("model_error", "", "Das Modell hat nicht geantwortet."),
)
