"""A provider that fails, keys that are refused, and sources that are deleted while being read."""

from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import until
from tests.product.stage import Person, Stage, check_books
from tests.provider import Fault, Status, served_inputs

TABLES_OF_A_SOURCE = {
    "sources": "id = %s",
    "notebook_sources": "source_id = %s",
    "source_versions": "source_id = %s",
    "paid_embeddings": "source_id = %s",
    "passages": "version_id in (select id from source_versions where source_id = %s)",
}
TABLES_OF_VERSIONS = ("passages", "chunks", "chunk_vectors", "postings")


@pytest.fixture
def person(stage: Stage) -> Person:
    return stage.person()


def text(name: str, sentences: int) -> str:
    """About ten words a sentence, three sentences a chunk; no sentence stands in two texts."""
    return " ".join(
        f"{name} number {n} tells of bridge {n * 7}, river {n * 3} and road {n}."
        for n in range(sentences)
    )


def orphans(stage: Stage) -> dict[str, int]:
    """Rows of versions that no source has."""
    gone = "version_id not in (select id from source_versions)"
    return {table: stage.count(table, gone) for table in TABLES_OF_VERSIONS}


def test_a_third_of_the_calls_failing_costs_nothing_twice(stage: Stage, person: Person) -> None:
    stage.provider.fail(
        *(Fault.TOO_MANY, Fault.ERROR, Fault.OVERLOADED, Fault.BAD_GATEWAY, Fault.DROP),
        Fault.WRONG_DIMENSION,
        rate=0.32,
        retry_after_s=0,
    )
    stage.provider.fail(Fault.HANG, rate=0.02, times=2)
    notebook = person.notebook()
    sources = [person.add(notebook, text(f"Text{n}", 75)) for n in range(14)]
    person.wait_until_ready(sources, within_s=90)
    stage.provider.settings.token_delay_s = 0.001
    answers = [person.answer_to(notebook, f"Which road has bridge {n}?") for n in range(16)]
    assert {a["status"] for a in answers} <= {"complete", "failed"}

    ledger = stage.provider.ledger
    failed = [entry for entry in ledger if entry.fault]
    assert len(failed) > 0.2 * len(ledger)
    check_books(person.usage(), ledger)
    # What was served in a form that can be used was never asked for again.
    good = served_inputs([entry for entry in ledger if not entry.fault])
    assert max(good.values()) == 1
    chunks = stage.count(
        "chunks c join source_versions v on v.id = c.version_id"
        " join sources s on s.id = v.source_id",
        "s.owner_id = %s",
        person.id,
    )
    assert sum(good.values()) == chunks + len(answers)
    print(f"{len(ledger)} calls, {len(failed)} failed: {Counter(e.fault for e in failed)}")


def test_a_refused_key_fails_the_source_and_a_retry_pays_for_the_rest_only(
    stage: Stage, person: Person
) -> None:
    stage.provider.settings.embedding_delay_s = 0.05
    # The third batch is refused; those in flight beside it are served and kept.
    stage.provider.fail(Fault.NO_KEY, kind="embedding", containing="number 60 tells")
    notebook = person.notebook()
    source = person.add(notebook, text("Key", 300))
    until(lambda: person.source(source)["status"] == "failed")
    error = person.source(source)["error"]
    assert "Check the API key" in error
    assert "qwen3-embedding-4b" in error
    served = [entry for entry in stage.provider.ledger if entry.status is Status.SERVED]
    assert served
    assert stage.count("paid_embeddings", "source_id = %s", source) == len(served)

    stage.provider.settings.rules.clear()
    assert person.client.post(f"/sources/{source}/retry").status_code == 202
    assert person.client.post(f"/sources/{source}/retry").status_code == 409
    person.wait_until_ready([source])
    assert max(served_inputs(stage.provider.ledger).values()) == 1
    assert stage.count("paid_embeddings", "source_id = %s", source) == 0
    check_books(person.usage(), stage.provider.ledger)
    assert person.source(source)["error"] is None
    assert person.client.post(f"/sources/{source}/retry").status_code == 409


