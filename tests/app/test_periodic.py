"""Cleaning up goes on and tells what failed."""

import asyncio
from typing import cast

from structlog.testing import capture_logs

from app.periodic import reaping, renewing
from app.services import Services
from domain.errors import Unavailable


class Failing:
    """Services whose cleaning up fails in two ways at once."""

    def __init__(self) -> None:
        self.tried = asyncio.Event()

    async def reap(self) -> None:
        self.tried.set()
        raise ExceptionGroup("failed", [Unavailable("The database is away."), ValueError("bad")])

    async def renew_calls(self) -> None:
        raise Unavailable("It is away, indeed.")


async def test_each_failure_is_logged_as_what_it_is() -> None:
    failing = Failing()
    with capture_logs() as logs:
        async with reaping(cast("Services", failing)), renewing(cast("Services", failing)):
            await failing.tried.wait()
            await asyncio.sleep(0)
    events = {log["event"]: log for log in logs}
    assert events["reaping_postponed"]["reason"] == "The database is away."
    assert events["reaping_failed"]["exc_info"]
    assert events["renewing_postponed"]["reason"] == "It is away, indeed."
