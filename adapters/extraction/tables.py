"""Tables: Excel workbooks and delimited text, a line a row."""

import csv
import io
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, repeat
from typing import Any

import openpyxl
from openpyxl.utils.exceptions import InvalidFileException

from adapters.extraction.archives import require_office
from adapters.extraction.cell_format import shown as shown_cell
from adapters.extraction.documents import Writer
from adapters.extraction.text import decoded
from adapters.extraction.wire import Document, Part
from domain.errors import Unreadable
from domain.text_gate import clean

_DELIMITERS = ",;\t|"
_SAID = re.compile(r"sep=([,;\t|])\n")
"""How Excel writes the delimiter down, in a line before the table."""
_SAMPLE_ROWS = 50
_MOST_FIELD = 1 << 30
_MOST_ROWS = 1 << 20
"""Of a sheet in Excel; a file may claim any number, and each is stepped through."""
_MOST_CELLS = 20_000_000
"""Of a sheet, empty ones before others in their row included."""
_NOT_COMPUTED = re.compile(rb"</f>\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>|<f\b[^>]*/>\s*</c>")
_MOST_COLUMNS_NAMED = 40
_LONGEST_NAME = 60
_NUMBER = re.compile(r"[-+]?[\d.,\s]*\d[%€$£]?")


def read_xlsx(content: bytes, _charset: str) -> Document:
    """A part a sheet, in the order of the tabs, numbers and dates as they are shown.

    Raises:
        Unreadable: protected, with macros, or no workbook.
    """
    archive = require_office(content, "XLSX")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of extensions that hold no text
        values = _workbook(content, data_only=True)
        # A formula whose value no program has computed yet is shown as it is written.
        formulas = _workbook(content, data_only=False) if _is_uncomputed(archive) else None
        parts = [
            _sheet(name, values[name], formulas and formulas[name])
            for name in values.sheetnames
            if hasattr(values[name], "iter_rows")
        ]
    return Document(parts, values.properties.title or "", paged=True)


def _workbook(content: bytes, *, data_only: bool) -> Any:  # noqa: ANN401 - openpyxl has no types
    try:
        return openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=data_only)
    except (KeyError, InvalidFileException) as error:
        raise Unreadable("This is no Excel workbook. Save it as XLSX and upload that.") from error


def _is_uncomputed(archive: zipfile.ZipFile) -> bool:
    """True where a formula has no value beside it."""
    sheets = (name for name in archive.namelist() if name.startswith("xl/worksheets/"))
    return any(_NOT_COMPUTED.search(archive.read(name)) for name in sheets)


def read_csv(content: bytes, charset: str) -> Document:
    """The rows of delimited text; delimiter and encoding are found out.

    Raises:
        Unreadable: in no encoding known.
    """
    text = clean(decoded(content, charset))
    csv.field_size_limit(_MOST_FIELD)
    said = _SAID.match(text)
    delimiter = said[1] if said else _delimiter(text)
    writer = Writer()
    try:
        write_rows(csv.reader(io.StringIO(_SAID.sub("", text)), delimiter=delimiter), writer)
    except csv.Error as error:
        raise Unreadable(f"This table cannot be read: {error}. Save it anew as CSV.") from error
    return Document([writer.part()], "", paged=False)


def write_rows(rows: Iterable[Sequence[str]], writer: Writer) -> None:
    """Put rows into `writer`, a line each.

    Under a row of column names every cell carries its name ("Name: Müller | Ort: Köln"), so that a
    row that is found or quoted alone can be understood. Empty cells are left out.
    """
    filled = (row for row in map(_flat, rows) if any(row))
    start = list(islice(filled, 2))
    names = start[0] if start and _are_names(start) else None
    for number, row in enumerate(chain(start, filled)):
        if names is None or number == 0:
            writer.add(" | ".join(filter(None, row)))
        else:
            named = zip([*names, *[""] * (len(row) - len(names))], row, strict=False)
            writer.add(
                " | ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)
            )


def _flat(row: Sequence[str]) -> list[str]:
    return [" ".join(cell.split()) for cell in row]


def _are_names(start: Sequence[Sequence[str]]) -> bool:
    """True where the first row names the columns: short, different, no numbers, data below."""
    first, *below = start
    names = [name for name in first if name]
    return (
        bool(below)
        and 1 < len(names) <= _MOST_COLUMNS_NAMED
        and len(names) == len(set(names))
        and len(names) >= sum(map(bool, below[0]))
        and not any(len(name) > _LONGEST_NAME or _NUMBER.fullmatch(name) for name in names)
    )


def _delimiter(text: str) -> str:
    """The one that cuts the first rows into the same number of columns, the more the better."""

    def fitness(delimiter: str) -> tuple[float, int]:
        rows = islice(csv.reader(io.StringIO(text), delimiter=delimiter), _SAMPLE_ROWS)
        try:
            widths = [len(row) for row in rows if row]
        except csv.Error:
            return 0.0, 0
        usual = max(set(widths), key=widths.count, default=0)
        return (widths.count(usual) / len(widths) if usual > 1 else 0.0), usual

    return max(_DELIMITERS, key=fitness)


def _sheet(name: str, values: Any, formulas: Any) -> Part:  # noqa: ANN401 - openpyxl has no types
    writer = Writer(label=name)
    write_rows(_cells(values, formulas), writer)
    part = writer.part()
    part.headings = [(0, (part.label,))] if part.text else []
    return part


def _cells(values: Any, formulas: Any) -> Iterator[list[str]]:  # noqa: ANN401 - likewise
    written = repeat(repeat(None)) if formulas is None else _rows_of(formulas)
    cells = 0
    for row, formulas_of_row in zip(_rows_of(values), written, strict=False):
        cells += len(row)
        if cells > _MOST_CELLS:
            raise Unreadable("There are more cells in this workbook than can be read. Split it.")
        yield [
            shown_cell(
                formula.value if formula and cell.value is None else cell.value,
                cell.number_format or "General",
            )
            for cell, formula in zip(row, formulas_of_row, strict=False)
        ]


def _rows_of(sheet: Any) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - likewise
    sheet.reset_dimensions()  # what a file says of them may be a lie
    return islice(sheet.iter_rows(), _MOST_ROWS)
