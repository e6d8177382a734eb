"""Runs of answers in this process, and the events that they have committed."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from domain.conversation import AnswerEvent
from domain.ids import AnswerId


class LiveAnswer:
    """An answer that this process is writing. Only committed events are in it."""

    def __init__(self) -> None:
        self.stop = asyncio.Event()
        """Set when somebody wants the run to end."""
        self.nudge = asyncio.Event()
        """Set when the run shall commit what it has, and look whether it is to stop."""
        self._events: list[AnswerEvent] = []
        self._news = asyncio.Event()
        self._ended = False

    def publish(self, events: Sequence[AnswerEvent]) -> None:
        """Show committed events, if any, to everyone who follows."""
        if events:
            self._events.extend(events)
            self._wake()

    def end(self) -> None:
        """Let followers go: nothing more comes from here."""
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def follow(self, after: int, ping_s: float) -> AsyncIterator[AnswerEvent | None]:
        """Events with a greater id, as they come, until the run ends.

        None where none came for `ping_s` seconds.
        """
        place = after  # ids grow by one from 1, so an event's id is its place plus one
        while True:
            news = self._news
            while place < len(self._events):
                event = self._events[place]
                place += 1
                yield event
                if event.is_last:
                    return
            if self._ended:
                return
            try:
                async with asyncio.timeout(ping_s):
                    await news.wait()
            except TimeoutError:
                yield None


class LiveAnswers:
    """The answers that this process is writing."""

    def __init__(self) -> None:
        self._answers: dict[AnswerId, LiveAnswer] = {}

    def begin(self, answer_id: AnswerId) -> LiveAnswer:
        """Register a run."""
        return self._answers.setdefault(answer_id, LiveAnswer())

    def get(self, answer_id: AnswerId) -> LiveAnswer | None:
        """The run of that answer, where it is here."""
        return self._answers.get(answer_id)

    def end(self, answer_id: AnswerId) -> None:
        """Forget a run; followers that hold it read on to its end."""
        if live := self._answers.pop(answer_id, None):
            live.end()

    def stop_all(self) -> None:
        """Ask every run here to stop."""
        for live in self._answers.values():
            live.stop.set()
