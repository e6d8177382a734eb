"""Voices as the JSON API has them."""

from uuid import UUID

import msgspec

from domain.ports import Speech
from domain.speech import LANGUAGES, VOICES, Voice, default_voices


class VoiceOut(msgspec.Struct):
    """A voice; `provider` is null where nothing here speaks it."""

    name: str
    languages: list[str]
    provider: str | None
    default: bool
    """Whether it reads its language to whoever chose none."""

    @classmethod
    def of(cls, voice: Voice, speech: Speech | None) -> "VoiceOut":
        """From the domain."""
        spoken = speech is not None and voice in speech.voices
        return cls(
            *(voice.name, [voice.language]),
            speech.provider if speech and spoken else None,
            voice in default_voices(voice.language),
        )


class VoicesOut(msgspec.Struct):
    """Every voice. `provider` and `model` are null where nothing here reads aloud.

    `pairs` has the two voices that talk to each other, by language.
    """

    items: list[VoiceOut]
    next_cursor: UUID | None
    provider: str | None
    model: str | None
    languages: list[str]
    pairs: dict[str, list[str]]

    @classmethod
    def of(cls, speech: Speech | None) -> "VoicesOut":
        """From whoever speaks."""
        return cls(
            items=[VoiceOut.of(voice, speech) for voice in VOICES],
            next_cursor=None,
            provider=speech.provider if speech else None,
            model=speech.model if speech else None,
            languages=list(LANGUAGES),
            pairs={
                language: [voice.name for voice in default_voices(language, 2)]
                for language in LANGUAGES
            },
        )
