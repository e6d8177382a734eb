"""Text to speech: what everybody who speaks does, at servers of their kind and computed here."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from importlib.util import find_spec

import pytest

from adapters.extraction.sound_process import SoundProcesses
from adapters.inference.openai_client import open_client
from adapters.speech.azure import AzureSpeech, open_azure
from adapters.speech.elevenlabs import ElevenLabsSpeech, open_elevenlabs
from adapters.speech.local import ESPEAK, LocalSpeech
from adapters.speech.openai import OpenAISpeech
from adapters.speech.recording import SpeechHabits
from domain.errors import ModelAnswerInvalid, ModelCut, ModelError, ModelRefused, ModelUnavailable
from domain.ports import Speech
from domain.speech import VOICES, Line, Voice, batches, characters
from tests.made_speech import MadeSpeech
from tests.provider import Fault, Provider, Rule, Settings, Status
from tests.provider.speakers import Azure, ElevenLabs, Reply, Speaker, told

KEY = "sk-a-secret-that-no-message-may-hold"
LINDE, AHORN, BIRKE, WILLOW, ROWAN = VOICES
TEXT = "Die Würde des Menschen ist unantastbar, sagt das Grundgesetz <seit> 1949 & länger."


def habits(model: str, timeout_s: float = 1.0, **voices: str) -> SpeechHabits:
    return SpeechHabits(model, voices, timeout_s)


@pytest.fixture
def sounds() -> SoundProcesses:
    return SoundProcesses()


class SpeechContract:
    """Needs a fixture `speech`."""

    async def test_reads_a_line_as_long_as_it_takes(
        self, speech: Speech, sounds: SoundProcesses
    ) -> None:
        line = Line(_voice(speech), TEXT)
        spoken = await speech.speak([line])
        assert 3 < spoken.seconds < 12
        mp3 = await sounds.joined([spoken.audio])
        assert mp3.seconds == pytest.approx(spoken.seconds, abs=Decimal("0.3"))
        longer = await speech.speak([Line(line.voice, TEXT * 3)])
        assert longer.seconds > 2 * spoken.seconds

    async def test_counts_the_characters_it_read_within_its_bound(self, speech: Speech) -> None:
        lines = [Line(_voice(speech), TEXT), Line(_voice(speech), "Und dann?")]
        spoken = await speech.speak(lines)
        assert len(TEXT) <= spoken.usage.characters <= speech.bound(lines).characters
        assert spoken.usage.input_tokens == spoken.usage.output_tokens == 0

    async def test_takes_as_much_as_it_says(self, speech: Speech) -> None:
        text = ("Ein Wort ist gesagt. " * 500)[: speech.limits.characters]
        assert (await speech.speak([Line(_voice(speech), text)])).seconds > 100

    async def test_says_who_it_is(self, speech: Speech) -> None:
        assert speech.provider in {"azure", "elevenlabs", "openai", "local"}
        assert speech.voices
        assert speech.voices <= set(VOICES)

    async def test_reads_several_voices_where_it_says_so(self, speech: Speech) -> None:
        first, *others = sorted(speech.voices, key=VOICES.index)
        lines = [Line(first, "Guten Tag."), *(Line(voice, "Hallo.") for voice in others[:1])]
        requests = batches(lines, speech.limits)
        assert len(requests) == (1 if speech.limits.several_voices else len(lines))
        for request in requests:
            assert (await speech.speak(request)).seconds > 0

    async def test_serves_calls_at_the_same_time(self, speech: Speech) -> None:
        calls = [speech.speak([Line(_voice(speech), TEXT * n)]) for n in (1, 3)]
        short, long = await asyncio.gather(*calls)
        assert long.seconds > 2 * short.seconds


def _voice(speech: Speech) -> Voice:
    return min(speech.voices, key=VOICES.index)


class TestMadeSpeech(SpeechContract):
    @pytest.fixture
    def speech(self) -> MadeSpeech:
        return MadeSpeech()


@pytest.fixture(scope="module")
def openai_server() -> Iterator[Provider]:
    with Provider() as running:
        yield running


class TestOpenAISpeech(SpeechContract):
    @pytest.fixture
    def provider(self, openai_server: Provider) -> Provider:
        openai_server.reset(Settings(api_key=KEY))
        return openai_server

    @pytest.fixture
    async def speech(
        self, provider: Provider, sounds: SoundProcesses
    ) -> AsyncIterator[OpenAISpeech]:
        async with open_client(provider.url, KEY) as client:
            yield OpenAISpeech(client, habits("tts-1"), sounds)

    async def test_the_ledgers_agree(self, speech: Speech, provider: Provider) -> None:
        spoken = await speech.speak([Line(LINDE, TEXT), Line(LINDE, "Ja.")])
        (entry,) = provider.ledger
        assert (entry.kind, entry.status) == ("tts", Status.SERVED)
        assert entry.characters == spoken.usage.characters == len(TEXT) + len("\nJa.")

    @pytest.mark.parametrize(
        ("fault", "said"),
        [
            (Fault.NOTHING_SPOKEN, "empty"),
            (Fault.SPOKEN_JSON, "no recording: .*engine fell over"),
            (Fault.SPOKEN_SHORT, "part of the text is missing"),
            (Fault.SPOKEN_WAV, "answered with wav"),
        ],
    )
    async def test_what_is_no_whole_recording_was_paid_for_and_is_told(
        self, speech: Speech, provider: Provider, fault: Fault, said: str
    ) -> None:
        provider.settings.rules = [Rule((fault,), kind="tts")]
        with pytest.raises(ModelAnswerInvalid, match=said) as caught:
            await speech.speak([Line(LINDE, TEXT * 3)])
        assert caught.value.usage
        assert caught.value.usage.characters == len(TEXT) * 3

    @pytest.mark.parametrize(
        ("fault", "said"),
        [
            (Fault.NO_KEY, "Check the API key"),
            (Fault.GONE, "Check the model's name"),
            (Fault.BAD_REQUEST, "the voice coral"),
        ],
    )
    async def test_a_refusal_says_what_to_check(
        self, speech: Speech, provider: Provider, fault: Fault, said: str
    ) -> None:
        provider.settings.rules = [Rule((fault,), kind="tts")]
        with pytest.raises(ModelRefused, match=said) as caught:
            await speech.speak([Line(LINDE, TEXT)])
        assert KEY not in caught.value.message

    @pytest.mark.parametrize(
        ("fault", "billed"),
        [
            *((Fault.TOO_MANY, False), (Fault.ERROR, False), (Fault.BAD_GATEWAY, False)),
            *((Fault.HANG, True), (Fault.DROP, True)),
        ],
    )
    async def test_what_may_pass_is_told_with_whether_it_may_be_billed(
        self, speech: Speech, provider: Provider, fault: Fault, *, billed: bool
    ) -> None:
        provider.settings.rules = [Rule((fault,), kind="tts")]
        with pytest.raises(ModelUnavailable) as caught:
            await speech.speak([Line(LINDE, TEXT)])
        assert caught.value.may_be_billed is billed


class SpeakerContract(SpeechContract):
    """Needs `speech` and `server` too: a provider that is asked without an SDK."""

    async def test_a_connection_that_is_lost_may_be_billed_and_one_not_made_is_not(
        self, speech: Speech, server: Speaker
    ) -> None:
        for hangs, said in ((True, "took too long"), (False, "did not answer")):
            server.replies = [Reply(hangs=hangs)]
            with pytest.raises(ModelUnavailable, match=said) as caught:
                await speech.speak([Line(LINDE, TEXT)])
            assert caught.value.may_be_billed
        server.stop()
        with pytest.raises(ModelUnavailable, match="cannot be reached") as caught:
            await speech.speak([Line(LINDE, TEXT)])
        assert not caught.value.may_be_billed

    async def test_an_empty_or_a_wrong_body_was_paid_for(
        self, speech: Speech, server: Speaker
    ) -> None:
        for body, said in ((b"", "empty"), (b'{"error": "no"}', 'no recording: {"error"')):
            server.replies = [Reply(200, body)]
            with pytest.raises(ModelAnswerInvalid, match=said) as caught:
                await speech.speak([Line(LINDE, TEXT)])
            assert caught.value.usage
            assert caught.value.usage.characters >= len(TEXT)

    async def test_a_wrong_key_is_refused_and_not_shown(
        self, speech: Speech, server: Speaker
    ) -> None:
        server.key = "another"
        with pytest.raises(ModelRefused, match="Check the API key") as caught:
            await speech.speak([Line(LINDE, TEXT)])
        assert KEY not in caught.value.message

    async def test_errors_without_words_are_told_by_their_status(
        self, speech: Speech, server: Speaker
    ) -> None:
        for status in (502, 503):
            server.replies = [Reply(status, b"<html>busy</html>", headers={"retry_after": "7"})]
            with pytest.raises(ModelUnavailable, match=str(status)) as caught:
                await speech.speak([Line(LINDE, TEXT)])
            assert caught.value.retry_after_s == 7
            assert not caught.value.may_be_billed


class TestAzureSpeech(SpeakerContract):
    @pytest.fixture
    def server(self) -> Iterator[Azure]:
        with Azure(KEY) as running:
            yield running

    @pytest.fixture
    async def speech(self, server: Azure, sounds: SoundProcesses) -> AsyncIterator[AzureSpeech]:
        async with open_azure(server.url, KEY) as client:
            yield AzureSpeech(client, habits("azure-neural", birke="de-DE-Other"), sounds)

    async def test_several_voices_share_a_request_and_the_text_arrives_as_it_is(
        self, speech: Speech, server: Azure
    ) -> None:
        lines = [Line(LINDE, TEXT), Line(BIRKE, "\"Ja\" 'und' nein")]
        await speech.speak(lines)
        assert server.served == [
            [
                ("de-DE-SeraphinaMultilingualNeural", TEXT),
                ("de-DE-Other", "\"Ja\" 'und' nein"),
            ]
        ]

    async def test_tags_are_not_billed_and_chinese_characters_are_twice(
        self, speech: Speech
    ) -> None:
        lines = [Line(WILLOW, "It says 日本 here."), Line(ROWAN, "Well.")]
        spoken = await speech.speak(lines)
        assert spoken.usage.characters == characters(lines) - 1 + 2
        assert spoken.usage.estimated
        assert speech.bound(lines).characters > spoken.usage.characters + 100

    async def test_what_xml_cannot_hold_is_a_space(self, speech: Speech, server: Azure) -> None:
        await speech.speak([Line(LINDE, "vor\x0bher\x00 nach\ufffeher")])
        assert server.served[0][0][1] == "vor her  nach her"

    async def test_the_cut_at_ten_minutes_is_noticed_and_not_tried_again(
        self, speech: Speech
    ) -> None:
        with pytest.raises(ModelCut, match="ten minutes") as caught:
            await speech.speak([Line(LINDE, "Ein Wort. " * 950)])
        assert caught.value.usage
        assert caught.value.usage.characters == 9_500

    @pytest.mark.parametrize(("status", "said"), [(400, "the voice de-DE-"), (415, "SSML")])
    async def test_an_error_without_a_body_says_what_it_may_be(
        self, speech: Speech, server: Azure, status: int, said: str
    ) -> None:
        server.replies = [Reply(status)]
        with pytest.raises(ModelRefused, match=said):
            await speech.speak([Line(LINDE, TEXT)])

    async def test_too_many_calls_may_be_made_again(self, speech: Speech, server: Azure) -> None:
        server.replies = [Reply(429, headers={"retry_after": "3"})]
        with pytest.raises(ModelUnavailable, match="too many requests") as caught:
            await speech.speak([Line(LINDE, TEXT)])
        assert caught.value.retry_after_s == 3


class TestElevenLabsSpeech(SpeakerContract):
    @pytest.fixture
    def server(self) -> Iterator[ElevenLabs]:
        with ElevenLabs(KEY) as running:
            yield running

    @pytest.fixture
    async def speech(
        self, server: ElevenLabs, sounds: SoundProcesses
    ) -> AsyncIterator[ElevenLabsSpeech]:
        async with open_elevenlabs(server.url, KEY) as client:
            yield ElevenLabsSpeech(client, habits("eleven_multilingual_v2", linde="abc1"), sounds)

    async def test_a_chosen_voice_is_asked_for_by_its_id(
        self, speech: Speech, server: ElevenLabs
    ) -> None:
        await speech.speak([Line(LINDE, TEXT)])
        assert server.served == [[("abc1", TEXT)]]

    async def test_what_it_counts_is_billed_else_what_was_sent(
        self, speech: Speech, server: ElevenLabs
    ) -> None:
        for counts in (True, False):
            server.counts = counts
            usage = (await speech.speak([Line(LINDE, TEXT)])).usage
            assert (usage.characters, usage.estimated) == (len(TEXT), not counts)
        for absurd in ("-1", "many", str(len(TEXT) * 100), "9" * 5_000):
            server.counts = absurd
            usage = (await speech.speak([Line(LINDE, TEXT)])).usage
            assert (usage.characters, usage.estimated) == (len(TEXT), True)

    async def test_models_that_take_the_language_are_told_it(
        self, server: ElevenLabs, sounds: SoundProcesses
    ) -> None:
        async with open_elevenlabs(server.url, KEY) as client:
            speech = ElevenLabsSpeech(client, habits("eleven_flash_v2_5"), sounds)
            assert (await speech.speak([Line(WILLOW, TEXT)])).seconds > 3

    @pytest.mark.parametrize(
        ("reply", "error", "said"),
        [
            (
                told(401, "quota_exceeded", "You have 3 credits remaining."),
                *(ModelRefused, "no characters left .*3 credits"),
            ),
            (told(404, "voice_not_found", "No such voice."), ModelRefused, "TTS_VOICES"),
            (
                told(400, "max_character_limit_exceeded", "Too long."),
                *(ModelRefused, "the voice abc1 .*Too long"),
            ),
            (
                Reply(422, b'{"detail":[{"loc":["body"],"msg":"Field required"}]}'),
                *(ModelRefused, "Field required"),
            ),
        ],
    )
    async def test_a_refusal_is_told_in_its_own_words(
        self,
        speech: Speech,
        server: ElevenLabs,
        reply: Reply,
        error: type[ModelError],
        said: str,
    ) -> None:
        server.replies = [reply]
        with pytest.raises(error, match=said):
            await speech.speak([Line(LINDE, TEXT)])

    @pytest.mark.parametrize(
        ("what", "wait_s"), [("too_many_concurrent_requests", 1.0), ("system_busy", None)]
    )
    async def test_ones_own_calls_are_waited_for_and_a_busy_system_is_given_time(
        self, speech: Speech, server: ElevenLabs, what: str, wait_s: float | None
    ) -> None:
        server.replies = [told(429, what, "Later.")]
        with pytest.raises(ModelUnavailable, match="Later") as caught:
            await speech.speak([Line(LINDE, TEXT)])
        assert caught.value.retry_after_s == wait_s


@pytest.mark.skipif(shutil.which(ESPEAK) is None, reason="espeak-ng is not installed")
class TestEspeak(SpeechContract):
    @pytest.fixture
    def speech(self, sounds: SoundProcesses) -> LocalSpeech:
        return LocalSpeech(sounds, shutil.which(ESPEAK), hibari=False)

    async def test_it_has_every_voice_and_none_is_another(self, speech: Speech) -> None:
        assert speech.voices == frozenset(VOICES)
        for language in ("de", "en"):
            voices = [voice for voice in VOICES if voice.language == language]
            spoken = [await speech.speak([Line(voice, "Alle.")]) for voice in voices]
            assert len({each.audio for each in spoken}) == len(voices)

    async def test_a_text_is_no_option_and_no_markup(self, speech: Speech) -> None:
        for text in ("--help", "-f /etc/hostname", "<speak>Nein &amp; ja</speak>"):
            assert (await speech.speak([Line(LINDE, text)])).seconds < 8

    async def test_a_text_of_marks_alone_is_refused(self, speech: Speech) -> None:
        with pytest.raises(ModelRefused, match="nothing in this text"):
            await speech.speak([Line(LINDE, " \n")])


@pytest.mark.skipif(find_spec("hibari") is None, reason="the extra beleg[voice] is not installed")
class TestHibari(SpeechContract):
    @pytest.fixture
    def speech(self, sounds: SoundProcesses) -> LocalSpeech:
        return LocalSpeech(sounds, None, hibari=True)

    async def test_its_one_voice_makes_a_pair(self, speech: Speech) -> None:
        assert speech.voices == {WILLOW, ROWAN}
        text = "This was decided in the spring, and it holds until today."
        high, low = [await speech.speak([Line(voice, text)]) for voice in (WILLOW, ROWAN)]
        assert high.audio != low.audio
        assert high.seconds == pytest.approx(low.seconds, rel=Decimal("0.15"))


async def test_where_both_are_installed_each_line_is_read_in_its_place(
    sounds: SoundProcesses,
) -> None:
    program = shutil.which(ESPEAK)
    if program is None or find_spec("hibari") is None:
        pytest.skip("espeak-ng or beleg[voice] is not installed")
    speech = LocalSpeech(sounds, program, hibari=True)
    lines = [Line(LINDE, "Guten Tag."), Line(WILLOW, "Good evening."), Line(AHORN, "Ja.")]
    alone = [await speech.speak([line]) for line in lines]
    together = await speech.speak(lines)
    total = sum((each.seconds for each in alone), Decimal(0))
    assert together.seconds == pytest.approx(total, abs=Decimal("0.3"))
