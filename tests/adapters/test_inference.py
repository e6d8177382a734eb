import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, suppress

import numpy as np
import pytest

from adapters.inference.chat import ChatHabits, ChatTimeouts, OpenAIChatModel
from adapters.inference.embedder import EmbeddingHabits, OpenAIEmbedder
from adapters.inference.openai_client import Client, open_client
from domain.conversation import Message, Role
from domain.errors import (
    ModelAnswerInvalid,
    ModelCut,
    ModelError,
    ModelRefused,
    ModelUnavailable,
)
from domain.ports import ChatDelta, ChatEnd
from domain.usage import TokenUsage, about_tokens
from tests.adapters.inference_contracts import (
    PROMPT,
    ChatModelContract,
    EmbedderContract,
    everything,
    text_of,
)
from tests.provider import Entry, Fault, Provider, Settings, Status, served_inputs, tokens

KEY = "sk-a-secret-that-no-message-may-hold"
ANSWER = "Die Würde des Menschen ist unantastbar [1]. Mehr steht dort nicht [2]."
SENT_ABOUT = sum(about_tokens(message.content) for message in PROMPT)
PATIENCE = ChatTimeouts(first_token_s=0.3, between_tokens_s=0.2, total_s=5)
ANSWERED_LATER = [
    Fault.TIMED_OUT,
    Fault.TOO_MANY,
    Fault.ERROR,
    Fault.BAD_GATEWAY,
    Fault.OVERLOADED,
    Fault.GATEWAY_TIMEOUT,
]
REFUSED = {
    Fault.BAD_REQUEST: "Bad request",
    Fault.CONTEXT_LENGTH: "maximum context length",
    Fault.NO_KEY: ". Check the API key",
    Fault.FORBIDDEN: "Check the API key",
    Fault.INVALID_KEY: "Check the API key",
    Fault.GONE: ". Check the model's name",
}


@pytest.fixture(scope="module")
def server() -> Iterator[Provider]:
    with Provider() as running:
        yield running


@pytest.fixture
def provider(server: Provider) -> Provider:
    server.reset(Settings(api_key=KEY))
    return server


@pytest.fixture
async def client(provider: Provider) -> AsyncIterator[Client]:
    async with open_client(provider.url, KEY) as opened:
        yield opened


@pytest.fixture
def embedder(client: Client) -> OpenAIEmbedder:
    return OpenAIEmbedder(client, "test-embedding", 256, EmbeddingHabits(timeout_s=0.5))


@pytest.fixture
def chat_model(client: Client) -> OpenAIChatModel:
    return OpenAIChatModel(client, "test-chat", timeouts=PATIENCE)


def last(provider: Provider) -> Entry:
    """The last request, once it has ended."""
    return provider.wait_for(lambda ledger: ledger[-1].status is not Status.OPEN)[-1]


def billed(entry: Entry) -> TokenUsage:
    return TokenUsage(entry.input_tokens, entry.output_tokens)


async def failure(model: OpenAIChatModel) -> tuple[str, ModelError]:
    """The text that came before an answer went wrong, and how it did."""
    events: list[ChatDelta | ChatEnd] = []

    async def listen() -> None:
        async for event in model.stream(PROMPT, max_tokens=500):
            events.append(event)  # noqa: PERF401 (what came before the error is kept)

    with pytest.raises(ModelError) as caught:
        await listen()
    assert not any(isinstance(event, ChatEnd) for event in events)
    return text_of(events), caught.value


