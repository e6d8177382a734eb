"""Web pages, office files, tables and books in; passages with their pages and labels out."""

import csv
import datetime as dt
import gzip
import io
import re
import struct
import zipfile
from collections.abc import AsyncIterator, Mapping

import docx
import openpyxl
import pptx
import pytest
import pytest_asyncio
from docx.document import Document as WordDocument
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from adapters.extraction.cell_format import shown
from adapters.extraction.pdf_process import PdfProcesses
from adapters.extraction.reader import FileReader
from domain.errors import BelegError, Unreadable, UnsupportedType
from domain.source import Reading, SourceKind

one_process = pytest.mark.asyncio(loop_scope="module")
"""One reading process serves them all."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reader() -> AsyncIterator[FileReader]:
    pool = PdfProcesses()
    yield FileReader(pool)
    await pool.aclose()


async def read(
    reader: FileReader, content: bytes, name: str = "file", *, charset: str = ""
) -> Reading:
    """As an upload is read: the kind is told by the bytes."""
    return await as_kind(reader, content, reader.kind_of(content, name), charset=charset)


async def as_kind(
    reader: FileReader, content: bytes, kind: SourceKind, *, charset: str = ""
) -> Reading:
    return await reader.read(content, kind, charset=charset)


def archive(parts: Mapping[str, bytes | str], *, stored: bool = False) -> bytes:
    out = io.BytesIO()
    how = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(out, "w", how) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return out.getvalue()


def rewritten(content: bytes, **changes: bytes | None) -> bytes:
    """An archive with parts ("__" for a slash) put in, or left out where None."""
    named = {name.replace("__", "/").replace("_dot_", "."): part for name, part in changes.items()}
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        parts = {name: file.read(name) for name in file.namelist() if name not in named}
    return archive(parts | {name: part for name, part in named.items() if part is not None})


def saved(document: object) -> bytes:
    out = io.BytesIO()
    document.save(out)  # type: ignore[attr-defined] # of three libraries
    return out.getvalue()


def word() -> WordDocument:
    document = docx.Document()
    document.core_properties.title = "Ein  Bericht"
    document.add_heading("Teil eins", 1)
    document.add_paragraph("Der erste Absatz.")
    table = document.add_table(2, 2)
    for row, cells in zip(table.rows, (("Stadt", "Einwohner"), ("Köln", "1.087.353")), strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    document.add_heading("Ein Kapitel", 2)
    document.add_paragraph("Der letzte Absatz.\tNach dem Tabulator.")
    return document


moment = dt.datetime.fromisoformat


@one_process
class TestWord:
    async def test_text_and_tables_in_their_order(self, reader: FileReader) -> None:
        reading = await read(reader, saved(word()))
        (passage,) = reading.passages
        assert passage.page is None
        assert reading.pages is None
        assert reading.title == "Ein Bericht"
        assert passage.text == (
            "Teil eins\nDer erste Absatz.\nStadt | Einwohner\nKöln | 1.087.353\n\nEin Kapitel\n"
            "Der letzte Absatz.\tNach dem Tabulator."
        )
        assert [heading.path for heading in passage.headings] == [
            ("Teil eins",),
            ("Teil eins", "Ein Kapitel"),
        ]
        for heading in passage.headings:
            assert passage.text[heading.start :].startswith(heading.path[-1])

    async def test_what_is_merged_nested_wrapped_and_deleted(self, reader: FileReader) -> None:
        document = docx.Document()
        table = document.add_table(2, 3)
        table.cell(0, 0).merge(table.cell(0, 1)).text = "über zwei"
        table.cell(0, 2).text = "drei"
        inner = table.cell(1, 0).add_table(1, 2)
        inner.cell(0, 0).text, inner.cell(0, 1).text = "innen", "auch"
        table.cell(1, 2).text = "außen"
        body = saved(document)
        with zipfile.ZipFile(io.BytesIO(body)) as file:
            xml = file.read("word/document.xml")
        more = (
            b"<w:sdt><w:sdtContent><w:p><w:r><w:t>Im Steuerelement</w:t></w:r></w:p>"
            b"</w:sdtContent></w:sdt><w:p><w:del><w:r><w:delText>weg</w:delText></w:r></w:del>"
            b"<w:ins><w:r><w:t>neu</w:t></w:r></w:ins></w:p></w:body>"
        )
        xml = xml.replace(b"</w:body>", more)
        reading = await read(reader, rewritten(body, word__document_dot_xml=xml))
        assert reading.passages[0].text.split("\n") == [
            "über zwei | drei",
            "innen | auch |  | außen",
            "Im Steuerelement",
            "neu",
        ]

    async def test_the_title_that_its_program_gives_any_is_none(self, reader: FileReader) -> None:
        document = word()
        document.core_properties.title = "Microsoft Word - Dokument1"
        assert (await read(reader, saved(document))).title == ""

    async def test_the_strict_form_names_the_way_out(self, reader: FileReader) -> None:
        strict = rewritten(saved(word()), _rels___dot_rels=b"http://purl.oclc.org/ooxml/x")
        with pytest.raises(Unreadable, match="ordinary DOCX"):
            await read(reader, strict)

    async def test_an_empty_one(self, reader: FileReader) -> None:
        with pytest.raises(Unreadable, match="no text in this Word document"):
            await read(reader, saved(docx.Document()))


@one_process
class TestSlides:
    async def test_a_slide_is_a_page_with_its_notes(self, reader: FileReader) -> None:
        show = pptx.Presentation()
        show.core_properties.title = "Vortrag"
        first = show.slides.add_slide(show.slide_layouts[1])
        first.shapes.title.text = "Ergebnisse"
        first.placeholders[1].text = "Punkt eins\nPunkt zwei"
        first.notes_slide.notes_text_frame.text = "Hier langsam sprechen."
        show.slides.add_slide(show.slide_layouts[6])
        third = show.slides.add_slide(show.slide_layouts[5])
        third.shapes.title.text = "Zahlen"
        place = (Inches(1), Inches(2), Inches(4), Inches(2))
        table = third.shapes.add_table(2, 2, *place).table
        for row, column, text in ((0, 0, "Jahr"), (0, 1, "Umsatz"), (1, 0, "2025"), (1, 1, "7")):
            table.cell(row, column).text = text
        data = CategoryChartData()  # type: ignore[no-untyped-call] # python-pptx has few types
        data.categories = ["Ost", "West"]
        data.add_series("Absatz", (1.5, 20))  # type: ignore[no-untyped-call] # likewise
        third.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data)
        group = third.shapes.add_group_shape()
        group.shapes.add_textbox(*place).text_frame.text = "In der Gruppe"

        reading = await read(reader, saved(show))
        assert reading.title == "Vortrag"
        assert reading.pages == 3
        assert [(skip.page, skip.reason) for skip in reading.skipped] == [(2, "holds no text")]
        one, three = reading.passages
        assert (one.ordinal, one.page, one.label) == (0, 1, "Ergebnisse")
        assert one.text == "Ergebnisse\nPunkt eins\nPunkt zwei\n\nHier langsam sprechen."
        assert (three.ordinal, three.page, three.label) == (1, 3, "Zahlen")
        assert three.text.split("\n") == [
            "Zahlen",
            "Jahr | Umsatz",
            "2025 | 7",
            "Absatz: Ost: 1.5, West: 20",
            "In der Gruppe",
        ]


@one_process
class TestWorkbooks:
    async def test_a_sheet_is_a_page_and_a_row_carries_its_names(self, reader: FileReader) -> None:
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.title = "Umsatz"
        sheet.append(["Stadt", "Betrag", "Anteil", "Tag", "Summe"])
        sheet.append(["Köln", 1234.5, 0.125, moment("2025-03-09T00:00:00"), "=B2*2"])
        sheet.append([None, None, None, None, None])
        sheet.append(["Bonn", 7, None, moment("2025-12-31T14:05:00"), True])
        sheet["B2"].number_format = '#,##0.00 "€"'
        sheet["C2"].number_format = "0.0%"
        sheet["D2"].number_format = "dd.mm.yyyy"
        sheet["D4"].number_format = "dd.mm.yyyy hh:mm"
        book.create_sheet("Leer")
        third = book.create_sheet("Notizen")
        third["B3"] = "Nur ein Satz."
        reading = await read(reader, saved(book))
        one, three = reading.passages
        assert reading.pages == 3
        assert [skip.page for skip in reading.skipped] == [2]
        assert (one.page, one.label, three.page, three.label) == (1, "Umsatz", 3, "Notizen")
        assert one.text.split("\n") == [
            "Stadt | Betrag | Anteil | Tag | Summe",
            "Stadt: Köln | Betrag: 1,234.50 € | Anteil: 12.5% | Tag: 09.03.2025 | Summe: =B2*2",
            "Stadt: Bonn | Betrag: 7 | Tag: 31.12.2025 14:05 | Summe: TRUE",
        ]
        assert three.text == "Nur ein Satz."
        assert one.headings[0].path == ("Umsatz",)


class TestCells:
    @pytest.mark.parametrize(
        ("value", "number_format", "text"),
        [
            (1234.5, "General", "1234.5"),
            (0.1 + 0.2, "General", "0.3"),
            (12, "General", "12"),
            (12345, "#,##0", "12,345"),
            (-5.006, "0.00", "-5.01"),
            (0.5, "0%", "50%"),
            (3.0, "0.##", "3"),
            (9.5, "[$€-407] #,##0.00", "9.50 €"),
            (1.5, "0.00E+00", "1.5"),
            (7, "@", "7"),
            (7, '00"x"', "7 x"),
            (moment("2025-03-09T00:00:00"), "mm-dd-yy", "2025-03-09"),
            (moment("2025-03-09T00:00:00"), "d. mmmm yyyy", "2025-03-09"),
            (moment("2025-03-09T07:08:09"), "General", "2025-03-09 07:08:09"),
            (moment("2025-03-09T07:08:00"), "yyyy-mm-dd hh:mm", "2025-03-09 07:08"),
            (dt.time(7, 8), "h:mm", "07:08:00"),
            (dt.date(2025, 3, 9), "General", "2025-03-09"),
            (False, "General", "FALSE"),
            (None, "General", ""),
        ],
    )
    def test_a_cell_as_it_is_shown(self, value: object, number_format: str, text: str) -> None:
        assert shown(value, number_format) == text


@one_process
class TestDelimitedText:
    async def test_the_encoding_that_a_server_named(self, reader: FileReader) -> None:
        content = "имя,город\nИван,Омск\n".encode("koi8-r")
        for kind in (SourceKind.CSV, SourceKind.TEXT):
            reading = await as_kind(reader, content, kind, charset="KOI8-R")
            assert "Омск" in reading.passages[0].text

    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
    async def test_delimiter_and_encoding_are_found_out(
        self, reader: FileReader, delimiter: str, encoding: str
    ) -> None:
        out = io.StringIO()
        writer = csv.writer(out, delimiter=delimiter)
        writer.writerows(
            [["Straße", "Größe"], ["Hauptstraße 1, Köln; links", "3,5"], ["Am Weg", '"gut"']]
        )
        reading = await read(reader, out.getvalue().encode(encoding), "daten.CSV")
        assert reading.passages[0].text.split("\n") == [
            "Straße | Größe",
            "Straße: Hauptstraße 1, Köln; links | Größe: 3,5",
            'Straße: Am Weg | Größe: "gut"',
        ]
        assert reading.pages is None

    @pytest.mark.parametrize(
        ("text", "lines"),
        [
            ("sep=;\na;b\n1;2,5\n", ["a | b", "a: 1 | b: 2,5"]),
            ("1;2\n3;4\n", ["1 | 2", "3 | 4"]),
            ("eine Spalte\nzwei\n", ["eine Spalte", "zwei"]),
            ('a,b\n"über\nzwei Zeilen",2\n', ["a | b", "a: über zwei Zeilen | b: 2"]),
            ("a,b\n1,2,3\n", ["a | b", "1 | 2 | 3"]),
            ('a,"offen\n', ["a | offen"]),
        ],
    )
    async def test_forms(self, reader: FileReader, text: str, lines: list[str]) -> None:
        reading = await read(reader, text.encode(), "a.csv")
        assert reading.passages[0].text.split("\n") == lines


CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/content.opf"/></rootfiles></container>'
)
PACKAGE = """<?xml version="1.0"?>
<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
<metadata><dc:title>Das  Buch</dc:title></metadata><manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="cover" href="cover.xhtml" media-type="application/xhtml+xml"/>
<item id="one" href="text/eins.xhtml" media-type="application/xhtml+xml"/>
<item id="two" href="text/zwei%20b.xhtml" media-type="application/xhtml+xml"/>
</manifest><spine><itemref idref="cover"/><itemref idref="two"/><itemref idref="one"/>
<itemref idref="missing"/></spine></package>"""
NAV = """<html xmlns="http://www.w3.org/1999/xhtml"><body><nav><ol>
<li><a href="text/zwei%20b.xhtml#top">Der Anfang</a></li></ol></nav></body></html>"""


def book(**more: str) -> bytes:
    chapter = (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/'
        'xhtml"><head><title>T</title></head><body>{}</body></html>'
    )
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/content.opf": PACKAGE,
        "OEBPS/nav.xhtml": NAV,
        "OEBPS/cover.xhtml": chapter.format('<img src="c.png"/>'),
        "OEBPS/text/eins.xhtml": chapter.format("<h1>Das Ende</h1><p>Schöner Schluß.</p>"),
        "OEBPS/text/zwei b.xhtml": chapter.format("<p>Es begann &amp; ging&nbsp;weiter.</p>"),
    }
    return archive(parts | {name.replace("__", "/"): part for name, part in more.items()})


@one_process
class TestBooks:
    async def test_a_chapter_is_a_page_in_the_order_of_the_spine(self, reader: FileReader) -> None:
        stored = archive({"mimetype": "application/epub+zip"}, stored=True)
        assert reader.kind_of(stored, "a") is SourceKind.EPUB
        reading = await read(reader, book())
        assert reading.title == "Das Buch"
        assert reading.pages == 2
        assert [(p.page, p.label, p.text) for p in reading.passages] == [
            (1, "Der Anfang", "Es begann & ging weiter."),
            (2, "Das Ende", "Das Ende\nSchöner Schluß."),
        ]

    @pytest.mark.parametrize(
        "more",
        [
            {"META-INF__rights.xml": "<rights/>"},
            {
                "META-INF__encryption.xml": "<encryption><EncryptionMethod"
                ' Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></encryption>'
            },
        ],
    )
    async def test_copy_protection_is_named(self, reader: FileReader, more: dict[str, str]) -> None:
        with pytest.raises(Unreadable, match="DRM"):
            await as_kind(reader, book(**more), SourceKind.EPUB)

    async def test_scrambled_fonts_are_no_protection(self, reader: FileReader) -> None:
        fonts = (
            '<encryption><EncryptionMethod Algorithm="http://www.idpf.org/2008/embedding"/>'
            "</encryption>"
        )
        reading = await as_kind(
            reader, book(**{"META-INF__encryption.xml": fonts}), SourceKind.EPUB
        )
        assert len(reading.passages) == 2

    async def test_a_name_that_no_column_takes(self, reader: FileReader) -> None:
        package = PACKAGE.replace("text/eins.xhtml", "a%00b.xhtml")
        with pytest.raises(Unreadable, match=r"OEBPS/ab\.xhtml is missing") as raised:
            await as_kind(reader, book(**{"OEBPS__content.opf": package}), SourceKind.EPUB)
        assert "\0" not in raised.value.message

    async def test_one_without_its_contents(self, reader: FileReader) -> None:
        broken = archive({"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER})
        with pytest.raises(Unreadable, match=r"OEBPS/content\.opf is missing"):
            await as_kind(reader, broken, SourceKind.EPUB)


PAGE = """<!DOCTYPE html><html><head><title>Die  Brücke</title></head><body>
<nav><a href="/">Start</a> <a href="/news">Nachrichten</a></nav><article><h1>Die Brücke</h1>
<p>Die alte Brücke über den Fluss wurde im Jahr 1932 gebaut und ist seit langem gesperrt.</p>
<p>Nach dem Umbau, der drei Jahre gedauert hat, fahren nun wieder Busse und Bahnen darüber.</p>
<p>Die Stadt hat dafür zwölf Millionen Euro ausgegeben, mehr als zunächst geplant war.</p>
</article><footer>Impressum Datenschutz</footer><script>var secret = 1;</script></body></html>"""


@one_process
class TestPages:
    async def test_the_article_without_what_is_around_it(self, reader: FileReader) -> None:
        reading = await as_kind(reader, PAGE.encode(), SourceKind.URL)
        text = reading.passages[0].text
        assert reading.title == "Die Brücke"
        assert "1932" in text
        assert "zwölf Millionen" in text
        assert not any(word in text for word in ("Nachrichten", "Impressum", "secret"))

    @pytest.mark.parametrize(
        ("mark", "header", "meta", "encoding"),
        [
            (b"\xef\xbb\xbf", "iso-8859-1", "koi8-r", "utf-8"),
            (b"\xff\xfe", "utf-8", "", "utf-16-le"),
            (b"", "windows-1252", "utf-8", "cp1252"),
            (b"", "", "iso-8859-1", "cp1252"),
            (b"", "", "utf-8", "utf-8"),
            (b"", "no-such-encoding", "windows-1252", "cp1252"),
            (b"", "utf-8", "", "cp1252"),  # the server is wrong
            (b"", "utf-7", "", "utf-8"),
            (b"", "", "", "utf-8"),
            (b"", "", "", "cp1252"),
        ],
    )
    async def test_the_encoding_by_mark_then_header_then_meta_then_guess(
        self, reader: FileReader, mark: bytes, header: str, meta: str, encoding: str
    ) -> None:
        page = PAGE.replace("<head>", f'<head><meta charset="{meta}">' if meta else "<head>")
        content = mark + page.encode(encoding)
        reading = await as_kind(reader, content, SourceKind.URL, charset=header)
        assert "Die alte Brücke über den Fluss" in reading.passages[0].text

    @pytest.mark.parametrize(
        ("body", "told"),
        [
            ("<h1>Just a moment...</h1><p>Checking your browser.</p>", "whether a human"),
            ("<p>Bitte lösen Sie das CAPTCHA, um fortzufahren.</p>", "whether a human"),
            ("<noscript>You need to enable JavaScript to run this app.</noscript>", "by a script"),
            ("<p>Bitte aktivieren Sie JavaScript in Ihrem Browser.</p>", "by a script"),
            ("<h1>Access Denied</h1><p>You don't have permission.</p>", "access is denied"),
            ("<p>Wir verwenden Cookies. Bitte akzeptieren Sie alle Cookies.</p>", "consent"),
            ("<div id=root>Loading…</div>", "next to no text"),
            ("<p>Hi</p>", "next to no text"),
            ("", "no"),
        ],
    )
    async def test_what_is_not_the_page_is_refused_and_says_why(
        self, reader: FileReader, body: str, told: str
    ) -> None:
        page = f"<!doctype html><html><head><title>x</title></head><body>{body}</body></html>"
        with pytest.raises(Unreadable, match=told):
            await as_kind(reader, page.encode(), SourceKind.URL)

    async def test_a_long_article_about_captchas_is_one(self, reader: FileReader) -> None:
        more = "".join(
            f"<p>Ein CAPTCHA der Bauart {n} prüft, ob ein Mensch vor Rechner {n} sitzt, im Jahr"
            f" {1990 + n} noch mit Buchstaben, die verzerrt sind.</p>"
            for n in range(30)
        )
        page = PAGE.replace("</article>", f"{more}</article>")
        reading = await as_kind(reader, page.encode(), SourceKind.URL)
        assert "CAPTCHA" in reading.passages[0].text

    async def test_a_heading_of_a_whole_page_is_cut_where_chunks_are_indexed_under_it(
        self, reader: FileReader
    ) -> None:
        content = f"<html><h1>{'Wort ' * 1000}</h1><p>Text.</p></html>".encode()
        (passage,) = (await read(reader, content)).passages
        assert len(passage.text) > 4_000
        assert len(passage.headings[0].path[0]) == 200

    async def test_a_file_gives_all_its_text_with_headings(self, reader: FileReader) -> None:
        page = (
            "<html><title>Bericht</title><body><h1>Eins</h1><p>Hallo <b>Welt</b>.<br>Neu</p>"
            "<table><tr><th>A<th>B</tr><tr><td><p>1</p><td>2 <i>x</i></tr></table>"
            "<h2>Zwei</h2>ohne Absatz<ul><li>a<li>b</ul><script>alert(1)</script></body></html>"
        )
        reading = await read(reader, page.encode(), "x.bin")
        (passage,) = reading.passages
        assert passage.text.split("\n") == [
            *("Eins", "Hallo Welt.", "Neu", "A | B", "1 | 2 x", "", "Zwei", "ohne Absatz", "a", "b")
        ]
        assert [heading.path for heading in passage.headings] == [("Eins",), ("Eins", "Zwei")]


class TestKindsFromBytes:
    @pytest.mark.parametrize(
        ("content", "name", "kind"),
        [
            (saved(docx.Document()), "a.pdf", SourceKind.DOCX),
            (saved(openpyxl.Workbook()), "a.docx", SourceKind.XLSX),
            (saved(pptx.Presentation()), "a", SourceKind.PPTX),
            (b"<!DOCTYPE html><p>", "a.txt", SourceKind.HTML),
            (b"\xef\xbb\xbf  <html lang=de>", "a", SourceKind.HTML),
            ("<html>".encode("utf-16"), "a", SourceKind.HTML),
            (b"<div><p>x", "a.htm", SourceKind.HTML),
            (b"<div><p>x", "a.txt", SourceKind.TEXT),
            (b"a;b\n1;2\n", "a.csv", SourceKind.CSV),
            (b"a;b\n1;2\n", "a.txt", SourceKind.TEXT),
        ],
    )
    def test_read(self, content: bytes, name: str, kind: SourceKind) -> None:
        assert FileReader().kind_of(content, name) is kind

    def test_a_document_inside_another_does_not_mislead(self) -> None:
        inner = saved(openpyxl.Workbook())
        outer = rewritten(saved(word()), word__embeddings__x_dot_xlsx=inner)
        assert FileReader().kind_of(outer, "a") is SourceKind.DOCX

    @pytest.mark.parametrize(
        ("stream", "told"),
        [
            ("WordDocument", "save it as .docx"),
            ("Workbook", "save it as .xlsx"),
            ("PowerPoint Document", "save it as .pptx"),
            ("EncryptedPackage", "protected by a password"),
        ],
    )
    def test_old_and_locked_office_files_name_the_way_out(self, stream: str, told: str) -> None:
        content = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(9_000) + stream.encode("utf-16-le")
        with pytest.raises(UnsupportedType, match=f"(?i){told}"):
            FileReader().kind_of(content, "a.doc")


@one_process
class TestHostileArchives:
    @pytest.mark.parametrize("kind", [SourceKind.DOCX, SourceKind.PPTX, SourceKind.XLSX])
    async def test_macros(self, reader: FileReader, kind: SourceKind) -> None:
        with pytest.raises(Unreadable, match="macros"):
            await as_kind(reader, archive({"word/vbaProject.bin": b"x"}), kind)

    @pytest.mark.parametrize(
        "kind", [SourceKind.DOCX, SourceKind.PPTX, SourceKind.XLSX, SourceKind.EPUB]
    )
    async def test_refused(self, reader: FileReader, kind: SourceKind) -> None:
        entities = '<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><t>&b;</t>'
        cases: list[tuple[bytes, str]] = [
            (archive({"word/a.xml": bytes(40 << 20)}), "unpacks to far more"),
            (archive({"../../etc/x": b"x"}), "lead outside"),
            (archive({"/abs": b"x"}), "lead outside"),
            (archive({"C:\\x": b"x"}), "lead outside"),
            (archive({f"{n}": b"" for n in range(10_001)}), "10,001 parts"),
            (b"PK\x03\x04 but no more than that", "damaged"),
            (archive({"word/x": b"x"})[:-30], "damaged"),
            (archive({"a": b"b"}), "damaged|missing|no Excel"),
        ]
        if kind is not SourceKind.EPUB:
            cases.append((archive({"[Content_Types].xml": entities}), "declares entities"))
        for content, told in cases:
            with pytest.raises(Unreadable, match=told):
                await as_kind(reader, content, kind)

    async def test_a_size_that_is_a_lie(self, reader: FileReader) -> None:
        """The directory says one byte, where five megabytes come out."""
        content = bytearray(archive({"mimetype": "application/epub+zip", "x": bytes(5_000_000)}))
        at = content.rindex(b"PK\x01\x02")
        content[at + 24 : at + 28] = struct.pack("<I", 1)
        with pytest.raises(Unreadable):
            await as_kind(reader, bytes(content), SourceKind.EPUB)

    async def test_an_encrypted_entry(self, reader: FileReader) -> None:
        content = bytearray(archive({"word/document.xml": b"x"}))
        at = content.rindex(b"PK\x01\x02")
        content[at + 8] |= 1
        with pytest.raises(Unreadable, match="password"):
            await as_kind(reader, bytes(content), SourceKind.DOCX)

    async def test_entities_in_a_book_are_not_expanded(self, reader: FileReader) -> None:
        bomb = "".join(
            f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
        )
        package = PACKAGE.replace(
            '<?xml version="1.0"?>', f'<!DOCTYPE p [<!ENTITY a "aaaaaaaaaa">{bomb}]>'
        ).replace("Das  Buch", "&i;")
        content = book(**{"OEBPS__content.opf": package})
        with pytest.raises(Unreadable):
            await as_kind(reader, content, SourceKind.EPUB)


@one_process
class TestHostileFiles:
    @pytest.mark.parametrize(
        ("content", "name", "told"),
        [
            (archive({"../../x": "x", "0.txt": bytes(1_000_000)}), "a.zip", "ZIP archive"),
            (gzip.compress(b"<p>", mtime=0), "a.html.gz", "gzip archive"),
            (b"<div>" * 200_000 + b"x", "a.html", "no text|x"),
            (b"<p " + b'a="b" ' * 300_000 + b">x</p>", "a.html", "x"),
            (
                b"<meta http-equiv=refresh content='0;url=http://169.254.169.254/'><p>Text.",
                *("a.html", "Text"),
            ),
            (
                b"<meta charset=utf-7><title>+ADw-script+AD4-alert(1)+ADw-/script+AD4-</title>",
                *("a.html", "no text"),
            ),
            (b"<p>a\0b</p>", "a.html", "ab"),
            (b"<p>a\xed\xa0\x80b</p>", "a.html", "a"),
        ],
    )
    async def test_read_or_refused(
        self, reader: FileReader, content: bytes, name: str, told: str
    ) -> None:
        try:
            text = (await read(reader, content, name)).passages[0].text
        except BelegError as error:
            text = error.message
        assert re.search(told, text)
        assert "\0" not in text
        assert text.encode()
