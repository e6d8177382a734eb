"""Metered calls against a ledger in memory: what is opened, retried, settled and kept."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, cast

import numpy as np
import pytest

from domain.errors import (
    BelegError,
    ModelAnswerInvalid,
    ModelCut,
    ModelRefused,
    ModelUnavailable,
    NotFound,
    OutOfCredit,
    Unavailable,
    mark_unsent,
)
from domain.ids import CallId, UserId, new_id
from domain.ledger import Intent, Settlement
from domain.metering import Meter, MeteredEmbedder, Payer, settlement_of, wait_s
from domain.ports import Embedded
from domain.prices import PriceList
from domain.stores import Stores, UnitOfWork
from domain.usage import CallStatus, Price, TokenUsage

PAYER = Payer(UserId(new_id()))
USED = TokenUsage(7)
GOOD = Embedded(np.ones((1, 2), np.float32), USED)


@dataclass
class Books:
    """A ledger and a unit of work; a transaction that raises leaves no trace."""

    calls: dict[CallId, Settlement | None] = field(default_factory=dict)
    credit: int = 100
    renewed: list[int] = field(default_factory=list)
    """How many calls at a time."""

    async def renew(self, calls: Sequence[CallId], _lease: timedelta) -> None:
        assert set(calls) <= self.calls.keys()
        self.renewed.append(len(calls))

    async def open(self, intent: Intent, _lease: timedelta) -> None:
        if not self.credit:
            raise OutOfCredit
        self.calls[intent.id] = None

    async def settle(self, call: Intent, settlement: Settlement) -> None:
        if call.id in self.calls and self.calls[call.id] is None:
            await asyncio.sleep(0)
            self.calls[call.id] = settlement

    @property
    def ledger(self) -> "Books":
        return self

    @asynccontextmanager
    async def uow(self, *, at_once: bool = False) -> AsyncIterator[Stores]:  # noqa: ARG002 - the port's
        before = dict(self.calls)
        try:
            yield cast("Stores", self)
            await asyncio.sleep(0)
        except BaseException:
            self.calls = before
            raise

    @property
    def settled(self) -> list[tuple[CallStatus, int]]:
        assert None not in self.calls.values(), "a call was left open"
        return [(s.status, s.usage.input_tokens) for s in self.calls.values() if s]


@dataclass
class Away(Books):
    """A ledger whose database goes away once a call is made.

    Args:
        misses: how often it is asked in vain.
    """

    misses: int = 10**9

    async def settle(self, call: Intent, settlement: Settlement) -> None:
        self.misses -= 1
        if self.misses >= 0:
            raise Unavailable(f"{call.id} cannot be {settlement.status}")
        await super().settle(call, settlement)


@dataclass
class Script:
    """An embedder that does as it is told, and a clock that does not wait."""

    steps: list[Embedded | BelegError]
    slept: list[float] = field(default_factory=list)
    model = "m"
    dimension = 2
    max_batch_items = 8
    waits = False
    is_sent = True

    async def embed(
        self, _texts: Sequence[str], *, role: Literal["question", "passage"]
    ) -> Embedded:
        assert role == "passage"
        if self.waits:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError as error:
                if not self.is_sent:
                    mark_unsent(error)
                raise
        step = self.steps.pop(0)
        if isinstance(step, BelegError):
            raise step
        return step

    def now(self) -> datetime:
        return datetime(2026, 11, 29, tzinfo=UTC)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def metered(script: Script, books: Books) -> MeteredEmbedder:
    prices = PriceList({"m": Price(Decimal(1))})
    return MeteredEmbedder(script, Meter(prices, cast("UnitOfWork", books.uow), script))


async def test_each_try_is_a_call_and_only_the_served_one_costs() -> None:
    books = Books()
    script = Script([ModelUnavailable(retry_after_s=3), ModelUnavailable(), GOOD])
    assert await metered(script, books).embed(["text"], "passage", PAYER) is GOOD
    assert books.settled == [(CallStatus.FAILED, 0), (CallStatus.FAILED, 0), (CallStatus.SERVED, 7)]
    assert script.slept == [3, 1.0]


async def test_an_answer_that_cannot_be_used_is_paid_and_asked_for_once_more() -> None:
    books = Books()
    bad = ModelAnswerInvalid(usage=USED)
    with pytest.raises(ModelAnswerInvalid):
        await metered(Script([bad, bad, GOOD]), books).embed(["text"], "passage", PAYER)
    assert books.settled == [(CallStatus.SERVED, 7)] * 2


async def test_silence_may_have_been_billed() -> None:
    books = Books()
    script = Script([ModelUnavailable(may_be_billed=True), GOOD])
    await metered(script, books).embed(["text"], "passage", PAYER)
    assert books.settled == [(CallStatus.CUT, 4 + 8), (CallStatus.SERVED, 7)]


@pytest.mark.parametrize(
    ("error", "tries"),
    [(ModelRefused(), 1), (ModelUnavailable(), 5), (ModelUnavailable(retry_after_s=31), 1)],
)
async def test_it_gives_up(error: BelegError, tries: int) -> None:
    books = Books()
    with pytest.raises(type(error)):
        await metered(Script([error] * 9), books).embed(["text"], "passage", PAYER)
    assert len(books.settled) == tries


async def test_without_credit_no_call_is_made() -> None:
    books, script = Books(credit=0), Script([GOOD])
    with pytest.raises(OutOfCredit):
        await metered(script, books).embed(["text"], "passage", PAYER)
    assert books.calls == {}
    assert script.steps == [GOOD]


async def test_what_forbids_a_call_leaves_no_row() -> None:
    books = Books()

    async def forbid(_: Stores) -> None:
        raise NotFound

    with pytest.raises(NotFound):
        await metered(Script([GOOD]), books).embed(["text"], "passage", PAYER, before=forbid)
    assert books.calls == {}


@pytest.mark.parametrize("error", [OutOfCredit(), ValueError("a mistake")])
async def test_a_served_call_is_billed_although_its_result_cannot_be_kept(error: Exception) -> None:
    books = Books()

    async def keep(*_: Any) -> None:  # noqa: ANN401 - not looked at
        raise error

    with pytest.raises(type(error)):
        await metered(Script([GOOD]), books).embed(["text"], "passage", PAYER, after=keep)
    assert books.settled == [(CallStatus.SERVED, 7)]


@pytest.mark.parametrize("cancelled", [1, 2])
async def test_a_caller_that_leaves_while_its_call_is_settled_does_not_drop_the_bill(
    cancelled: int,
) -> None:
    books = Books()
    settling = asyncio.Event()

    async def keep(*_: Any) -> None:  # noqa: ANN401 - not looked at
        settling.set()
        await asyncio.sleep(0.01)

    call = asyncio.create_task(
        metered(Script([GOOD]), books).embed(["text"], "passage", PAYER, after=keep)
    )
    await settling.wait()
    for _ in range(cancelled):
        call.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await call
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
    assert books.settled == [(CallStatus.SERVED, 7)]


@pytest.mark.parametrize(
    ("is_sent", "bill"), [(True, (CallStatus.CUT, 12)), (False, (CallStatus.FAILED, 0))]
)
async def test_a_caller_that_leaves_in_mid_call_pays_at_most_its_bound(
    *, is_sent: bool, bill: tuple[CallStatus, int]
) -> None:
    books, script = Books(), Script([GOOD])
    script.waits, script.is_sent = True, is_sent
    call = asyncio.create_task(metered(script, books).embed(["text"], "passage", PAYER))
    await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert books.settled == [bill]


@dataclass
class Slow(Books):
    """A ledger whose answer to a call's intent is lost: it is committed, and nobody knows."""

    opened: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def uow(self, *, at_once: bool = False) -> AsyncIterator[Stores]:
        async with super().uow(at_once=at_once) as tx:
            yield tx
        if not self.opened.is_set():
            self.opened.set()
            await asyncio.Event().wait()


