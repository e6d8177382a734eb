"""Word documents and PowerPoint presentations, as Office Open XML."""

import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import docx
import pptx
from lxml import etree
from pptx.shapes.base import BaseShape

from adapters.extraction.archives import require_office
from adapters.extraction.documents import Writer
from adapters.extraction.wire import Document, Part

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_NOTES = ("footnotes", "endnotes")
_NOTE_KINDS = frozenset({"separator", "continuationSeparator", "continuationNotice"})
_WRITTEN = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}


def read_docx(content: bytes, _charset: str) -> Document:
    """The whole text in its order: headings, paragraphs, tables row by row, then the notes.

    Raises:
        Unreadable: protected, with macros, or no Word document.
    """
    require_office(content, "DOCX")
    document = docx.Document(BytesIO(content))
    writer = Writer()
    levels = _levels(document.styles.element)
    body = document.element.body
    for block in _blocks(body):
        if block.tag == f"{_W}tbl":
            for row in _rows(block):
                writer.add(row)
        elif level := levels.get(_style(block), 0):
            writer.heading(_line(block), level)
        else:
            writer.add(_line(block))
    for note in _notes(document.part):
        writer.add(note)
    return Document([writer.part()], document.core_properties.title or "", paged=False)


def read_pptx(content: bytes, _charset: str) -> Document:
    """A part a slide: its title, its text, its tables and charts, then the speaker's notes.

    Raises:
        Unreadable: protected, with macros, or no presentation.
    """
    require_office(content, "PPTX")
    presentation = pptx.Presentation(BytesIO(content))
    parts = [_slide(slide) for slide in presentation.slides]
    return Document(parts, presentation.core_properties.title or "", paged=True)


def _blocks(container: etree._Element) -> Iterator[etree._Element]:
    """Paragraphs and tables in their order, out of whatever is wrapped around them."""
    for child in container:
        if child.tag in {f"{_W}p", f"{_W}tbl"}:
            yield child
        elif child.tag not in {_FALLBACK, f"{_W}sectPr"}:
            yield from _blocks(child)


def _line(paragraph: etree._Element) -> str:
    """A paragraph's text, what was deleted in it left out, text boxes in it on lines of their own.

    A box is in it twice, for old and for new programs: the old one's is passed over.
    """
    if not len(paragraph):
        return ""
    written: list[str] = []
    skipped: etree._Element | None = None
    for event, element in etree.iterwalk(paragraph, events=("start", "end")):
        if skipped is not None:
            skipped = None if event == "end" and element is skipped else skipped
            continue
        if event == "start" and element.tag == _FALLBACK:
            skipped = element
        elif event == "end" and element.tag == f"{_W}t":
            written.append(element.text or "")
        elif event == "end" and element.tag == f"{_W}p":
            written.append("\n")
        elif event == "end" and element.tag.startswith(_W):
            in_run = element.getparent() is not None and element.getparent().tag == f"{_W}r"
            written.append(_WRITTEN.get(element.tag.removeprefix(_W), "") if in_run else "")
    return "".join(written).strip()


def _rows(table: etree._Element) -> Iterator[str]:
    """Each row on a line, its cells apart by " | "; a table in a cell on its row's line."""
    for row in table.iterchildren(f"{_W}tr"):
        cells = (
            " ".join(" ".join(map(_flat, _blocks(cell))).split())
            for cell in row.iterdescendants(f"{_W}tc")
            if next(cell.iterancestors(f"{_W}tr")) is row
        )
        yield " | ".join(cells).strip("| ")


def _flat(block: etree._Element) -> str:
    return _line(block) if block.tag == f"{_W}p" else "; ".join(_rows(block))


def _levels(styles: etree._Element) -> dict[str, int]:
    """The level of each style that is one of headings."""
    found = {}
    for style in styles.iterchildren(f"{_W}style"):
        name = style.find(f"{_W}name")
        called = "" if name is None else name.get(f"{_W}val", "")
        if match := _HEADING.fullmatch(called):
            found[style.get(f"{_W}styleId", "")] = int(match[1])
        elif called.lower() == "title":
            found[style.get(f"{_W}styleId", "")] = 1
    return found


def _style(paragraph: etree._Element) -> str:
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    return "" if style is None else style.get(f"{_W}val", "")


def _notes(part: Any) -> Iterator[str]:  # noqa: ANN401 - python-docx has no types
    """Footnotes and endnotes, which python-docx does not read."""
    for relation in part.rels.values():
        if relation.is_external or not relation.reltype.endswith(_NOTES):
            continue
        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        for note in etree.fromstring(relation.target_part.blob, parser):
            if note.get(f"{_W}type") not in _NOTE_KINDS:
                yield " ".join(map(_flat, _blocks(note)))


def _slide(slide: Any) -> Part:  # noqa: ANN401 - python-pptx has few types
    writer = Writer()
    title = slide.shapes.title
    if title is not None:
        writer.label = " ".join(title.text_frame.text.split())
        writer.heading(writer.label, 1)
    for shape in _shapes(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            for line in _shape_lines(shape):
                writer.add(line)
    for relation in slide.part.rels.values():
        if not relation.is_external and relation.reltype.endswith("/diagramData"):
            writer.add(_drawn_text(relation.target_part.blob))
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        writer.add(slide.notes_slide.notes_text_frame.text, after="\n\n")
    return writer.part()


def _shapes(shapes: Any) -> Iterator[BaseShape]:  # noqa: ANN401 - python-pptx has few types
    """Every shape, out of its groups, in the order they are drawn."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _shape_lines(shape: Any) -> Iterator[str]:  # noqa: ANN401 - python-pptx has few types
    if shape.has_text_frame:
        yield shape.text_frame.text
    elif shape.has_table:
        for row in shape.table.rows:
            cells = (" ".join(cell.text.split()) for cell in row.cells if not cell.is_spanned)
            yield " | ".join(cells).strip("| ")
    elif shape.has_chart:
        yield from _chart_lines(shape.chart)


def _chart_lines(chart: Any) -> Iterator[str]:  # noqa: ANN401 - python-pptx has few types
    """A chart's title, then each series with its values by category."""
    if chart.has_title and chart.chart_title.has_text_frame:
        yield chart.chart_title.text_frame.text
    for plot in chart.plots:
        categories = [str(category) for category in plot.categories]
        for series in plot.series:
            values = zip(categories, series.values, strict=False)
            told = ", ".join(f"{name}: {value:g}" for name, value in values if value is not None)
            yield f"{series.name}: {told}" if series.name else told


def _drawn_text(xml: bytes) -> str:
    """The text of a drawing of boxes and arrows, which python-pptx does not read."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    paragraphs = etree.fromstring(xml, parser).iter(f"{_A}p")
    return "\n".join("".join(t.text or "" for t in p.iter(f"{_A}t")) for p in paragraphs)
