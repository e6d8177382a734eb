"""Cleaning up: whatever is broken stays alone."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from domain.conversation import (
    Answer,
    AnswerEvent,
    AnswerMode,
    AnswerStatus,
    Citation,
    EventKind,
)
from domain.errors import Unavailable
from domain.export import Export
from domain.ids import AnswerId, DocumentId, NotebookId, SourceId, UserId, new_id
from domain.jobs import INGEST_SOURCE, MAKE_DOCUMENT, JobKind
from domain.stores import Stores, UnitOfWork
from domain.usecases.reap import Reap


def dead_answer() -> Answer:
    return Answer(
        id=AnswerId(new_id()),
        notebook_id=NotebookId(new_id()),
        user_id=UserId(new_id()),
        question="Which colour?",
        source_ids=None,
        about=None,
        mode=AnswerMode.SOURCES,
        status=AnswerStatus.STREAMING,
        refused=False,
        text="",
        error=None,
        created_at=datetime(2026, 11, 29, tzinfo=UTC),
    )


@dataclass
class Rows:
    """Every store in one: two dead answers, dead calls, a source and an account without a job,
    old keys."""

    broken: str = ""
    dead: list[Answer] = field(default_factory=lambda: [dead_answer(), dead_answer()])
    broken_answer: AnswerId | None = None
    done: list[str] = field(default_factory=list)
    ended: list[Answer] = field(default_factory=list)

    @property
    def answers(self) -> "Rows":
        return self

    ledger = sources = jobs = idempotency = accounts = answers

    @property
    def exports(self) -> "Exports":
        return Exports()

    @property
    def documents(self) -> "Documents":
        return Documents(self)

    @asynccontextmanager
    async def uow(self, *, at_once: bool = False) -> AsyncIterator[Stores]:  # noqa: ARG002 - the port's
        yield cast("Stores", self)

    def do(self, step: str) -> None:
        if step == self.broken:
            raise Unavailable(step)
        self.done.append(step)

    async def abandoned(self) -> list[AnswerId]:
        self.do("answers")
        return [answer.id for answer in self.dead]

    async def take_abandoned(self, answer_id: AnswerId) -> Answer | None:
        return next((a for a in self.dead if a.id == answer_id), None)

    async def events(self, answer_id: AnswerId, after: int) -> list[AnswerEvent]:
        if answer_id == self.broken_answer:
            raise KeyError(after)
        return [AnswerEvent(1, EventKind.DELTA, {"text": "It is"})]

    async def recorded_citations(self, _: AnswerId) -> list[Citation]:
        return []

    async def append(self, _: AnswerId, events: Sequence[AnswerEvent], __: timedelta) -> bool:
        assert [event.kind for event in events] == [EventKind.ERROR]
        return False

    async def finish(self, answer: Answer) -> None:
        self.ended.append(answer)

    async def abandon(self, *, answer_id: AnswerId | None = None) -> None:
        if answer_id is None:
            self.do("calls")

    async def stalled(self) -> list[tuple[SourceId, int]]:
        self.do("sources")
        return [(SourceId(new_id()), 3)]

    async def enqueue(self, kind: JobKind, key: str, **arguments: str) -> None:
        made_for = {INGEST_SOURCE: "source_id:3", MAKE_DOCUMENT: "document_id:2"}
        name, *attempt = made_for.get(kind, "user_id").split(":")
        assert key == ":".join([arguments[name], *attempt]), kind

    async def leaving(self) -> list[UserId]:
        self.do("accounts")
        return [UserId(new_id())]

    async def forget_old(self) -> None:
        self.do("keys")


@dataclass
class Documents:
    """One waits, at its second attempt."""

    rows: Rows

    async def stalled(self) -> list[tuple[DocumentId, int]]:
        self.rows.do("documents")
        return [(DocumentId(new_id()), 2)]


class Exports:
    """None waits."""

    async def stalled(self) -> list[Export]:
        return []


STEPS = ["answers", "calls", "sources", "documents", "accounts", "keys"]


async def reap(rows: Rows) -> None:
    await Reap(cast("UnitOfWork", rows.uow))()


async def test_everything_is_ended() -> None:
    rows = Rows()
    await reap(rows)
    assert rows.done == STEPS
    assert [(a.id, a.status, a.text) for a in rows.ended] == [
        (answer.id, AnswerStatus.FAILED, "It is") for answer in rows.dead
    ]


@pytest.mark.parametrize("broken", STEPS)
async def test_a_step_that_fails_stops_no_other(broken: str) -> None:
    rows = Rows(broken)
    with pytest.raises(ExceptionGroup) as raised:
        await reap(rows)
    assert [str(error) for error in raised.value.exceptions] == [broken]
    assert rows.done == [step for step in STEPS if step != broken]


async def test_an_answer_that_cannot_be_ended_stops_nothing_else() -> None:
    rows = Rows()
    rows.broken_answer = rows.dead[0].id
    with pytest.raises(ExceptionGroup) as raised:
        await reap(rows)
    assert [type(error) for error in raised.value.exceptions] == [KeyError]
    assert [answer.id for answer in rows.ended] == [rows.dead[1].id]
    assert rows.done == STEPS