async def test_a_caller_that_leaves_while_its_call_is_opened_pays_nothing() -> None:
    books, script = Slow(), Script([GOOD])
    call = asyncio.create_task(metered(script, books).embed(["text"], "passage", PAYER))
    await books.opened.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert books.settled == [(CallStatus.FAILED, 0)]
    assert script.steps == [GOOD]


@pytest.mark.parametrize("tokens", [-1, 10**30, 10**6])
async def test_a_usage_that_cannot_be_is_billed_at_the_bound(tokens: int) -> None:
    books = Books()
    absurd = Embedded(GOOD.vectors, TokenUsage(tokens))
    await metered(Script([absurd]), books).embed(["text"], "passage", PAYER)
    refused = ModelRefused(usage=TokenUsage(tokens))
    with pytest.raises(ModelRefused):
        await metered(Script([refused]), books).embed(["text"], "passage", PAYER)
    assert books.settled == [(CallStatus.SERVED, 12), (CallStatus.CUT, 12)]


def test_a_model_that_is_cut_for_writing_on_and_on_is_told_of_as_that() -> None:
    cut = ModelCut("It writes on.", usage=TokenUsage(7, 64_000, estimated=True))
    bound = TokenUsage(12, 2_000, estimated=True)
    assert settlement_of(cut, bound) == Settlement(CallStatus.CUT, bound, "It writes on.")


