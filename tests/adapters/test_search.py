"""What a question demands of a search, its slots, and the sources it draws on."""

from dataclasses import replace

import pytest

from adapters.postgres.unit_of_work import PostgresUnitOfWork
from domain.retrieval import RetrievalMode, RetrievalSettings
from domain.source import Source
from tests.adapters import test_stores as stores
from tests.adapters.test_stores import NORTH, UP, Shelf

pytestmark = pytest.mark.asyncio(loop_scope="session")

stores_url, uow, shelf = stores.stores_url, stores.uow, stores.shelf
BOTH = RetrievalSettings(mode=RetrievalMode.WEIGHTED, k=8, floor=0.3)


# --- phrases and exclusions


async def _texts(
    shelf: Shelf, question: str, mode: RetrievalMode = RetrievalMode.WEIGHTED
) -> list[str]:
    found = await shelf.search(UP, question, replace(BOTH, mode=mode))
    return [hit.text for hit in found]


@pytest.mark.parametrize("mode", RetrievalMode)
async def test_a_quoted_phrase_comes_first_and_leaves_the_others(
    shelf: Shelf, mode: RetrievalMode
) -> None:
    exact, near = "Its deck is a Red-Bridge, they say.", "The bridge is red, the bridge is tall."
    await shelf.put((near, UP), (exact, (1, 1, 0, 0)))
    await shelf.put(("Red bridges.", (1, 0.2, 0, 0)))
    found = await _texts(shelf, 'Who built the "red bridge"?', mode)
    assert found[0] == exact
    assert len(found) == 3
    unknown = await _texts(shelf, 'Who built the "bridge red and tall"?', mode)
    assert len(unknown) == 3


@pytest.mark.parametrize("mode", RetrievalMode)
async def test_a_minus_leaves_out_what_has_the_word(shelf: Shelf, mode: RetrievalMode) -> None:
    await shelf.put(("A jaguar is a cat.", UP), ("A jaguar is a fast car.", UP))
    await shelf.put(("Jaguars of all cars.", UP), ("The jaguar: a big, wild cat.", UP))
    assert await _texts(shelf, "jaguar -car -wild", mode) == ["A jaguar is a cat."]
    assert len(await _texts(shelf, 'jaguar -"big cat"', mode)) == 4
    assert len(await _texts(shelf, 'jaguar -"big wild"', mode)) == 3
    assert len(await _texts(shelf, "jaguar -zeppelin", mode)) == 4


async def test_phrases_are_found_in_text_without_spaces(shelf: Shelf) -> None:
    await shelf.put(("首都は北京です。", UP), ("東京は首都です。", UP), language="zh")
    assert (await _texts(shelf, "「北京」"))[0] == "首都は北京です。"
    assert await _texts(shelf, "首都 -東京") == ["首都は北京です。"]


# --- slots


async def test_generated_chunks_take_few_slots_and_stand_behind_the_uploads(
    shelf: Shelf, uow: PostgresUnitOfWork
) -> None:
    generated = await shelf.put(*[(f"Bridge summary {n}.", UP) for n in range(6)])
    await shelf.put(*[(f"The bridge {n}.", (1, n / 10, 0, 0)) for n in range(1, 10)])
    await _mark_generated(uow, generated)
    hits = await shelf.search(UP, "bridge", BOTH)
    assert len(hits) == 8
    assert [hit.source_id == generated.id for hit in hits] == [False] * 6 + [True] * 2
    for slots in (0, 5):
        hits = await shelf.search(UP, "bridge", replace(BOTH, generated_slots=slots))
        assert sum(hit.source_id == generated.id for hit in hits) == slots
    alone = await shelf.search(UP, "bridge", BOTH, about=generated.id)
    assert len(alone) == 6


async def test_a_generated_chunk_below_the_floor_is_not_found_by_its_words(
    shelf: Shelf, uow: PostgresUnitOfWork
) -> None:
    generated = await shelf.put(("The zeppelin landed.", NORTH))
    assert await shelf.search(UP, "zeppelin", BOTH)
    await _mark_generated(uow, generated)
    assert await shelf.search(UP, "zeppelin", BOTH) == []
    assert len(await shelf.search(UP, "zeppelin", BOTH, about=generated.id)) == 1


async def _mark_generated(uow: PostgresUnitOfWork, source: Source) -> None:
    async with uow.pool.acquire() as connection:
        await connection.execute("update sources set kind = 'generated' where id = $1", source.id)


# --- several sources


@pytest.mark.parametrize("mode", [RetrievalMode.WEIGHTED, RetrievalMode.RRF, RetrievalMode.VECTOR])
async def test_one_source_does_not_crowd_out_the_others(shelf: Shelf, mode: RetrievalMode) -> None:
    loud = await shelf.put(*[(f"The bridge {n}.", (1, n / 50, 0, 0)) for n in range(40)])
    others = [await shelf.put((f"A bridge in {n}.", (1, 0.25, 0, 0))) for n in range(2)]
    settings = replace(BOTH, mode=mode)
    hits = await shelf.search(UP, "bridge", settings)
    assert {hit.source_id for hit in hits} == {loud.id, *(other.id for other in others)}
    assert [hit.source_id for hit in hits[:6]] == [loud.id] * 6
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    off = await shelf.search(UP, "bridge", replace(settings, diversity=0.0))
    assert {hit.source_id for hit in off} == {loud.id}


async def test_where_each_source_has_one_chunk_nothing_gives_way(shelf: Shelf) -> None:
    await shelf.put(("The zeppelin over the bridge.", (0.2, 1, 0, 0)))
    for n in range(12):
        await shelf.put((f"Towers {n}." if n % 2 else f"The bridge {n}.", (1, n / 10, 0, 0)))
    for question in ("bridge", "zeppelin", "the zeppelin over the bridge"):
        on = await shelf.search(UP, question, BOTH)
        off = await shelf.search(UP, question, replace(BOTH, diversity=0.0))
        assert [hit.chunk_id for hit in on] == [hit.chunk_id for hit in off]


async def test_a_source_that_is_far_from_the_question_is_not_drawn_in(shelf: Shelf) -> None:
    loud = await shelf.put(*[(f"The bridge {n}.", (1, n / 50, 0, 0)) for n in range(40)])
    await shelf.put(("Zeppelins.", (0.4, 1, 0, 0)))
    hits = await shelf.search(UP, "bridge", BOTH)
    assert {hit.source_id for hit in hits} == {loud.id}
