"""Why a document is not made, in German."""

STUDIO_PROBLEMS = (
    # as in `app.problem_texts`: a code, words that the detail then holds, and what is said
    (
        *("not_set_up", "No model writes here"),
        (
            "Hier schreibt kein Sprachmodell: Setze INFERENCE_API_KEY, oder LLM_BASE_URL und"
            " LLM_MODEL für einen eigenen Server."
        ),
    ),
    (
        *("not_set_up", "Nothing here reads aloud"),
        (
            "Hier liest nichts vor: Setze TTS_PROVIDER und den Schlüssel des Anbieters, oder"
            " installiere espeak-ng für eine Stimme dieses Rechners."
        ),
    ),
    (
        *("not_set_up", "Nothing here speaks as"),
        "Hier spricht niemand mehr mit dieser Stimme. Erstelle einen neuen mit einer anderen.",
    ),
    (
        *("conflict", "that this was to be made from"),
        (
            "Die Quellen dafür wurden gelöscht oder enthalten keinen Text. Lösche diesen Überblick"
            " und erstelle einen neuen."
        ),
    ),
    (
        *("conflict", "Leave it out, or come back"),
        "Eine der gewählten Quellen ist nicht bereit. Lass sie weg, oder warte, bis sie es ist.",
    ),
    (
        *("conflict", "audio overviews, and"),
        "Dieses Notizbuch behält nicht noch mehr Audio-Überblicke. Lösche erst einen.",
    ),
    ("conflict", "This document is not", "Das ist noch nicht fertig."),
    (
        *("quota_exhausted", "being made in this notebook"),
        "In diesem Notizbuch entsteht gerade schon einer. Warte, bis er fertig ist.",
    ),
    (
        *("quota_exhausted", "audio overviews of today"),
        (
            "Deine Audio-Überblicke von heute sind aufgebraucht; gelöschte zählen mit. Morgen (UTC)"
            " geht es weiter."
        ),
    ),
    (
        *("invalid_request", "No source is selected"),
        "Es ist keine Quelle gewählt, die bereit ist. Füge eine hinzu, oder wähle eine.",
    ),
    ("not_found", "is not in this notebook", "Eine gewählte Quelle ist nicht in diesem Notizbuch."),
    ("invalid_request", "The focus has", "Der Schwerpunkt hat höchstens 2.000 Zeichen."),
    ("invalid_request", "A document needs a title", "Gib ihm einen Titel."),
    (
        *("model_answer_invalid", "wrote twice"),
        (
            "Das Modell schrieb zweimal etwas, das nicht zu gebrauchen ist. Beide Aufrufe bleiben"
            " berechnet; drücke auf „Erneut versuchen“, um es noch einmal schreiben zu lassen."
        ),
    ),
    (
        *("model_answer_invalid", "part of the text is missing"),
        "Die Aufnahme ist kürzer als ihr Text: ein Teil fehlt. Versuche es noch einmal.",
    ),
    (
        *("interrupted", "Making this"),
        (
            "Die Arbeit daran wurde immer wieder unterbrochen. Drücke auf „Erneut versuchen“, um"
            " weiterzumachen."
        ),
    ),
    (
        *("invalid_request", "voices are one voice"),
        "Wähle eine Stimme, oder zwei verschiedene.",
    ),
    (
        *("invalid_request", "is no source of another document"),
        "Was hier erstellt wurde, ist keine Quelle für Weiteres. Wähle es ab.",
    ),
    ("conflict", "Only a document that failed", "Das ist nicht mehr fehlgeschlagen."),
    (
        *("conflict", "not ready to be asked about"),
        "Danach lässt sich nicht fragen: Es ist noch nicht bereit, oder nicht mehr im Notizbuch.",
    ),
    ("expired", "", "Dieser Link ist abgelaufen. Öffne die Seite neu, dort steht ein frischer."),
)
