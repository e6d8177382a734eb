"""An answer to take along: with its citations, as Markdown and as HTML."""

import re

from markupsafe import Markup, escape

from app.answer_html import numbered_html
from app.texts import Words
from domain.conversation import Answer, Citation

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#])")
_CODE = re.compile(r"(```.*?```|~~~.*?~~~|`[^`\n]*`)", re.DOTALL)
_LOADS = re.compile(r"!(?=\[)|<(?=[a-zA-Z/!?])")
"""What makes a reader of Markdown load something, or take it for HTML."""


def as_markdown(answer: Answer, t: Words) -> str:
    """The text, which loads nothing wherever it is read, and what its markers stand for."""
    text = inert(answer.text)
    lines = [cited(citation, t) for citation in answer.citations]
    if not lines:
        return f"{text}\n"
    return "\n".join([text, "", f"**{t('citations_heading')}**", "", *lines, ""])


def as_html(answer: Answer, t: Words) -> Markup:
    """Likewise, for a word processor: markers are numbers in brackets, none a link of ours."""
    parts = [numbered_html(answer)]
    if answer.citations:
        parts.append(Markup("<p><strong>{}</strong></p>").format(t("citations_heading")))
        parts += [
            Markup("<p>[{}] {}{}</p>").format(
                citation.marker, _where(citation, t), escape(_quote(citation, t, escaped=False))
            )
            for citation in answer.citations
        ]
    return Markup("").join(parts)


def cited(citation: Citation, t: Words) -> str:
    """What a marker stands for, as an item of a list in Markdown."""
    return f"- \\[{citation.marker}\\] {plain(_where(citation, t))}{_quote(citation, t)}"


def _where(citation: Citation, t: Words) -> str:
    title = " ".join(citation.source_title.split())
    if citation.removed:
        return f"{title} ({t('source_removed')})" if title else t("source_removed")
    return f"{title}, {t('page_short', n=citation.page)}" if citation.page else title


def _quote(citation: Citation, t: Words, *, escaped: bool = True) -> str:
    """Its first quote, if it still has one."""
    quote = " ".join(citation.mentions[0].quote.split())
    if not quote:
        return ""
    left, right = ("„", "“") if t.language == "de" else ("“", "”")
    return f": {left}{plain(quote) if escaped else quote}{right}"


def inert(text: str) -> str:
    """Markdown whose pictures and tags are shown as they are written; code stays as it is."""
    parts = _CODE.split(text)  # code stands at the odd places
    parts[::2] = [_LOADS.sub(r"\\\g<0>", part) for part in parts[::2]]
    return "".join(parts)


def plain(text: str) -> str:
    """Text as Markdown that shows it as it is."""
    return _SPECIAL.sub(r"\\\1", text)
