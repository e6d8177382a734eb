"""Question sets: read, resolved, and held against what was found."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from domain.errors import Rejected
from domain.ids import ChunkId, SourceId, UserId, VersionId, new_id
from domain.question_set import Place, Question, parse, ranked, resolve
from domain.retrieval import Hit
from domain.source import CaptureMode, Source, SourceKind, SourceStatus


def source(title: str, name: str) -> Source:
    return Source(
        id=SourceId(new_id()),
        owner_id=UserId(new_id()),
        kind=SourceKind.PDF,
        title=title,
        name=name,
        sha256=b"",
        capture_mode=CaptureMode.TEXT,
        media_type="application/pdf",
        bytes=1,
        status=SourceStatus.READY,
        progress=None,
        error=None,
        attempt=1,
        version_id=None,
        language="en",
        pages=3,
        words=3,
        chunk_count=1,
        skipped=(),
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def hits(*places: tuple[SourceId, int]) -> Sequence[Hit]:
    return [
        Hit(
            rank=rank,
            chunk_id=ChunkId(new_id()),
            source_id=source_id,
            version_id=VersionId(new_id()),
            source_title="",
            passage=page - 1,
            page=page,
            start=0,
            language="en",
            text="",
            similarity=0.5,
            score=1.0,
        )
        for rank, (source_id, page) in enumerate(places, 1)
    ]


def test_sources_are_found_by_title_name_and_id() -> None:
    one, two = source("Bridges", "b.pdf"), source("Canals", "c.pdf")
    lines = [
        '{"question": "a", "relevant": ["Bridges", {"source": "c.pdf", "page": 2}]}',
        "",
        f'{{"question": "b", "relevant": ["{two.id}"], "facts": ["1932"]}}',
        '{"question": "c"}',
    ]
    first, second, third = resolve(parse(lines), [one, two])
    assert first.relevant == (Place(one.id, None), Place(two.id, 2))
    assert second == Question("b", (Place(two.id, None),), ("1932",))
    assert third.relevant == ()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "Line 2"),
        ('{"relevant": []}', "question"),
        ('{"question": " "}', "empty"),
        ('{"question": "a", "sources": []}', "sources"),
        ('{"question": "a", "relevant": [{"source": "A", "page": "two"}]}', "Line 2"),
    ],
)
def test_a_line_that_is_no_question_is_named(line: str, told: str) -> None:
    with pytest.raises(Rejected, match=told):
        parse(['{"question": "fine"}', line])


def test_an_empty_set_is_refused() -> None:
    with pytest.raises(Rejected, match="empty"):
        parse(["", " "])


def test_a_source_that_is_not_there_or_there_twice_is_named() -> None:
    twice = [source("Bridges", "a.pdf"), source("Bridges", "b.pdf")]
    with pytest.raises(Rejected, match="'Locks'"):
        resolve(parse(['{"question": "a", "relevant": ["Locks"]}']), twice)
    with pytest.raises(Rejected, match="2 sources"):
        resolve(parse(['{"question": "a", "relevant": ["Bridges"]}']), twice)


def test_a_page_that_is_not_there_is_named() -> None:
    pages, text = source("Bridges", "a.pdf"), replace(source("Note", "n.txt"), pages=None)
    for title, page, told in (
        ("Bridges", 4, "3 pages.* page 4"),
        ("Bridges", 0, "3 pages.* page 0"),
        ("Note", 1, "no pages"),
    ):
        line = f'{{"question": "a", "relevant": [{{"source": "{title}", "page": {page}}}]}}'
        with pytest.raises(Rejected, match=told):
            resolve(parse([line]), [pages, text])


def test_hits_stand_for_the_places_they_reach() -> None:
    one, two, other = (SourceId(new_id()) for _ in range(3))
    question = Question("a", (Place(one, None), Place(two, 2)), ())
    found = ranked(question, hits((other, 1), (one, 7), (two, 1), (two, 2)))
    assert found == [Place(other, 1), Place(one, None), Place(two, 1), Place(two, 2)]
