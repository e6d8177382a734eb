"""Speech to text: what every transcriber does, at the test provider and computed here."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from openai import AsyncOpenAI

from adapters.inference import local_transcriber
from adapters.inference.local_transcriber import LocalTranscriber
from adapters.inference.openai_client import open_client
from adapters.inference.transcriber import OpenAITranscriber
from domain.errors import ModelAnswerInvalid, ModelRefused, ModelUnavailable
from domain.ports import Transcriber
from domain.sound import Sound
from domain.usage import TokenUsage
from tests.adapters.made_sound import tone, wav
from tests.provider import Entry, Fault, Provider, Rule, Settings, Status
from tests.provider.sounds import transcript

KEY = "sk-a-secret-that-no-message-may-hold"
RECORDING = wav(tone(1.5))
SOUND = Sound("wav", Decimal("1.5"), -10.0, len(RECORDING))
SILENCE = wav(np.zeros(16_000, np.int16))


async def ignored(_: float) -> None:
    pass


class TranscriberContract:
    """Needs a fixture `transcriber`."""

    async def test_counts_the_seconds_it_was_given(self, transcriber: Transcriber) -> None:
        heard = await transcriber.transcribe(RECORDING, SOUND, on_progress=ignored)
        assert 1 <= heard.usage.seconds <= 2
        assert heard.usage.input_tokens == heard.usage.output_tokens == 0


@pytest.fixture(scope="module")
def server() -> Iterator[Provider]:
    with Provider() as running:
        yield running


@pytest.fixture
def provider(server: Provider) -> Provider:
    server.reset(Settings(api_key=KEY))
    return server


@pytest.fixture
async def client(provider: Provider) -> AsyncIterator[AsyncOpenAI]:
    async with open_client(provider.url, KEY) as opened:
        yield opened


class TestOpenAITranscriber(TranscriberContract):
    @pytest.fixture
    def transcriber(self, client: AsyncOpenAI) -> OpenAITranscriber:
        return OpenAITranscriber(client, "whisper-1", 1.0)

    async def test_one_request_carries_the_recording_as_it_is(
        self, transcriber: Transcriber, provider: Provider
    ) -> None:
        heard = await transcriber.transcribe(RECORDING, SOUND, on_progress=ignored)
        assert heard.text == transcript(RECORDING)
        assert heard.usage == TokenUsage(0, seconds=Decimal(2))
        (entry,) = provider.ledger
        assert (entry.kind, entry.seconds, entry.status) == ("stt", 2, Status.SERVED)

    async def test_seconds_that_are_not_reported_are_those_measured(
        self, transcriber: Transcriber, provider: Provider
    ) -> None:
        provider.settings.rules = [Rule((Fault.NO_SECONDS,), kind="stt")]
        heard = await transcriber.transcribe(RECORDING, SOUND, on_progress=ignored)
        assert heard.usage == TokenUsage(0, estimated=True, seconds=Decimal("1.5"))

    async def test_nothing_heard_is_an_answer_that_was_paid_for(
        self, transcriber: Transcriber, provider: Provider
    ) -> None:
        provider.settings.rules = [Rule((Fault.NOTHING_HEARD,), kind="stt")]
        heard = await transcriber.transcribe(RECORDING, SOUND, on_progress=ignored)
        assert (heard.text, heard.usage.seconds) == ("", Decimal(2))

    async def test_an_answer_without_a_transcript_is_paid_for_and_told(
        self, transcriber: Transcriber, provider: Provider
    ) -> None:
        provider.settings.rules = [Rule((Fault.NO_TRANSCRIPT,), kind="stt")]
        with pytest.raises(ModelAnswerInvalid, match="no transcript") as caught:
            await transcriber.transcribe(RECORDING, SOUND, on_progress=ignored)
        assert caught.value.usage == TokenUsage(0, estimated=True, seconds=Decimal("1.5"))

    @pytest.mark.parametrize(
        ("fault", "said"),
        [
            (Fault.RECORDING_TOO_LARGE, r"a recording of 0\.0 MB \(413\)"),
            (Fault.NO_KEY, "Check the API key"),
            (Fault.GONE, "Check the model's name"),
        ],
    )
    async def test_a_refusal_says_what_to_check(
        self, transcriber: Transcriber, provider: Provider, fault: Fault, said: str
    ) -> None:
        provider.settings.rules = [Rule((fault,), kind="stt")]
        with pytest.raises(ModelRefused, match=said) as caught:
            await transcriber.transcribe(RECORDING, SOUND, on_progress=ignored)
        assert KEY not in caught.value.message

    @pytest.mark.parametrize(
        ("fault", "billed"),
        [(Fault.OVERLOADED, False), (Fault.HANG, True), (Fault.DROP, True)],
    )
    async def test_what_may_pass_is_told_with_whether_it_may_be_billed(
        self, transcriber: Transcriber, provider: Provider, fault: Fault, *, billed: bool
    ) -> None:
        provider.settings.rules = [Rule((fault,), kind="stt")]
        with pytest.raises(ModelUnavailable) as caught:
            await transcriber.transcribe(RECORDING, SOUND, on_progress=ignored)
        assert caught.value.may_be_billed is billed

    async def test_a_cancelled_call_ends_the_request(
        self, transcriber: Transcriber, provider: Provider
    ) -> None:
        provider.settings.hearing_delay_s = 30
        task = asyncio.create_task(transcriber.transcribe(RECORDING, SOUND, on_progress=ignored))
        await asyncio.to_thread(provider.wait_for, bool)
        task.cancel()

        def closed(ledger: list[Entry]) -> bool:
            return ledger[0].status is Status.CLOSED

        await asyncio.to_thread(provider.wait_for, closed)
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.skipif(
    not local_transcriber.installed(), reason="the optional extra beleg[speech] is not installed"
)
class TestLocalTranscriber(TranscriberContract):
    @pytest.fixture
    def transcriber(self) -> LocalTranscriber:
        return LocalTranscriber()

    async def test_makes_nothing_up_where_nobody_speaks(self, transcriber: Transcriber) -> None:
        heard = await transcriber.transcribe(SILENCE, SOUND, on_progress=ignored)
        assert heard.text == ""

    async def test_says_so_where_it_cannot_decode(self, transcriber: Transcriber) -> None:
        with pytest.raises(ModelRefused, match="cannot be decoded"):
            await transcriber.transcribe(b"no sound", SOUND, on_progress=ignored)

    async def test_hears_a_reader_with_few_errors(
        self, transcriber: Transcriber, shared_data: Path
    ) -> None:
        content = (shared_data / "media" / "audio" / "en-librivox-10s.mp3").read_bytes()
        heard_s: list[float] = []

        async def on_progress(seconds: float) -> None:
            heard_s.append(seconds)

        sound = Sound("mp3", Decimal("10.005"), -10.0, len(content))
        heard = await transcriber.transcribe(content, sound, on_progress=on_progress)
        said = (
            "Shakespeare on Scenery by Oscar Wilde. This is a LibriVox recording."
            " All LibriVox recordings are in the public domain."
        )
        assert word_error(said, heard.text) <= 0.15
        assert heard_s
        assert heard_s[-1] == pytest.approx(10, abs=0.1)


def word_error(said: str, heard: str) -> float:
    """Words inserted, left out or taken for others, per word that was said."""
    wanted, found = (
        "".join(c if c.isalnum() else " " for c in text.lower()).split() for text in (said, heard)
    )
    row = list(range(len(found) + 1))
    for i, word in enumerate(wanted, 1):
        left, row[0] = row[0], i
        for j, other in enumerate(found, 1):
            left, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, left + (word != other))
    return row[-1] / len(wanted)
