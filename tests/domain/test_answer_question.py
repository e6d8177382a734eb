"""A run against a database in memory and a scripted model: what is shown, billed and kept."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, cast

import numpy as np
import pytest

from domain.conversation import Answer, AnswerEvent, AnswerMode, AnswerStatus, EventKind, Message
from domain.embedding_set import EmbeddingSet
from domain.errors import BelegError, ModelCut, ModelUnavailable, Unavailable, mark_unsent
from domain.ids import AnswerId, CallId, NotebookId, SourceId, UserId, new_id
from domain.ledger import Intent, Settlement
from domain.live import LiveAnswer
from domain.metering import MeteredEmbedder
from domain.notebook import Holding
from domain.ports import ChatDelta, ChatEnd, Embedded
from domain.prices import PriceList
from domain.refusals import general_knowledge
from domain.retrieval import Hit, RetrievalSettings, Scope
from domain.stores import Stores, UnitOfWork
from domain.usage import CallStatus, Price, TokenUsage
from domain.usecases.answer_question import AnswerQuestion, AnswerSettings
from tests.domain.answers import hits_of

USED = TokenUsage(100, 20)
SAID = general_knowledge("en") + "\n\n"
"""What stands above every answer from general knowledge."""
OPENED = cast("Intent", "that of the question")
PRICES = PriceList({"m": Price(Decimal(1), Decimal(2))})


@dataclass
class Database:
    """The ledger and the answers that a run without sources touches."""

    calls: dict[CallId, Settlement | None] = field(default_factory=dict)
    events: list[AnswerEvent] = field(default_factory=list)
    finished: Answer | None = None
    broken: Exception | None = None
    """What the next `append` raises."""
    order: list[str] = field(default_factory=list)
    hits: Sequence[Hit] = ()
    """What a search finds."""
    scope: Scope | None = None
    """Where it looked last."""

    @property
    def index(self) -> "Database":
        return self

    @property
    def ledger(self) -> "Database":
        return self

    @property
    def answers(self) -> "Database":
        return self

    @asynccontextmanager
    async def uow(self, *, at_once: bool = False) -> AsyncIterator[Stores]:  # noqa: ARG002 - the port's
        yield cast("Stores", self)

    async def open(self, intent: Intent, _lease: timedelta) -> None:
        self.calls[intent.id] = None

    async def settle(self, call: Intent, settlement: Settlement) -> None:
        self.order.append("settle")
        if self.calls[call.id] is None:
            self.calls[call.id] = settlement

    async def search(self, scope: Scope, *_: object) -> Sequence[Hit]:
        self.scope = scope
        return self.hits

    async def keep_retrieved(self, _id: AnswerId, hits: Sequence[Hit]) -> None:
        assert list(hits) == list(self.hits)
        self.order.append("keep")

    async def append(
        self, _id: AnswerId, events: Sequence[AnswerEvent], _lease: timedelta
    ) -> bool | None:
        self.order.append(" ".join(["append", *(event.kind for event in events)]))
        if self.broken:
            error, self.broken = self.broken, None
            raise error
        self.events += events
        return False

    async def finish(self, answer: Answer) -> None:
        self.finished = answer

    @property
    def bills(self) -> list[tuple[CallStatus, int, int]]:
        assert None not in self.calls.values(), "a call was left open"
        return [
            (s.status, s.usage.input_tokens, s.usage.output_tokens)
            for s in self.calls.values()
            if s
        ]


@dataclass
class Model:
    """Says its script: texts, an end, errors; an `Event` is waited for."""

    steps: list[Any]
    waiting: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once it waits for an event, with everything before it shown."""
    model = "m"
    closed = False

    async def stream(
        self, _messages: Sequence[Message], *, max_tokens: int
    ) -> AsyncGenerator[ChatDelta | ChatEnd, None]:
        assert max_tokens == 4096
        try:
            while self.steps:
                step = self.steps.pop(0)
                if isinstance(step, asyncio.Event):
                    self.waiting.set()
                    await step.wait()
                elif isinstance(step, BelegError):
                    raise step
                elif isinstance(step, ChatEnd):
                    yield step
                    return
                else:
                    yield ChatDelta(step)
        finally:
            self.closed = True


class OneVector:
    """Embeds anything, and searches beside its bill."""

    async def embed(
        self, *_: object, opened: Intent, beside: Callable[[Embedded], Awaitable[None]]
    ) -> None:
        assert opened is OPENED
        await beside(Embedded(np.ones((1, 2), np.float32), USED))


class Noon:
    def now(self) -> datetime:
        return datetime(2026, 11, 29, 12, tzinfo=UTC)

    async def sleep(self, _seconds: float) -> None:
        await asyncio.sleep(0)


