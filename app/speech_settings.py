"""Who reads aloud, by the settings."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from domain.errors import Rejected
from domain.speech import VOICES

PROVIDERS = ["azure", "elevenlabs", "openai", "local", "none"]
_REGION = re.compile(r"[a-z0-9]+")
_ELEVENLABS = "https://api.elevenlabs.io"
_AZURE_MODEL, _ELEVENLABS_MODEL = "azure-neural", "eleven_multilingual_v2"


@dataclass(frozen=True, slots=True)
class Speaker:
    """A provider of speech.

    Args:
        provider: one of `PROVIDERS`.
        model: as the price list has it; "" for local and none.
        voices: the provider's names by ours, where they are not the usual ones.
    """

    provider: str
    model: str = ""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    voices: Mapping[str, str] = field(default_factory=dict)


class _Endpoint(Protocol):
    @property
    def base_url(self) -> str: ...

    @property
    def api_key(self) -> str: ...

    @property
    def model(self) -> str: ...


class _Variables(Protocol):
    """The environment, as `app.settings` reads it."""

    def text(self, name: str, default: str = "") -> str: ...

    def url(self, name: str, default: str, *schemes: str) -> str: ...

    def choice(self, name: str, default: str, choices: list[str]) -> str: ...

    def named_endpoint(self, kind: str, *, unless: str) -> _Endpoint | None: ...


def speaker(read: _Variables) -> Speaker | None:
    """The provider that TTS_PROVIDER names, else the one that has a key; None where none has.

    Raises:
        Rejected: something is missing or does not fit; the message names the variable.
    """
    azure, elevenlabs = read.text("AZURE_SPEECH_KEY"), read.text("ELEVENLABS_API_KEY")
    region, model = read.text("AZURE_SPEECH_REGION"), read.text("TTS_MODEL")
    base_url = read.url("TTS_BASE_URL", "", "http", "https").rstrip("/")
    voices = _voices(read.text("TTS_VOICES"))
    keys = {"azure": azure, "elevenlabs": elevenlabs}
    other = model or base_url or read.text("TTS_API_KEY")
    provider = read.text("TTS_PROVIDER") and read.choice("TTS_PROVIDER", "", PROVIDERS)
    provider = provider or _by_key(keys, other)
    if provider in {"", "local", "none"}:
        if voices:
            raise Rejected("TTS_VOICES is set, and no provider whose voices it could name is.")
        return Speaker(provider) if provider else None
    if provider == "openai":
        endpoint = read.named_endpoint("TTS", unless="")
        if endpoint is None:
            raise Rejected("TTS_PROVIDER is openai, and TTS_MODEL is not set.")
        return Speaker(provider, endpoint.model, endpoint.base_url, endpoint.api_key, voices)
    if not keys[provider]:
        name = "AZURE_SPEECH_KEY" if provider == "azure" else "ELEVENLABS_API_KEY"
        raise Rejected(f"TTS_PROVIDER is {provider}, and {name} is not set.")
    if provider == "elevenlabs":
        usual = base_url or _ELEVENLABS
        return Speaker(provider, model or _ELEVENLABS_MODEL, usual, elevenlabs, voices)
    usual = base_url or _azure_url(region)
    return Speaker(provider, model or _AZURE_MODEL, usual, azure, voices)


def _by_key(keys: Mapping[str, str], other: str) -> str:
    set_up = [provider for provider, key in keys.items() if key]
    if len(set_up) > 1:
        raise Rejected(f"TTS_PROVIDER is not set, and {' and '.join(set_up)} have a key: choose.")
    return set_up[0] if set_up else "openai" if other else ""


def _azure_url(region: str) -> str:
    if not _REGION.fullmatch(region):
        raise Rejected(
            "AZURE_SPEECH_REGION is the name of the region that AZURE_SPEECH_KEY belongs to,"
            f" like swedencentral, not {region!r}."
        )
    return f"https://{region}.tts.speech.microsoft.com"


def _voices(pairs: str) -> dict[str, str]:
    """`name=theirs, name=theirs`."""
    known = [voice.name for voice in VOICES]
    found: dict[str, str] = {}
    for pair in filter(str.strip, pairs.split(",")):
        name, _, theirs = (part.strip() for part in pair.partition("="))
        if name not in known or not theirs:
            raise Rejected(
                f"TTS_VOICES is like linde=its-name,rowan=its-name with {', '.join(known)},"
                f" not {pair.strip()!r}."
            )
        found[name] = theirs
    return found
