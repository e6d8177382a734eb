"""One connection per process that hears what other processes commit."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Self

import asyncpg
import structlog
from sqlalchemy.engine import make_url

log = structlog.get_logger()
_RETRY_S = 0.5


class PostgresListener:
    """The `Listener` port: NOTIFY in, wake-ups out.

    Notifications only ever say "look again": after a lost connection every waiter is woken once,
    so nothing that was committed meanwhile is missed.
    """

    def __init__(self, database_url: str, channels: tuple[str, ...]) -> None:
        self._url = database_url
        self._channels = channels
        self._waiting: dict[tuple[str, str], set[asyncio.Event]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        listening = asyncio.Event()
        self._task = asyncio.create_task(self._listen(listening))
        await listening.wait()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    @asynccontextmanager
    async def waiting(self, channel: str, key: str) -> AsyncIterator[asyncio.Event]:
        """An event that is set whenever `key` is named on `channel`; the waiter clears it.

        An empty key hears every name.
        """
        woken = asyncio.Event()
        self._waiting[channel, key].add(woken)
        try:
            yield woken
        finally:
            self._waiting[channel, key].discard(woken)
            if not self._waiting[channel, key]:
                del self._waiting[channel, key]

    def _hear(self, _connection: object, _pid: int, channel: str, key: str) -> None:
        for name in (key, ""):
            for woken in self._waiting.get((channel, name), ()):
                woken.set()

    def _wake_all(self) -> None:
        for events in self._waiting.values():
            for woken in events:
                woken.set()

    async def _listen(self, listening: asyncio.Event) -> None:
        while True:
            try:
                await self._connected(listening)
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
                log.warning("listener_lost", error=str(error))
            await asyncio.sleep(_RETRY_S)

    async def _connected(self, listening: asyncio.Event) -> None:
        url = make_url(self._url)
        connection = await asyncpg.connect(
            url.set(drivername="postgresql").render_as_string(hide_password=False), timeout=10
        )
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        try:
            for channel in self._channels:
                await connection.add_listener(channel, self._hear)
            listening.set()
            self._wake_all()
            await lost.wait()
        finally:
            connection.terminate()
