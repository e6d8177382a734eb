"""Embeddings from an OpenAI-compatible endpoint, every vector checked."""

import asyncio
import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np

from adapters.inference.openai_client import Client, translated
from adapters.inference.optional_fields import OptionalFields
from domain.errors import ModelAnswerInvalid
from domain.ports import Embedded, Vectors
from domain.usage import TokenUsage, about_tokens


@dataclass(frozen=True, slots=True)
class EmbeddingHabits:
    """What differs between embedding models and endpoints.

    Args:
        question_prefix: put before a question; the instruction some models want.
        passage_prefix: put before a passage.
        max_batch_items: texts one request may carry.
        timeout_s: for a whole request, connecting included.
    """

    question_prefix: str = ""
    passage_prefix: str = ""
    max_batch_items: int = 64
    timeout_s: float = 60.0


class OpenAIEmbedder:
    """`POST /embeddings`. Vectors travel as base64; plain lists are taken as well.

    Whatever the model's own norm, its vectors come out with unit length.

    Args:
        client: from `open_client`; the caller closes it.
        model: the endpoint's name for the model.
        dimension: the length every vector must have.
        habits: what the model and its endpoint need.
    """

    def __init__(
        self,
        client: Client,
        model: str,
        dimension: int,
        habits: EmbeddingHabits | None = None,
    ) -> None:
        self._client = client
        self._habits = habits or EmbeddingHabits()
        self._optional = OptionalFields(model)
        self.model = model
        self.dimension = dimension
        self.max_batch_items = self._habits.max_batch_items

    async def embed(
        self, texts: Sequence[str], *, role: Literal["question", "passage"]
    ) -> Embedded:
        """One request; see the port."""
        habits = self._habits
        prefix = habits.question_prefix if role == "question" else habits.passage_prefix
        sent = [prefix + text for text in texts]
        asked = self._optional.taken({"dimensions": self.dimension})
        body = {"model": self.model, "input": sent, "encoding_format": "base64", **asked}
        told = f"dimensions={self.dimension}" if asked else "no dimensions"
        with translated(self._client, self.model, told), self._optional.learnt(asked):
            async with asyncio.timeout(habits.timeout_s):
                answer = await self._client.send("embeddings", body)
        return self._checked(answer.content, sent)

    def _checked(self, body: bytes, sent: list[str]) -> Embedded:
        """Raises ModelAnswerInvalid, with the usage, for anything but the vectors asked for."""
        usage = TokenUsage(sum(map(about_tokens, sent)), estimated=True)
        try:
            answer = msgspec.json.decode(body, type=_Answer)
            if answer.usage is not None and answer.usage.prompt_tokens is not None:
                usage = TokenUsage(answer.usage.prompt_tokens)
            vectors = _vectors(answer.data, len(sent), self.dimension)
        except (msgspec.DecodeError, binascii.Error, ValueError) as error:
            message = f"{self.model} answered with vectors that cannot be used: {error}."
            raise ModelAnswerInvalid(message, usage=usage) from error
        return Embedded(vectors, usage)


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None


class _Row(msgspec.Struct):
    embedding: str | list[float]
    index: int | None = None


class _Answer(msgspec.Struct):
    data: list[_Row]
    usage: _Usage | None = None


def _vectors(rows: list[_Row], count: int, dimension: int) -> Vectors:
    """Unit vectors by `index`, or as they came where the endpoint gives none; else ValueError."""
    if len(rows) != count:
        raise ValueError(f"{len(rows)} of them for {count} texts")
    places = [place if row.index is None else row.index for place, row in enumerate(rows)]
    if sorted(places) != list(range(count)):
        raise ValueError("their indexes do not name every text once")
    vectors = np.empty((count, dimension), np.float32)
    for place, row in zip(places, rows, strict=True):
        vector = _decoded(row.embedding)
        if vector.size != dimension:
            raise ValueError(f"they have {vector.size} dimensions where {dimension} are set")
        vectors[place] = vector
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or not norms.all():
        raise ValueError("some are zero or hold numbers that are not finite")
    vectors /= norms
    return vectors


def _decoded(embedding: str | list[float]) -> Vectors:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
    return np.asarray(embedding, np.float32)
