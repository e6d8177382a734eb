"""A document's text to be read along: paragraphs, who says them, and links at its markers."""

import re

from markupsafe import Markup, escape

from app.answer_html import cite_link
from app.studio_contexts import Said
from app.texts import Words
from domain.document import Document

_PARAGRAPH = re.compile(r"\S(?:.|\n(?!\n))*")
_SPEAKER = re.compile(r"([AB])\s?[:：]\s*")


def paragraphs_of(document: Document, t: Words, *, in_pane: bool) -> list[Said]:
    """The paragraphs in order; of two voices each is told with the one that says it.

    Args:
        in_pane: its markers open the viewer beside it; otherwise a page of its own.
    """
    text, path = document.text or "", f"/documents/{document.id}"
    links = sorted(
        (mention.answer_start, mention.answer_end, cite_link(path, cited, n, t, in_pane=in_pane))
        for cited in document.citations
        for n, mention in enumerate(cited.mentions)
    )
    paragraphs = []
    for found in _PARAGRAPH.finditer(text):
        named = _SPEAKER.match(text, found.start()) if len(document.voices) > 1 else None
        place, parts = named.end() if named else found.start(), list[Markup]()
        for start, end, link in links:
            if place <= start < found.end():
                parts += [escape(text[place:start]), link]
                place = end
        html = Markup("").join([*parts, escape(text[place : found.end()])])
        speaker = document.voices["AB".index(named[1])] if named else ""
        paragraphs.append(Said(speaker, html))
    return paragraphs
