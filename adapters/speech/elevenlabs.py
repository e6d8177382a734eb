"""Text to speech at ElevenLabs."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus

import httpx2
import msgspec

from adapters.bounded_http import open_bounded
from adapters.refusals import own_words, refusal, retry_after_s
from adapters.speech.recording import SpeechHabits, spoken
from adapters.speech.request import answer_to
from domain.errors import ModelError, ModelRefused, ModelUnavailable
from domain.ports import SoundReader
from domain.speech import VOICES, Line, SpeechLimits, Spoken, characters, text_of
from domain.usage import TokenUsage

_VOICES = {
    "linde": "XrExE9yKIg1WjnnlVkGX",  # Matilda
    "ahorn": "onwK4e9ZLuTAKqWW03F9",  # Daniel
    "birke": "SAz9YHcvj6GT2YYXdXww",  # River
    "willow": "EXAVITQu4vr4xnSDxMaL",  # Sarah
    "rowan": "nPczCjzI2devNBz1zQrb",  # Brian
}
_QUEUED_S = 1.0
"""Where one's own calls are too many at once, one of them ends soon."""
_DEAREST = 10
"""Times that a character may be counted: more is a mistake, and would take all of a credit."""
_TAKES_LANGUAGE = "_v2_5"
"""Models that are told the language end so; others refuse to be told."""


def open_elevenlabs(base_url: str, key: str) -> httpx2.AsyncClient:
    """A client; the caller closes it."""
    return open_bounded(base_url, {"xi-api-key": key})


class ElevenLabsSpeech:
    """One voice a request, billed by its characters.

    Args:
        client: from `open_elevenlabs`.
        habits: its model is as ElevenLabs calls it, its voices are by their ids.
        sounds: measures what comes.
    """

    provider = "elevenlabs"
    voices = frozenset(VOICES)
    limits = SpeechLimits(5_000, 1_000, several_voices=False)
    """What the most exacting of its models takes."""

    def __init__(
        self, client: httpx2.AsyncClient, habits: SpeechHabits, sounds: SoundReader
    ) -> None:
        self._client = client
        self._sounds = sounds
        self._names = {**_VOICES, **habits.voices}
        self._timeout_s = habits.timeout_s
        self.model = habits.model

    def bound(self, lines: Sequence[Line]) -> TokenUsage:
        """See the port: as sent."""
        return TokenUsage(0, estimated=True, characters=characters(lines))

    async def speak(self, lines: Sequence[Line]) -> Spoken:
        """One request; see the port."""
        voice = self._names[lines[0].voice.name]
        body = {"text": text_of(lines), "model_id": self.model}
        if self.model.endswith(_TAKES_LANGUAGE):
            body["language_code"] = lines[0].voice.language
        answer = await answer_to(
            self._client,
            f"/v1/text-to-speech/{voice}?output_format=mp3_44100_128",
            msgspec.json.encode(body),
            "application/json",
            timeout_s=self._timeout_s,
        )
        if not answer.is_success:
            raise self._error(answer, voice)
        sent = self.bound(lines)
        usage = _reported(answer.headers, sent.characters) or sent
        return await spoken(self._sounds, answer.content, lines, usage, self.model)

    def _error(self, answer: httpx2.Response, voice: str) -> ModelError:
        status, host = answer.status_code, self._client.base_url.host
        what, said = _told(answer.content)
        words = own_words(said, self._client.headers["xi-api-key"])
        if what == "quota_exceeded":  # which comes as 401
            return ModelRefused(
                f"{host} has no characters left for this key ({status}): {words}"
                " Raise its quota, or wait until it is renewed."
            )
        if what == "too_many_concurrent_requests":
            message = f"{host} serves other calls of this key first ({status}): {words}"
            return ModelUnavailable(message, retry_after_s=_QUEUED_S)
        if status == HTTPStatus.NOT_FOUND:
            return ModelRefused(
                f"{host} has no voice {voice} ({status}): {words} Check TTS_VOICES and TTS_MODEL."
            )
        wait_s = retry_after_s(answer.headers)
        return refusal(status, host, self.model, f"the voice {voice}", words, wait_s)


def _reported(headers: Mapping[str, str], sent: int) -> TokenUsage | None:
    """The characters that it says it counted, where it says so, and so many can have been."""
    count = headers.get("x-character-count", "")
    most = sent * _DEAREST
    if not count.isdecimal() or len(count) > len(str(most)) or int(count) > most:
        return None
    return TokenUsage(0, characters=int(count))


class _Detail(msgspec.Struct):
    status: str = ""
    message: str = ""


class _Field(msgspec.Struct):
    msg: str = ""


class _Refusal(msgspec.Struct):
    detail: _Detail | list[_Field]


def _told(body: bytes) -> tuple[str, str]:
    """Its word for what is wrong, and its sentence; both may be missing."""
    try:
        detail = msgspec.json.decode(body, type=_Refusal).detail
    except msgspec.DecodeError:
        return "", "no reason given"
    if isinstance(detail, list):
        return "", "; ".join(field.msg for field in detail) or "no reason given"
    return detail.status, detail.message or detail.status or "no reason given"
