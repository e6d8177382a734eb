"""Names of originals in an archive: any file system takes them, and they keep their endings."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from domain.export import original_name
from domain.ids import SourceId, UserId, new_id
from domain.source import CaptureMode, Source, SourceKind, SourceStatus

SOURCE = Source(
    id=SourceId(new_id()),
    owner_id=UserId(new_id()),
    kind=SourceKind.TEXT,
    title="",
    name="",
    sha256=bytes(32),
    capture_mode=CaptureMode.AUTO,
    media_type="text/plain",
    bytes=1,
    status=SourceStatus.READY,
    progress=None,
    error=None,
    attempt=0,
    version_id=None,
    language="",
    pages=None,
    words=None,
    chunk_count=0,
    skipped=(),
    created_at=datetime(2026, 11, 30, tzinfo=UTC),
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Brücke über die Spree.pdf", "Brücke über die Spree.pdf"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("a.tar.gz", "a.tar.gz"),
        (" . .. ", "file"),
        (".env", "env"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("console.txt", "console.txt"),
        ("\u202etxt.exe", "_txt.exe"),
        ("x" * 300 + ".txt", "x" * 136 + ".txt"),
        ("日本語" * 60 + ".pdf", "日本語" * 15 + ".pdf"),
        ("x." + "y" * 300, "x." + "y" * 138),
        ("x" * 139 + " y" * 9, "x" * 139),
    ],
)
def test_a_name_fits_any_file_system(name: str, expected: str) -> None:
    made = original_name(replace(SOURCE, name=name))
    assert made == expected
    assert len(made.encode()) <= 140