class TestOpenAIEmbedder(EmbedderContract):
    async def test_asks_for_its_dimension_in_base64(self, embedder: OpenAIEmbedder) -> None:
        assert (await embedder.embed(["Hund"], role="passage")).vectors.shape == (1, 256)

    async def test_reports_the_usage_of_the_ledger(
        self, provider: Provider, embedder: OpenAIEmbedder
    ) -> None:
        usage = (await embedder.embed(["Hund", "Katze"], role="passage")).usage
        entry = last(provider)
        assert usage == billed(entry)
        assert entry.usage_reported
        assert entry.inputs == 2
        assert max(served_inputs(provider.ledger).values()) == 1

    async def test_estimates_a_usage_that_is_not_reported(
        self, provider: Provider, embedder: OpenAIEmbedder
    ) -> None:
        provider.fail(Fault.NO_EMBEDDING_USAGE)
        usage = (await embedder.embed(["Hundehütte", "Katze"], role="passage")).usage
        expected = about_tokens("Hundehütte") + about_tokens("Katze")
        assert usage == TokenUsage(expected, estimated=True)

    async def test_puts_the_models_instruction_before_a_question(self, client: Client) -> None:
        habits = EmbeddingHabits(question_prefix="query: ", passage_prefix="passage: ")
        embedder = OpenAIEmbedder(client, "test-embedding", 256, habits)
        question = (await embedder.embed(["Hund"], role="question")).usage
        assert question.input_tokens == tokens("query: Hund")
        passage = (await embedder.embed(["Hund"], role="passage")).usage
        assert passage.input_tokens == tokens("passage: Hund")

    @pytest.mark.parametrize("oddity", [Fault.SHUFFLED, Fault.IGNORES_BASE64, Fault.NOT_UNIT])
    async def test_mends_what_can_be_mended(
        self, provider: Provider, embedder: OpenAIEmbedder, oddity: Fault
    ) -> None:
        texts = ["Hund", "Katze", "Haus"]
        plain = (await embedder.embed(texts, role="passage")).vectors
        provider.fail(oddity)
        odd = (await embedder.embed(texts, role="passage")).vectors
        assert last(provider).fault == oddity
        np.testing.assert_allclose(odd, plain, atol=1e-6)

    @pytest.mark.parametrize(
        ("fault", "said"),
        [
            (Fault.WRONG_DIMENSION, "255 dimensions where 256"),
            (Fault.IGNORES_DIMENSIONS, "1024 dimensions where 256"),
            (Fault.NAN, "not finite"),
            (Fault.ZERO, "zero"),
            (Fault.FEWER, "2 of them for 3 texts"),
            (Fault.TWICE_THE_SAME_INDEX, "name every text once"),
        ],
    )
    async def test_refuses_vectors_it_cannot_trust_and_tells_what_they_cost(
        self, provider: Provider, embedder: OpenAIEmbedder, fault: Fault, said: str
    ) -> None:
        provider.fail(fault)
        with pytest.raises(ModelAnswerInvalid, match=said) as caught:
            await embedder.embed(["Hund", "Katze", "Haus"], role="passage")
        assert last(provider).status is Status.SERVED
        assert caught.value.usage == billed(last(provider))

    @pytest.mark.parametrize("fault", ANSWERED_LATER)
    async def test_may_be_asked_again_where_the_provider_is_busy(
        self, provider: Provider, embedder: OpenAIEmbedder, fault: Fault
    ) -> None:
        provider.fail(fault)
        with pytest.raises(ModelUnavailable, match=str(fault)) as caught:
            await embedder.embed(["Hund"], role="passage")
        assert not caught.value.may_be_billed
        assert [entry.status for entry in provider.ledger] == [Status.REFUSED]

    @pytest.mark.parametrize(("fault", "said"), REFUSED.items())
    async def test_says_what_to_check_where_it_is_refused(
        self, provider: Provider, embedder: OpenAIEmbedder, fault: Fault, said: str
    ) -> None:
        provider.fail(fault)
        with pytest.raises(ModelRefused, match=f"test-embedding.*{said}"):
            await embedder.embed(["Hund"], role="passage")
        assert [entry.status for entry in provider.ledger] == [Status.REFUSED]

    async def test_names_the_dimensions_an_endpoint_does_not_take(
        self, provider: Provider, embedder: OpenAIEmbedder
    ) -> None:
        provider.fail(Fault.WRONG_VALUE, having="dimensions")
        for _ in range(2):
            with pytest.raises(ModelRefused, match="dimensions=256"):
                await embedder.embed(["Hund"], role="passage")

    async def test_asks_without_dimensions_where_the_endpoint_knows_none(
        self, provider: Provider, client: Client, embedder: OpenAIEmbedder
    ) -> None:
        provider.fail(Fault.UNKNOWN_FIELD, having="dimensions")
        with pytest.raises(ModelUnavailable, match="takes no dimensions") as caught:
            await embedder.embed(["Hund"], role="passage")
        assert (caught.value.retry_after_s, caught.value.may_be_billed) == (0, False)
        with pytest.raises(ModelAnswerInvalid, match="1024 dimensions where 256 are set"):
            await embedder.embed(["Hund"], role="passage")
        usual = OpenAIEmbedder(client, "test-embedding", 1024)
        with pytest.raises(ModelUnavailable):
            await usual.embed(["Hund"], role="passage")
        assert (await usual.embed(["Hund"], role="passage")).vectors.shape == (1, 1024)

    @pytest.mark.parametrize(("fault", "status"), [(Fault.HANG, "hung"), (Fault.DROP, "cut")])
    async def test_knows_that_a_call_without_an_answer_may_be_billed(
        self, provider: Provider, embedder: OpenAIEmbedder, fault: Fault, status: str
    ) -> None:
        provider.fail(fault, containing="FAULT")
        with pytest.raises(ModelUnavailable) as caught:
            await embedder.embed(["fine", "FAULT: here"], role="passage")
        assert caught.value.may_be_billed
        assert [entry.status for entry in provider.ledger] == [status]
        assert len((await embedder.embed(["fine"], role="passage")).vectors) == 1

    async def test_knows_that_a_refused_connection_costs_nothing(self) -> None:
        async with open_client("http://127.0.0.1:9/v1", KEY) as nobody:
            embedder = OpenAIEmbedder(nobody, "test-embedding", 256)
            with pytest.raises(ModelUnavailable, match="cannot be reached") as caught:
                await embedder.embed(["Hund"], role="passage")
        assert not caught.value.may_be_billed


