"""Events on their way into a database in memory: coalesced, gapless, never rewritten."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import cast

import pytest

from domain.conversation import AnswerEvent, EventKind
from domain.errors import Unavailable
from domain.event_log import EventLog
from domain.ids import AnswerId, new_id
from domain.live import LiveAnswer
from domain.stores import Stores, UnitOfWork


@dataclass
class Rows:
    """The events of one answer, as `insert ... on conflict do nothing` keeps them."""

    events: dict[int, AnswerEvent] = field(default_factory=dict)
    is_streaming: bool = True
    stop_requested: bool = False
    lost_acknowledgements: int = 0

    @property
    def answers(self) -> "Rows":
        return self

    async def append(
        self, _: AnswerId, events: Sequence[AnswerEvent], _lease: timedelta
    ) -> bool | None:
        if not self.is_streaming:
            return None
        for event in events:
            self.events.setdefault(event.id, event)
        return self.stop_requested

    @asynccontextmanager
    async def uow(self, *, at_once: bool = False) -> AsyncIterator[Stores]:  # noqa: ARG002 - the port's
        yield cast("Stores", self)
        if self.lost_acknowledgements:  # committed, but the commit's answer never came
            self.lost_acknowledgements -= 1
            raise Unavailable

    @property
    def text(self) -> str:
        kept = [self.events[n] for n in range(1, len(self.events) + 1)]
        return "".join(e.data["text"] for e in kept if e.kind is EventKind.DELTA)


def log_of(rows: Rows, live: LiveAnswer) -> EventLog:
    return EventLog(AnswerId(new_id()), live, cast("UnitOfWork", rows.uow))


async def ended(log: EventLog, rows: Rows, running: asyncio.Task[None]) -> bool:
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    log.add_last(EventKind.DONE, {})
    async with rows.uow() as tx:
        return await log.write(tx)


@pytest.mark.parametrize("lost", [0, 1, 3])
async def test_what_is_stored_is_what_was_said_even_where_commits_seem_to_fail(lost: int) -> None:
    rows, live = Rows(lost_acknowledgements=lost), LiveAnswer()
    log = log_of(rows, live)
    running = asyncio.create_task(log.run())
    said = [f"word{n} " for n in range(40)]
    begun = time.monotonic()
    for word in said:
        log.add(word)
        await asyncio.sleep(0.012)
    rows.lost_acknowledgements = 0
    assert await ended(log, rows, running)
    log.show()
    assert rows.text == "".join(said)
    pieces = len(rows.events) - 1  # the last event is no piece
    assert 2 <= pieces <= (time.monotonic() - begun) / 0.1 + 2, "a few pieces at a time"
    shown = [event async for event in live.follow(0, ping_s=1)]
    assert shown == [rows.events[n] for n in range(1, len(rows.events) + 1)]


async def test_a_stop_that_another_process_asked_for_is_heard() -> None:
    rows, live = Rows(stop_requested=True), LiveAnswer()
    running = asyncio.create_task(log_of(rows, live).run())
    live.nudge.set()
    async with asyncio.timeout(1):
        await live.stop.wait()
    running.cancel()


async def test_a_run_that_was_ended_by_another_hand_stops_and_shows_nothing_more() -> None:
    rows, live = Rows(is_streaming=False), LiveAnswer()
    log = log_of(rows, live)
    running = asyncio.create_task(log.run())
    log.add("lost")
    async with asyncio.timeout(1):
        await live.stop.wait()
    assert not await ended(log, rows, running)
    live.end()
    assert [event async for event in live.follow(0, ping_s=1)] == []
