"""Capturing: a source's passages, whatever its kind, and what was paid for on the way."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from domain.errors import BelegError, TooLarge
from domain.metering import Call, Meter, Payer
from domain.source import Progress, Reading, Source
from domain.stores import Stores
from domain.transcript import Transcript


class Superseded(BelegError):
    """A newer attempt took over, or the source was deleted: this one ends quietly."""


class Unchanged(BelegError):
    """The page is what it was: the text that is there stays, and nothing is paid for."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a source, as whoever captures it sees it.

    Args:
        source: as the attempt found it.
        show: publishes progress; raises Superseded.
        require: raises Superseded in the transaction that would do more, such as open a call.
        most_words: where its owner has a limit of their own.
    """

    source: Source
    show: Callable[[Progress], Awaitable[None]]
    require: Callable[[Stores], Awaitable[None]]
    most_words: int | None = None

    @property
    def payer(self) -> Payer:
        """Who pays for its model calls."""
        return Payer(self.source.owner_id, source_id=self.source.id)

    def key(self, part: str) -> str:
        """Under which a part's transcript is kept: other bytes at an address are another part."""
        return f"{self.source.sha256.hex()}:{part}"


class Capture(Protocol):
    """Reads a source of any kind."""

    async def __call__(self, attempt: Attempt) -> Reading:
        """Its passages, through the text gate; languages are detected later.

        Transcripts that earlier attempts paid for are used again.

        Raises:
            Superseded: another attempt took over.
            Unchanged: a web page is what it was.
            Unreadable, TooLarge, Rejected, OutOfCredit, ModelRefused: it fails with this message.
            Unavailable, ModelUnavailable, ModelAnswerInvalid: worth another run later.
        """
        ...

    async def adopt(self, tx: Stores, source: Source) -> None:
        """Make what an address gave the source's own; last in the transaction that publishes it."""
        ...

    async def end(self, source: Source) -> None:
        """Forget what was kept for the run, in the transaction that ends it well or badly."""
        ...


def require_few_words(words: int, most: int) -> None:
    """Keep a source within its limit.

    Raises:
        TooLarge: it has more words.
    """
    if words > most:
        raise TooLarge(
            f"This source has {words:,} words; {most:,} is the limit. Split it into several files."
        )


async def transcribe_once(
    meter: Meter,
    attempt: Attempt,
    part: str,
    call: Call,
    make: Callable[[], Awaitable[Transcript]],
    *,
    progress: Callable[[], Progress] | None = None,
    tries: int = 5,
) -> Transcript:
    """Make a metered call whose transcript is kept, with its bill, until the source is ready.

    Whoever finds it under `attempt.key(part)` (`tx.transcripts.paid`) need not pay again.

    Args:
        part: what is transcribed and by which model, such as "page:7:<model>:150".
        make: one request to the model.
        progress: published in the transaction that settles the call.
        tries: requests at most.

    Raises:
        Superseded, OutOfCredit, ModelError.
    """
    source = attempt.source

    async def keep(tx: Stores, transcript: Transcript) -> None:
        await tx.transcripts.keep(source.id, attempt.key(part), transcript)
        if progress:
            await tx.sources.show_progress(source.id, source.attempt, progress())

    return await meter.run(call, make, before=attempt.require, after=keep, tries=tries)