def a_question(mode: AnswerMode = AnswerMode.GENERAL) -> Answer:
    return Answer(
        id=AnswerId(new_id()),
        notebook_id=NotebookId(new_id()),
        user_id=UserId(new_id()),
        question="What is a bridge?",
        source_ids=() if mode is AnswerMode.GENERAL else None,
        about=None,
        mode=mode,
        status=AnswerStatus.STREAMING,
        refused=False,
        text="",
        error=None,
        created_at=Noon().now(),
    )


async def run(
    database: Database,
    model: Model | None,
    live: LiveAnswer | None = None,
    *,
    asked: str = "What is a bridge?",
    documents: Sequence[Holding] = (),
) -> Answer:
    uow = cast("UnitOfWork", database.uow)
    answering = AnswerQuestion(
        uow=uow,
        clock=Noon(),
        embedder=cast("MeteredEmbedder", OneVector()),
        embedding_set=EmbeddingSet(1, "e", 2, "token-window-420-50"),
        chat=model,
        prices=PRICES,
        settings=AnswerSettings(RetrievalSettings()),
    )
    question, opened = a_question(), None
    if database.hits:
        question, opened = a_question(AnswerMode.SOURCES), OPENED
    question = replace(question, question=asked)
    await answering(question, opened, documents, (), live or LiveAnswer())
    assert database.finished is not None
    return database.finished


def shown(database: Database) -> str:
    return "".join(e.data["text"] for e in database.events if e.kind is EventKind.DELTA)


async def test_what_is_stored_is_what_was_shown_and_its_bill_is_the_reported_one() -> None:
    database = Database()
    answer = await run(database, Model(["A bri", "dge [7] ", "spans.", ChatEnd("stop", USED)]))
    assert answer.status is AnswerStatus.COMPLETE
    assert answer.text == shown(database) == SAID + "A bridge spans."
    assert database.events[-1].kind is EventKind.DONE
    assert database.bills == [(CallStatus.SERVED, 100, 20)]


async def test_a_burst_is_read_on_once_its_first_piece_is_with_its_reader() -> None:
    live, left = LiveAnswer(), []
    model = Model([*["word "] * 50, ChatEnd("stop", USED)])

    async def read() -> None:
        async for _ in live.follow(0, ping_s=60):
            for _ in range(9):  # on its way to a socket
                await asyncio.sleep(0)
            left.append(len(model.steps))

    reader = asyncio.create_task(read())
    await run(Database(), model, live)
    live.end()
    await reader
    assert left[0] == 50


async def test_the_first_words_wait_for_nothing_and_a_citation_for_what_it_points_to() -> None:
    database = Database(hits=hits_of(["A bridge spans a gap."]))
    answer = await run(database, Model(["A bridge ", "spans a gap [1]. ", ChatEnd("stop", USED)]))
    assert answer.status is AnswerStatus.COMPLETE
    assert [citation.marker for citation in answer.citations] == [1]
    first, kept, *rest = database.order
    assert (first, kept) == ("append delta", "keep")
    assert "keep" not in rest


async def test_what_was_found_is_kept_before_a_citation_that_comes_first() -> None:
    database = Database(hits=hits_of(["A bridge spans a gap."]))
    await run(database, Model(["[1] says so. ", ChatEnd("stop", USED)]))
    assert database.order[0] == "keep"


async def test_what_was_found_is_kept_where_the_model_says_nothing() -> None:
    database = Database(hits=hits_of(["A bridge spans a gap."]))
    answer = await run(database, Model([ModelCut("Gone.", usage=USED)]))
    assert answer.status is AnswerStatus.FAILED
    assert database.order.count("keep") == 1


async def test_an_answer_at_the_models_limit_is_kept_and_billed_but_not_whole() -> None:
    database = Database()
    answer = await run(database, Model(["A bridge", ChatEnd("length", TokenUsage(100, 4096))]))
    assert answer.status is AnswerStatus.FAILED
    assert answer.error is not None
    assert answer.error.code == "answer_too_long"
    assert answer.text == shown(database) == SAID + "A bridge"
    assert database.bills == [(CallStatus.SERVED, 100, 4096)]


async def test_a_model_is_asked_again_only_while_nothing_has_arrived() -> None:
    database = Database()
    refused = ModelUnavailable("busy", retry_after_s=0)
    answer = await run(database, Model([refused, "A bridge.", ChatEnd("stop", USED)]))
    assert answer.text == SAID + "A bridge."
    assert database.bills == [(CallStatus.FAILED, 0, 0), (CallStatus.SERVED, 100, 20)]

    database = Database()
    cut = ModelCut("gone", usage=TokenUsage(100, 2, estimated=True))
    answer = await run(database, Model(["A bri", cut, "never said"]))
    assert answer.status is AnswerStatus.FAILED
    assert answer.text == shown(database) == SAID + "A bri"
    assert database.bills == [(CallStatus.CUT, 100, 2)]


