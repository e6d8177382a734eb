"""An answer's text as safe HTML, with a link at every marker that cites."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from app.texts import Words
from domain.conversation import Answer, Check, Citation
from domain.titles import shortened

_OPEN, _CLOSE, _DOUBT_ENDS = "\ue000", "\ue001", "\ue002"
_DOUBTS = range(0xE100, 0xF8FF)
"""The n-th of them stands where the n-th doubtful stretch begins."""
_FOREIGN = dict.fromkeys(range(0xE000, 0xF900), "\ufffd")
_PART = re.compile(f"(<[^<>]*>|[{chr(_DOUBTS.start)}-{chr(_DOUBTS.stop)}{_DOUBT_ENDS}])")
_PLACE = re.compile(rf"\\?\[{_OPEN}(\d+){_CLOSE}\\?\]")
_PIECE = re.compile(r"(?P<ticks>`+)|(?P<blank>\n[ \t]*\n)|\[(?P<marker>\d{1,3})\]")
_FENCE = 3
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_MARKDOWN.disable("image")
_TAGS = {
    *("p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "a"),
    *("ul", "ol", "li", "h3", "h4", "h5", "h6"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}}
_SMALLEST_HEADING = 6
_LONGEST_HINT = 400
"""Characters of a quote that is seen over its marker."""


def answer_html(answer: Answer, t: Words) -> Markup:
    """The rendered text; markers are links exactly where the answer's mentions stand."""
    places = sorted(
        (
            (mention.answer_start, mention.answer_end, citation, number)
            for citation in answer.citations
            for number, mention in enumerate(citation.mentions)
        ),
        key=lambda place: place[:2],
    )
    spans = tuple((start, end) for start, end, _, _ in places)
    doubts = tuple((check.start, check.end) for check in answer.checks[: len(_DOUBTS)])
    safe = _underlined(_rendered(answer.text, spans, doubts), answer.checks, t)
    path = f"/answers/{answer.id}"
    links = [cite_link(path, citation, number, t) for _, _, citation, number in places]
    return Markup(_PLACE.sub(lambda found: links[int(found[1])], safe))  # noqa: S704 - sanitised


def numbered_html(answer: Answer) -> Markup:
    """The rendered text with its markers as numbers in brackets; no links of ours."""
    spans = sorted(
        (mention.answer_start, mention.answer_end)
        for citation in answer.citations
        for mention in citation.mentions
    )
    safe = _rendered(answer.text, tuple(spans), ())
    originals = [answer.text[start:end] for start, end in spans]
    return Markup(_PLACE.sub(lambda found: originals[int(found[1])], safe))  # noqa: S704 - sanitised


def check_label(check: Check, t: Words) -> str:
    """What is doubtful, in one line."""
    return t(f"check_{check.kind.value}")


def _underlined(html: str, checks: Sequence[Check], t: Words) -> str:
    """The text of every doubtful stretch in elements of its own, whatever elements cross it."""
    parts, open_tag = [], ""
    for part in _PART.split(html):
        if part and ord(part[0]) in _DOUBTS:
            check = checks[ord(part[0]) - _DOUBTS.start]
            label = escape(check_label(check, t))
            kind = check.kind.value
            open_tag = f'<span class="doubt {kind}" title="{label}" aria-description="{label}">'
        elif part == _DOUBT_ENDS:
            open_tag = ""
        elif open_tag and part.strip() and not part.startswith("<"):
            parts.append(f"{open_tag}{part}</span>")
        else:
            parts.append(part)
    return "".join(parts)


def cite_link(
    path: str, citation: Citation, mention: int, t: Words, *, in_pane: bool = True
) -> Markup:
    """A marker that opens its passage; what it quotes is seen before.

    Args:
        path: of the answer or document that has it.
        in_pane: in the viewer beside it; otherwise on a page of its own.
    """
    url = f"{path}/citations/{citation.marker}?mention={mention}"
    label = cite_label(citation, t)
    quote = "".join(one.quote for one in citation.mentions[mention : mention + 1])
    shown = f"{label}\n{shortened(quote, _LONGEST_HINT)}" if quote else label
    kind = "cite removed" if citation.removed else "cite"
    opens = Markup(' hx-get="{}" hx-target="#viewer"').format(url) if in_pane else ""
    return Markup('<a class="{}" href="{}"{} title="{}" aria-label="{}">{}</a>').format(
        kind, url, opens, shown, label, citation.marker
    )


