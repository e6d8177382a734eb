"""Speech to text at an OpenAI-compatible endpoint."""

import asyncio
from collections.abc import Awaitable, Callable
from decimal import Decimal

import msgspec
from httpx2 import Response
from openai import AsyncOpenAI

from adapters.inference.openai_client import translated
from domain.errors import ModelAnswerInvalid
from domain.sound import Sound
from domain.transcript import Transcript
from domain.usage import TokenUsage

_MEDIA_TYPES = {"mp3": "audio/mpeg", "wav": "audio/wav"}
_MILLISECOND = Decimal("0.001")
_DAY_S = 86_400
"""No recording is as long; a number that is greater is a mistake."""


class OpenAITranscriber:
    """`POST /audio/transcriptions`, answered in JSON.

    Args:
        client: from `open_client`; the caller closes it.
        model: the endpoint's name for the model.
        timeout_s: for a whole request, connecting and sending included.
    """

    def __init__(self, client: AsyncOpenAI, model: str, timeout_s: float) -> None:
        self._client = client
        self._timeout_s = timeout_s
        self.model = model

    async def transcribe(
        self,
        content: bytes,
        sound: Sound,
        *,
        on_progress: Callable[[float], Awaitable[None]],  # noqa: ARG002 - it comes at once
    ) -> Transcript:
        """One request; see the port."""
        name, media_type = f"recording.{sound.format}", _MEDIA_TYPES[sound.format]
        asked = f"a recording of {len(content) / 1e6:.1f} MB"
        with translated(self._client, self.model, asked):
            async with asyncio.timeout(self._timeout_s):
                # Past `transcriptions.create`, which guesses at the answer's shape.
                answer = await self._client.post(
                    "/audio/transcriptions",
                    body={"model": self.model, "response_format": "json"},
                    files=[("file", (name, content, media_type))],
                    options={"headers": {"Content-Type": "multipart/form-data"}},
                    cast_to=Response,
                )
        return self._checked(answer.content, sound)

    def _checked(self, body: bytes, sound: Sound) -> Transcript:
        measured = TokenUsage(0, estimated=True, seconds=sound.seconds)
        try:
            answer = msgspec.json.decode(body, type=_Answer)
        except msgspec.DecodeError as error:
            message = f"{self.model} answered with something that is no transcript: {error}."
            raise ModelAnswerInvalid(message, usage=measured) from error
        return Transcript(answer.text, _usage(answer, sound))


class _Usage(msgspec.Struct):
    seconds: float | None = None
    input_tokens: int = 0
    output_tokens: int = 0


class _Answer(msgspec.Struct):
    text: str
    usage: _Usage | None = None
    duration: float | None = None


def _usage(answer: _Answer, sound: Sound) -> TokenUsage:
    """Seconds as reported, else as measured; tokens beside them where the provider counts them."""
    used = answer.usage or _Usage()
    reported = used.seconds if used.seconds is not None else answer.duration
    if reported is None or not 0 <= reported <= _DAY_S:
        seconds, estimated = sound.seconds, True
    else:
        seconds, estimated = Decimal(reported).quantize(_MILLISECOND), False
    return TokenUsage(used.input_tokens, used.output_tokens, estimated, seconds)
