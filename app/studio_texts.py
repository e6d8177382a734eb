"""The words of the studio: what is made from sources, in German and English."""

from collections.abc import Mapping

STUDIO_TEXTS: Mapping[str, tuple[str, str]] = {
    "studio": ("Studio", "Studio"),
    "overviews": ("Audio-Überblicke", "Audio overviews"),
    "overview_untitled": ("Audio-Überblick", "Audio overview"),
    "overview_make": ("Audio-Überblick erstellen", "Make an audio overview"),
    "overview_make_more": (
        "In rund fünf Minuten zu hören, was in deinen Quellen steht.",
        "Hear in about five minutes what your sources say.",
    ),
    "overview_all": ("Aus allen Quellen dieses Notizbuchs.", "From all sources of this notebook."),
    "overview_some": (
        "Aus {n} von {total} Quellen, so wie in der Liste angehakt.",
        "From {n} of {total} sources, as ticked in the list.",
    ),
    "overview_none": (
        "Hake in der Liste der Quellen an, woraus er gemacht werden soll.",
        "Tick in the list of sources what it is to be made from.",
    ),
    "overview_empty": (
        "Füge zuerst eine Quelle hinzu. Sobald sie bereit ist, geht es hier weiter.",
        "Add a source first. Once it is ready, you can go on here.",
    ),
    "overview_no_script": (
        "Ohne Skripte wird er aus allen Quellen gemacht, die bereit sind.",
        "Without scripts it is made from every source that is ready.",
    ),
    "overview_focus": ("Worauf kommt es an?", "What matters most?"),
    "overview_focus_example": (
        "z. B. Was Mieter zuerst wissen müssen",
        "e.g. What tenants have to know first",
    ),
    "optional": ("optional", "optional"),
    "overview_voices": ("Eine Stimme oder zwei", "One voice or two"),
    "lang_de": ("Deutsch", "German"),
    "lang_en": ("Englisch", "English"),
    "overview_cost": ("Kostet höchstens {money}.", "Costs {money} at most."),
    "overview_free": ("Kostet nichts.", "Costs nothing."),
    "overview_left": (
        "Noch {today} heute, {here} in diesem Notizbuch.",
        "{today} left today, {here} in this notebook.",
    ),
    "overview_go": ("Erstellen", "Make it"),
    "missing_voice": (
        (
            "Hier liest noch nichts vor: Setze TTS_PROVIDER und den Schlüssel des Anbieters, oder"
            " installiere espeak-ng für eine Stimme dieses Rechners."
        ),
        (
            "Nothing reads aloud here yet: set TTS_PROVIDER and its provider's key, or install"
            " espeak-ng for a voice of this machine."
        ),
    ),
    "missing_writer": (
        (
            "Hier schreibt noch kein Sprachmodell: Setze INFERENCE_API_KEY, oder LLM_BASE_URL und"
            " LLM_MODEL für einen eigenen Server."
        ),
        (
            "No language model writes here yet: set INFERENCE_API_KEY, or LLM_BASE_URL and"
            " LLM_MODEL for a server of your own."
        ),
    ),
    "obstacle_running": (
        "Erst muss fertig werden, was hier gerade entsteht. Dann kannst du den nächsten erstellen.",
        "What is being made here has to be ready first. Then you can make the next one.",
    ),
    "obstacle_kept": (
        "Dieses Notizbuch hat schon {n} Audio-Überblicke, mehr behält es nicht. Lösche einen.",
        "This notebook has {n} audio overviews and keeps no more. Delete one first.",
    ),
    "obstacle_day": (
        (
            "Deine {n} Audio-Überblicke von heute sind aufgebraucht; gelöschte zählen mit. Morgen"
            " (UTC) geht es weiter."
        ),
        (
            "Your {n} audio overviews of today are used up; deleted ones count. Go on tomorrow"
            " (UTC)."
        ),
    ),
    "no_overviews": ("Noch keine Audio-Überblicke", "No audio overviews yet"),
    "making_writing": ("Schreibt das Manuskript …", "Writing the script …"),
    "making_speaking": ("Liest vor: {done} von {total} Teilen", "Reading: {done} of {total} parts"),
    "making_joining": ("Fügt die Aufnahme zusammen …", "Joining the recording …"),
    "overview_of_one": ("aus 1 Quelle", "from 1 source"),
    "overview_of_many": ("aus {n} Quellen", "from {n} sources"),
    "overview_duration": ("Dauer", "Duration"),
    "overview_listen": ("„{title}“ anhören", "Listen to “{title}”"),
    "overview_ask": ("Dazu fragen", "Ask about it"),
    "overview_mp3": ("MP3 herunterladen", "Download MP3"),
    "overview_markdown": ("Text herunterladen", "Download the text"),
    "overview_delete_confirm": (
        (
            "„{title}“ löschen? Aufnahme und Text gehen verloren, auch als Quelle für Antworten."
            " Das lässt sich nicht rückgängig machen."
        ),
        (
            "Delete “{title}”? Recording and text are lost, as a source for answers, too. This"
            " cannot be undone."
        ),
    ),
    "transcript": ("Mitlesen", "Transcript"),
}
