"""The real clock."""

import asyncio
from datetime import UTC, datetime


class SystemClock:
    """The `Clock` port."""

    def now(self) -> datetime:
        """The time, aware, in UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""
        await asyncio.sleep(seconds)
