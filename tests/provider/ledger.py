"""What the provider received and how it ended: the other side of the product's own usage rows."""

import time
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum


class Status(StrEnum):
    OPEN = "open"
    """Still being answered."""
    SERVED = "served"
    """Answered to the end, however odd the answer; billed."""
    REFUSED = "refused"
    """An error status; bills nothing."""
    HUNG = "hung"
    """Never answered, or a stream that stalled for good."""
    CUT = "cut"
    """Broken off by the provider."""
    CLOSED = "closed"
    """The client went away before the end."""


@dataclass(slots=True)
class Entry:
    """One request.

    `input_tokens` and `output_tokens` are what a usage object would say, counted until the request
    ended; both stay 0 where it was refused. `usage_reported` says whether the client was told.
    """

    id: int
    kind: str
    model: str
    input_sha1: tuple[str, ...] = ()
    """Of each text to embed, of each picture, or of the whole prompt."""
    status: Status = Status.OPEN
    http_status: int = 200
    fault: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: int = 0
    """Of a recording, as billed."""
    characters: int = 0
    """Read aloud, as billed."""
    usage_reported: bool = False
    time: float = field(default_factory=time.time)
    """Unix seconds when it came in."""
    ended: float = 0.0
    """Unix seconds when it ended, or fell silent; 0 while open."""

    @property
    def inputs(self) -> int:
        return len(self.input_sha1)

    def settle(self, status: Status, http_status: int = 200) -> None:
        self.status, self.http_status, self.ended = status, http_status, time.time()


def tokens(text: str) -> int:
    """The provider's tokenizer: a third of the code points, and one; none for "".

    On purpose not the product's estimate, so that an estimate never passes for a report.
    """
    return len(text) // 3 + 1 if text else 0


def served_inputs(entries: list[Entry]) -> Counter[str]:
    """How often each text was embedded and billed, by SHA-1."""
    return Counter(
        digest
        for entry in entries
        if entry.kind == "embedding" and entry.status is Status.SERVED
        for digest in entry.input_sha1
    )
