"""Answers as a model would write them over passages of a test's own."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from domain.answer_writer import AnswerWriter
from domain.conversation import Answer, AnswerMode, AnswerStatus
from domain.ids import AnswerId, ChunkId, NotebookId, SourceId, UserId, VersionId
from domain.retrieval import Hit

NIL = UUID(int=0)


def hits_of(passages: Sequence[str], language: str = "en") -> list[Hit]:
    return [
        Hit(
            rank=rank,
            chunk_id=ChunkId(NIL),
            source_id=SourceId(NIL),
            version_id=VersionId(NIL),
            source_title="Notes",
            passage=0,
            page=None,
            start=0,
            language=language,
            text=text,
            similarity=0.9,
            score=1.0,
        )
        for rank, text in enumerate(passages, 1)
    ]


def answer_of(
    text: str,
    passages: Sequence[str],
    language: str = "en",
    mode: AnswerMode = AnswerMode.SOURCES,
) -> Answer:
    hits = hits_of(passages, language)
    writer = AnswerWriter(hits)
    writer.feed(text)
    writer.finish()
    return Answer(
        id=AnswerId(NIL),
        notebook_id=NotebookId(NIL),
        user_id=UserId(NIL),
        question="?",
        source_ids=None,
        about=None,
        mode=mode,
        status=AnswerStatus.COMPLETE,
        refused=False,
        text=writer.text,
        error=None,
        created_at=datetime.now(UTC),
        citations=writer.citations,
        retrieved=tuple(hits),
    )
