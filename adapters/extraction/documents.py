"""Documents that are neither PDF nor plain text: which module reads which kind."""

from collections.abc import Callable
from dataclasses import dataclass, field

from adapters.extraction.titles import usable_title
from adapters.extraction.wire import Document, Part
from domain.errors import Unreadable
from domain.text_gate import clean

_LONGEST_LABEL = 200
_MOST_CHARACTERS = 30_000_000
_CALLED = {
    "url": "page",
    "html": "HTML file",
    "docx": "Word document",
    "pptx": "presentation",
    "xlsx": "workbook",
    "csv": "table",
    "epub": "book",
}
_EMPTY = "There is no text in this {}."


@dataclass(slots=True)
class Writer:
    """A part's text as it grows, through the gate, with the headings in it.

    Args:
        label: what the part is called.
    """

    label: str = ""
    _pieces: list[str] = field(default_factory=list)
    _headings: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    _path: dict[int, str] = field(default_factory=dict)
    _length: int = 0

    def add(self, text: str, *, after: str = "\n") -> None:
        """A line, or several; nothing where there is nothing to see in it."""
        text = clean(text).strip("\n")
        if not text.strip():
            return
        if self._pieces:
            self._put(after)
        self._put(text)

    def heading(self, text: str, level: int) -> None:
        """A heading of that level, 1 the outermost."""
        text = clean(" ".join(text.split()))
        if not text:
            return
        if self._pieces:
            self._put("\n\n")
        # Every chunk below is indexed under it: a whole paragraph that is marked as one is cut.
        self._path = {at: above for at, above in self._path.items() if at < level}
        self._path[level] = text[:_LONGEST_LABEL]
        path = tuple(above for _, above in sorted(self._path.items()))
        self._headings.append((self._length, path))
        self._put(text)

    def part(self) -> Part:
        """What was written."""
        label = " ".join(clean(self.label).split())[:_LONGEST_LABEL]
        return Part("".join(self._pieces), label, self._headings)

    def _put(self, text: str) -> None:
        self._length += len(text)
        if self._length > _MOST_CHARACTERS:
            raise Unreadable("There is more text in this file than can be read. Split it.")
        self._pieces.append(text)


def read_document(content: bytes, kind: str, charset: str) -> Document:
    """The parts of a document.

    Args:
        kind: the value of a `SourceKind`.
        charset: what the server said of a page's encoding; "" where it did not.

    Raises:
        Unreadable: broken, protected, or without text.
    """
    called = _CALLED[kind]
    try:
        document = _reader(kind)(content, charset)
    except (Unreadable, MemoryError):
        raise
    except Exception as error:  # a file can break a library in ways that nobody listed
        raise Unreadable(
            f"This {called} is damaged ({type(error).__name__}). Open it in its program, save it"
            " anew, and upload that."
        ) from error
    if not any(part.text.strip() for part in document.parts):
        raise Unreadable(_EMPTY.format(called))
    document.title = usable_title(document.title)
    return document


def _reader(kind: str) -> Callable[[bytes, str], Document]:
    """Imported when it is needed: some take half a second."""
    # ruff: noqa: PLC0415
    if kind in {"url", "html"}:
        from adapters.extraction.html import read_file, read_page

        return read_page if kind == "url" else read_file
    if kind in {"docx", "pptx"}:
        from adapters.extraction.office import read_docx, read_pptx

        return read_docx if kind == "docx" else read_pptx
    if kind in {"xlsx", "csv"}:
        from adapters.extraction.tables import read_csv, read_xlsx

        return read_xlsx if kind == "xlsx" else read_csv
    from adapters.extraction.epub import read_epub

    return read_epub
