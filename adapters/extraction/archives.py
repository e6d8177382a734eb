"""ZIP archives, checked before anything in them is inflated."""

import zipfile
import zlib
from io import BytesIO

from domain.errors import Unreadable

_MOST_ENTRIES = 10_000
_MOST_BYTES = 400 << 20
_MOST_PART_BYTES = 120 << 20
_FREE_BYTES = 30 << 20
"""Below this nothing is asked about the ratio: small XML packs very well."""
_MOST_RATIO = 150
_PROLOGUE_BYTES = 1 << 16
_DAMAGED = "This file is damaged: it is no whole archive. Save it anew and upload that."
_BOMB = "This file unpacks to far more than it should, and is not opened. Save it anew."
_ENCRYPTED = 0x1
_STRICT = b"http://purl.oclc.org/ooxml/"


def opened(content: bytes) -> zipfile.ZipFile:
    """The archive in `content`. Its names lead nowhere else, and it is no bomb.

    Raises:
        Unreadable: damaged, encrypted, or made to do harm.
    """
    try:
        archive = zipfile.ZipFile(BytesIO(content))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise Unreadable(_DAMAGED) from error
    entries = archive.infolist()
    if len(entries) > _MOST_ENTRIES:
        raise Unreadable(f"There are {len(entries):,} parts in this file, too many to be opened.")
    unpacked = sum(entry.file_size for entry in entries)
    packed = sum(entry.compress_size for entry in entries)
    if unpacked > _MOST_BYTES or any(entry.file_size > _MOST_PART_BYTES for entry in entries):
        raise Unreadable(_BOMB)
    if unpacked > _FREE_BYTES and unpacked > _MOST_RATIO * max(packed, 1):
        raise Unreadable(_BOMB)
    for entry in entries:
        if _leads_outside(entry.filename):
            raise Unreadable("This file holds parts whose names lead outside it; it is not opened.")
        if entry.flag_bits & _ENCRYPTED:
            raise Unreadable(
                "This file is protected by a password. Save it without one and upload that."
            )
    return archive


def require_office(content: bytes, save_as: str) -> zipfile.ZipFile:
    """An Office file, which is an archive without macros and without entities in its XML.

    Args:
        save_as: the format without macros.

    Raises:
        Unreadable: it is not.
    """
    archive = opened(content)
    for entry in archive.infolist():
        name = entry.filename.lower()
        if name.endswith("vbaproject.bin"):
            raise Unreadable(
                f"This file holds macros, which are not opened here. Save it as {save_as}, without"
                " macros, and upload that."
            )
        if name.endswith((".xml", ".rels")) and _declares_entities(archive, entry):
            raise Unreadable(
                "The XML in this file declares entities, which no Office program does; it is"
                " not opened. Save it anew and upload that."
            )
        if name == "_rels/.rels" and _STRICT in archive.read(entry):
            raise Unreadable(
                f"This file is in the strict form of Office Open XML. Save it as an ordinary"
                f" {save_as} file and upload that."
            )
    return archive


def _declares_entities(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bool:
    try:
        with archive.open(entry) as part:
            head = part.read(_PROLOGUE_BYTES).replace(b"\0", b"").lower()
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise Unreadable(_DAMAGED) from error
    return b"<!doctype" in head or b"<!entity" in head


def _leads_outside(name: str) -> bool:
    name = name.replace("\\", "/")
    return name.startswith("/") or name[1:2] == ":" or ".." in name.split("/")
