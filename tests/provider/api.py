"""OpenAI's endpoints, the control API and the ledger, over one `Settings`."""

import asyncio
import base64
import hashlib
import json
import random
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tests.provider import chat, sounds, voices
from tests.provider.chat import Answer, Answering
from tests.provider.faults import (
    EFFECTS,
    AskedOtherwise,
    Effect,
    Embeddings,
    Fault,
    HeardOtherwise,
    Refuse,
    Rule,
    Silence,
    SpokenOtherwise,
    ToldOtherwise,
    VectorsOtherwise,
)
from tests.provider.ledger import Entry, Status, tokens
from tests.provider.pictures import TOKENS_A_PICTURE, pictures_of, text_of, transcript
from tests.provider.telling import Telling
from tests.provider.vectors import Vectors, overlap
from tests.provider.wire import Exchange


@dataclass(slots=True)
class Settings:
    """How the provider behaves; `POST /control` takes the same fields.

    Args:
        models: what `/v1/models` lists; calls to other names get 404.
        api_key: the key every call must carry, else 401; "" takes any.
        dimension: length of a vector where the request names none.
        context_tokens: the longest prompt or text to embed; more gets context_length_exceeded.
        token_delay_s: pause before each delta.
        embedding_delay_s: pause before vectors are served.
        vision_delay_s: pause before a picture is read.
        hearing_delay_s: pause before a recording is heard.
        speaking_delay_s: pause before a text is read aloud.
        answers: what the next chats say, in turn, each a text or a list of deltas; after the
            last the citing answer.
        seen: what is read off the next pictures, in turn; after the last, what stands on them.
        passage: where a passage begins in a prompt; the first group is its number.
        rules: what fails when.
    """

    models: tuple[str, ...] = (
        "test-chat",
        "test-embedding",
        "glm-5.3-flash",
        "qwen3-embedding-4b",
        "qwen3.8-27b",
        "test-reranker",
        "whisper-1",
        "tts-1",
    )
    api_key: str = ""
    dimension: int = 1024
    context_tokens: int = 1_000_000
    token_delay_s: float = 0.0
    embedding_delay_s: float = 0.0
    vision_delay_s: float = 0.0
    hearing_delay_s: float = 0.0
    speaking_delay_s: float = 0.0
    answers: list[str | list[str]] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    passage: str = r'<passage n="(\d+)"'
    rules: list[Rule] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Call:
    """A request that was let in, and what shall be odd about its answer."""

    entry: Entry
    body: dict[str, Any]
    effect: Effect | None
    seconds: float


