"""Chat from an OpenAI-compatible endpoint: streamed, timed, and counted when it breaks off."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import msgspec
from openai import AsyncStream

from adapters.inference.openai_client import Client, translated
from adapters.inference.optional_fields import OptionalFields
from adapters.inference.thinking import LeadingThought
from domain.conversation import Message
from domain.errors import ModelAnswerInvalid, ModelCut, ModelRefused, ModelUnavailable
from domain.ports import ChatDelta, ChatEnd
from domain.usage import TokenUsage, about_tokens

_LONGEST_TOKEN = 128
"""Characters. Endpoints exist that do not keep to a limit of tokens."""


@dataclass(frozen=True, slots=True)
class ChatHabits:
    """What differs between chat models and endpoints.

    Args:
        reasoning_effort: sent where set; an unsupported level is a refusal.
        extra_body: any other fields of the request.
    """

    reasoning_effort: str | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatTimeouts:
    """How long an answer may take, each from the request or the piece before it."""

    first_token_s: float = 60.0
    between_tokens_s: float = 30.0
    total_s: float = 300.0


class OpenAIChatModel:
    """`POST /chat/completions`, streamed.

    Reasoning is neither shown nor an answer, but it counts as a sign of life and as output.

    Args:
        client: from `open_client`; the caller closes it.
        model: the endpoint's name for the model.
        habits: what the model and its endpoint need.
        timeouts: when to give up.
    """

    def __init__(
        self,
        client: Client,
        model: str,
        habits: ChatHabits | None = None,
        timeouts: ChatTimeouts | None = None,
    ) -> None:
        self._client = client
        self._habits = habits or ChatHabits()
        self._timeouts = timeouts or ChatTimeouts()
        self._optional = OptionalFields(model)
        self.model = model

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int
    ) -> AsyncGenerator[ChatDelta | ChatEnd, None]:
        """One request; see the port. Use `contextlib.aclosing` where it may be left early."""
        tally, thought = _Tally(messages, max_tokens), LeadingThought()
        try:
            async with aclosing(self._chunks(messages, max_tokens)) as chunks:
                async for chunk in chunks:
                    if text := thought.without(tally.take(chunk)):
                        tally.wrote |= not text.isspace()
                        yield ChatDelta(text)
        except (ModelUnavailable, ModelRefused) as error:
            if not tally.heard:
                raise
            if tally.finish_reason is None:
                raise ModelCut(
                    f"{error.message} The answer is not whole.", usage=tally.usage
                ) from error
        if text := thought.rest():
            tally.wrote |= not text.isspace()
            yield ChatDelta(text)
        yield self._end(tally, max_tokens)

    def _end(self, tally: "_Tally", max_tokens: int) -> ChatEnd:
        if not tally.heard:
            message = f"{self.model} closed the stream without a word."
            raise ModelUnavailable(message, may_be_billed=True)
        if tally.finish_reason is None:
            raise ModelCut(f"{self.model} broke off its answer.", usage=tally.usage)
        if not tally.wrote:
            message = (
                f"{self.model} wrote nothing (finish reason: {tally.finish_reason}). It may have "
                f"spent its {max_tokens} tokens thinking: allow more, or set less effort."
            )
            raise ModelAnswerInvalid(message, usage=tally.usage)
        return ChatEnd(tally.finish_reason, tally.usage)

    async def _chunks(
        self, messages: Sequence[Message], max_tokens: int
    ) -> AsyncGenerator["_Chunk", None]:
        """The endpoint's chunks within the time limits; closing it closes the response."""
        now = asyncio.get_running_loop().time
        due, end = now() + self._timeouts.first_token_s, now() + self._timeouts.total_s
        asked = self._asked(max_tokens)
        with translated(self._client, self.model, ", ".join(asked)):
            async with asyncio.timeout_at(min(due, end)):
                stream = await self._open(messages, asked)
            async with stream:
                while True:
                    async with asyncio.timeout_at(min(due, end)):
                        chunk = await anext(stream, None)
                    if chunk is None:
                        return
                    yield _chunk(chunk)
                    due = now() + self._timeouts.between_tokens_s

    def _asked(self, max_tokens: int) -> dict[str, Any]:
        """The fields an endpoint may not know."""
        fields = {
            "max_tokens": max_tokens,
            "stream_options": {"include_usage": True},
            **self._habits.extra_body,
        }
        if self._habits.reasoning_effort is not None:
            fields["reasoning_effort"] = self._habits.reasoning_effort
        return self._optional.taken(fields)

    async def _open(
        self, messages: Sequence[Message], asked: Mapping[str, Any]
    ) -> AsyncStream[object]:
        sent = [{"role": message.role.value, "content": message.content} for message in messages]
        body = {"model": self.model, "messages": sent, "stream": True, **asked}
        with self._optional.learnt(asked):
            response = await self._client.send("chat/completions", body, stream=True)
        return AsyncStream(cast_to=object, response=response, client=self._client)


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Delta(msgspec.Struct):
    content: str | None = None
    reasoning_content: Any = None
    reasoning: Any = None


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(msgspec.Struct):
    """What is read of a chunk; any of it may be missing."""

    choices: list[_Choice] | None = None
    usage: _Usage | None = None


def _chunk(data: object) -> _Chunk:
    """Raises ValueError for what is no chunk."""
    try:
        return msgspec.convert(data, _Chunk)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error


class _Tally:
    """What has come in of one answer."""

    def __init__(self, messages: Sequence[Message], max_tokens: int) -> None:
        self._most_characters = max_tokens * _LONGEST_TOKEN
        self._sent = sum(about_tokens(message.content) for message in messages)
        self._received: list[str] = []
        self._reported: TokenUsage | None = None
        self.heard = False
        self.wrote = False
        self.finish_reason: str | None = None

    def take(self, chunk: _Chunk) -> str:
        """Count a chunk; its content. ModelCut where it is more than was asked for."""
        self.heard = True
        if (usage := chunk.usage) and usage.prompt_tokens is not None:
            self._reported = TokenUsage(usage.prompt_tokens, usage.completion_tokens or 0)
        thought, text = "", ""
        for choice in chunk.choices or ():
            self.finish_reason = choice.finish_reason or self.finish_reason
            delta = choice.delta or _Delta()
            text += delta.content or ""
            thought += str(delta.reasoning_content or delta.reasoning or "")
        self._received += thought, text
        self._most_characters -= len(thought) + len(text)
        if self._most_characters < 0:
            raise ModelCut("The model writes on past the most it was to write.", usage=self.usage)
        return text

    @property
    def usage(self) -> TokenUsage:
        """As reported, or an estimate of all that was sent and received, thoughts included."""
        if self._reported is not None:
            return self._reported
        return TokenUsage(self._sent, about_tokens("".join(self._received)), estimated=True)
