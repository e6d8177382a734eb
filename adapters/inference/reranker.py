"""Relevance of passages to a question, from a `/rerank` endpoint, every score checked."""

import asyncio
import math
from collections.abc import Sequence

import msgspec
from httpx2 import Response
from openai import AsyncOpenAI

from adapters.inference.openai_client import translated
from domain.errors import ModelAnswerInvalid
from domain.ports import Reranked
from domain.usage import TokenUsage, about_tokens


class HttpReranker:
    """`POST /rerank`, as Jina, Cohere, vLLM, Vultr and text-embeddings servers speak it.

    Args:
        client: from `open_client`; the caller closes it.
        model: the endpoint's name for the model.
        timeout_s: for a whole request, connecting included.
    """

    def __init__(self, client: AsyncOpenAI, model: str, *, timeout_s: float = 10.0) -> None:
        self._client = client
        self._timeout_s = timeout_s
        self.model = model

    async def rerank(self, question: str, texts: Sequence[str]) -> Reranked:
        """One request; see the port."""
        body = {
            "model": self.model,
            "query": question,
            "documents": list(texts),
            "top_n": len(texts),
            "return_documents": False,
        }
        with translated(self._client, self.model, f"top_n={len(texts)}"):
            async with asyncio.timeout(self._timeout_s):
                answer = await self._client.post("/rerank", body=body, cast_to=Response)
        return self._checked(answer.content, question, texts)

    def _checked(self, body: bytes, question: str, texts: Sequence[str]) -> Reranked:
        """Raises ModelAnswerInvalid, with the usage, for anything but a score for each text."""
        asked = about_tokens(question)
        usage = TokenUsage(sum(asked + about_tokens(text) for text in texts), estimated=True)
        try:
            answer = msgspec.json.decode(body, type=_Answer)
            if answer.usage is not None and answer.usage.tokens is not None:
                usage = TokenUsage(answer.usage.tokens)
            scores = _scores(answer.results, len(texts))
        except (msgspec.DecodeError, ValueError) as error:
            message = f"{self.model} answered with scores that cannot be used: {error}."
            raise ModelAnswerInvalid(message, usage=usage) from error
        return Reranked(scores, usage)


class _Usage(msgspec.Struct):
    total_tokens: int | None = None
    prompt_tokens: int | None = None

    @property
    def tokens(self) -> int | None:
        """Some endpoints name only one of them; a reranker writes none, so both are the input."""
        return self.total_tokens if self.prompt_tokens is None else self.prompt_tokens


class _Row(msgspec.Struct):
    index: int
    relevance_score: float


class _Answer(msgspec.Struct):
    results: list[_Row]
    usage: _Usage | None = None


def _scores(rows: list[_Row], count: int) -> tuple[float, ...]:
    """Scores by `index`; else ValueError."""
    scores = {row.index: row.relevance_score for row in rows}
    if len(rows) != count or scores.keys() != set(range(count)):
        raise ValueError(f"they are not one for each of {count} passages")
    if not all(map(math.isfinite, scores.values())):
        raise ValueError("some are no finite numbers")
    return tuple(scores[n] for n in range(count))
