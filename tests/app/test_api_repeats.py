"""Requests that come again with their idempotency key."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from adapters.clock import SystemClock
from domain.ids import NotebookId, UserId
from tests.app.conftest import Beleg, Start, problem
from tests.app.overviews import sql
from tests.provider import Fault

pytestmark = pytest.mark.asyncio(loop_scope="session")

TEXT = "The bridge was built in 1932. It is red and carries many cars every day."
KEY = {"Idempotency-Key": "k-1"}


async def test_a_repeated_question_gives_the_first_answer_also_after_the_quota_is_spent(
    start: Start,
) -> None:
    beleg = await start(MAX_QUESTIONS_PER_NOTEBOOK_DAY="1")
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    await beleg.text(client, notebook, TEXT)
    path = f"/notebooks/{notebook}/questions"
    first = await client.post(f"{path}?wait=1", json={"question": "When?"}, headers=KEY)
    served = len(beleg.provider.ledger)
    again = await client.post(f"{path}?wait=1", json={"question": "When?"}, headers=KEY)
    assert (again.status_code, again.json()) == (200, first.json())
    created = await client.post(path, json={"question": "When?"}, headers=KEY)
    assert (created.status_code, created.json()["answer_id"]) == (201, first.json()["id"])
    assert len(beleg.provider.ledger) == served
    problem(await client.post(path, json={"question": "Who?"}, headers=KEY), 409, "conflict")
    problem(await client.post(path, json={"question": "When?"}), 429, "quota_exhausted")


async def test_two_questions_at_once_with_one_key_are_one(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    await beleg.text(client, notebook, TEXT)
    path = f"/notebooks/{notebook}/questions?wait=1"
    answers = await asyncio.gather(
        *(client.post(path, json={"question": "When?"}, headers=KEY) for _ in range(4))
    )
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert [entry.kind for entry in beleg.provider.ledger].count("chat") == 1


async def test_a_repeated_source_gives_the_first_answer_again(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    path = f"/notebooks/{notebook}/sources"
    file = {"file": ("a.txt", TEXT.encode())}
    first = await client.post(path, files=file, headers=KEY)
    again = await client.post(path, files=file, headers=KEY)
    assert [first.status_code, again.status_code] == [202, 202]
    assert first.json() == again.json()
    other = {"file": ("a.txt", b"Something else.")}
    problem(await client.post(path, files=other, headers=KEY), 409, "conflict")
    problem(await client.post(path, json={"title": "t", "text": "u"}, headers=KEY), 409, "conflict")
    assert (await client.post(path, files=file)).status_code == 200
    # Taken out since: the first answer again, and nothing is done.
    source = first.json()["id"]
    await client.delete(f"/notebooks/{notebook}/sources/{source}")
    assert (await client.post(path, files=file, headers=KEY)).json()["id"] == source
    assert (await client.get(path)).json()["items"] == []
    await client.delete(f"/sources/{source}")
    problem(await client.post(path, files=file, headers=KEY), 404, "not_found")
    blobs = beleg.services.sources.blobs
    user = (await client.get("/me")).json()["id"]
    assert await blobs.keys(user) == []


async def test_a_repeated_retry_gives_the_source_again(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    failed = await beleg.text(client, notebook, "word " * 200_001)
    other = await beleg.text(client, notebook, "more " * 200_001)
    retries = await asyncio.gather(
        *(client.post(f"/sources/{failed}/retry", headers=KEY) for _ in range(3))
    )
    for response in retries:
        assert (response.status_code, response.json()["status"]) == (202, "queued")
    await beleg.read(failed)
    again = await client.post(f"/sources/{failed}/retry", headers=KEY)
    assert (again.status_code, again.json()["status"]) == (202, "failed")
    problem(await client.post(f"/sources/{other}/retry", headers=KEY), 409, "conflict")
    ready = await beleg.text(client, notebook, TEXT)
    fresh = {"Idempotency-Key": "k-2"}
    for _ in range(2):
        response = await client.post(f"/sources/{ready}/retry", headers=fresh)
        problem(response, 409, "conflict")


async def test_a_repeated_link_is_harmless_and_its_key_is_bound(beleg: Beleg) -> None:
    client = await beleg.user()
    first, second = await beleg.notebook(client), await beleg.notebook(client)
    source = await beleg.text(client, first, TEXT)
    body = {"source_id": source}
    path = f"/notebooks/{second}/sources"
    for _ in range(2):
        response = await client.post(path, json=body, headers=KEY)
        assert (response.status_code, response.json()["id"]) == (200, source)
    problem(
        await client.post(f"/notebooks/{first}/sources", json=body, headers=KEY), 409, "conflict"
    )


async def test_a_full_notebook_still_gives_the_first_answer(start: Start) -> None:
    beleg = await start(MAX_SOURCES_PER_NOTEBOOK="1")
    client = await beleg.user()
    path = f"/notebooks/{await beleg.notebook(client)}/sources"
    body = {"title": "a", "text": "One."}
    first = await client.post(path, json=body, headers=KEY)
    problem(await client.post(path, json={"title": "b", "text": "Two."}), 413, "too_large")
    again = await client.post(path, json=body, headers=KEY)
    assert (again.status_code, again.json()) == (202, first.json())


async def test_a_repeated_search_embeds_nothing_again(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    await beleg.text(client, notebook, TEXT)
    path = f"/notebooks/{notebook}/search"
    body = {"query": "When was the bridge built?", "k": 2}
    served = len(beleg.provider.ledger)
    first = await client.post(path, json=body, headers=KEY)
    assert first.json()["results"]
    await beleg.text(client, notebook, "The bridge was built again in 1990.", title="Later")
    embedded = len(beleg.provider.ledger)
    again = await client.post(path, json=body, headers=KEY)
    assert (again.status_code, again.json()) == (200, first.json())
    assert len(beleg.provider.ledger) == embedded == served + 2
    problem(await client.post(path, json={**body, "k": 3}, headers=KEY), 409, "conflict")
    without = await client.post(path, json=body)
    assert len(without.json()["results"]) == 2


async def test_searches_at_once_with_one_key_embed_once(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    await beleg.text(client, notebook, TEXT)
    served = len(beleg.provider.ledger)
    path, body = f"/notebooks/{notebook}/search", {"query": "When was the bridge built?"}
    answers = await asyncio.gather(*(client.post(path, json=body, headers=KEY) for _ in range(4)))
    assert {answer.status_code for answer in answers} == {200}
    assert all(answer.json() == answers[0].json() for answer in answers)
    assert len(beleg.provider.ledger) == served + 1


async def test_a_search_that_failed_may_be_tried_again_with_its_key(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    await beleg.text(client, notebook, TEXT)
    path, body = f"/notebooks/{notebook}/search", {"query": "When was the bridge built?"}
    beleg.provider.fail(Fault.NO_KEY, kind="embedding", times=1)
    problem(await client.post(path, json=body, headers=KEY), 502, "model_refused")
    again = await client.post(path, json=body, headers=KEY)
    assert (again.status_code, len(again.json()["results"])) == (200, 1)


async def _until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - of the database, which tells nobody
            await asyncio.sleep(0.01)


class Hurried(SystemClock):
    """A clock whose pauses are short."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / 100)


