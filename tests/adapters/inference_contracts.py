"""What every embedder and every chat model must do. Subclass, and give the fixture it asks for."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import Literal

import numpy as np

from domain.conversation import Message, Role
from domain.ports import ChatDelta, ChatEnd, ChatModel, Embedder

PROMPT = (
    Message(Role.SYSTEM, "Answer from the passages and cite them."),
    Message(
        Role.USER,
        '<passage n="1" title="GG">\nDie Würde des Menschen ist unantastbar.\n</passage>\n'
        '<passage n="2" title="GG">\nAlle Deutschen haben das Recht, sich zu versammeln.\n'
        "</passage>\nWas ist unantastbar?",
    ),
)


async def everything(
    model: ChatModel, messages: Sequence[Message] = PROMPT, *, max_tokens: int = 500
) -> list[ChatDelta | ChatEnd]:
    """All events of one answer."""
    return [event async for event in model.stream(messages, max_tokens=max_tokens)]


def text_of(events: Sequence[ChatDelta | ChatEnd]) -> str:
    """What an answer's deltas say together."""
    return "".join(event.text for event in events if isinstance(event, ChatDelta))


class EmbedderContract:
    """Needs a fixture `embedder`."""

    async def test_keeps_the_order_of_its_texts(self, embedder: Embedder) -> None:
        texts = ["Hund", "Katze", "Haus", "Grundgesetz"]
        together = (await embedder.embed(texts, role="passage")).vectors
        for text, row in zip(texts, together, strict=True):
            alone = (await embedder.embed([text], role="passage")).vectors[0]
            np.testing.assert_allclose(row, alone, atol=1e-5)

    async def test_gives_a_float32_row_a_text(self, embedder: Embedder) -> None:
        vectors = (await embedder.embed(["Hund", "Katze"], role="passage")).vectors
        assert vectors.shape == (2, embedder.dimension)
        assert vectors.dtype == np.float32
        assert vectors.flags.c_contiguous

    async def test_gives_vectors_of_unit_length(self, embedder: Embedder) -> None:
        texts = ["a", "Hund", "Die Würde des Menschen ist unantastbar. " * 30, "日本語", "?!"]
        roles: tuple[Literal["question", "passage"], ...] = ("question", "passage")
        for role in roles:
            vectors = (await embedder.embed(texts, role=role)).vectors
            assert np.isfinite(vectors).all()
            np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)

    async def test_puts_a_question_nearest_to_its_answer(self, embedder: Embedder) -> None:
        passages = await embedder.embed(
            [
                "The court sits in Karlsruhe.",
                "Die Würde des Menschen ist unantastbar.",
                "Der Bundestag wird auf vier Jahre gewählt.",
            ],
            role="passage",
        )
        question = await embedder.embed(
            ["Ist die Würde des Menschen unantastbar?"], role="question"
        )
        assert int(np.argmax(passages.vectors @ question.vectors[0])) == 1

    async def test_counts_what_it_used(self, embedder: Embedder) -> None:
        one = (await embedder.embed(["Hund und Katze"], role="passage")).usage
        three = (await embedder.embed(["Hund und Katze"] * 3, role="passage")).usage
        assert 0 < one.input_tokens < three.input_tokens
        assert one.output_tokens == three.output_tokens == 0

    async def test_takes_as_many_texts_as_it_says(self, embedder: Embedder) -> None:
        texts = [f"Artikel {number}" for number in range(embedder.max_batch_items)]
        assert len((await embedder.embed(texts, role="passage")).vectors) == len(texts)

    async def test_serves_calls_at_the_same_time(self, embedder: Embedder) -> None:
        texts = ["Hund", "Katze", "Haus"]
        calls = [embedder.embed([text], role="passage") for text in texts]
        apart = np.concatenate([answer.vectors for answer in await asyncio.gather(*calls)])
        together = (await embedder.embed(texts, role="passage")).vectors
        np.testing.assert_allclose(apart, together, atol=1e-5)


class ChatModelContract:
    """Needs a fixture `chat_model` that answers PROMPT."""

    async def test_ends_once_and_last(self, chat_model: ChatModel) -> None:
        *deltas, end = await everything(chat_model)
        assert isinstance(end, ChatEnd)
        assert end.finish_reason
        assert deltas
        assert all(isinstance(event, ChatDelta) and event.text for event in deltas)

    async def test_counts_what_it_used(self, chat_model: ChatModel) -> None:
        end = (await everything(chat_model))[-1]
        assert isinstance(end, ChatEnd)
        assert end.usage.input_tokens >= 0
        assert end.usage.output_tokens >= 0

    async def test_keeps_answers_at_the_same_time_apart(self, chat_model: ChatModel) -> None:
        alone = text_of(await everything(chat_model))
        both = await asyncio.gather(everything(chat_model), everything(chat_model))
        assert [text_of(events) for events in both] == [alone, alone]

    async def test_can_be_left_early_and_asked_again(self, chat_model: ChatModel) -> None:
        stream = chat_model.stream(PROMPT, max_tokens=500)
        async with aclosing(stream) as events:
            async for event in events:
                assert isinstance(event, ChatDelta)
                break
        assert text_of(await everything(chat_model))
