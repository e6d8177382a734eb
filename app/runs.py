"""Runs of answers as tasks of this process: they belong to the server, not to a connection."""

import asyncio

import structlog

from app.services import Services
from domain.channels import ANSWER_STOPPED
from domain.errors import BelegError
from domain.live import LiveAnswer
from domain.ports import Wakeup
from domain.usecases.ask_question import Asked

_SHUTDOWN_S = 20.0
_LOCAL_SHUTDOWN_S = 2.0
"""Nobody at a terminal waits longer for an answer that nobody reads."""
_HEAD_START = 4
"""Turns of the event loop: the run, its work, and the head and the body of the call."""
log = structlog.get_logger()


class Runs:
    """Starts runs and lets them end before the process does."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, asked: Asked) -> None:
        """Write the answer to a question that was just recorded, in the background.

        Returns when its first model call is on its way: while that is answered, there is time.
        """
        if asked.is_new:
            # Registered at once, so that a reader who follows now finds the run here.
            self._services.live.begin(asked.answer.id)
            task = asyncio.create_task(self._run(asked))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            for _ in range(_HEAD_START):
                await asyncio.sleep(0)

    async def _run(self, asked: Asked) -> None:
        services, answer_id = self._services, asked.answer.id
        live = services.live.begin(answer_id)
        try:
            async with services.listener.waiting(ANSWER_STOPPED, str(answer_id)) as asked_to_stop:
                hearing = asyncio.create_task(_pass_on(asked_to_stop, live))
                try:
                    await services.answer_question(
                        asked.answer, asked.opened, asked.documents, asked.history, live
                    )
                finally:
                    hearing.cancel()
        except BelegError as error:
            log.warning("run_lost", answer=str(answer_id), reason=error.message)
        except Exception:  # the task's last frame: nobody else would ever see it
            log.exception("run_failed", answer=str(answer_id))
        finally:
            services.live.end(answer_id)

    async def close(self) -> None:
        """Wait for runs to end; after a while stop those that go on."""
        if self._tasks:
            local = self._services.settings.beleg_local
            patience_s = _LOCAL_SHUTDOWN_S if local else _SHUTDOWN_S
            _, running = await asyncio.wait(self._tasks, timeout=patience_s)
            self._services.live.stop_all()
            if running:
                await asyncio.wait(running, timeout=5)


async def _pass_on(asked_to_stop: Wakeup, live: LiveAnswer) -> None:
    """Have the run look whether a stop was asked for, whenever another process says so."""
    while True:
        await asked_to_stop.wait()
        asked_to_stop.clear()
        live.nudge.set()