async def test_a_search_at_work_goes_on_holding_its_key(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    await beleg.text(client, notebook, TEXT)
    async with beleg.services.accounts.uow() as tx:
        user = await tx.accounts.get(UserId(UUID((await client.get("/me")).json()["id"])))
    assert user
    mine = f"user_id = '{user.id}'"
    embedder = beleg.services.search.embedder
    hurried = replace(embedder, meter=replace(embedder.meter, clock=Hurried()))
    search = replace(beleg.services.search, embedder=hurried)
    beleg.provider.fail(Fault.HANG, kind="embedding", times=1)
    where = NotebookId(UUID(notebook))
    searching = asyncio.create_task(search(user, where, "When?", idempotency_key="k-1"))
    held = f"select 1 from idempotency_keys where {mine}"
    await _until(lambda: sql(beleg, held))
    sql(beleg, f"update idempotency_keys set created_at = now() - interval '14 s' where {mine}")
    await _until(lambda: sql(beleg, f"{held} and created_at > now() - interval '5 s'"))
    searching.cancel()
    with suppress(asyncio.CancelledError):
        await searching
    assert not sql(beleg, held), "a search that ended badly may be tried again"


async def test_an_empty_notebook_is_searched_for_nothing_and_remembers_it(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    path, body = f"/notebooks/{notebook}/search", {"query": "When was the bridge built?"}
    assert (await client.post(path, json=body, headers=KEY)).json() == {"results": []}
    await beleg.text(client, notebook, TEXT)
    assert (await client.post(path, json=body, headers=KEY)).json() == {"results": []}


async def test_a_deleted_source_leaves_remembered_searches_too(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    source = await beleg.text(client, notebook, TEXT)
    path, body = f"/notebooks/{notebook}/search", {"query": "When was the bridge built?"}
    assert (await client.post(path, json=body, headers=KEY)).json()["results"]
    await client.delete(f"/sources/{source}")
    assert (await client.post(path, json=body, headers=KEY)).json() == {"results": []}


async def test_a_key_is_its_user_s_own(beleg: Beleg) -> None:
    one, other = await beleg.user(), await beleg.user()
    for client in (one, other):
        path = f"/notebooks/{await beleg.notebook(client)}/sources"
        body = {"title": "a", "text": f"Text {uuid4()}"}
        assert (await client.post(path, json=body, headers=KEY)).status_code == 202


async def test_a_key_has_at_most_two_hundred_characters(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    headers = {"Idempotency-Key": "k" * 201}
    for path, body in (
        ("questions", {"question": "When?"}),
        ("search", {"query": "When?"}),
        ("sources", {"title": "a", "text": "b"}),
    ):
        response = await client.post(f"/notebooks/{notebook}/{path}", json=body, headers=headers)
        told = problem(response, 400, "invalid_request")
        assert told["detail"].startswith("Idempotency-Key: ")
