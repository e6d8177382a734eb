"""Who reads aloud, told by the API and wired from the settings."""

from typing import Any

import pytest

from adapters.speech.local import LocalSpeech
from app.bootstrap import check, services
from app.settings import read_settings
from domain.errors import Rejected
from domain.prices import NoPrice
from tests.app.conftest import Beleg, Start

ELEVENLABS = {"ELEVENLABS_API_KEY": "k", "TTS_BASE_URL": "http://127.0.0.1:1"}


async def _voices(beleg: Beleg) -> dict[str, Any]:
    answer = await (await beleg.user()).get("/voices")
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


@pytest.mark.parametrize(
    ("environment", "provider", "model"),
    [
        (ELEVENLABS, "elevenlabs", "eleven_multilingual_v2"),
        (
            {"AZURE_SPEECH_KEY": "k", "AZURE_SPEECH_REGION": "swedencentral"},
            *("azure", "azure-neural"),
        ),
        ({"TTS_MODEL": "tts-1"}, "openai", "tts-1"),
        ({"TTS_PROVIDER": "none"}, None, None),
    ],
)
async def test_the_voices_are_told_with_who_speaks_them(
    start: Start, environment: dict[str, str], provider: str | None, model: str | None
) -> None:
    told = await _voices(await start(**environment))
    assert (told["provider"], told["model"], told["languages"]) == (provider, model, ["de", "en"])
    assert [voice["languages"] for voice in told["items"]] == [["de"]] * 3 + [["en"]] * 2
    assert {voice["provider"] for voice in told["items"]} == {provider}
    default = [voice["name"] for voice in told["items"] if voice["default"]]
    assert default == [told["pairs"]["de"][0], told["pairs"]["en"][0]] == ["linde", "willow"]


async def test_nobody_is_told_without_signing_in(beleg: Beleg) -> None:
    assert (await (await beleg.client()).get("/voices")).status_code == 401


def test_a_voice_without_a_price_does_not_start() -> None:
    with pytest.raises(NoPrice, match=r"my-voice.*characters_per_million"):
        check(read_settings(ELEVENLABS | {"TTS_MODEL": "my-voice"}))
    check(read_settings(ELEVENLABS))
    check(read_settings({}))


async def test_a_local_voice_that_is_asked_for_has_to_be_there(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = (await start()).environment
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("adapters.speech.local.find_spec", lambda _: None)
    with pytest.raises(Rejected, match="install espeak-ng"):
        async with services(read_settings({**environment, "TTS_PROVIDER": "local"})):
            pass
    async with services(read_settings(environment)) as wired:
        assert wired.speech is None
    monkeypatch.setattr("adapters.speech.local.find_spec", lambda _: "found")
    async with services(read_settings(environment)) as wired:
        assert wired.speech
        assert isinstance(wired.speech.speech, LocalSpeech)
        assert {voice.language for voice in wired.speech.speech.voices} == {"en"}
