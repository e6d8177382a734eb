"""Azure AI Speech and ElevenLabs as servers on this machine, with the answers that bite."""

import asyncio
import json
import re
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

from tests.provider.server import Server
from tests.provider.voices import recording
from tests.provider.wire import Exchange

_AZURE_PATH = "/cognitiveservices/v1"
_AZURE_MOST_VOICES = 50
_AZURE_CUT_CHARS = 9_000
_ELEVEN_PATH = re.compile(r"/v1/text-to-speech/(\w+)")
_ELEVEN_MOST = 5_000
_SPEAK = "{http://www.w3.org/2001/10/synthesis}"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer in place of a recording; without a status the connection hangs, or is dropped."""

    status: int | None = None
    body: bytes = b""
    media_type: str = "text/plain"
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = True


class Speaker(Server):
    """What both have in common.

    Args:
        key: that calls must carry.
    """

    def __init__(self, key: str) -> None:
        super().__init__(self._answer)
        self.key = key
        self.replies: list[Reply | None] = []
        """What the next calls get, in turn; None for a recording."""
        self.served: list[list[tuple[str, str]]] = []
        """Voice and text of each line of every call that got a recording."""

    def reset(self) -> None:
        """As if newly started."""
        self.replies.clear()
        self.served.clear()

    async def _answer(self, exchange: Exchange) -> None:
        reply = self.replies.pop(0) if self.replies else None
        if reply is not None and reply.status is None:
            if reply.hangs:
                await asyncio.Event().wait()
            exchange.drop()
            return
        reply = reply or self._refusal(exchange)
        if reply is not None:
            assert reply.status
            exchange.answer(reply.status, reply.body, reply.media_type, **reply.headers)
            return
        lines = self._lines(exchange)
        self.served.append(lines)
        text = "".join(text for _, text in lines)
        exchange.answer(200, self._spoken(text), "audio/mpeg", **self._counts(text))

    def _refusal(self, exchange: Exchange) -> Reply | None:
        raise NotImplementedError

    def _lines(self, exchange: Exchange) -> list[tuple[str, str]]:
        raise NotImplementedError

    def _spoken(self, text: str) -> bytes:
        return recording(text)

    def _counts(self, text: str) -> dict[str, str]:  # noqa: ARG002 - for those who tell
        return {}


class Azure(Speaker):
    """Its errors have no body, and it stops at ten minutes without a word."""

    def _refusal(self, exchange: Exchange) -> Reply | None:
        headers = exchange.headers
        if exchange.path != _AZURE_PATH:
            return Reply(404)
        if headers.get("ocp-apim-subscription-key") != self.key:
            return Reply(401)
        if headers.get("content-type") != "application/ssml+xml":
            return Reply(415)
        if headers.get("x-microsoft-outputformat") != "audio-24khz-96kbitrate-mono-mp3":
            return Reply(400)
        try:
            if not 1 <= len(self._lines(exchange)) <= _AZURE_MOST_VOICES:
                return Reply(400)
        except (ET.ParseError, KeyError):
            return Reply(400)
        return None

    def _lines(self, exchange: Exchange) -> list[tuple[str, str]]:
        speak = ET.fromstring(exchange.body.decode())
        return [(line.attrib["name"], line.text or "") for line in speak.iter(f"{_SPEAK}voice")]

    def _spoken(self, text: str) -> bytes:
        return recording(text[:_AZURE_CUT_CHARS])


class ElevenLabs(Speaker):
    """Its errors name themselves in JSON, and its answers say how many characters they cost."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.counts: bool | str = True
        """Whether it tells what it counted, or what it says instead."""

    def _counts(self, text: str) -> dict[str, str]:
        counted = self.counts if isinstance(self.counts, str) else str(len(text))
        return {"x_character_count": counted} if counted and self.counts else {}

    def _refusal(self, exchange: Exchange) -> Reply | None:
        found = _ELEVEN_PATH.fullmatch(exchange.path)
        if found is None:
            return told(404, "not_found", "Not Found")
        if exchange.headers.get("xi-api-key") != self.key:
            return told(401, "invalid_api_key", f"Invalid key {exchange.headers['xi-api-key']}")
        body = json.loads(exchange.body)
        if len(body["text"]) > _ELEVEN_MOST:
            return told(400, "max_character_limit_exceeded", "This text is too long.")
        if "language_code" in body and not body["model_id"].endswith("_v2_5"):
            return told(400, "unsupported_language", "This model takes no language_code.")
        return None

    def _lines(self, exchange: Exchange) -> list[tuple[str, str]]:
        found = _ELEVEN_PATH.fullmatch(exchange.path)
        assert found
        return [(found[1], json.loads(exchange.body)["text"])]


def told(status: int, what: str, message: str, **headers: str) -> Reply:
    """An error as ElevenLabs words it."""
    body = json.dumps({"detail": {"status": what, "message": message}}).encode()
    return Reply(status, body, "application/json", headers)
