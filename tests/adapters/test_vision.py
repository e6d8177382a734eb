"""The vision adapter against the test provider: what is sent, read, refused and cut."""

from collections.abc import AsyncIterator, Iterator
from io import BytesIO

import pytest

from adapters.inference.openai_client import open_client
from adapters.inference.vision import OpenAIVision, VisionHabits
from domain.errors import ModelAnswerInvalid, ModelRefused, ModelUnavailable
from domain.ports import Picture, Seen
from tests.provider import Fault, Provider
from tests.provider.pictures import coded, page_text

MODEL = "qwen3.8-27b"


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider() as running:
        yield running


@pytest.fixture
async def vision(provider: Provider) -> AsyncIterator[OpenAIVision]:
    provider.reset()
    client = open_client(provider.url, "test")
    yield OpenAIVision(client, MODEL, VisionHabits(timeout_s=2))
    await client.close()


def picture(number: int = 5) -> Picture:
    out = BytesIO()
    coded(number).save(out, "PNG")
    return Picture(out.getvalue(), "image/png", 300, 300)


async def test_it_reads_a_picture_and_tells_what_that_used(
    vision: OpenAIVision, provider: Provider
) -> None:
    transcript = await vision.transcribe(picture(), Seen.PAGE)
    [entry] = provider.ledger
    assert (transcript.text, transcript.problem) == (page_text(5), "")
    assert (entry.kind, entry.model) == ("vision", MODEL)
    assert transcript.usage.input_tokens == entry.input_tokens
    assert transcript.usage.output_tokens == entry.output_tokens
    assert not transcript.usage.estimated
    bound = vision.bound(picture())
    assert bound.output_tokens >= transcript.usage.output_tokens


@pytest.mark.parametrize(
    ("fault", "told"), [(Fault.LENGTH, "cut off"), (Fault.FILTERED, "refuses"), (Fault.BLANK, "")]
)
async def test_what_is_not_whole_says_so(
    vision: OpenAIVision, provider: Provider, fault: Fault, told: str
) -> None:
    provider.fail(fault, kind="vision")
    transcript = await vision.transcribe(picture(), Seen.PAGE)
    assert told in transcript.problem
    assert bool(transcript.problem) == bool(told)
    assert (transcript.text != "") == (fault is Fault.LENGTH)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        *((Fault.EMPTY, ModelAnswerInvalid), (Fault.ALL_REASONING, ModelAnswerInvalid)),
        *((Fault.NO_KEY, ModelRefused), (Fault.GONE, ModelRefused)),
        *((Fault.TOO_MANY, ModelUnavailable), (Fault.DROP, ModelUnavailable)),
        *((Fault.HANG, ModelUnavailable), (Fault.BAD_GATEWAY, ModelUnavailable)),
    ],
)
async def test_what_goes_wrong_is_told(
    vision: OpenAIVision, provider: Provider, fault: Fault, error: type[Exception]
) -> None:
    provider.fail(fault, kind="vision")
    with pytest.raises(error):
        await vision.transcribe(picture(), Seen.PAGE)


@pytest.mark.parametrize(
    ("fault", "field"), [(Fault.UNKNOWN_FIELD, "temperature"), (Fault.OLD_FIELD, "max_tokens")]
)
async def test_an_endpoint_that_does_not_know_a_field_is_asked_without(
    vision: OpenAIVision, provider: Provider, fault: Fault, field: str
) -> None:
    provider.fail(fault, kind="vision", having=field)
    with pytest.raises(ModelUnavailable) as refused:
        await vision.transcribe(picture(), Seen.PAGE)
    assert refused.value.retry_after_s == 0
    assert (await vision.transcribe(picture(), Seen.PAGE)).text == page_text(5)


async def test_usage_that_is_not_told_is_estimated(
    vision: OpenAIVision, provider: Provider
) -> None:
    provider.fail(Fault.NO_USAGE, kind="vision")
    usage = (await vision.transcribe(picture(), Seen.PAGE)).usage
    assert usage.estimated
    assert usage.input_tokens > 0


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("[no text]", ""),
        (" [No text]. ", ""),
        ("```markdown\nA | B\n```", "A | B"),
        ("<think>A page.</think>\n\nThe page.", "The page."),
        ("Use [no text] here", "Use [no text] here"),
    ],
)
async def test_what_models_put_around_a_text_goes(
    vision: OpenAIVision, provider: Provider, said: str, text: str
) -> None:
    provider.settings.seen = [said]
    assert (await vision.transcribe(picture(), Seen.IMAGE)).text == text
