"""Scores of a `/rerank` endpoint: in the order of the texts, checked, billed as served."""

from collections.abc import AsyncIterator, Iterator

import pytest
from openai import AsyncOpenAI

from adapters.inference.openai_client import open_client
from adapters.inference.reranker import HttpReranker
from domain.errors import ModelAnswerInvalid, ModelRefused, ModelUnavailable
from domain.usage import TokenUsage, about_tokens
from tests.provider import Fault, Provider

QUESTION = "Who built the red bridge?"
TEXTS = ["Towers are tall.", "Mason built the red bridge in 1932.", "The bridge is red."]


@pytest.fixture(scope="module")
def server() -> Iterator[Provider]:
    with Provider() as running:
        yield running


@pytest.fixture
def provider(server: Provider) -> Provider:
    server.reset()
    return server


@pytest.fixture
async def client(provider: Provider) -> AsyncIterator[AsyncOpenAI]:
    async with open_client(provider.url, "a key") as opened:
        yield opened


@pytest.fixture
def reranker(client: AsyncOpenAI) -> HttpReranker:
    return HttpReranker(client, "test-reranker", timeout_s=0.3)


async def test_scores_stand_in_the_order_of_the_texts(
    provider: Provider, reranker: HttpReranker
) -> None:
    ranked = await reranker.rerank(QUESTION, TEXTS)
    assert len(ranked.scores) == 3
    assert ranked.scores[1] > ranked.scores[2] > ranked.scores[0]
    (entry,) = provider.ledger
    assert entry.kind == "rerank"
    assert ranked.usage == TokenUsage(entry.input_tokens)


async def test_a_usage_that_is_not_reported_is_estimated(
    provider: Provider, reranker: HttpReranker
) -> None:
    provider.fail(Fault.NO_EMBEDDING_USAGE, kind="rerank")
    pairs = sum(about_tokens(QUESTION) + about_tokens(text) for text in TEXTS)
    assert (await reranker.rerank(QUESTION, TEXTS)).usage == TokenUsage(pairs, estimated=True)


@pytest.mark.parametrize("fault", [Fault.FEWER, Fault.TWICE_THE_SAME_INDEX, Fault.NAN])
async def test_scores_that_cannot_be_trusted_are_refused(
    provider: Provider, reranker: HttpReranker, fault: Fault
) -> None:
    provider.fail(fault, kind="rerank")
    with pytest.raises(ModelAnswerInvalid, match="cannot be used") as caught:
        await reranker.rerank(QUESTION, TEXTS)
    assert caught.value.usage is not None


async def test_what_goes_wrong_at_the_endpoint_says_what_to_check(
    provider: Provider, reranker: HttpReranker, client: AsyncOpenAI
) -> None:
    provider.fail(Fault.OVERLOADED, times=1, kind="rerank")
    with pytest.raises(ModelUnavailable) as busy:
        await reranker.rerank(QUESTION, TEXTS)
    assert not busy.value.may_be_billed
    provider.fail(Fault.HANG, times=1, kind="rerank")
    with pytest.raises(ModelUnavailable) as silent:
        await reranker.rerank(QUESTION, TEXTS)
    assert silent.value.may_be_billed
    with pytest.raises(ModelRefused, match="model's name"):
        await HttpReranker(client, "gone").rerank(QUESTION, TEXTS)