class Api:
    """Requests in, answers out.

    Args:
        settings: how it behaves.
        seed: of every random choice.
        answering: makes every answer that `answers` does not script; None cites.
    """

    def __init__(self, settings: Settings, seed: int, answering: Answering | None) -> None:
        self._seed = seed
        self._answering = answering
        self._vectors = Vectors()
        self.ledger: list[Entry] = []
        self.reset(settings)

    def reset(self, settings: Settings) -> None:
        """Behave so from now on: the random choices begin again, the ledger is empty."""
        self.settings = settings
        self._chance = random.Random(self._seed)
        self.ledger.clear()

    async def handle(self, exchange: Exchange) -> None:
        """Answer one request."""
        route = _ROUTES.get((exchange.method, exchange.path))
        try:
            if route is None:
                _refuse(exchange, 404, f"No route {exchange.method} {exchange.path}.")
            else:
                await route(self, exchange)
        except (KeyError, TypeError, ValueError) as error:
            _refuse(exchange, 400, f"This request cannot be read: {error!r}")

    async def show_ledger(self, exchange: Exchange) -> None:
        exchange.answer(200, msgspec.json.encode(self.ledger))

    async def clear_ledger(self, exchange: Exchange) -> None:
        self.ledger.clear()
        exchange.answer(200, b"{}")

    async def control(self, exchange: Exchange) -> None:
        """Replace the settings that the body names; `"reset": true` restores all the others."""
        wanted = json.loads(exchange.body)
        if wanted.pop("reset", False):
            self.reset(Settings())
        now = msgspec.to_builtins(self.settings)
        if unknown := wanted.keys() - now.keys():
            raise ValueError(f"no such setting: {', '.join(sorted(unknown))}")
        self.settings = msgspec.convert(now | wanted, Settings)
        exchange.answer(200, msgspec.json.encode(self.settings))

    async def models(self, exchange: Exchange) -> None:
        if call := await self._admit(exchange, "models", {}, []):
            call.entry.settle(Status.SERVED)
            listed = [{"id": name, "object": "model"} for name in self.settings.models]
            exchange.answer(200, json.dumps({"object": "list", "data": listed}).encode())

    async def embeddings(self, exchange: Exchange) -> None:
        body = json.loads(exchange.body)
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if not texts or not all(texts):
            raise ValueError("input must not be empty")
        call = await self._admit(exchange, "embedding", body, texts)
        if call is None:
            return
        dimension = call.body.get("dimensions", self.settings.dimension)
        rows = tuple((i, self._vectors.of(text, dimension)) for i, text in enumerate(texts))
        answer = Embeddings(rows, base64=call.body.get("encoding_format") == "base64")
        if isinstance(call.effect, VectorsOtherwise):
            answer = call.effect.edit(answer)
        try:
            await asyncio.sleep(self.settings.embedding_delay_s)
        except asyncio.CancelledError:
            call.entry.settle(Status.CLOSED)
            raise
        call.entry.usage_reported = answer.with_usage
        call.entry.settle(Status.SERVED)
        exchange.answer(200, _embeddings_json(answer, call.entry))

    async def transcriptions(self, exchange: Exchange) -> None:
        form = sounds.form_of(exchange.headers["content-type"], exchange.body)
        body = {name: value.decode() for name, value in form.items() if name != "file"}
        recording = form["file"]
        if len(recording) > sounds.MOST_BYTES:
            _refuse(exchange, 413, "Maximum content size limit exceeded.")
            return
        call = await self._admit(exchange, "stt", body, [])
        if call is None:
            return
        call.entry.input_sha1 = (hashlib.sha1(recording).hexdigest(),)
        call.entry.seconds = sounds.seconds_of(recording)
        usage = {"type": "duration", "seconds": call.entry.seconds}
        answer: object = {"text": sounds.transcript(recording), "usage": usage}
        call.entry.usage_reported = True
        if isinstance(call.effect, HeardOtherwise):
            answer = call.effect.edit({"text": sounds.transcript(recording), "usage": usage})
            call.entry.usage_reported = isinstance(answer, dict) and "usage" in answer
        try:
            await asyncio.sleep(self.settings.hearing_delay_s)
        except asyncio.CancelledError:
            call.entry.settle(Status.CLOSED)
            raise
        call.entry.settle(Status.SERVED)
        exchange.answer(200, json.dumps(answer).encode())

    async def speech(self, exchange: Exchange) -> None:
        body = json.loads(exchange.body)
        text = body["input"]
        if not text or len(text) > _MOST_SPOKEN or not body["voice"]:
            raise ValueError(f"input has 1 to {_MOST_SPOKEN} characters, and voice a name")
        call = await self._admit(exchange, "tts", body, [text])
        if call is None:
            return
        call.entry.characters, call.entry.input_tokens = len(text), 0
        try:
            await asyncio.sleep(self.settings.speaking_delay_s)
        except asyncio.CancelledError:
            call.entry.settle(Status.CLOSED)
            raise
        call.entry.settle(Status.SERVED)
        audio, media_type = voices.recording(text), "audio/mpeg"
        if isinstance(call.effect, SpokenOtherwise):
            audio, media_type = call.effect.edit(audio), call.effect.media_type
        exchange.answer(200, audio, media_type)

    async def rerank(self, exchange: Exchange) -> None:
        """Scores by shared words; faults of embeddings are faults of scores."""
        body = json.loads(exchange.body)
        texts = body["documents"]
        if not texts or not body["query"]:
            raise ValueError("query and documents must not be empty")
        call = await self._admit(exchange, "rerank", body, [body["query"], *texts])
        if call is None:
            return
        rows = tuple((i, overlap(body["query"], text)) for i, text in enumerate(texts))
        answer = Embeddings(rows, base64=False)
        if isinstance(call.effect, VectorsOtherwise):
            answer = call.effect.edit(answer)
        call.entry.usage_reported = answer.with_usage
        call.entry.settle(Status.SERVED)
        exchange.answer(200, _scores_json(answer, call.entry))

    async def chat(self, exchange: Exchange) -> None:
        body = json.loads(exchange.body)
        texts = [text_of(message["content"]) for message in body["messages"]]
        seen = pictures_of(body["messages"])
        kind = "vision" if seen else chat.kind_of(body["messages"])
        call = await self._admit(exchange, kind, body, texts, seen)
        if call is None:
            return
        try:
            await asyncio.sleep(self.settings.vision_delay_s if seen else 0)
        except asyncio.CancelledError:
            call.entry.settle(Status.CLOSED)
            raise
        steps = chat.plan(
            self._read_off(seen) if seen else self._answer_to(body["messages"]),
            max_tokens=body.get("max_tokens", body.get("max_completion_tokens")),
            delay_s=self.settings.token_delay_s,
        )
        if isinstance(call.effect, ToldOtherwise):
            steps = call.effect.edit(steps, call.seconds)
        try:
            await Telling(exchange, call.entry, call.body).tell(steps)
        finally:
            if call.entry.status is Status.OPEN:
                call.entry.settle(Status.CLOSED)

    def _read_off(self, pictures: Sequence[bytes]) -> str:
        if self.settings.seen:
            return self.settings.seen.pop(0)
        return "\n".join(map(transcript, pictures))

    def _answer_to(self, messages: Sequence[dict[str, str]]) -> Answer:
        if chat.is_for_summary(messages):
            return chat.summary(messages)
        if self.settings.answers:
            return self.settings.answers.pop(0)
        if self._answering is not None:
            return self._answering(messages)
        passage = re.compile(self.settings.passage)
        if chat.is_for_script(messages):
            return chat.script(messages, passage)
        return chat.citing_answer(messages, passage)

    async def _admit(
        self,
        exchange: Exchange,
        kind: str,
        body: dict[str, Any],
        texts: list[str],
        pictures: Sequence[bytes] = (),
    ) -> Call | None:
        """Enter the call in the ledger; None where it was refused or met with silence."""
        digests = tuple(hashlib.sha1(p).hexdigest() for p in pictures) or _digests(kind, texts)
        entry = Entry(len(self.ledger) + 1, kind, str(body.get("model", "")), digests)
        self.ledger.append(entry)
        fault, rule = self._fault(kind, body, texts)
        effect = self._policy(exchange, kind, body, texts) or (EFFECTS[fault] if fault else None)
        entry.fault = fault or ""
        if isinstance(effect, Refuse):
            entry.settle(Status.REFUSED, effect.status)
            wait_s = effect.retry_after_s if rule.retry_after_s is None else rule.retry_after_s
            headers = {} if wait_s is None else {"retry_after": f"{wait_s:g}"}
            said = effect.body.replace("FIELD", rule.having).encode()
            exchange.answer(effect.status, said, effect.media_type, **headers)
            return None
        entry.input_tokens = sum(map(tokens, texts)) + len(pictures) * TOKENS_A_PICTURE
        if isinstance(effect, Silence):
            entry.settle(Status.HUNG if effect.hang else Status.CUT)
            if effect.hang:
                await asyncio.Event().wait()
            exchange.drop()
            return None
        if isinstance(effect, AskedOtherwise):
            body = effect.edit(body)
        return Call(entry, body, effect, rule.seconds)

    def _fault(
        self, kind: str, body: dict[str, Any], texts: list[str]
    ) -> tuple[Fault | None, Rule]:
        for rule in self.settings.rules:
            if rule.applies(kind, body, texts, self._chance):
                return self._chance.choice(rule.faults), rule
        return None, Rule(())

    def _policy(
        self, exchange: Exchange, kind: str, body: dict[str, Any], texts: list[str]
    ) -> Effect | None:
        """What any provider would refuse by itself."""
        key = exchange.headers.get("authorization", "").removeprefix("Bearer ")
        if self.settings.api_key not in {"", key}:
            message = f"Incorrect API key provided: {key}."  # as some providers do
            return Refuse(401, json.dumps({"error": {"message": message}}))
        if kind != "models" and body.get("model") not in self.settings.models:
            return EFFECTS[Fault.GONE]
        longest = sum if kind in {"chat", "summary"} else max
        if texts and longest(map(tokens, texts)) > self.settings.context_tokens:
            return EFFECTS[Fault.CONTEXT_LENGTH]
        return None


