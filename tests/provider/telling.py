"""A chat plan put on the wire, as an event stream or as one JSON answer."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from tests.provider.chat import (
    Broken,
    Done,
    Drop,
    Finish,
    Hang,
    Plan,
    Reasoning,
    Step,
    Text,
    Usage,
    Wait,
)
from tests.provider.ledger import Entry, Status, tokens
from tests.provider.wire import Exchange


class Telling:
    """One chat answer on its way; keeps its ledger entry true at every step."""

    def __init__(self, exchange: Exchange, entry: Entry, body: Mapping[str, Any]) -> None:
        self._exchange = exchange
        self._entry = entry
        self._streamed = bool(body.get("stream"))
        options = body.get("stream_options") or {}
        self._tells_usage = not self._streamed or bool(options.get("include_usage"))
        self._text = self._reasoning = ""
        self._reason: str | None = None

    async def tell(self, plan: Plan) -> None:
        """Take every step; a plan that ends without a finish reason was cut."""
        for step in plan:
            await self._step(step)
            if self._entry.status is not Status.OPEN:
                return
        self._entry.settle(Status.SERVED if self._reason else Status.CUT)
        self._end()

    async def _step(self, step: Step) -> None:
        match step:
            case Text(text):
                self._text += text
                self._count()
                await self._send(self._chunk({"content": text}))
            case Reasoning(text):
                self._reasoning += text
                self._count()
                # Both names are in use: vLLM's older and newer one.
                await self._send(self._chunk({"reasoning_content": text, "reasoning": text}))
            case Wait(seconds):
                await asyncio.sleep(seconds)
            case Finish(reason):
                self._reason = reason
                await self._send(self._chunk({}, reason))
            case Usage():
                self._entry.usage_reported = self._tells_usage
                if self._tells_usage:
                    await self._send({**self._chunk(), "choices": [], "usage": self._usage()})
            case Done() | Broken() | Drop() | Hang():
                await self._stop(step)

    async def _stop(self, step: Done | Broken | Drop | Hang) -> None:
        match step:
            case Done():
                self._entry.settle(Status.SERVED)
                if self._streamed:
                    await self._exchange.stream(b"data: [DONE]\n\n")
                self._end()
            case Broken(message, code):
                self._entry.settle(Status.CUT)
                await self._send({"error": {"message": message, "code": code}})
                self._end()
            case Drop():
                self._entry.settle(Status.CUT)
                self._exchange.drop()
            case Hang():
                self._entry.settle(Status.HUNG)
                await asyncio.Event().wait()

    def _count(self) -> None:
        self._entry.output_tokens = tokens(self._reasoning + self._text)

    def _usage(self) -> dict[str, int]:
        sent, made = self._entry.input_tokens, self._entry.output_tokens
        return {"prompt_tokens": sent, "completion_tokens": made, "total_tokens": sent + made}

    def _chunk(
        self, delta: Mapping[str, str] | None = None, reason: str | None = None
    ) -> dict[str, object]:
        return {
            "id": f"chat-{self._entry.id}",
            "object": "chat.completion.chunk",
            "created": int(self._entry.time),
            "model": self._entry.model,
            "choices": [{"index": 0, "delta": delta or {}, "finish_reason": reason}],
        }

    async def _send(self, event: Mapping[str, object]) -> None:
        if self._streamed:
            await self._exchange.stream(f"data: {json.dumps(event)}\n\n".encode())

    def _end(self) -> None:
        if self._streamed:
            self._exchange.end()
            return
        if self._entry.status is Status.CUT:
            self._exchange.drop()
            return
        message = {"role": "assistant", "content": self._text}
        choice = {"index": 0, "message": message, "finish_reason": self._reason}
        usage = {"usage": self._usage()} if self._entry.usage_reported else {}
        whole = {**self._chunk(), "object": "chat.completion", "choices": [choice], **usage}
        self._exchange.answer(200, json.dumps(whole).encode())
