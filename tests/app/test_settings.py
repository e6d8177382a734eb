from decimal import Decimal

import pytest

from app import bootstrap
from app.settings import read_settings
from app.speech_settings import Speaker
from domain.errors import Rejected
from domain.prices import NoPrice
from domain.retrieval import RetrievalMode


def test_nothing_set_means_no_key_and_the_defaults() -> None:
    settings = read_settings({})
    assert settings.chat is None
    assert settings.embedding is None
    assert settings.retrieval_mode is RetrievalMode.WEIGHTED
    assert (settings.retrieval_k, settings.max_questions_per_notebook_day) == (8, 50)
    assert settings.signup_credit == Decimal(5)


def test_a_key_turns_on_the_real_models() -> None:
    settings = read_settings({"INFERENCE_API_KEY": "k"})
    assert settings.chat is not None
    assert settings.embedding is not None
    assert settings.embedding.model == "qwen3-embedding-4b"


def test_each_kind_may_have_an_endpoint_of_its_own() -> None:
    settings = read_settings(
        {
            "INFERENCE_API_KEY": "k",
            "LLM_BASE_URL": "http://127.0.0.1:1/v1",
            "LLM_API_KEY": "other",
            "LLM_MODEL": "m",
            "EMBEDDING_MODEL": "multilingual-e5-small",
        }
    )
    assert settings.chat is not None
    assert (settings.chat.base_url, settings.chat.api_key) == ("http://127.0.0.1:1/v1", "other")
    assert settings.embedding is None


def test_a_key_does_not_show_when_settings_are_printed() -> None:
    assert "secret" not in repr(read_settings({"INFERENCE_API_KEY": "secret"}))


def test_a_database_s_password_does_not_show_either() -> None:
    url = "postgresql://beleg:secret@db/beleg"
    assert "secret" not in repr(read_settings({"DATABASE_URL": url}))


def test_an_empty_value_counts_as_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    for empty in ("", " "):
        monkeypatch.setenv("BELEG_DATA", empty)
        names = ("BELEG_DATA", "PRICES_FILE", "STORAGE_URL", "RETRIEVAL_K")
        assert read_settings(dict.fromkeys(names, empty)) == read_settings({})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RETRIEVAL_K", "0"),
        ("RETRIEVAL_K", "eight"),
        ("RETRIEVAL_MODE", "best"),
        ("EMBEDDING_DIMENSION", "5000"),
        ("SIGNUP_CREDIT", "NaN"),
        ("SIGNUP_CREDIT", "-1"),
        ("SIMILARITY_FLOOR", "low"),
        ("SIMILARITY_FLOOR", "2"),
        ("DATABASE_URL", "mysql://x"),
        ("STORAGE_URL", "s3://bucket"),
        ("INFERENCE_BASE_URL", "notaurl"),
        ("LLM_BASE_URL", "ftp://x"),
        ("LLM_BASE_URL", "http://"),
        ("LLM_BASE_URL", "http:///v1"),
        ("TTS_BASE_URL", "http://localhost:x/v1"),
        ("OIDC_ISSUER", "https://[::1/"),
        ("SIGN_UP", "maybe"),
        ("BELEG_LOCAL", "true"),
        ("LLM_MODEL", "some-model"),
    ],
)
def test_a_value_that_cannot_be_used_names_its_variable(name: str, value: str) -> None:
    with pytest.raises(Rejected, match=name):
        read_settings({name: value})


def test_who_reads_aloud_is_who_has_a_key() -> None:
    azure = {"AZURE_SPEECH_KEY": "k", "AZURE_SPEECH_REGION": "swedencentral"}
    assert read_settings({}).tts is None
    assert read_settings({"INFERENCE_API_KEY": "k"}).tts is None
    assert read_settings(azure).tts == Speaker(
        "azure", "azure-neural", "https://swedencentral.tts.speech.microsoft.com", "k"
    )
    told = read_settings({"ELEVENLABS_API_KEY": "k", "TTS_VOICES": "linde=abc, rowan = d"}).tts
    assert told == Speaker(
        *("elevenlabs", "eleven_multilingual_v2", "https://api.elevenlabs.io", "k"),
        {"linde": "abc", "rowan": "d"},
    )
    ours = {"TTS_MODEL": "kokoro", "TTS_BASE_URL": "http://127.0.0.1:1/v1"}
    assert read_settings(ours).tts == Speaker("openai", "kokoro", "http://127.0.0.1:1/v1")
    assert read_settings(azure | ours).tts == Speaker(
        "azure", "kokoro", "http://127.0.0.1:1/v1", "k"
    )
    for chosen in ("local", "none"):
        assert read_settings(azure | {"TTS_PROVIDER": chosen}).tts == Speaker(chosen)


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"TTS_PROVIDER": "espeak"}, "TTS_PROVIDER is one of azure, .* not 'espeak'"),
        ({"TTS_PROVIDER": "azure"}, "AZURE_SPEECH_KEY is not set"),
        ({"TTS_PROVIDER": "elevenlabs"}, "ELEVENLABS_API_KEY is not set"),
        ({"TTS_PROVIDER": "openai"}, "TTS_MODEL is not set"),
        ({"TTS_API_KEY": "k"}, "TTS_MODEL is not set"),
        ({"TTS_MODEL": "tts-1"}, "no endpoint is set"),
        ({"AZURE_SPEECH_KEY": "k"}, "AZURE_SPEECH_REGION is the name"),
        ({"AZURE_SPEECH_KEY": "k", "AZURE_SPEECH_REGION": "a.b/c"}, "not 'a.b/c'"),
        ({"AZURE_SPEECH_KEY": "k", "ELEVENLABS_API_KEY": "k"}, "TTS_PROVIDER is not set"),
        ({"ELEVENLABS_API_KEY": "k", "TTS_VOICES": "anna=x"}, "TTS_VOICES .* not 'anna=x'"),
        ({"ELEVENLABS_API_KEY": "k", "TTS_VOICES": "linde"}, "TTS_VOICES .* not 'linde'"),
        ({"TTS_VOICES": "linde=x"}, "no provider"),
    ],
)
def test_what_does_not_fit_for_speech_is_named(environment: dict[str, str], said: str) -> None:
    with pytest.raises(Rejected, match=said):
        read_settings(environment)


@pytest.mark.parametrize("kind", ["LLM", "EMBEDDING", "VISION", "RERANK", "STT", "TTS"])
def test_nothing_starts_with_a_model_that_has_no_price(kind: str) -> None:
    bootstrap.check(read_settings({"INFERENCE_API_KEY": "k"}))
    named = read_settings({"INFERENCE_API_KEY": "k", f"{kind}_MODEL": "brand-new"})
    with pytest.raises(NoPrice, match=r"brand-new has no price .* PRICES_FILE"):
        bootstrap.check(named)
