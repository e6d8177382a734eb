"""The studio's templates, each with everything it can show."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from uuid import uuid4

from app.contexts import Context, Frame
from app.shelf import Offer, Shelf
from app.studio_contexts import (
    DocumentRow,
    MadeFragment,
    OfferFragment,
    StudioProblem,
    TranscriptFragment,
    TranscriptPage,
)
from app.transcript_html import paragraphs_of
from domain.access import Role
from domain.conversation import Citation, Mention
from domain.document import (
    Document,
    DocumentKind,
    DocumentProgress,
    DocumentStage,
    DocumentStatus,
)
from domain.errors import Problem
from domain.ids import ChunkId, DocumentId, NotebookId, SourceId, UserId, VersionId
from domain.usecases.create_document import Caps, Room

OFFER = Offer(
    Room(0, 2, 3, Caps(1, 20, 10)),
    {"de": ["linde", "ahorn"], "en": ["willow"]},
    "en",
    can_write=True,
    most_cost=Decimal("0.02"),
)
OFFERS = [
    OFFER,
    replace(OFFER, voices={"en": ["willow"]}, most_cost=Decimal(0)),
    replace(OFFER, voices={}, language=""),
    replace(OFFER, can_write=False),
    replace(OFFER, room=Room(1, 2, 3, Caps(1, 20, 10))),
    replace(OFFER, room=Room(0, 20, 3, Caps(1, 20, 10))),
    replace(OFFER, room=Room(0, 2, 10, Caps(1, 20, 10))),
]
SAID = "A: It is red [1].\n\nB: Is it? [2]\n\nA：Yes, <b>red</b> [1]."


def document(**changes: object) -> Document:
    plain = Document(
        id=DocumentId(uuid4()),
        notebook_id=NotebookId(uuid4()),
        owner_id=UserId(uuid4()),
        kind=DocumentKind.AUDIO_OVERVIEW,
        title="What the papers say",
        is_titled=False,
        focus="",
        language="en",
        voices=("willow", "rowan"),
        source_ids=(SourceId(uuid4()),),
        status=DocumentStatus.QUEUED,
        progress=None,
        error=None,
        attempt=0,
        text=None,
        citations=(),
        seconds=None,
        bytes=None,
        source_id=None,
        cost=Decimal(0),
        created_at=datetime(2026, 11, 30, tzinfo=UTC),
    )
    return replace(plain, **changes)  # type: ignore[arg-type]  # names of its fields


def ready(**changes: object) -> Document:
    """One whose text cites a source at both places of its first marker."""
    mentions = tuple(Mention(start, start + 3, "It is red.", 4, 14) for start in (13, 47))
    citation = Citation(
        *(1, 1, ChunkId(uuid4()), SourceId(uuid4()), VersionId(uuid4())),
        "Report",
        *(0, 3, 0.0),
        mentions=mentions,
    )
    made = document(
        status=DocumentStatus.READY,
        text=SAID,
        citations=(citation,),
        seconds=Decimal("244.6"),
        bytes=3_000_000,
        source_id=SourceId(uuid4()),
        cost=Decimal("0.0123"),
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # names of its fields


def documents(evil: str) -> list[Document]:
    working = DocumentStatus.PROCESSING
    return [
        document(title="", focus=evil),
        document(status=working),
        *(
            document(title="", status=working, progress=DocumentProgress(stage, 1, total))
            for stage in DocumentStage
            for total in (0, 3)
        ),
        document(title=evil, status=DocumentStatus.FAILED, error=Problem("conflict", evil)),
        document(status=DocumentStatus.FAILED),
        ready(),
        ready(title=evil, text=evil, citations=(), voices=("linde",), language="de"),
    ]


def studio_contexts(around: Frame, evil: str) -> Iterator[Context]:
    where = NotebookId(uuid4())
    for made in documents(evil):
        for role in Role:
            yield DocumentRow(around, where, made, role)
        for is_page, kind in ((False, TranscriptFragment), (True, TranscriptPage)):
            yield kind(around, made, paragraphs_of(made, around.words, in_pane=not is_page))
    for offer in OFFERS:
        yield OfferFragment(around, offer)
        yield MadeFragment(around, where, document(title=evil), offer, uuid4())
    yield StudioProblem(around, evil, uuid4())


def shelves(evil: str) -> list[Shelf]:
    """What a notebook's page may have to show, the last as a guest sees it."""
    key = uuid4()
    with_offer = [Shelf(documents(evil), evil, offer, key) for offer in OFFERS]
    return [*with_offer, Shelf([], "", OFFER, key), Shelf(documents(evil), evil, None, key)]
