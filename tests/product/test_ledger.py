"""What spends nothing, and what a person may spend at most."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

import pytest

from domain.refusals import general_knowledge
from tests.conftest import until
from tests.product.stage import Person, Stage, check_books, in_parallel
from tests.provider import Status

TEXT = "The bridge was built in 1932. It is red. It carries many cars every day."
QUESTION = "When was the bridge built?"
NOBODY = "0190a2f4-7c1e-7000-8000-000000000000"


@pytest.fixture
def person(stage: Stage) -> Person:
    return stage.person()


@pytest.fixture
def notebook(stage: Stage, person: Person) -> str:
    notebook = person.notebook(TEXT)
    stage.provider.reset()
    return notebook


@pytest.fixture(scope="module")
def frugal(running_stage: Stage) -> Iterator[str]:
    """The address of a web process that gives no credit and takes one question a day."""
    limits = {"SIGNUP_CREDIT": "0", "MAX_QUESTIONS_PER_NOTEBOOK_DAY": "1"}
    process, address = running_stage.product.web(**limits)
    yield address
    process.terminate()
    process.wait()


def test_what_is_refused_spends_nothing(
    stage: Stage, person: Person, notebook: str, frugal: str
) -> None:
    path = f"/notebooks/{notebook}/questions"
    good = {"question": QUESTION}
    stranger, nobody = stage.person(), stage.client(stage.address)
    rows = len(person.usage())

    assert nobody.post(path, json=good).status_code == 401
    assert nobody.post(path, json={"question": 7}).status_code == 401
    json = {"Content-Type": "application/json"}
    assert nobody.post(path, content=b"{", headers=json).status_code in {400, 401}
    nobody.headers["Authorization"] = "Bearer wrong"
    assert nobody.post(path, json=good).status_code == 401

    assert stranger.post_question(notebook, good).status_code == 404
    assert stranger.post_question(notebook, {"question": ""}).status_code == 404
    for missing in (NOBODY, "no-id", "%00"):
        assert person.post_question(missing, good).status_code == 404
    for wrong in ("", " \n\x00\u200b", "x" * 8001):
        assert person.post_question(notebook, {"question": wrong}).status_code == 400
    malformed: list[object] = [{}, [], {"question": 7}, {"question": None}, {**good, "sauce": 1}]
    for body in malformed:
        assert person.client.post(path, json=body).status_code == 400, body
    assert person.client.post(path, content=b"{").status_code == 400

    poor = stage.person(credit="0")
    empty = poor.notebook()
    broke = poor.post_question(empty, {"question": QUESTION, "source_ids": []})
    assert (broke.status_code, broke.json()["code"]) == (402, "credit_exhausted")
    assert broke.headers["content-type"].startswith("application/problem+json")

    assert stage.provider.ledger == []
    assert len(person.usage()) == rows
    assert stage.count("answers", "notebook_id = %s", notebook) == 0

    there = person.at(frugal)
    there.answer_to(notebook, QUESTION)
    calls = len(stage.provider.ledger)
    for _ in range(2):
        late = there.post_question(notebook, good)
        assert (late.status_code, late.json()["code"]) == (429, "quota_exhausted")
        there.client.delete(f"/notebooks/{notebook}/messages").raise_for_status()
    assert there.post_question(notebook, {"question": ""}).status_code == 400
    stage.sql("update users set credit = 0 where id = %s", person.id)
    assert there.post_question(notebook, good).status_code == 429
    assert len(stage.provider.ledger) == calls


def test_an_account_without_credit_cannot_have_a_source_embedded(stage: Stage, frugal: str) -> None:
    poor = stage.person(credit="0")
    notebook = poor.notebook()
    source = poor.add(notebook, TEXT)
    until(lambda: poor.source(source)["status"] == "failed")
    assert "more than your credit covers" in poor.source(source)["error"]
    assert stage.provider.ledger == []
    stage.sql("update users set credit = 1 where id = %s", poor.id)
    assert poor.client.post(f"/sources/{source}/retry").status_code == 202
    poor.wait_until_ready([source])
    fresh = stage.client(frugal)
    made = fresh.post("/accounts", json={"email": "a@example.org", "password": "a good password"})
    fresh.headers["Authorization"] = f"Bearer {made.json()['token']}"
    assert fresh.get("/me").json()["credit"] == "0"


def test_without_sources_the_model_is_called_once_and_nothing_is_embedded(
    stage: Stage, person: Person, notebook: str
) -> None:
    stage.provider.answer("Bridges [1] are old【2】.")
    answer = person.answer_to(notebook, QUESTION, source_ids=[])
    assert (answer["status"], answer["mode"]) == ("complete", "general")
    assert answer["text"] == f"{general_knowledge('en')}\n\nBridges are old."
    assert answer["citations"] == answer["retrieved"] == []
    assert [entry.kind for entry in stage.provider.ledger] == ["chat"]
    check_books(person.usage()[1:], stage.provider.ledger)


def test_an_empty_notebook_and_an_empty_selection_answer_without_a_call(
    stage: Stage, person: Person, notebook: str
) -> None:
    foreign = stage.person()
    other = foreign.notebook("Somebody else's secret text.")
    [theirs] = foreign.client.get(f"/notebooks/{other}/sources").json()["items"]
    elsewhere = person.notebook("A text of another notebook of mine.")
    [mine] = person.client.get(f"/notebooks/{elsewhere}/sources").json()["items"]
    stage.provider.reset()
    stage.provider.settings.embedding_delay_s = 2
    waiting = person.add(notebook, "A text that is still being read. " * 3)
    until(lambda: person.source(waiting)["status"] == "processing")

    empty = person.answer_to(person.notebook(), QUESTION)
    assert (empty["status"], empty["refused"], empty["citations"]) == ("complete", True, [])
    selections = [[theirs["id"]], ["no-id"], [NOBODY, ""], [mine["id"]], [waiting]]
    for selection in selections:
        answer = person.answer_to(notebook, QUESTION, source_ids=selection)
        assert (answer["mode"], answer["refused"]) == ("sources", True), selection
        assert answer["text"] != empty["text"]
    for about in (theirs["id"], "no-id", waiting):
        body = {"question": QUESTION, "about": about}
        response = person.client.post(
            f"/notebooks/{notebook}/questions", params={"wait": 1}, json=body
        )
        assert response.status_code == 404 or response.json()["refused"], response.text
    assert [entry.kind for entry in stage.provider.ledger] == ["embedding"]  # the source's own

    [own] = [
        source["id"]
        for source in person.client.get(f"/notebooks/{notebook}/sources").json()["items"]
        if source["status"] == "ready"
    ]
    stage.provider.answer("In 1932 [1].")
    answer = person.answer_to(
        notebook, QUESTION, source_ids=[theirs["id"], "no-id", waiting, own, NOBODY]
    )
    assert {hit["source_id"] for hit in answer["retrieved"]} == {own}
    assert [citation["source_id"] for citation in answer["citations"]] == [own]
    person.wait_until_ready([waiting])


@contextmanager
def watching(stage: Stage, person: Person) -> Iterator[list[Decimal]]:
    """What that person had free, as a reader beside everything saw it."""
    free: list[Decimal] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            [[left]] = stage.sql("select credit - reserved from users where id = %s", person.id)
            free.append(left)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield free
    finally:
        done.set()
        watcher.join()


def test_parallel_questions_cannot_overspend(stage: Stage, person: Person, notebook: str) -> None:
    stage.provider.answer("In 1932 [1].")
    person.answer_to(notebook, QUESTION)
    question_cost = max(Decimal(row["cost"]) for row in person.usage())
    # A reservation holds the whole possible answer: about three of them fit.
    bound = Decimal("0.35") * 4096 / 1_000_000 + Decimal("0.10") * 30_000 / 1_000_000
    grant = 3 * bound
    assert question_cost < bound
    stage.sql("update users set credit = %s where id = %s", grant, person.id)
    before = len(person.usage())
    stage.provider.reset()
    stage.provider.settings.token_delay_s = 0.02

    others = [person.at(stage.webs[n % 2]) for n in range(50)]
    with watching(stage, person) as least, in_parallel(50) as pool:
        asked = list(pool.map(lambda p: p.post_question(notebook, {"question": QUESTION}), others))
        answers = [r.json()["answer_id"] for r in asked if r.status_code == 201]
        until(lambda: all(person.answer(a)["status"] != "streaming" for a in answers))
    assert {r.status_code for r in asked} <= {201, 402}
    ended = [person.answer(a) for a in answers]
    outcomes = Counter(a["error"]["code"] if a["error"] else a["status"] for a in ended)
    assert set(outcomes) <= {"complete", "credit_exhausted"}, outcomes
    assert outcomes["complete"] >= 2
    assert outcomes["complete"] < 50
    assert min(least) >= 0
    rows = person.usage()[before:]
    assert sum(Decimal(row["cost"]) for row in rows) <= grant
    [[credit, reserved]] = stage.sql("select credit, reserved from users where id = %s", person.id)
    assert reserved == 0
    assert credit == grant - sum(Decimal(row["cost"]) for row in rows)
    assert "pending" not in {row["status"] for row in rows}
    check_books(rows, stage.provider.ledger)
    assert all(entry.status is Status.SERVED for entry in stage.provider.ledger)