class TestOpenAIChatModel(ChatModelContract):
    async def test_streams_the_text_piece_by_piece(
        self, provider: Provider, chat_model: OpenAIChatModel
    ) -> None:
        provider.answer(["Die ", "W", "ürde [", "1", "]."])
        events = await everything(chat_model)
        texts = [event.text for event in events if isinstance(event, ChatDelta)]
        assert texts == ["Die ", "W", "ürde [", "1", "]."]

    async def test_gives_each_piece_while_the_next_is_being_made(
        self, provider: Provider, chat_model: OpenAIChatModel
    ) -> None:
        provider.settings.token_delay_s = 0.1
        provider.answer("Eins zwei drei vier fünf sechs")
        async with aclosing(chat_model.stream(PROMPT, max_tokens=500)) as events:
            assert await anext(events) == ChatDelta("Eins")
            assert provider.ledger[-1].output_tokens == tokens("Eins")

    async def test_reports_the_usage_of_the_ledger(
        self, provider: Provider, chat_model: OpenAIChatModel
    ) -> None:
        end = (await everything(chat_model))[-1]
        entry = last(provider)
        assert end == ChatEnd("stop", billed(entry))
        assert entry.usage_reported
        assert entry.status is Status.SERVED

    async def test_estimates_a_usage_that_is_not_reported(
        self, provider: Provider, chat_model: OpenAIChatModel
    ) -> None:
        provider.answer(ANSWER)
        provider.fail(Fault.NO_USAGE)
        end = (await everything(chat_model))[-1]
        assert end == ChatEnd("stop", TokenUsage(SENT_ABOUT, about_tokens(ANSWER), estimated=True))

    @pytest.mark.parametrize("oddity", [Fault.REASONING, Fault.THINK, Fault.NO_DONE, Fault.SLOW])
    async def test_gives_the_answer_alone(
        self, provider: Provider, chat_model: OpenAIChatModel, oddity: Fault
    ) -> None:
        provider.answer(ANSWER)
        provider.fail(oddity, seconds=0.01)
        events = await everything(chat_model)
        assert text_of(events) == ANSWER
        assert events[-1] == ChatEnd("stop", billed(last(provider)))
        assert last(provider).status is Status.SERVED

    async def test_says_when_the_limit_ended_the_answer(
        self, provider: Provider, chat_model: OpenAIChatModel
    ) -> None:
        provider.answer(ANSWER)
        *_, end = await everything(chat_model, max_tokens=10)
        assert isinstance(end, ChatEnd)
        assert end.finish_reason == "length"
        assert end.usage.output_tokens <= 10

    @pytest.mark.parametrize("fault", [Fault.EMPTY, Fault.ALL_REASONING])
    async def test_an_answer_without_text_is_invalid_and_paid(
        self, provider: Provider, chat_model: OpenAIChatModel, fault: Fault
    ) -> None:
        provider.fail(fault)
        said, error = await failure(chat_model)
        assert said == ""
        assert isinstance(error, ModelAnswerInvalid)
        assert "length" in error.message
        assert error.usage == billed(last(provider))

    @pytest.mark.parametrize(
        ("fault", "status"),
        [
            (Fault.CUT, Status.CUT),
            (Fault.DROP_MIDWAY, Status.CUT),
            (Fault.ERROR_MIDWAY, Status.CUT),
            (Fault.STALL, Status.HUNG),
        ],
    )
    async def test_a_broken_stream_keeps_its_text_and_its_estimate(
        self, provider: Provider, chat_model: OpenAIChatModel, fault: Fault, status: Status
    ) -> None:
        provider.answer(ANSWER)
        provider.fail(fault)
        said, error = await failure(chat_model)
        assert said
        assert ANSWER.startswith(said)
        assert isinstance(error, ModelCut)
        assert error.usage == TokenUsage(SENT_ABOUT, about_tokens(said), estimated=True)
        entry = last(provider)
        assert entry.status is status
        assert entry.output_tokens == tokens(said)

    async def test_an_answer_that_takes_too_long_in_all_is_cut(
        self, provider: Provider, client: Client
    ) -> None:
        provider.settings.token_delay_s = 0.05
        hasty = OpenAIChatModel(client, "test-chat", timeouts=ChatTimeouts(total_s=0.3))
        said, error = await failure(hasty)
        assert said
        assert isinstance(error, ModelCut)
        assert last(provider).status is Status.CLOSED

    @pytest.mark.parametrize(
        ("fault", "status"),
        [(Fault.HANG, "hung"), (Fault.DROP, "cut"), (Fault.ERROR_AT_ONCE, "cut")],
    )
    async def test_knows_that_a_call_without_an_answer_may_be_billed(
        self, provider: Provider, chat_model: OpenAIChatModel, fault: Fault, status: str
    ) -> None:
        provider.fail(fault)
        said, error = await failure(chat_model)
        assert said == ""
        assert isinstance(error, ModelUnavailable)
        assert error.may_be_billed
        assert [entry.status for entry in provider.ledger] == [status]

    @pytest.mark.parametrize("fault", ANSWERED_LATER)
    async def test_may_be_asked_again_where_the_provider_is_busy(
        self, provider: Provider, chat_model: OpenAIChatModel, fault: Fault
    ) -> None:
        provider.fail(fault)
        _, error = await failure(chat_model)
        assert isinstance(error, ModelUnavailable)
        assert not error.may_be_billed
        assert [entry.status for entry in provider.ledger] == [Status.REFUSED]

    @pytest.mark.parametrize("seconds", [None, 0, 1, 200, 0.5])
    async def test_passes_on_how_long_to_wait(
        self, provider: Provider, chat_model: OpenAIChatModel, seconds: float | None
    ) -> None:
        provider.fail(Fault.TOO_MANY, retry_after_s=seconds)
        _, error = await failure(chat_model)
        assert isinstance(error, ModelUnavailable)
        assert error.retry_after_s == seconds

    @pytest.mark.parametrize(("fault", "said"), REFUSED.items())
    async def test_says_what_to_check_where_it_is_refused(
        self, provider: Provider, chat_model: OpenAIChatModel, fault: Fault, said: str
    ) -> None:
        provider.fail(fault)
        _, error = await failure(chat_model)
        assert isinstance(error, ModelRefused)
        assert "test-chat" in error.message
        assert said in error.message
        assert [entry.status for entry in provider.ledger] == [Status.REFUSED]

    async def test_a_refusal_may_come_inside_the_stream(
        self, provider: Provider, chat_model: OpenAIChatModel
    ) -> None:
        provider.fail(Fault.REFUSED_IN_STREAM)
        _, error = await failure(chat_model)
        assert isinstance(error, ModelRefused)
        assert "No such level" in error.message

    async def test_keeps_the_key_out_of_a_message_that_echoes_it(
        self, provider: Provider, chat_model: OpenAIChatModel
    ) -> None:
        provider.settings.api_key = "another"
        _, error = await failure(chat_model)
        assert isinstance(error, ModelRefused)
        assert "Incorrect API key provided: [key]" in error.message
        assert KEY not in repr(error)

    async def test_an_address_may_end_with_a_slash_or_have_no_path(
        self, provider: Provider
    ) -> None:
        async with open_client(f"{provider.url}/", KEY) as client:
            assert isinstance((await everything(OpenAIChatModel(client, "test-chat")))[-1], ChatEnd)
        async with open_client(provider.url.removesuffix("/v1"), KEY) as client:
            _, error = await failure(OpenAIChatModel(client, "test-chat"))
        assert isinstance(error, ModelRefused)
        assert "No route POST /chat/completions" in error.message

    async def test_a_key_that_is_no_secret_mangles_no_message(self, provider: Provider) -> None:
        provider.settings.api_key = "another"
        async with open_client(provider.url, "e") as client:
            _, error = await failure(OpenAIChatModel(client, "test-chat"))
        assert "Incorrect API key provided: e." in error.message

    async def test_a_model_that_is_gone_is_named(self, client: Client) -> None:
        _, error = await failure(OpenAIChatModel(client, "last-months-model"))
        assert isinstance(error, ModelRefused)
        assert "no model last-months-model" in error.message

    async def test_asks_without_usage_where_the_endpoint_takes_no_stream_options(
        self, provider: Provider, chat_model: OpenAIChatModel
    ) -> None:
        provider.fail(Fault.UNKNOWN_FIELD, having="stream_options")
        _, error = await failure(chat_model)
        assert isinstance(error, ModelUnavailable)
        assert error.retry_after_s == 0
        assert not error.may_be_billed
        end = (await everything(chat_model))[-1]
        assert isinstance(end, ChatEnd)
        assert end.usage.estimated
        assert [entry.status for entry in provider.ledger] == [Status.REFUSED, Status.SERVED]

    async def test_calls_the_limit_as_its_endpoint_does(
        self, provider: Provider, chat_model: OpenAIChatModel
    ) -> None:
        provider.fail(Fault.OLD_FIELD, having="max_tokens")
        _, error = await failure(chat_model)
        assert isinstance(error, ModelUnavailable)
        assert error.retry_after_s == 0
        provider.answer("word " * 50)
        *_, end = await everything(chat_model, max_tokens=10)
        assert isinstance(end, ChatEnd)
        assert end.finish_reason == "length"

    async def test_sends_what_its_endpoint_wants(self, provider: Provider, client: Client) -> None:
        provider.fail(Fault.REASONING, having="reasoning_effort", times=1)
        provider.fail(Fault.LENGTH, having="temperature", times=1)
        for habits in (
            ChatHabits(reasoning_effort="low"),
            ChatHabits(extra_body={"temperature": 0.1}),
        ):
            await everything(OpenAIChatModel(client, "test-chat", habits))
        assert [entry.fault for entry in provider.ledger] == [Fault.REASONING, Fault.LENGTH]

    async def test_closing_ends_the_providers_call_within_a_second(
        self, provider: Provider, chat_model: OpenAIChatModel
    ) -> None:
        provider.settings.token_delay_s = 0.02
        provider.answer("Wort " * 200)
        async with aclosing(chat_model.stream(PROMPT, max_tokens=500)) as events:
            await anext(events)
        entry = provider.wait_for(lambda ledger: ledger[-1].status is Status.CLOSED, timeout_s=5)
        assert entry[-1].output_tokens < 100

    async def test_cancelling_ends_the_providers_call_within_a_second(
        self, provider: Provider, chat_model: OpenAIChatModel
    ) -> None:
        provider.settings.token_delay_s = 0.02
        provider.answer("Wort " * 200)
        task = asyncio.create_task(everything(chat_model))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        provider.wait_for(lambda ledger: ledger[-1].status is Status.CLOSED, timeout_s=5)

    async def test_a_share_of_failing_calls_is_drawn_by_the_seed(
        self, provider: Provider, chat_model: OpenAIChatModel
    ) -> None:
        async def outcomes() -> list[str]:
            provider.reset(Settings(api_key=KEY))
            provider.fail(Fault.ERROR, Fault.CUT, Fault.OVERLOADED, rate=0.3)
            for _ in range(60):
                with suppress(ModelError):
                    await everything(chat_model)
            return [entry.fault for entry in provider.ledger]

        first = await outcomes()
        assert 8 <= sum(map(bool, first)) <= 28
        assert await outcomes() == first


async def test_a_system_prompt_and_a_history_reach_the_provider(
    provider: Provider, chat_model: OpenAIChatModel
) -> None:
    history = (*PROMPT, Message(Role.ASSISTANT, "Die Würde [1]."), Message(Role.USER, "Und dann?"))
    await everything(chat_model, history)
    assert last(provider).input_tokens == sum(tokens(message.content) for message in history)