async def test_a_stop_closes_the_call_keeps_the_text_and_bills_an_estimate() -> None:
    database, live = Database(), LiveAnswer()
    model = Model(["A bridge", asyncio.Event()])
    running = asyncio.create_task(run(database, model, live))
    async with asyncio.timeout(10):
        await model.waiting.wait()
    live.stop.set()
    answer = await running
    assert model.closed
    assert answer.status is AnswerStatus.STOPPED
    assert answer.text == shown(database) == SAID + "A bridge"
    [(status, sent, wrote)] = database.bills
    assert (status, wrote) == (CallStatus.CUT, 2)
    assert sent > 0


class Unreached(Model):
    """A model whose provider lets nobody connect."""

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int
    ) -> AsyncGenerator[ChatDelta | ChatEnd, None]:
        try:
            async for event in super().stream(messages, max_tokens=max_tokens):
                yield event
        except asyncio.CancelledError as error:
            mark_unsent(error)
            raise


async def test_a_stop_before_anything_was_sent_costs_nothing() -> None:
    database, live = Database(), LiveAnswer()
    model = Unreached([asyncio.Event()])
    running = asyncio.create_task(run(database, model, live))
    async with asyncio.timeout(10):
        await model.waiting.wait()
    live.stop.set()
    assert (await running).status is AnswerStatus.STOPPED
    assert database.bills == [(CallStatus.FAILED, 0, 0)]


class Slow(Database):
    """A database that is asked to keep what was found, and does not come to answer."""

    def __init__(self, asked: Callable[[], None]) -> None:
        super().__init__(hits=hits_of(["A bridge spans a gap."]))
        self.asked = asked

    async def keep_retrieved(self, _id: AnswerId, hits: Sequence[Hit]) -> None:
        is_first = "keep" not in self.order
        await super().keep_retrieved(_id, hits)
        if is_first:
            self.asked()
            await asyncio.Event().wait()


async def test_a_stop_while_what_was_found_is_kept_loses_no_piece() -> None:
    live = LiveAnswer()
    database = Slow(live.stop.set)
    answer = await run(database, Model(["A bridge ", "spans a gap [1]. "]), live)
    assert answer.status is AnswerStatus.STOPPED
    assert answer.text == shown(database) == "A bridge spans a gap [1]. "
    assert [event.kind for event in database.events].count(EventKind.CITATION) == 1


async def test_text_that_no_column_takes_is_left_out_and_cut_pairs_are_joined() -> None:
    database = Database()
    deltas = ["A\0 bri\ud83d", "\ude42dge", "\udc00 spans\ud83d", ChatEnd("stop", USED)]
    answer = await run(database, Model(deltas))
    assert answer.status is AnswerStatus.COMPLETE
    assert answer.text == shown(database) == SAID + "A bri\U0001f642dge spans"


async def test_a_run_whose_events_cannot_be_kept_ends_instead_of_paying_on() -> None:
    database = Database(broken=ValueError("a mistake of ours"))
    model = Model(["A bridge", asyncio.Event(), "never said"])
    with pytest.raises(ValueError, match="a mistake of ours"):
        await run(database, model)
    assert model.closed
    assert database.finished is not None
    assert database.finished.status is AnswerStatus.FAILED
    assert database.finished.text == shown(database) == SAID + "A bridge"
    assert database.bills[0][0] is CallStatus.CUT


async def test_a_database_that_is_away_for_a_moment_costs_nothing() -> None:
    database = Database(broken=Unavailable())
    answer = await run(database, Model(["A bridge", " spans.", ChatEnd("stop", USED)]))
    assert answer.text == shown(database) == SAID + "A bridge spans."
    assert [event.id for event in database.events] == list(range(1, len(database.events) + 1))


async def test_the_end_locks_the_answer_before_its_calls() -> None:
    database = Database()
    await run(database, Model(["A bridge.", ChatEnd("stop", USED)]))
    assert database.order[-2:] == ["append done", "settle"]


async def test_without_a_model_a_source_says_what_it_is_about_in_its_own_sentences() -> None:
    text = "The old bridge over the Mira was built by the guild of masons. It is red."
    database = Database(hits=hits_of([text]))
    notes, other = (
        Holding(SourceId(new_id()), "text", title, "en") for title in ("Notes.txt", "Other")
    )
    answer = await run(database, None, asked="What is “Notes.txt” about?", documents=[notes, other])
    assert answer.text == "The old bridge over the Mira was built by the guild of masons. [1]"
    assert not answer.refused
    assert database.scope == Scope(answer.notebook_id, None, notes.id)
    assert database.bills == []
