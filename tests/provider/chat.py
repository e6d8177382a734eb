"""A chat answer as a plan: the steps a stream takes, so that a fault is an edit of the plan."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.provider.ledger import tokens

_PIECE = re.compile(r"\s*(?:\w+|[^\w\s])|\s+")
_QUOTED_WORDS = 12
_QUOTED_PASSAGES = 3


@dataclass(frozen=True, slots=True)
class Text:
    """A content delta."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A reasoning delta, billed as output."""

    text: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Say nothing for so long."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Finish:
    """The chunk with the finish reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Usage:
    """The chunk with the usage, where the request asked for it."""


@dataclass(frozen=True, slots=True)
class Done:
    """The `[DONE]` line; the call counts as served."""


@dataclass(frozen=True, slots=True)
class Broken:
    """An error object in the stream, then its end."""

    message: str
    code: int | None = None


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing more, and the connection stays open."""


@dataclass(frozen=True, slots=True)
class Drop:
    """Close the connection, even in the middle of the response."""


Step = Text | Reasoning | Wait | Finish | Usage | Done | Broken | Hang | Drop
Plan = tuple[Step, ...]
Answer = str | Sequence[str]
"""A text, split like a model's tokens; or the very deltas."""
Answering = Callable[[Sequence[dict[str, str]]], Answer]
"""From the messages to the answer."""


def plan(answer: Answer, *, max_tokens: int | None, delay_s: float) -> Plan:
    """The steps of a good answer; one that passes `max_tokens` ends with reason `length`."""
    deltas = pieces(answer) if isinstance(answer, str) else list(answer)
    kept, text = [], ""
    for delta in deltas:
        text += delta
        if max_tokens is not None and tokens(text) > max_tokens:
            break
        kept.append(delta)
    reason = "stop" if len(kept) == len(deltas) else "length"
    return (*_spaced(map(Text, kept), delay_s), Finish(reason), Usage(), Done())


def pieces(text: str) -> list[str]:
    """Words and single punctuation marks with the space before them: `[12]` comes in three."""
    return _PIECE.findall(text)


def first_half(steps: Plan) -> Plan:
    """The first half of what it says, at least one delta."""
    said = [step for step in steps if isinstance(step, Text)]
    return tuple(said[: max(1, len(said) // 2)])


def slowed(steps: Plan, seconds: float) -> Plan:
    """The same, with a pause before each delta."""
    return tuple(_spaced(steps, seconds))


def _spaced(steps: Iterable[Step], seconds: float) -> Iterator[Step]:
    for step in steps:
        if seconds and isinstance(step, Text):
            yield Wait(seconds)
        yield step


def citing_answer(messages: Sequence[dict[str, str]], passage: re.Pattern[str]) -> str:
    """Quote the beginning of the first passages of the prompt, each with its marker.

    Args:
        messages: the prompt.
        passage: finds where a passage begins; its first group is the passage's number.
    """
    prompt = "\n".join(str(message.get("content", "")) for message in messages)
    found = list(passage.finditer(prompt))[:_QUOTED_PASSAGES]
    sentences = [f"{_opening(prompt[match.end() :])} [{match[1]}]." for match in found]
    return " ".join(sentences) or "The passages do not say."


def _opening(text: str) -> str:
    """The first words after the rest of the opening tag, as they stand, up to any bracket."""
    words = text.partition(">")[2].partition("<")[0].partition("[")[0].split()
    return " ".join(words[:_QUOTED_WORDS]).rstrip(".,;:") or "An empty passage"


def kind_of(messages: Sequence[Mapping[str, object]]) -> str:
    """What a text is asked for: a summary, a document, or an answer ("chat")."""
    if is_for_summary(messages):
        return "summary"
    return "document" if is_for_script(messages) else "chat"


def is_for_script(messages: Sequence[Mapping[str, object]]) -> bool:
    """Whether the script of an audio overview is asked for."""
    return str(messages[0]["content"]).startswith("You write the script of an audio overview")


def script(messages: Sequence[Mapping[str, str]], passage: re.Pattern[str]) -> str:
    """A script of about 600 words that quotes the first passages; by two speakers in turn."""
    facts = citing_answer([dict(message) for message in messages], passage)
    filler = "So it is, as we go on, by and by. " * 8
    said = [facts, *(f"Part {n}. {filler}" for n in range(7))]
    if "`A: `" in messages[0]["content"]:
        said = [f"{'AB'[n % 2]}: {text}" for n, text in enumerate(said)]
    return "\n\n".join(["TITLE: What the documents say", *said])


def is_for_summary(messages: Sequence[Mapping[str, object]]) -> bool:
    """Whether a summary is asked for, which neither scripted answers nor faults of chats meet."""
    return str(messages[0]["content"]).startswith("You summarise documents.")


def summary(messages: Sequence[Mapping[str, object]]) -> str:
    """A paragraph that names what it was made from."""
    digest = hashlib.sha1(str(messages[-1]["content"]).encode()).hexdigest()
    return f"A document, known as {digest}, of which this is the summary."
