"""Streams that are cut, resumed, shared, stopped and orphaned: one run, one bill, one text."""

import signal
import time
from collections.abc import Iterator
from itertools import islice

import pytest

from tests.conftest import until
from tests.product.stage import Event, Person, Stage, check_books, in_parallel, kill, text_of
from tests.provider import Entry, Fault, Status

TEXT = "The bridge was built in 1932. It is red. It carries many cars every day."
QUESTION = "When was the bridge built?"
WORDS = " ".join(f"word{n}" for n in range(40))
LONG = f"It was built in 1932 [1]. {WORDS}."


@pytest.fixture
def person(stage: Stage) -> Person:
    return stage.person()


@pytest.fixture
def notebook(stage: Stage, person: Person) -> str:
    notebook = person.notebook(TEXT)
    stage.provider.reset()
    return notebook


def chats(stage: Stage) -> list[Entry]:
    return [entry for entry in stage.provider.ledger if entry.kind == "chat"]


def speak_slowly(stage: Stage, token_delay_s: float = 0.05) -> None:
    stage.provider.settings.token_delay_s = token_delay_s
    stage.provider.answer(LONG)


def first(count: int, person: Person, answer: str) -> list[Event]:
    """The first events of a stream, which is hung up on then."""
    with person.following(answer) as events:
        return list(islice(events, count))


def until_cited(events: Iterator[Event]) -> Iterator[Event]:
    for event in events:
        yield event
        if event.kind == "citation":
            return


def test_a_cut_stream_is_resumed_at_another_process_without_a_second_call(
    stage: Stage, person: Person, notebook: str
) -> None:
    speak_slowly(stage)
    answer = person.ask(notebook, QUESTION)
    seen = first(5, person, answer)
    assert person.answer(answer)["status"] == "streaming"
    there = person.at(stage.webs[1])
    events = seen + there.events(answer, after=seen[-1].id)
    stored = person.answer(answer)
    assert stored["status"] == "complete"
    assert text_of(events) == stored["text"] == LONG
    assert [event.id for event in events] == list(range(1, len(events) + 1))
    assert events[-1].data["answer"]["text"] == LONG
    assert len(events) > 8, "tokens are seen as they are written"
    [chat] = chats(stage)
    assert chat.status is Status.SERVED
    # A reader who comes back after the end is sent away, and one without an id gets all.
    for seen_id in (events[-1].id, 999_999_999):
        headers = {"Last-Event-ID": str(seen_id)}
        assert there.client.get(f"/answers/{answer}/events", headers=headers).status_code == 204
    assert there.events(answer) == events
    assert len(chats(stage)) == 1


def test_readers_at_once_and_none_at_all_change_nothing(
    stage: Stage, person: Person, notebook: str
) -> None:
    speak_slowly(stage, 0.02)
    answer = person.ask(notebook, QUESTION)
    readers = [person, person.at(stage.address), person.at(stage.webs[1])]
    with in_parallel(3) as pool:
        streams = list(pool.map(lambda reader: reader.events(answer), readers))
    assert streams[0] == streams[1] == streams[2]
    assert text_of(streams[0]) == LONG
    stage.provider.answer(LONG)
    body = {"question": QUESTION}
    accept = {"Accept": "text/event-stream"}
    path = f"/notebooks/{notebook}/questions"
    with person.client.stream("POST", path, json=body, headers=accept) as response:
        next(response.iter_lines())  # and gone
    until(lambda: len(chats(stage)) == 2 and chats(stage)[1].status is not Status.OPEN)
    last = person.client.get(f"/notebooks/{notebook}/messages").json()["items"][0]
    until(lambda: person.answer(last["id"])["status"] == "complete")
    assert person.answer(last["id"])["text"] == LONG
    assert len(chats(stage)) == 2


@pytest.mark.parametrize("web", [0, 1], ids=["its own process", "another process"])
def test_a_stop_ends_the_call_within_a_second_and_keeps_the_text(
    stage: Stage, person: Person, notebook: str, web: int
) -> None:
    speak_slowly(stage)
    answer = person.ask(notebook, QUESTION)
    with person.following(answer) as following:
        seen = [*until_cited(following)]
    there = person.at(stage.webs[web])
    asked = time.time()
    assert there.client.post(f"/answers/{answer}/stop").status_code == 202
    told = time.time()
    stage.provider.wait_for(lambda ledger: ledger[-1].status is Status.CLOSED, timeout_s=10)
    ended = stage.provider.ledger[-1].ended
    print(
        f"the call ended {ended - asked:.3f} s after the stop, {ended - told:.3f} s after its 202"
    )
    # A second is what is promised; a machine that is busy with other tests gets three.
    assert ended - told < 3.0
    events = there.events(answer)
    stored = person.answer(answer)
    assert stored["status"] == "stopped"
    assert events[: len(seen)] == seen
    assert text_of(events) == stored["text"]
    assert LONG.startswith(stored["text"])
    assert stored["text"] != LONG
    assert events[-1].kind == "done"
    assert [c["marker"] for c in stored["citations"]] == [1]
    [row] = [row for row in person.usage() if row["kind"] == "chat"]
    assert (row["status"], row["estimated"]) == ("cut", True)
    assert row["input_tokens"] > 0
    assert row["output_tokens"] > 0
    assert there.client.post(f"/answers/{answer}/stop").status_code == 202
    assert person.answer(answer) == stored


