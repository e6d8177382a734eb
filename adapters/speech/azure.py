"""Text to speech at Azure AI Speech, by SSML over REST."""

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

import httpx2

from adapters.bounded_http import open_bounded
from adapters.refusals import own_words, refusal, retry_after_s
from adapters.speech.recording import SpeechHabits, spoken
from adapters.speech.request import answer_to
from domain.errors import ModelCut
from domain.ports import SoundReader
from domain.speech import VOICES, Line, SpeechLimits, Spoken
from domain.usage import TokenUsage

_VOICES = {
    "linde": "de-DE-SeraphinaMultilingualNeural",
    "ahorn": "de-DE-FlorianMultilingualNeural",
    "birke": "de-DE-KatjaNeural",
    "willow": "en-US-AvaNeural",
    "rowan": "en-US-AndrewNeural",
}
_LOCALES = {"de": "de-DE", "en": "en-US"}
_PATH = "/cognitiveservices/v1"
_FORMAT = "audio-24khz-96kbitrate-mono-mp3"
_CUT_AT_S = 599
"""It stops at ten minutes without a word. What it is asked takes seven at most."""
_NO_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_BILLED_TWICE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_SAID = {
    400: "the voice or the text does not suit it",
    415: "it takes no SSML of this type",
    429: "too many requests",
}
"""Its errors come with a body that is empty, or a web page."""


def open_azure(base_url: str, key: str) -> httpx2.AsyncClient:
    """A client of that region's endpoint; the caller closes it."""
    headers = {
        "Ocp-Apim-Subscription-Key": key,
        "X-Microsoft-OutputFormat": _FORMAT,
        "User-Agent": "beleg",
    }
    return open_bounded(base_url, headers)


class AzureSpeech:
    """Several voices in one request, billed by the code points between its tags.

    Args:
        client: from `open_azure`.
        habits: its model is a name for the price list: Azure has none for its neural voices.
        sounds: measures what comes.
    """

    provider = "azure"
    voices = frozenset(VOICES)
    limits = SpeechLimits(6_000, 50, several_voices=True)

    def __init__(
        self, client: httpx2.AsyncClient, habits: SpeechHabits, sounds: SoundReader
    ) -> None:
        self._client = client
        self._sounds = sounds
        self._names = {**_VOICES, **habits.voices}
        self._timeout_s = habits.timeout_s
        self.model = habits.model

    def bound(self, lines: Sequence[Line]) -> TokenUsage:
        """See the port: the whole document, as if its tags were billed too."""
        document = self._ssml(lines)
        return TokenUsage(0, estimated=True, characters=_billed(document))

    async def speak(self, lines: Sequence[Line]) -> Spoken:
        """One request; see the port."""
        body = self._ssml(lines).encode()
        answer = await answer_to(
            self._client, _PATH, body, "application/ssml+xml", timeout_s=self._timeout_s
        )
        if not answer.is_success:
            status = answer.status_code
            said = _SAID.get(status) or answer.reason_phrase or "no reason given"
            words = own_words(said, self._client.headers["Ocp-Apim-Subscription-Key"])
            asked = f"the voice {self._names[lines[0].voice.name]}"
            host, wait_s = self._client.base_url.host, retry_after_s(answer.headers)
            raise refusal(status, host, self.model, asked, words, wait_s)
        usage = TokenUsage(0, estimated=True, characters=sum(_billed(_text(x)) for x in lines))
        heard = await spoken(self._sounds, answer.content, lines, usage, self.model)
        if heard.seconds >= _CUT_AT_S:
            raise ModelCut("Azure cut the recording at ten minutes.", usage=usage)
        return heard

    def _ssml(self, lines: Sequence[Line]) -> str:
        said = "".join(
            f"<voice name={quoteattr(self._names[line.voice.name])}>{_text(line)}</voice>"
            for line in lines
        )
        locale = _LOCALES[lines[0].voice.language]
        return (
            '<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis"'
            f' xml:lang="{locale}">{said}</speak>'
        )


def _text(line: Line) -> str:
    return escape(_NO_XML.sub(" ", line.text))


def _billed(text: str) -> int:
    """Code points, Chinese characters twice, as Azure's pricing note has it."""
    return len(text) + len(_BILLED_TWICE.findall(text))
