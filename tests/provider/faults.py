"""What can go wrong at a provider, and the rules that say when it does."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from tests.provider.chat import (
    Broken,
    Done,
    Drop,
    Finish,
    Hang,
    Plan,
    Reasoning,
    Text,
    Usage,
    first_half,
    slowed,
)
from tests.provider.vectors import Vector
from tests.provider.voices import wav_of_a_second


@dataclass(frozen=True, slots=True)
class Embeddings:
    """An answer to `/v1/embeddings` on its way out."""

    rows: tuple[tuple[int, Vector], ...]
    """(index, vector)"""
    base64: bool
    with_usage: bool = True


@dataclass(frozen=True, slots=True)
class Refuse:
    """An error answer in place of a result. FIELD in its body stands for the rule's `having`."""

    status: int
    body: str
    media_type: str = "application/json"
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Silence:
    """No answer at all: the connection stays open, or is closed."""

    hang: bool


@dataclass(frozen=True, slots=True)
class AskedOtherwise:
    """The request is served as if it had said something else."""

    edit: Callable[[dict[str, object]], dict[str, object]]


@dataclass(frozen=True, slots=True)
class ToldOtherwise:
    """A chat answer that takes other steps; the rule's `seconds` is the second argument."""

    edit: Callable[[Plan, float], Plan]


@dataclass(frozen=True, slots=True)
class VectorsOtherwise:
    """An embeddings answer that is odd."""

    edit: Callable[[Embeddings], Embeddings]


@dataclass(frozen=True, slots=True)
class HeardOtherwise:
    """A transcript that is odd: the JSON that is answered."""

    edit: Callable[[dict[str, object]], object]


@dataclass(frozen=True, slots=True)
class SpokenOtherwise:
    """A recording that is odd: the bytes that are answered, from those that ought to be."""

    edit: Callable[[bytes], bytes]
    media_type: str = "audio/mpeg"


Effect = (
    Refuse
    | Silence
    | AskedOtherwise
    | ToldOtherwise
    | VectorsOtherwise
    | HeardOtherwise
    | SpokenOtherwise
)


class Fault(StrEnum):
    """Every fault by the name the control API takes."""

    BAD_REQUEST = "400"
    CONTEXT_LENGTH = "context_length"
    NO_KEY = "401"
    FORBIDDEN = "403"
    GONE = "404"
    TIMED_OUT = "408"
    INVALID_KEY = "422"
    UNKNOWN_FIELD = "unknown_field"
    OLD_FIELD = "old_field"
    WRONG_VALUE = "wrong_value"
    TOO_MANY = "429"
    ERROR = "500"
    BAD_GATEWAY = "502"
    OVERLOADED = "503"
    GATEWAY_TIMEOUT = "504"
    HANG = "hang"
    DROP = "drop"
    CUT = "cut"
    DROP_MIDWAY = "drop_midway"
    STALL = "stall"
    ERROR_MIDWAY = "error_midway"
    ERROR_AT_ONCE = "error_at_once"
    REFUSED_IN_STREAM = "refused_in_stream"
    SLOW = "slow"
    NO_DONE = "no_done"
    NO_USAGE = "no_usage"
    REASONING = "reasoning"
    THINK = "think"
    EMPTY = "empty"
    ALL_REASONING = "all_reasoning"
    LENGTH = "length"
    BLANK = "blank"
    FILTERED = "filtered"
    WRONG_DIMENSION = "wrong_dimension"
    IGNORES_DIMENSIONS = "ignores_dimensions"
    IGNORES_BASE64 = "ignores_base64"
    NAN = "nan"
    ZERO = "zero"
    NOT_UNIT = "not_unit"
    FEWER = "fewer"
    SHUFFLED = "shuffled"
    TWICE_THE_SAME_INDEX = "same_index"
    NO_EMBEDDING_USAGE = "no_embedding_usage"
    RECORDING_TOO_LARGE = "413"
    NOTHING_HEARD = "nothing_heard"
    NO_TRANSCRIPT = "no_transcript"
    NO_SECONDS = "no_seconds"
    NOTHING_SPOKEN = "nothing_spoken"
    SPOKEN_JSON = "spoken_json"
    SPOKEN_SHORT = "spoken_short"
    SPOKEN_WAV = "spoken_wav"


