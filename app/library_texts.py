"""The words of the library, and of adding to it, in German and English."""

from collections.abc import Mapping

LIBRARY_TEXTS: Mapping[str, tuple[str, str]] = {
    "library": ("Bibliothek", "Library"),
    "library_more": (
        (
            "Alles, was du je hinzugefügt hast. Jede Datei liegt hier einmal, in wie vielen"
            " Notizbüchern sie auch steht."
        ),
        "Everything you ever added. Each file is kept here once, whatever the number of notebooks.",
    ),
    "library_empty": ("Deine Bibliothek ist leer", "Your library is empty"),
    "library_empty_more": (
        "Was du in einem Notizbuch hinzufügst, steht auch hier.",
        "What you add to a notebook stands here as well.",
    ),
    "library_nothing": ("Nichts gefunden", "Nothing found"),
    "library_nothing_more": ("Suche mit anderen Wörtern.", "Look for other words."),
    "library_search": ("Titel, Datei oder Adresse", "Title, file or address"),
    "library_any_kind": ("Jede Art", "Any kind"),
    "library_any_status": ("Jeder Stand", "Any state"),
    "library_filter": ("Suchen", "Search"),
    "library_rest": ("Weitere Quellen", "More sources"),
    "library_no_notebook": ("in keinem Notizbuch", "in no notebook"),
    "library_in": ("In", "In"),
    "library_add_to": ("In ein Notizbuch legen", "Add to a notebook"),
    "library_add": ("Hinzufügen", "Add"),
    "library_pick": ("Aus der Bibliothek", "From the library"),
    "library_pick_none": (
        "Die Bibliothek hat nichts, was hier noch fehlt.",
        "The library has nothing that is missing here.",
    ),
    "library_pick_most": (
        "Das sind die neuesten {n}; suche nach den übrigen.",
        "These are the latest {n}; search for the others.",
    ),
    "library_delete": ("Aus der Bibliothek löschen", "Delete from the library"),
    "library_delete_more": (
        (
            "Gelöscht werden die Datei, alles, was daraus gelesen und berechnet wurde, und die"
            " Zitate daraus in deinen Antworten. Das lässt sich nicht rückgängig machen."
        ),
        (
            "The file goes, with all that was read and computed from it, and the quotes of it in"
            " your answers. This cannot be undone."
        ),
    ),
    "library_delete_from": ("Sie verschwindet aus: {titles}.", "It vanishes from: {titles}."),
    "kind_pdf": ("PDF", "PDF"),
    "kind_text": ("Text", "Text"),
    "kind_markdown": ("Markdown", "Markdown"),
    "kind_url": ("Web", "Web"),
    "kind_html": ("HTML", "HTML"),
    "kind_docx": ("Word", "Word"),
    "kind_pptx": ("Folien", "Slides"),
    "kind_xlsx": ("Excel", "Excel"),
    "kind_csv": ("CSV", "CSV"),
    "kind_epub": ("Buch", "Book"),
    "kind_image": ("Bild", "Image"),
    "kind_audio": ("Ton", "Audio"),
    "kind_generated": ("Dokument", "Document"),
    "status_queued": ("Wartet", "Queued"),
    "status_processing": ("In Arbeit", "In preparation"),
    "status_ready": ("Bereit", "Ready"),
    "status_failed": ("Fehlgeschlagen", "Failed"),
    "stop_reading": ("Abbrechen", "Cancel"),
    "reading_stopped": ("Angehalten", "Stopped"),
    "add_folder": ("Ganzer Ordner", "A whole folder"),
    "limits": (
        "bis {file}, Ton bis {audio} · {sources} Quellen",
        "up to {file}, audio to {audio} · {sources} sources",
    ),
    "already_here": (
        "„{title}“ steht schon in diesem Notizbuch.",
        "“{title}” is in this notebook already.",
    ),
    "up_waiting": ("wartet", "waiting"),
    "up_sending": ("{sent} von {size}", "{sent} of {size}"),
    "up_checking": ("wird angenommen …", "being taken in …"),
    "up_cancel": ("Abbrechen", "Cancel"),
    "up_dismiss": ("Schließen", "Dismiss"),
    "up_cancelled": ("Abgebrochen.", "Cancelled."),
    "up_too_large": (
        "Diese Datei hat {size}; {most} ist die Grenze.",
        "This file has {size}; {most} is the limit.",
    ),
    "up_unreadable": (
        "Der Browser konnte diese Datei nicht lesen.",
        "The browser could not read this file.",
    ),
    "up_failed": (
        "Der Server hat diese Datei nicht angenommen ({status}). Lade die Seite neu.",
        "The server did not take this file ({status}). Reload the page.",
    ),
    "up_hidden": (
        "Versteckte Dateien, die nicht hochgeladen wurden: {n}",
        "Hidden files that were not uploaded: {n}",
    ),
    "up_pasted": ("Eingefügter Text", "Pasted text"),
    "sound": ("Aufnahme anhören", "Listen to the recording"),
}
