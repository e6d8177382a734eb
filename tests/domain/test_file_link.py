"""Links to files: what they are good for, and for how long."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from domain.errors import Expired, Forbidden
from domain.file_link import require_valid, signed
from domain.ids import DocumentId, new_id

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
SECRET = "a secret"


def test_a_link_is_good_for_ten_minutes() -> None:
    document = DocumentId(new_id())
    link = signed(SECRET, document, NOW)
    assert link.expires_at == NOW + timedelta(seconds=600)
    require_valid(SECRET, document, link, NOW + timedelta(seconds=599))
    with pytest.raises(Expired):
        require_valid(SECRET, document, link, NOW + timedelta(seconds=600))


def test_a_link_is_good_for_its_document_and_its_time_alone() -> None:
    document = DocumentId(new_id())
    link = signed(SECRET, document, NOW)
    for secret, other, forged in (
        ("another", document, link),
        (SECRET, DocumentId(new_id()), link),
        (SECRET, document, replace(link, expires=link.expires + 1)),
        (SECRET, document, replace(link, signature="")),
        (SECRET, document, replace(link, signature="\ud800")),
    ):
        with pytest.raises(Forbidden):
            require_valid(secret, other, forged, NOW)