def cite_label(citation: Citation, t: Words) -> str:
    """What a marker stands for, in one line."""
    if not citation.source_title:
        return t("cite_label_plain", n=citation.marker, title=t("source_removed"))
    if citation.removed:
        return t(
            "cite_label", n=citation.marker, title=citation.source_title, where=t("source_removed")
        )
    if citation.page is None:
        return t("cite_label_plain", n=citation.marker, title=citation.source_title)
    where = t("page_n", n=citation.page)
    return t("cite_label", n=citation.marker, title=citation.source_title, where=where)


@dataclass(frozen=True, slots=True)
class QuoteLine:
    """A quote of a citation, and the number of its mention in the viewer's address."""

    number: int
    quote: str


def quotes_of(citation: Citation) -> list[QuoteLine]:
    """Its distinct quotes, as they are mentioned; none of a mention without a quote."""
    first: dict[str, int] = {}
    for number, mention in enumerate(citation.mentions):
        if mention.quote:
            first.setdefault(mention.quote, number)
    return [QuoteLine(number, quote) for quote, number in first.items()]


class StreamedText:
    """An answer's text as it comes: escaped, with links at the markers that are known."""

    def __init__(self, answer: Answer, t: Words) -> None:
        self._path = f"/answers/{answer.id}"
        self._words = t
        self._citations: dict[int, Citation] = {}
        self._shown: dict[int, int] = {}
        self._ticks = 0

    def know(self, citation: Citation) -> None:
        """From now on its marker is a link."""
        self._citations[citation.marker] = citation

    def feed(self, text: str) -> Markup:
        """The next piece. An element, so that white space alone is not taken for nothing."""
        parts, place = [Markup("<span>")], 0
        for found in _PIECE.finditer(text):
            citation = self._cited_by(found)
            if citation is None:
                continue
            mention = self._shown.get(citation.marker, 0)
            self._shown[citation.marker] = mention + 1
            parts.append(escape(text[place : found.start()]))
            parts.append(cite_link(self._path, citation, mention, self._words))
            place = found.end()
        parts.append(escape(text[place:]))
        parts.append(Markup("</span>"))
        return Markup("").join(parts)

    def _cited_by(self, found: re.Match[str]) -> Citation | None:
        """What a marker cites; nothing inside code, which as many backticks end as began it."""
        if found["marker"]:
            return None if self._ticks else self._citations.get(int(found["marker"]))
        run = len(found["ticks"] or "")
        if not self._ticks:
            self._ticks = run
        elif run == self._ticks or (not run and self._ticks < _FENCE):
            self._ticks = 0
        return None


@lru_cache(maxsize=512)
def _rendered(
    text: str, spans: tuple[tuple[int, int], ...], doubts: tuple[tuple[int, int], ...]
) -> str:
    """Sanitised HTML with a numbered place where each span stood, and signs around each doubt.

    A place is written as escaped brackets: they are punctuation as the marker is, so that
    emphasis next to it still ends there, and they make no link with what follows.
    """
    text = text.translate(_FOREIGN)
    put = [(start, stop, f"\\[{_OPEN}{n}{_CLOSE}\\]") for n, (start, stop) in enumerate(spans)]
    put += [(stop, stop, _DOUBT_ENDS) for _, stop in doubts]
    put += [(start, start, chr(_DOUBTS.start + n)) for n, (start, _) in enumerate(doubts)]
    parts, end = [], 0
    for start, stop, sign in sorted(put, key=lambda one: one[:2]):
        parts += [text[end:start], sign]
        end = max(end, stop)
    tokens = _MARKDOWN.parse("".join([*parts, text[end:]]))
    originals = [text[start:stop] for start, stop in spans]
    _mend(tokens, originals)
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )


def _mend(tokens: list[Token], originals: list[str]) -> None:
    """No marker's link inside code or links; headings below those of the page."""

    def restored(content: str) -> str:
        return _PLACE.sub(lambda found: originals[int(found[1])], content)

    in_link = 0
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1]) + 2, _SMALLEST_HEADING)}"
        in_link += token.nesting if token.type in {"link_open", "link_close"} else 0
        if in_link or token.type in {"code_inline", "code_block", "fence"}:
            token.content = restored(token.content)
        if token.children:
            _mend(token.children, originals)
