"""Reading pictures through the meter, each of them once."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from domain.capture import Attempt, transcribe_once
from domain.metering import Call, Meter
from domain.ports import Picture, Seen, Vision
from domain.source import Progress
from domain.text_gate import clean
from domain.transcript import Transcript
from domain.usage import CallKind

_PARALLEL_CALLS = 4
"""Calls in flight at once, of all sources: what a kill can cost."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What reads pictures, and who counts it.

    Args:
        most_pages: pages of one PDF that may be read so.
        gate: held from a call's intent until its transcript is committed.
    """

    vision: Vision
    meter: Meter
    most_pages: int
    gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_PARALLEL_CALLS))

    def page_part(self, page: int) -> str:
        """A page, as this vision reads it; see `transcribe_once`."""
        return f"page:{page}:{self.vision.model}:{self.vision.dpi}"

    @property
    def image_part(self) -> str:
        """An image, likewise."""
        return f"image:{self.vision.model}"

    async def read(
        self,
        attempt: Attempt,
        part: str,
        picture: Picture,
        seen: Seen,
        progress: Callable[[], Progress],
    ) -> Transcript:
        """A picture's text through the gate; paid for once.

        Raises:
            Superseded, OutOfCredit, ModelError.
        """
        bound = self.vision.bound(picture)
        call = Call(CallKind.VISION, self.vision.model, bound, attempt.payer)

        async def make() -> Transcript:
            transcript = await self.vision.transcribe(picture, seen)
            return replace(transcript, text=clean(transcript.text).strip())

        return await transcribe_once(self.meter, attempt, part, call, make, progress=progress)
