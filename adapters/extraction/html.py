"""HTML: its encoding, its article, and its whole text where it has none."""

import codecs
import re

import trafilatura
from lxml import etree, html

from adapters.extraction.charsets import as_declared
from adapters.extraction.documents import Writer
from adapters.extraction.text import encoding_of
from adapters.extraction.wire import Document
from domain.errors import Unreadable
from domain.text_gate import clean
from domain.web_page import why_no_page

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_PRESCAN_BYTES = 4_096
_META = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([a-zA-Z0-9_:.-]+)", re.IGNORECASE)
_DECLARED = re.compile(rb"<\?xml[^>]+encoding\s*=\s*[\"']([a-zA-Z0-9_:.-]+)", re.IGNORECASE)
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_UNSEEN = frozenset({"script", "style", "template", "head", "svg", "math", "iframe", "object"})
_INLINE = frozenset(
    {
        *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn"),
        *("em", "font", "i", "img", "ins", "kbd", "label", "mark", "q", "rp", "rt", "ruby", "s"),
        *("samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"),
    }
)
_CELLS = frozenset({"td", "th"})
_LEAST_ARTICLE = 200
_NOTHING = 20
_STRICT_SHARE = 0.8
_MANY_LINKS = 30


def read_page(content: bytes, charset: str) -> Document:
    """The article of a web page, without its navigation.

    Raises:
        Unreadable: it is a challenge, a notice, or next to empty.
    """
    tree = parsed(decoded_html(content, charset))
    title = title_of(tree)
    article = _article(tree)
    everything = text_of(tree) if len(article) < _LEAST_ARTICLE else ""
    if (
        reason := why_no_page(title, article if len(article) > _NOTHING else everything)
    ) is not None:
        raise Unreadable(
            f"This page {reason}. Open it in your browser, and paste its text or save it as a PDF"
            " and add that."
        )
    longer = everything if len(article) * 2 < len(everything) else article
    return _document(longer or everything, title)


def read_file(content: bytes, charset: str) -> Document:
    """An HTML file: all of its text, but only the article where it is the saved page of a site."""
    tree = parsed(decoded_html(content, charset))
    title = title_of(tree)
    if _is_of_a_site(tree) and len(article := _article(tree)) >= _LEAST_ARTICLE:
        return _document(article, title)
    writer = Writer()
    write(tree, writer)
    return Document([writer.part()], title, paged=False)


def decoded_html(content: bytes, charset: str) -> str:
    """`content` as text: by its mark, the server's word, its own, and only then by guess."""
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, "replace")
    head = content[:_PRESCAN_BYTES]
    own = _META.search(head) or _DECLARED.search(head)
    text = as_declared(content, charset, own[1].decode("ascii") if own else "")
    if text is not None:
        return text
    try:
        return content.decode(encoding_of(content), "replace")
    except Unreadable:
        return content.decode("utf-8", "replace")


def parsed(text: str) -> html.HtmlElement:
    """The tree of a page.

    Raises:
        Unreadable: there is nothing in it.
    """
    text = _XML_DECLARATION.sub("", text).replace("\0", "")
    parser = html.HTMLParser(
        encoding="utf-8",
        remove_comments=True,
        remove_pis=True,
        huge_tree=True,  # without it long texts are dropped and nobody is told
    )
    try:
        tree = html.document_fromstring(text.encode("utf-8", "ignore"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        raise Unreadable("There is no text in this page.") from error
    assert isinstance(tree, html.HtmlElement)  # noqa: S101 - what that parser makes
    return tree


def title_of(tree: html.HtmlElement) -> str:
    """What a page calls itself, "" where it does not."""
    found = tree.xpath("string((//head/title | //title)[1])") or tree.xpath(
        "string((//meta[@property='og:title']/@content)[1])"
    )
    return " ".join(clean(str(found)).split())


def text_of(tree: html.HtmlElement) -> str:
    """Everything that can be read, a line a block."""
    writer = Writer()
    write(tree, writer)
    return writer.part().text


def write(tree: etree._Element, writer: Writer) -> None:
    """Put a tree's text into `writer`: a line a block, a row of a table on one, headings known."""
    line: list[str] = []
    hidden = 0

    def end_line(level: int = 0) -> None:
        text = " ".join("".join(line).split()).strip("| ")
        line.clear()
        if level:
            writer.heading(text, level)
        else:
            writer.add(text)

    for event, element in etree.iterwalk(tree, events=("start", "end")):
        tag = element.tag if isinstance(element.tag, str) else ""
        starts = event == "start"
        if tag in _UNSEEN:
            hidden += 1 if starts else -1
        if not hidden and tag not in _INLINE and tag not in _UNSEEN:
            if tag in _CELLS:
                line.append("" if starts else " | ")
            elif not (tag in {"p", "div", "br"} and _in_cell(element)):
                end_line(int(tag[1]) if not starts and re.fullmatch("h[1-6]", tag) else 0)
            else:
                line.append(" ")
        if not hidden and (text := element.text if starts else element.tail):
            line.append(text)
    end_line()


def _in_cell(element: etree._Element) -> bool:
    """True for a block inside a cell of a table of data, which stays on its row's line."""
    parent = element.getparent()
    return parent is not None and parent.tag in _CELLS


def _article(tree: html.HtmlElement) -> str:
    """The main text; "" where none stands out.

    What the strict rules find, unless that leaves out much of what the usual ones find.
    """
    strict, usual = (
        clean(
            trafilatura.extract(tree, include_comments=False, favor_precision=is_strict) or ""
        ).strip()
        for is_strict in (True, False)
    )
    return strict if len(strict) >= _STRICT_SHARE * len(usual) else usual


def _is_of_a_site(tree: html.HtmlElement) -> bool:
    """True for a page with things around its text, which a document of its own has not."""
    around = tree.xpath("count(//nav | //footer | //aside | //script[@src])")
    return bool(around) or int(tree.xpath("count(//a[@href])")) > _MANY_LINKS


def _document(text: str, title: str) -> Document:
    writer = Writer()
    writer.add(text)
    return Document([writer.part()], title, paged=False)
