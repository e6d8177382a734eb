"""Transcripts: what a model read off a picture or heard in a recording."""

from dataclasses import dataclass

from domain.usage import TokenUsage

NOTHING = TokenUsage(0)


@dataclass(frozen=True, slots=True)
class Transcript:
    """The answer of one call.

    Args:
        text: "" where there is nothing to read or hear.
        usage: of the call; nothing for one that an earlier attempt paid for.
        problem: why it is not whole, in one clause for a person; "" where it is.
    """

    text: str
    usage: TokenUsage = NOTHING
    problem: str = ""
