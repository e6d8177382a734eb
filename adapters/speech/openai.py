"""Text to speech at an OpenAI-compatible endpoint."""

import asyncio
from collections.abc import Sequence

from adapters.inference.openai_client import Client, translated
from adapters.speech.recording import SpeechHabits, spoken
from domain.ports import SoundReader
from domain.speech import VOICES, Line, SpeechLimits, Spoken, characters, text_of
from domain.usage import TokenUsage

_VOICES = {
    "linde": "coral",
    "ahorn": "onyx",
    "birke": "sage",
    "willow": "nova",
    "rowan": "echo",
}


class OpenAISpeech:
    """`POST /audio/speech`: one voice a request, billed by the characters of its input.

    Args:
        client: from `open_client`; the caller closes it.
        sounds: measures what comes.
    """

    provider = "openai"
    voices = frozenset(VOICES)
    limits = SpeechLimits(4_096, 1_000, several_voices=False)

    def __init__(self, client: Client, habits: SpeechHabits, sounds: SoundReader) -> None:
        self._client = client
        self._sounds = sounds
        self._names = {**_VOICES, **habits.voices}
        self._timeout_s = habits.timeout_s
        self.model = habits.model

    def bound(self, lines: Sequence[Line]) -> TokenUsage:
        """See the port: as sent, so that it is also what is billed."""
        return TokenUsage(0, estimated=True, characters=characters(lines))

    async def speak(self, lines: Sequence[Line]) -> Spoken:
        """One request; see the port."""
        voice = self._names[lines[0].voice.name]
        asked = {
            "model": self.model,
            "input": text_of(lines),
            "voice": voice,
            "response_format": "mp3",
        }
        with translated(self._client, self.model, f"the voice {voice}"):
            async with asyncio.timeout(self._timeout_s):
                answer = await self._client.send("audio/speech", asked)
        return await spoken(self._sounds, answer.content, lines, self.bound(lines), self.model)
