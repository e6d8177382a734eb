"""EPUB books: a part a chapter, as the book's spine orders them."""

import posixpath
import zipfile
from collections.abc import Iterable
from urllib.parse import unquote

from lxml import etree

from adapters.extraction.archives import opened
from adapters.extraction.documents import Writer
from adapters.extraction.html import decoded_html, parsed, title_of, write
from adapters.extraction.wire import Document, Part
from domain.errors import Unreadable
from domain.text_gate import clean

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_RIGHTS = ("META-INF/rights.xml", "META-INF/sinf.xml", "META-INF/license.lcpl")
_OF_FONTS = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})
"""Ways to scramble fonts, which are no copy protection."""
_CHAPTERS = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})
_Item = tuple[str, str, str]
"""Name in the archive, media type, properties."""
_LONGEST_NAME = 100
_PROTECTED = (
    "This book is protected against copying (DRM) and cannot be read. Upload a copy without"
    " protection."
)
_NO_BOOK = "This is no whole EPUB book: {} is missing. Export it anew and upload that."


def read_epub(content: bytes, _charset: str) -> Document:
    """The chapters that hold text, each called what the table of contents calls it.

    Raises:
        Unreadable: protected, or no whole book.
    """
    archive = opened(content)
    _require_free(archive)
    package_name = _package_name(archive)
    package = _xml(archive, package_name)
    folder = posixpath.dirname(package_name)
    items = {
        item.get("id", ""): (
            _joined(folder, item.get("href", "")),
            item.get("media-type", ""),
            item.get("properties", ""),
        )
        for item in package.iter("{*}item")
    }
    labels = _labels(archive, items.values())
    parts = []
    for reference in package.iter("{*}itemref"):
        name, media_type, _ = items.get(reference.get("idref", ""), ("", "", ""))
        if media_type in _CHAPTERS and (part := _chapter(archive, name, labels)).text:
            parts.append(part)
    return Document(parts, package.findtext(".//{*}metadata/{*}title") or "", paged=True)


def _require_free(archive: zipfile.ZipFile) -> None:
    names = set(archive.namelist())
    if not names.isdisjoint(_RIGHTS):
        raise Unreadable(_PROTECTED)
    if _ENCRYPTION in names:
        methods = _xml(archive, _ENCRYPTION).iter("{*}EncryptionMethod")
        if any(method.get("Algorithm") not in _OF_FONTS for method in methods):
            raise Unreadable(_PROTECTED)


def _package_name(archive: zipfile.ZipFile) -> str:
    for root in _xml(archive, _CONTAINER).iter("{*}rootfile"):
        return _joined("", root.get("full-path", ""))
    raise Unreadable(_NO_BOOK.format("its list of contents"))


def _chapter(archive: zipfile.ZipFile, name: str, labels: dict[str, str]) -> Part:
    tree = parsed(decoded_html(_bytes(archive, name), ""))
    writer = Writer()
    write(tree, writer)
    part = writer.part()
    first = part.headings[0][1][-1] if part.headings else ""
    part.label = (labels.get(name) or first or title_of(tree))[:_LONGEST_NAME]
    if part.text and not part.headings and part.label:
        part.headings = [(0, (part.label,))]
    return part


def _labels(archive: zipfile.ZipFile, items: Iterable[_Item]) -> dict[str, str]:
    """What the table of contents calls each file: of EPUB 3, or of EPUB 2."""
    labels: dict[str, str] = {}
    for name, media_type, properties in items:
        folder = posixpath.dirname(name)
        if "nav" in properties.split():
            for link in _xml(archive, name).iter("{*}a"):
                _note(labels, folder, link.get("href", ""), "".join(link.itertext()))
        elif media_type == "application/x-dtbncx+xml":
            for point in _xml(archive, name).iter("{*}navPoint"):
                place = point.find("{*}content")
                text = point.findtext("{*}navLabel/{*}text") or ""
                _note(labels, folder, "" if place is None else place.get("src", ""), text)
    return labels


def _note(labels: dict[str, str], folder: str, href: str, text: str) -> None:
    """The first entry that leads into a file names it."""
    if href and (called := " ".join(clean(text).split())):
        labels.setdefault(_joined(folder, href), called)


def _joined(folder: str, href: str) -> str:
    """The name inside the archive that `href` means, seen from `folder`."""
    return posixpath.normpath(posixpath.join(folder, unquote(href.partition("#")[0])))


def _xml(archive: zipfile.ZipFile, name: str) -> etree._Element:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    root = etree.fromstring(_bytes(archive, name), parser)
    if root is None:
        raise Unreadable(_NO_BOOK.format(clean(name)[:_LONGEST_NAME]))
    return root


def _bytes(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        return archive.read(name)
    except KeyError as error:
        raise Unreadable(_NO_BOOK.format(clean(name)[:_LONGEST_NAME])) from error
