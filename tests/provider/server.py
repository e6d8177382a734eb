"""Providers as servers, each in a thread of its own."""

import asyncio
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import uvloop

from tests.provider.api import Api, Settings
from tests.provider.chat import Answering
from tests.provider.faults import Fault, Rule
from tests.provider.ledger import Entry
from tests.provider.wire import Connection, Handler


class Server:
    """A server on 127.0.0.1; a context manager, for sync and async tests alike.

    Args:
        handle: answers each request.
        port: 0 picks a free one.
    """

    def __init__(self, handle: Handler, port: int = 0) -> None:
        self.port = port
        self._handle = handle
        self._connections: set[Connection] = set()
        self._ready = threading.Event()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="provider", daemon=True)

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> str:
        """Serve; returns the base URL. OSError where the port is taken."""
        self._thread.start()
        self._ready.wait()
        if self._error is not None:
            raise self._error
        return self.url

    def stop(self) -> None:
        """Close every connection and end the thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.stop()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._main())

    async def _main(self) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        try:
            server = await self._loop.create_server(
                lambda: Connection(self._handle, self._connections), "127.0.0.1", self.port
            )
        except OSError as error:
            self._error = error
            self._ready.set()
            return
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopping.wait()
        server.close()
        await asyncio.gather(*(connection.finish() for connection in self._connections))
        await server.wait_closed()


class Provider(Server):
    """An OpenAI-compatible server.

    Everything here may be used from any thread while it runs.

    Args:
        settings: how it behaves; plain good answers by default.
        seed: of every random choice.
        port: 0 picks a free one.
        answering: makes every answer that is not scripted, from the messages.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        seed: int = 1,
        port: int = 0,
        answering: Answering | None = None,
    ) -> None:
        self._api = Api(settings or Settings(), seed, answering)
        super().__init__(self._api.handle, port)

    @property
    def url(self) -> str:
        """The base URL, as clients want it: with `/v1`."""
        return f"{super().url}/v1"

    @property
    def settings(self) -> Settings:
        """How it behaves; fields may be set while it runs."""
        return self._api.settings

    @property
    def ledger(self) -> list[Entry]:
        """Every request so far, in the order they came."""
        return list(self._api.ledger)

    def fail(self, *faults: Fault, **when: Any) -> None:  # noqa: ANN401 (the fields of Rule)
        """Add a rule: one of `faults`, `when` as in `Rule`."""
        self.settings.rules.append(Rule(faults, **when))

    def answer(self, *answers: str | list[str]) -> None:
        """Script the next answers: texts, or lists of deltas."""
        self.settings.answers.extend(answers)

    def reset(self, settings: Settings | None = None) -> None:
        """Behave so from now on, as if newly started; the ledger is emptied."""
        self._api.reset(settings or Settings())

    def wait_for(
        self, holds: Callable[[list[Entry]], bool], *, timeout_s: float = 5.0
    ) -> list[Entry]:
        """The ledger as soon as it is as wished; TimeoutError with it where it never is."""
        until = time.monotonic() + timeout_s
        while not holds(self.ledger):
            if time.monotonic() > until:
                raise TimeoutError(self.ledger)
            time.sleep(0.005)
        return self.ledger