async def test_calls_are_renewed_while_they_are_made_and_no_longer() -> None:
    books, script = Books(), Script([GOOD])
    embedder = metered(script, books)
    await embedder.meter.renew()
    script.waits = True
    calls = [asyncio.create_task(embedder.embed(["text"], "passage", PAYER)) for _ in range(2)]
    await asyncio.sleep(0.01)
    await embedder.meter.renew()
    calls[0].cancel()
    await asyncio.wait(calls[:1])
    await embedder.meter.renew()
    calls[1].cancel()
    await asyncio.wait(calls)
    await embedder.meter.renew()
    assert books.renewed == [2, 1]


async def test_a_call_that_cannot_be_settled_is_not_kept_alive() -> None:
    script = Script([GOOD])
    embedder = metered(script, Away())
    with pytest.raises(Unavailable):
        await embedder.embed(["text"], "passage", PAYER)
    assert embedder.meter.in_flight == set()
    assert sum(script.slept) < 100, "seconds"


@pytest.mark.parametrize(
    ("end", "bill"),
    [(GOOD, (CallStatus.SERVED, 7)), (ModelRefused(usage=USED), (CallStatus.CUT, 7))],
)
async def test_a_bill_waits_for_a_database_that_is_away(
    end: Embedded | BelegError, bill: tuple[CallStatus, int]
) -> None:
    books = Away(misses=5)
    calling = metered(Script([end]), books).embed(["text"], "passage", PAYER)
    if isinstance(end, BelegError):
        with pytest.raises(type(end)):
            await calling
    else:
        assert await calling is end
    assert books.settled == [bill]


async def test_what_was_paid_for_is_kept_by_a_database_that_comes_back() -> None:
    books, kept = Away(misses=3), list[Embedded]()

    async def keep(_: Stores, embedded: Embedded) -> None:
        kept[:] = [embedded]

    script = Script([GOOD])
    await metered(script, books).embed(["a"], "passage", PAYER, after=keep)
    assert kept == [GOOD]
    assert books.settled == [(CallStatus.SERVED, 7)]
    assert script.steps == []


def test_waits_grow_and_end() -> None:
    assert [wait_s(ModelUnavailable(), tries) for tries in range(1, 6)] == [0.5, 1, 2, 4, None]
    assert wait_s(ModelUnavailable(retry_after_s=0), 1) == 0
