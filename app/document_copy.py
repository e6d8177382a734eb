"""A document to take along, as Markdown."""

from collections.abc import Sequence

from app.answer_copy import cited, inert, plain
from app.texts import Words
from domain.document import Document


def as_markdown(document: Document, sources: Sequence[str], t: Words) -> str:
    """Title, transcript, what its markers stand for, and the titles of its sources."""
    parts = [f"# {plain(document.title)}", inert(document.text or "")]
    if citations := [cited(citation, t) for citation in document.citations]:
        parts += [f"## {t('citations_heading')}", "\n".join(citations)]
    if titles := [f"- {plain(' '.join(title.split()))}" for title in sources]:
        parts += [f"## {t('sources')}", "\n".join(titles)]
    return "\n\n".join([*parts, ""])
