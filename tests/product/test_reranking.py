"""A reranker orders what a search found, is billed like every call, and loses no answer."""

from collections.abc import Iterator

import pytest

from tests.product.stage import Person, Stage
from tests.provider import Fault, Status

PRICES = '[models.test-reranker]\ninput_per_million = "1"\n'
QUESTION = "When was the old bridge over the river built?"
TEXTS = [
    "Bridges: a bridge, the bridge, more bridges.",
    "The old bridge over the river was built in 1932.",
    "The new tower was built in 1999.",
]


@pytest.fixture(scope="module")
def address(running_stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A web process with a reranker."""
    prices = tmp_path_factory.mktemp("prices") / "prices.toml"
    prices.write_text(PRICES)
    named = {"RERANK_MODEL": "test-reranker", "PRICES_FILE": str(prices), "RERANK_TIMEOUT_S": "1"}
    process, address = running_stage.product.web(**named)
    yield address
    process.terminate()
    process.wait()


@pytest.fixture
def person(stage: Stage, address: str) -> Person:
    return stage.person().at(address)


@pytest.fixture
def notebook(stage: Stage, person: Person) -> str:
    notebook = person.notebook(*TEXTS)
    stage.provider.reset()
    return notebook


def _search(person: Person, notebook: str, k: int) -> list[str]:
    body = {"query": QUESTION, "k": k, "mode": "vector"}
    response = person.client.post(f"/notebooks/{notebook}/search", json=body)
    assert response.status_code == 200, response.text
    return [hit["text"] for hit in response.json()["results"]]


def test_a_search_is_reranked_and_billed(stage: Stage, person: Person, notebook: str) -> None:
    assert _search(person, notebook, 1) == [TEXTS[1]]
    assert [entry.kind for entry in stage.provider.ledger] == ["embedding", "rerank"]
    (row,) = [row for row in person.usage() if row["kind"] == "rerank"]
    assert row["status"] == "served"
    assert row["input_tokens"] == stage.provider.ledger[-1].input_tokens


def test_an_answer_is_made_from_what_was_reranked(
    stage: Stage, person: Person, notebook: str
) -> None:
    answer = person.answer_to(notebook, QUESTION)
    assert answer["status"] == "complete"
    assert answer["retrieved"][0]["text"] == TEXTS[1]
    assert [hit["rank"] for hit in answer["retrieved"]] == list(
        range(1, len(answer["retrieved"]) + 1)
    )
    assert [entry.kind for entry in stage.provider.ledger] == ["embedding", "rerank", "chat"]


@pytest.mark.parametrize("fault", [Fault.OVERLOADED, Fault.HANG, Fault.FEWER, Fault.GONE])
def test_a_failing_reranker_leaves_the_search_s_own_order(
    stage: Stage, person: Person, notebook: str, fault: Fault
) -> None:
    stage.provider.fail(fault, kind="rerank")
    answer = person.answer_to(notebook, QUESTION)
    assert answer["status"] == "complete"
    assert {hit["text"] for hit in answer["retrieved"]} == set(TEXTS)
    tried = [entry for entry in stage.provider.ledger if entry.kind == "rerank"]
    assert len(tried) == 1
    (row,) = [row for row in person.usage() if row["kind"] == "rerank"]
    expected = {Status.REFUSED: "failed", Status.HUNG: "cut", Status.SERVED: "served"}
    assert row["status"] == expected[tried[0].status]
    assert "reranking_failed" in stage.product.log()