def test_a_model_that_is_gone_is_named(stage: Stage, person: Person) -> None:
    stage.provider.settings.models = ("glm-5.3-flash",)
    source = person.add(person.notebook(), text("Gone", 3))
    until(lambda: person.source(source)["status"] == "failed")
    assert "Check the model's name" in person.source(source)["error"]


def test_progress_rises_with_every_batch(stage: Stage, person: Person) -> None:
    stage.provider.settings.embedding_delay_s = 0.15
    source = person.add(person.notebook(), text("Progress", 300))
    seen: list[tuple[str, int, int]] = []

    def ready() -> bool:
        found = person.source(source)
        progress = found["progress"]
        step = (progress["stage"], progress["done"], progress["total"])
        if step not in seen[-1:]:
            seen.append(step)
        return bool(found["status"] == "ready")

    until(ready)
    embedded = [done for stage_name, done, _ in seen if stage_name == "embedding"]
    assert embedded == sorted(embedded)
    assert len(set(embedded)) >= 4
    assert {total for name, _, total in seen if name == "embedding"} == {
        person.source(source)["chunk_count"]
    }


@pytest.mark.parametrize("moment", ["embedding", "kept", "waiting"])
def test_a_source_deleted_while_it_is_read_leaves_nothing(
    stage: Stage, person: Person, moment: str
) -> None:
    stage.provider.settings.embedding_delay_s = 0.4
    notebook = person.notebook()
    others = [person.add(notebook, text(f"Other{moment}", 30))]
    source = person.add(notebook, text(f"Deleted {moment}", 600))
    if moment == "embedding":
        until(lambda: len(stage.provider.ledger) >= 2)
    elif moment == "kept":
        until(lambda: stage.count("paid_embeddings", "source_id = %s", source) > 0)
    assert person.client.delete(f"/sources/{source}").status_code == 204
    stage.provider.settings.embedding_delay_s = 0
    assert person.client.get(f"/sources/{source}").status_code == 404
    person.wait_until_ready(others)

    def at_rest() -> bool:
        return not stage.count("saq_jobs", "status in ('queued', 'active')")

    until(at_rest)
    for table, where in TABLES_OF_A_SOURCE.items():
        assert stage.count(table, where, source) == 0, table
    assert not any(orphans(stage).values())
    files = Path(stage.product.data, "files", person.id)
    assert len([path for path in files.rglob("*") if path.is_file()]) == len(others)
    until(lambda: "pending" not in {row["status"] for row in person.usage()})
    check_books(person.usage(), stage.provider.ledger)
    [source_left] = person.client.get("/sources").json()["items"]
    assert source_left["id"] == others[0]


def test_deleting_a_source_while_an_answer_cites_it_blanks_its_quotes(
    stage: Stage, person: Person
) -> None:
    secret = "The vault code is 4711 and nobody else knows it."
    notebook = person.notebook(secret)
    [source] = person.client.get(f"/notebooks/{notebook}/sources").json()["items"]
    words = " ".join(f"word{n}" for n in range(30))
    stage.provider.settings.token_delay_s = 0.05
    stage.provider.answer(f"It has a code [1]. {words}. A code [1].")
    answer = person.ask(notebook, "What is the vault code?")
    with person.following(answer) as events:
        for event in events:
            if event.kind == "citation":
                break
        assert person.client.delete(f"/sources/{source['id']}").status_code == 204
        list(events)
    stored = person.answer(answer)
    assert stored["status"] == "complete"
    [citation] = stored["citations"]
    assert citation["removed"] is True
    assert "4711" not in str(stored)
    assert "4711" not in str(person.events(answer))
    assert stage.count("answer_passages", "text like %s", "%4711%") == 0