def test_a_stop_before_the_first_token_leaves_an_empty_answer(
    stage: Stage, person: Person, notebook: str
) -> None:
    stage.provider.fail(Fault.HANG, kind="chat")
    answer = person.ask(notebook, QUESTION)
    stage.provider.wait_for(lambda _: any(chat.status is Status.HUNG for chat in chats(stage)))
    person.client.post(f"/answers/{answer}/stop")
    until(lambda: person.answer(answer)["status"] == "stopped", within_s=5)
    assert person.answer(answer)["text"] == ""


def test_a_killed_process_leaves_a_failed_answer_with_the_text_that_was_seen(
    stage: Stage, person: Person, notebook: str
) -> None:
    process, address = stage.product.web()
    speak_slowly(stage, 0.1)
    answer = person.at(address).ask(notebook, QUESTION)
    with person.at(stage.webs[1]).following(answer) as events:
        seen = [*until_cited(events), *islice(events, 3)]
        kill(process)
        killed = time.monotonic()
        seen += list(events)
    assert time.monotonic() - killed < 30
    stored = person.answer(answer)
    assert stored["status"] == "failed"
    assert stored["error"]["code"] == "interrupted"
    assert seen[-1].kind == "error"
    assert seen[-1].data["code"] == "interrupted"
    assert stored["text"] == text_of(seen)
    assert [c["marker"] for c in stored["citations"]] == [1]
    assert [event.id for event in seen] == list(range(1, len(seen) + 1))
    assert person.events(answer) == seen
    [chat] = chats(stage)
    assert chat.status is Status.CLOSED
    [row] = [row for row in person.usage() if row["kind"] == "chat"]
    assert row["status"] == "unknown"
    assert row["estimated"]
    assert row["output_tokens"] == 4096
    [[reserved]] = stage.sql("select reserved from users where id = %s", person.id)
    assert reserved == 0


def test_a_process_that_is_told_to_end_finishes_the_answer_it_writes(
    stage: Stage, person: Person, notebook: str
) -> None:
    process, address = stage.product.web()
    speak_slowly(stage)
    answer = person.at(address).ask(notebook, QUESTION)
    with person.at(stage.webs[1]).following(answer) as events:
        seen = [*until_cited(events)]
        process.terminate()
        seen += list(events)
    assert process.wait(timeout=10) in {0, -signal.SIGTERM}
    assert seen[-1].kind == "done"
    stored = person.answer(answer)
    assert (stored["status"], stored["text"]) == ("complete", LONG)
    assert [chat.status for chat in chats(stage)] == [Status.SERVED]


def test_a_key_asks_once_also_in_parallel_and_after_the_quota(
    stage: Stage, person: Person, notebook: str
) -> None:
    speak_slowly(stage, 0.01)
    readers = [person, person.at(stage.webs[1])] * 2
    with in_parallel(4) as pool:
        answers = set(
            pool.map(lambda reader: reader.ask(notebook, QUESTION, Idempotency_Key="k"), readers)
        )
    [answer] = answers
    person.events(answer)
    assert len(chats(stage)) == 1
    other = person.post_question(notebook, {"question": "Why?"}, Idempotency_Key="k")
    assert (other.status_code, other.json()["code"]) == (409, "conflict")
    scoped = {"question": QUESTION, "source_ids": []}
    assert person.post_question(notebook, scoped, Idempotency_Key="k").status_code == 409
    stage.sql("update users set credit = 0 where id = %s", person.id)
    refused = person.post_question(notebook, {"question": QUESTION}, Idempotency_Key="new")
    assert (refused.status_code, refused.json()["code"]) == (402, "credit_exhausted")
    assert person.ask(notebook, QUESTION, Idempotency_Key="k") == answer
    check_books(person.usage()[1:], stage.provider.ledger)


def test_a_notebook_deleted_while_its_answer_streams_ends_the_stream_and_the_call(
    stage: Stage, person: Person, notebook: str
) -> None:
    speak_slowly(stage)
    answer = person.ask(notebook, QUESTION)
    with person.following(answer) as events:
        seen = list(islice(events, 4))
        assert person.client.delete(f"/notebooks/{notebook}").status_code == 204
        seen += list(events)
    assert seen[-1].kind == "error"
    assert seen[-1].data["code"] == "not_found"
    stage.provider.wait_for(lambda ledger: ledger[-1].status is Status.CLOSED)
    assert person.client.get(f"/answers/{answer}").status_code == 404

    def billed() -> bool:
        return [r["status"] for r in person.usage() if r["kind"] == "chat"] == ["cut"]

    until(billed, within_s=10)
    assert stage.count("answer_events", "answer_id = %s", answer) == 0


def test_an_answer_that_breaks_off_keeps_its_text_and_is_not_asked_again(
    stage: Stage, person: Person, notebook: str
) -> None:
    stage.provider.fail(Fault.CUT, kind="chat", times=1)
    stage.provider.answer(LONG)
    answer = person.answer_to(notebook, QUESTION)
    assert answer["status"] == "failed"
    assert answer["error"]["code"] == "model_cut"
    assert answer["text"]
    assert LONG.startswith(answer["text"])
    assert text_of(person.events(answer["id"])) == answer["text"]
    assert len(chats(stage)) == 1


def test_a_model_that_is_overloaded_is_asked_again_before_the_first_token(
    stage: Stage, person: Person, notebook: str
) -> None:
    stage.provider.fail(Fault.OVERLOADED, kind="chat", times=2, retry_after_s=0)
    stage.provider.answer(LONG)
    answer = person.answer_to(notebook, QUESTION)
    assert (answer["status"], answer["text"]) == ("complete", LONG)
    assert len(chats(stage)) == 3
    check_books(person.usage()[1:], stage.provider.ledger)
