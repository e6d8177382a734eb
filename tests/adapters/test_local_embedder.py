import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from adapters.inference.local import LocalEmbedder
from domain.errors import ModelRefused, ModelUnavailable
from tests.adapters.inference_contracts import EmbedderContract

LONG = "Die Verteidigung gab nur wenige Punkte ab und belegte den sechsten Platz in der Liga. "


@pytest.fixture
async def embedder() -> AsyncIterator[LocalEmbedder]:
    made = LocalEmbedder()
    yield made
    await made.aclose()


class TestLocalEmbedder(EmbedderContract):
    """What every embedder does."""


async def test_a_question_is_nearer_to_its_answer_in_either_language(
    embedder: LocalEmbedder,
) -> None:
    passages = await embedder.embed(
        ["Human dignity shall be inviolable.", "The court sits in Karlsruhe."], role="passage"
    )
    question = await embedder.embed(["Was ist unantastbar?"], role="question")
    scores = passages.vectors @ question.vectors[0]
    assert scores[0] > scores[1]


async def test_counts_its_tokens_exactly(embedder: LocalEmbedder) -> None:
    one = (await embedder.embed(["Hund"], role="passage")).usage
    two = (await embedder.embed(["Hund", "Hund"], role="passage")).usage
    assert two.input_tokens == 2 * one.input_tokens > 0
    assert not one.estimated


async def test_reads_on_after_a_nul(embedder: LocalEmbedder) -> None:
    vectors = (await embedder.embed(["Hund", "Hund\0 im Weltraum"], role="passage")).vectors
    assert vectors[0] @ vectors[1] < 0.99


async def test_reads_a_text_of_several_windows_to_its_end(embedder: LocalEmbedder) -> None:
    vectors = (
        await embedder.embed([LONG * 40, LONG * 40 + "Zebra und Quanten. " * 40], role="passage")
    ).vectors
    assert vectors[0] @ vectors[1] < 0.9999


async def test_refuses_what_would_hold_it_for_long(embedder: LocalEmbedder) -> None:
    with pytest.raises(ModelRefused):
        await embedder.embed(["a" * 30_001], role="passage")


async def test_a_question_does_not_wait_behind_a_source(embedder: LocalEmbedder) -> None:
    await embedder.embed(["warm"], role="question")
    bulk = asyncio.create_task(embedder.embed([LONG * 15] * 8, role="passage"))
    await asyncio.sleep(0.05)
    start = time.perf_counter()
    await embedder.embed(["Was?"], role="question")
    await embedder.embed(["Ein Satz."] * 3, role="passage")
    waited = time.perf_counter() - start
    assert not bulk.done()
    await bulk
    assert waited < 1


async def test_the_event_loop_runs_on_while_it_computes(embedder: LocalEmbedder) -> None:
    task = asyncio.create_task(embedder.embed([LONG * 15] * 4, role="passage"))
    beats = 0
    while not task.done():
        await asyncio.sleep(0.02)
        beats += 1
    assert beats > 10


async def test_is_unavailable_once_closed() -> None:
    embedder = LocalEmbedder()
    await embedder.embed(["Hund"], role="passage")
    await embedder.aclose()
    with pytest.raises(ModelUnavailable):
        await embedder.embed(["Hund"], role="passage")
