"""The events of one answer on their way into the database: coalesced, leased, then shown."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta

from domain.conversation import AnswerEvent, Citation, EventKind
from domain.errors import Unavailable
from domain.ids import AnswerId
from domain.live import LiveAnswer
from domain.stores import Stores, UnitOfWork

LEASE = timedelta(seconds=15)
"""How long a run may be silent before it is taken for dead."""

_FLUSH_S = 0.1
_RENEW_S = 4.0
_HEAD_START_S = 0.005
"""Of the first piece on its way to its readers, before the next one is read."""


class EventLog:
    """Collects what a run writes and commits it at most ten times a second.

    The first piece is committed at once, so that the first token waits for nothing. Nothing is
    shown to a reader before it is committed: what was seen is never lost.
    """

    def __init__(self, answer_id: AnswerId, live: LiveAnswer, uow: UnitOfWork) -> None:
        self._answer_id = answer_id
        self._live = live
        self._uow = uow
        self._next_id = 1
        self._tried_id = 0
        self._pending: list[AnswerEvent] = []
        self._news = live.nudge
        self._closing = asyncio.Event()
        self._first = asyncio.Event()

    def add(self, piece: str | Citation) -> None:
        """Queue a piece of text or a citation; texts in a row become one event."""
        if isinstance(piece, Citation):
            self._queue(EventKind.CITATION, asdict(piece))
        elif (
            self._pending
            and (last := self._pending[-1]).kind is EventKind.DELTA
            # A commit that seemed to fail may have happened: what it held never changes.
            and last.id > self._tried_id
        ):
            self._pending[-1] = AnswerEvent(last.id, last.kind, {"text": last.data["text"] + piece})
        elif piece:
            self._queue(EventKind.DELTA, {"text": piece})
        self._news.set()

    async def run(self) -> None:
        """Commit what comes, and renew the lease, until `close`."""
        try:
            while True:
                await _set_within(self._news, _RENEW_S)
                self._news.clear()
                if self._closing.is_set():
                    return
                # A database that is away for a moment costs nothing: the pieces wait here.
                with suppress(Unavailable):
                    await self._flush()
                if self._next_id > 1 and not self._first.is_set():
                    await asyncio.sleep(_HEAD_START_S)
                    self._first.set()
                await _set_within(self._closing, _FLUSH_S)
        finally:
            self._first.set()

    async def first_shown(self) -> None:
        """Return once the first piece was sent, or could not be, while `run` runs.

        A model that sends faster than that would else be read first and shown afterwards.
        """
        if self._next_id > 1:
            await self._first.wait()

    def close(self) -> None:
        """Have `run` return, after the commit it is in.

        Cancelling that would cost the connection it is on.
        """
        self._closing.set()
        self._news.set()

    def add_last(self, kind: EventKind, data: dict[str, str]) -> None:
        """Queue the event that ends the stream."""
        self._queue(kind, data)

    async def write(self, tx: Stores) -> bool:
        """Write what is pending in the caller's transaction, once `run` has ended.

        Returns:
            False where the run was ended by another hand.
        """
        return await tx.answers.append(self._answer_id, self._pending, LEASE) is not None

    def show(self) -> None:
        """Show what `write` wrote, after its commit."""
        events, self._pending = self._pending, []
        self._live.publish(events)

    def _queue(self, kind: EventKind, data: Mapping[str, object]) -> None:
        self._pending.append(AnswerEvent(self._next_id, kind, data))
        self._next_id += 1

    async def _flush(self) -> None:
        events, self._pending = self._pending, []
        self._tried_id = self._next_id - 1
        try:
            async with self._uow(at_once=True) as tx:
                stop = await tx.answers.append(self._answer_id, events, LEASE)
        except BaseException:
            self._pending = [*events, *self._pending]
            raise
        if stop is None or stop:
            self._live.stop.set()
        if stop is not None:
            self._live.publish(events)


async def _set_within(event: asyncio.Event, seconds: float) -> None:
    """Wait for `event`, so long at most."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