_MOST_SPOKEN = 4_096

_ROUTES: dict[tuple[str, str], Callable[[Api, Exchange], Awaitable[None]]] = {
    ("GET", "/v1/models"): Api.models,
    ("POST", "/v1/embeddings"): Api.embeddings,
    ("POST", "/v1/chat/completions"): Api.chat,
    ("POST", "/v1/rerank"): Api.rerank,
    ("POST", "/v1/audio/transcriptions"): Api.transcriptions,
    ("POST", "/v1/audio/speech"): Api.speech,
    ("POST", "/control"): Api.control,
    ("GET", "/ledger"): Api.show_ledger,
    ("DELETE", "/ledger"): Api.clear_ledger,
}


def _refuse(exchange: Exchange, status: int, message: str) -> None:
    exchange.answer(status, json.dumps({"error": {"message": message}}).encode())


def _digests(kind: str, texts: list[str]) -> tuple[str, ...]:
    each = texts if kind == "embedding" else ["\n".join(texts)] if texts else []
    return tuple(hashlib.sha1(text.encode()).hexdigest() for text in each)


def _scores_json(answer: Embeddings, entry: Entry) -> bytes:
    best_first = sorted(answer.rows, key=lambda row: -row[1][0])
    results = [{"index": i, "relevance_score": float(row[0])} for i, row in best_first]
    usage = {"usage": {"total_tokens": entry.input_tokens}} if answer.with_usage else {}
    return json.dumps({"model": entry.model, "results": results} | usage).encode()


def _embeddings_json(answer: Embeddings, entry: Entry) -> bytes:
    rows = b",".join(
        b'{"object":"embedding","index":%d,"embedding":%b}'
        % (
            index,
            b'"%b"' % base64.b64encode(row.astype("<f4").tobytes())
            if answer.base64
            else json.dumps(row.tolist()).encode(),
        )
        for index, row in answer.rows
    )
    used = b'{"prompt_tokens":%d,"total_tokens":%d}' % (entry.input_tokens, entry.input_tokens)
    usage = b',"usage":%b' % used if answer.with_usage else b""
    model = json.dumps(entry.model).encode()
    return b'{"object":"list","model":%b,"data":[%b]%b}' % (model, rows, usage)