def _error(message: str, kind: str = "error", code: str | None = None) -> str:
    return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": code}})


def _without(field: str) -> Callable[[dict[str, object]], dict[str, object]]:
    return lambda body: {name: value for name, value in body.items() if name != field}


def _each_vector(change: Callable[[Vector], Vector]) -> VectorsOtherwise:
    return VectorsOtherwise(
        lambda answer: replace(answer, rows=tuple((i, change(row)) for i, row in answer.rows))
    )


_TOO_LONG = "This model's maximum context length is 8192 tokens. However, you requested more."
_THOUGHT = "Let me think about the passages first. "

EFFECTS: dict[Fault, Effect] = {
    Fault.BAD_REQUEST: Refuse(400, _error("Bad request.", "invalid_request_error")),
    Fault.CONTEXT_LENGTH: Refuse(
        400, _error(_TOO_LONG, "invalid_request_error", "context_length_exceeded")
    ),
    Fault.NO_KEY: Refuse(401, '{"message":"No API key provided"}'),
    Fault.FORBIDDEN: Refuse(403, _error("This key may not use this model.")),
    Fault.GONE: Refuse(404, _error("The model does not exist.", code="model_not_found")),
    Fault.TIMED_OUT: Refuse(408, _error("Request timed out.")),
    Fault.INVALID_KEY: Refuse(422, _error("Invalid API key")),
    Fault.UNKNOWN_FIELD: Refuse(422, _error("Extra inputs are not permitted: FIELD")),
    Fault.OLD_FIELD: Refuse(
        400, _error("Unsupported parameter: 'FIELD'. Use 'max_completion_tokens' instead.")
    ),
    Fault.WRONG_VALUE: Refuse(400, _error("Invalid value for 'FIELD'. It must be at most 128.")),
    Fault.TOO_MANY: Refuse(429, _error("Rate limit reached.", "rate_limit_error")),
    Fault.ERROR: Refuse(500, _error("Internal server error.", "server_error")),
    Fault.BAD_GATEWAY: Refuse(502, "<html><h1>502 Bad Gateway</h1></html>", "text/html"),
    Fault.OVERLOADED: Refuse(503, _error("Overloaded.", "server_error"), retry_after_s=1),
    Fault.GATEWAY_TIMEOUT: Refuse(504, _error("The model timed out.", "server_error")),
    Fault.HANG: Silence(hang=True),
    Fault.DROP: Silence(hang=False),
    Fault.CUT: ToldOtherwise(lambda steps, _: first_half(steps)),
    Fault.DROP_MIDWAY: ToldOtherwise(lambda steps, _: (*first_half(steps), Drop())),
    Fault.STALL: ToldOtherwise(lambda steps, _: (*first_half(steps), Hang())),
    Fault.ERROR_MIDWAY: ToldOtherwise(
        lambda steps, _: (*first_half(steps), Broken("The engine fell over."))
    ),
    Fault.ERROR_AT_ONCE: ToldOtherwise(lambda *_: (Broken("The engine fell over."),)),
    Fault.REFUSED_IN_STREAM: ToldOtherwise(lambda *_: (Broken("No such level.", 400),)),
    Fault.SLOW: ToldOtherwise(slowed),
    Fault.NO_DONE: ToldOtherwise(lambda steps, _: tuple(s for s in steps if s != Done())),
    Fault.NO_USAGE: ToldOtherwise(lambda steps, _: tuple(s for s in steps if s != Usage())),
    Fault.REASONING: ToldOtherwise(lambda steps, _: (Reasoning(_THOUGHT), *steps)),
    Fault.THINK: ToldOtherwise(
        lambda steps, _: (*map(Text, ("<th", "ink>", _THOUGHT, "</thi", "nk>", "\n\n")), *steps)
    ),
    Fault.EMPTY: ToldOtherwise(lambda *_: (Finish("length"), Usage(), Done())),
    Fault.ALL_REASONING: ToldOtherwise(
        lambda *_: (Reasoning(_THOUGHT * 20), Finish("length"), Usage(), Done())
    ),
    Fault.LENGTH: ToldOtherwise(
        lambda steps, _: (*first_half(steps), Finish("length"), Usage(), Done())
    ),
    Fault.BLANK: ToldOtherwise(lambda *_: (Finish("stop"), Usage(), Done())),
    Fault.FILTERED: ToldOtherwise(lambda *_: (Finish("content_filter"), Usage(), Done())),
    Fault.WRONG_DIMENSION: _each_vector(lambda row: row[:-1]),
    Fault.IGNORES_DIMENSIONS: AskedOtherwise(_without("dimensions")),
    Fault.IGNORES_BASE64: AskedOtherwise(_without("encoding_format")),
    Fault.NAN: _each_vector(lambda row: np.where(np.arange(row.size) == row.size - 1, np.nan, row)),
    Fault.ZERO: _each_vector(np.zeros_like),
    Fault.NOT_UNIT: _each_vector(lambda row: row * np.float32(7)),
    Fault.FEWER: VectorsOtherwise(lambda answer: replace(answer, rows=answer.rows[:-1])),
    Fault.SHUFFLED: VectorsOtherwise(lambda answer: replace(answer, rows=answer.rows[::-1])),
    Fault.TWICE_THE_SAME_INDEX: VectorsOtherwise(
        lambda answer: replace(answer, rows=tuple((0, row) for _, row in answer.rows))
    ),
    Fault.NO_EMBEDDING_USAGE: VectorsOtherwise(lambda answer: replace(answer, with_usage=False)),
    Fault.RECORDING_TOO_LARGE: Refuse(413, _error("Maximum content size limit exceeded.")),
    Fault.NOTHING_HEARD: HeardOtherwise(lambda answer: answer | {"text": ""}),
    Fault.NO_TRANSCRIPT: HeardOtherwise(lambda _: {"segments": []}),
    Fault.NO_SECONDS: HeardOtherwise(lambda answer: {"text": answer["text"]}),
    Fault.NOTHING_SPOKEN: SpokenOtherwise(lambda _: b""),
    Fault.SPOKEN_JSON: SpokenOtherwise(
        lambda _: _error("The engine fell over.").encode(), "application/json"
    ),
    Fault.SPOKEN_SHORT: SpokenOtherwise(lambda audio: audio[: len(audio) // 4]),
    Fault.SPOKEN_WAV: SpokenOtherwise(lambda _: wav_of_a_second(), "audio/wav"),
}


@dataclass(slots=True)
class Rule:
    """When to fail, and how. The first rule that applies decides; no rule, no fault.

    Args:
        faults: one of these, chosen by the seeded generator.
        kind: "chat", "vision", "embedding", "rerank", "stt", "tts", "summary", "document" or
            "models"; "" for chat and embedding.
        times: calls it applies to before it is used up; None for ever.
        containing: applies only where this stands in a text to embed or in the prompt.
        having: applies only where the request has this field.
        rate: the share of such calls it applies to, by the seeded generator.
        retry_after_s: sent as Retry-After with an error status, in place of the fault's own.
        seconds: the pause before each delta of a slow answer.
    """

    faults: tuple[Fault, ...]
    kind: str = ""
    times: int | None = None
    containing: str = ""
    having: str = ""
    rate: float = 1.0
    retry_after_s: float | None = None
    seconds: float = 0.05

    def applies(
        self, kind: str, body: dict[str, object], texts: list[str], chance: random.Random
    ) -> bool:
        """Whether this call shall fail; counts `times` down."""
        if self.times == 0 or kind not in (self.kind or "chat embedding").split():
            return False
        if self.containing and not any(self.containing in text for text in texts):
            return False
        if self.having and self.having not in body:
            return False
        if self.rate < 1.0 and chance.random() >= self.rate:
            return False
        if self.times is not None:
            self.times -= 1
        return True
