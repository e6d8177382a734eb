"""What becomes of an audio overview: faults, retries, deletions, and what is asked about it."""

import asyncio
import io
import json
import zipfile
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO, cast
from uuid import UUID

import httpx
import psycopg
import pytest

from domain.document import document_key
from domain.ids import DocumentId, ExportId, NotebookId, UserId, new_id
from domain.ports import BlobStore
from tests.app.conftest import SPEAKS, Beleg, Start, problem
from tests.app.overviews import (
    ask,
    calls,
    limited,
    make,
    me,
    queued,
    ready,
    sql,
    told,
)
from tests.app.traces import traces
from tests.provider.faults import Fault, Rule
from tests.provider.voices import recording

pytestmark = pytest.mark.asyncio(loop_scope="session")

WORD = "Quoxalith"
SHORT = "TITLE: A bridge\n\nIt is short."
GOOD = "TITLE: A bridge\n\n" + " ".join(f"It is so, as in script {n}." for n in range(80)) + " [1]"


async def test_of_fifty_requests_at_once_one_finds_room(studio: Beleg) -> None:
    client, notebook, _ = await ready(studio)
    answers = await asyncio.gather(*(ask(client, notebook) for _ in range(50)))
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [202, *[429] * 49]
    [[count]] = sql(studio, f"select count(*) from documents where notebook_id = '{notebook}'")
    assert count == 1
    [[made]] = sql(
        studio, f"select made from documents_of_day where user_id = '{await me(client)}'"
    )
    assert made == 1


async def test_of_fifty_requests_in_many_notebooks_as_many_as_a_day_has_room_for(
    studio: Beleg,
) -> None:
    client, first, source = await ready(studio)
    await limited(studio, client, {"max_audio_overviews_per_day": 3})
    notebooks = [first, *[await studio.notebook(client) for _ in range(9)]]
    for notebook in notebooks[1:]:
        body = {"source_id": source}
        assert (await client.post(f"/notebooks/{notebook}/sources", json=body)).is_success
    answers = await asyncio.gather(*(ask(client, notebook) for notebook in notebooks * 5))
    assert sum(answer.status_code == 202 for answer in answers) == 3
    for document in [a.json()["id"] for a in answers if a.status_code == 202]:
        assert (await client.delete(f"/documents/{document}")).status_code == 204
    assert (await ask(client, first)).status_code == 429, "deleted ones count for the day"


async def test_a_request_that_comes_again_gets_the_same_document(studio: Beleg) -> None:
    client, notebook, _ = await ready(studio)
    body = {"kind": "audio_overview"}

    async def post(key: str, **more: object) -> httpx.Response:
        headers = {"Idempotency-Key": key}
        path = f"/notebooks/{notebook}/documents"
        return await client.post(path, json={**body, **more}, headers=headers)

    first, *again = await asyncio.gather(*(post("a key") for _ in range(5)))
    assert [r.status_code for r in (first, *again)] == [202] * 5
    assert {r.json()["id"] for r in again} == {first.json()["id"]}
    problem(await post("a key", focus="Else"), 409, "conflict")
    problem(await post("another key"), 429, "quota_exhausted")


async def test_a_script_is_repaired_once(studio: Beleg) -> None:
    client, notebook, _ = await ready(studio)
    document = await queued(client, notebook)
    studio.provider.answer(SHORT)
    studio.provider.answer(GOOD)
    await make(studio, document)
    made = await told(client, document)
    assert (made["status"], made["title"]) == ("ready", "A bridge")
    assert calls(studio, "document") == 2


async def test_a_job_that_runs_twice_makes_one(studio: Beleg) -> None:
    client, notebook, _ = await ready(studio)
    document = await queued(client, notebook)
    studio.provider.settings.speaking_delay_s = 0.2
    await asyncio.gather(make(studio, document), make(studio, document))
    made = await told(client, document)
    assert made["status"] == "ready"
    sources = (await client.get(f"/notebooks/{notebook}/sources")).json()["items"]
    assert [s["id"] for s in sources if s["kind"] == "generated"] == [made["source_id"]]
    before = len(studio.provider.ledger)
    await make(studio, document)
    assert len(studio.provider.ledger) == before
    rows = (
        f"select count(*) from model_calls where document_id = '{document}' and status = 'pending'"
    )
    assert sql(studio, rows) == [(0,)]


async def test_two_bad_scripts_fail_it_and_a_retry_begins_anew(studio: Beleg) -> None:
    client, notebook, _ = await ready(studio)
    document = await queued(client, notebook)
    studio.provider.answer(SHORT)
    studio.provider.answer(SHORT)
    await make(studio, document)
    failed = await told(client, document)
    assert (failed["status"], failed["error_code"]) == ("failed", "model_answer_invalid")
    assert "3 words, not 600 to 800" in failed["error"]
    assert (calls(studio, "document"), calls(studio, "tts")) == (2, 0)
    await make(studio, document)
    assert calls(studio, "document") == 2, "a failed one waits for its owner"

    again = await client.post(f"/documents/{document}/retry")
    assert (again.status_code, again.json()["status"]) == (202, "queued")
    problem(await client.post(f"/documents/{document}/retry"), 429, "quota_exhausted")
    studio.provider.answer(GOOD)
    await make(studio, document)
    assert (await told(client, document))["status"] == "ready"
    assert calls(studio, "document") == 3
    problem(await client.post(f"/documents/{document}/retry"), 409, "conflict")


async def test_a_retry_pays_for_what_is_missing_alone(studio: Beleg) -> None:
    client, notebook, source = await ready(studio)
    voices = {"voices": ["willow", "rowan"]}
    document = await queued(client, notebook, options=voices)
    rule = Rule((Fault.FORBIDDEN,), kind="tts", containing="Part 3.")
    studio.provider.settings.rules.append(rule)
    await make(studio, document)
    failed = await told(client, document)
    assert (failed["status"], failed["error_code"]) == ("failed", "model_refused")
    assert failed["transcript"].startswith("A: ")
    assert "\n\nB: Part 0." in failed["transcript"]
    served = [e.input_sha1 for e in studio.provider.ledger if e.kind == "tts" and e.characters]
    assert len(served) >= 4

    studio.provider.settings.rules.clear()
    # What is written stays as it is, whatever becomes of what it was made from.
    assert (await client.delete(f"/sources/{source}")).status_code == 204
    assert (await client.post(f"/documents/{document}/retry")).status_code == 202
    await make(studio, document)
    made = await told(client, document)
    assert (made["status"], made["voices"]) == ("ready", ["willow", "rowan"])
    assert made["transcript"] == failed["transcript"]
    assert made["citations"][0]["removed"]
    assert calls(studio, "document") == 1
    paid = [
        e.input_sha1
        for e in studio.provider.ledger
        if e.kind == "tts" and e.status.value == "served"
    ]
    assert len(paid) == len(set(paid)), "no text was read twice"
    assert sql(studio, "select count(*) from paid_speech") == [(0,)]
    rows = (await client.get("/usage?rows=1")).json()["items"]
    assert sum(row["kind"] == "tts" and row["status"] == "served" for row in rows) == len(paid)


@pytest.mark.parametrize("fault", ["NOTHING_SPOKEN", "SPOKEN_SHORT"])
async def test_a_recording_that_is_none_fails_it(studio: Beleg, fault: str) -> None:
    client, notebook, _ = await ready(studio)
    document = await queued(client, notebook)
    studio.provider.settings.rules.append(Rule((Fault[fault],), kind="tts"))
    await make(studio, document)
    failed = await told(client, document)
    assert (failed["status"], failed["error_code"]) == ("failed", "model_answer_invalid")
    assert "Press Retry" in failed["error"]
    assert failed["audio_url"] is None
    assert calls(studio, "tts") == 2, "it was billed, and asked for once more alone"


async def test_recordings_that_are_too_short_together_are_not_kept(studio: Beleg) -> None:
    client, notebook, _ = await ready(studio)
    document = await queued(client, notebook, options={"voices": ["willow", "rowan"]})
    rule = Rule((Fault.FORBIDDEN,), kind="tts", containing="Part 6.")
    studio.provider.settings.rules.append(rule)
    await make(studio, document)
    with psycopg.connect(studio.environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(
            "update paid_speech set audio = %s where document_id = %s",
            (recording("So short."), document),
        )
    studio.provider.settings.rules.clear()
    for status in ("failed", "ready"):
        assert (await client.post(f"/documents/{document}/retry")).status_code == 202
        await make(studio, document)
        made = await told(client, document)
        assert made["status"] == status
        assert ("part of the text is missing" in (made["error"] or "")) == (status == "failed")
    assert calls(studio, "document") == 1


async def test_an_overview_is_asked_about_and_does_not_crowd_the_notebook(studio: Beleg) -> None:
    client, notebook, source = await ready(studio)
    await limited(studio, client, {"max_sources_per_notebook": 2})
    suggested = (await client.get(f"/notebooks/{notebook}/suggestions")).json()
    document = await queued(client, notebook)
    studio.provider.answer(GOOD.replace("script 7.", f"script 7. The {WORD} lives here."))
    await make(studio, document)
    made = str((await told(client, document))["source_id"])
    await studio.read(made)
    indexed = (await client.get(f"/sources/{made}")).json()
    assert (indexed["kind"], indexed["status"], indexed["title"]) == (
        *("generated", "ready"),
        "A bridge",
    )
    [passage] = (await client.get(f"/sources/{made}/passages")).json()
    assert passage["text"].startswith("# A bridge\n\nIt is so, as in script 0.")
    assert "[1]" not in passage["text"]
    assert (await client.get(f"/notebooks/{notebook}/suggestions")).json() == suggested
    async with studio.services.accounts.uow() as tx:
        held = await tx.notebooks.holdings(NotebookId(UUID(notebook)))
    assert [holding.kind for holding in held] == ["text", "audio_overview"]
    for about in (made, document):
        body = {"question": f"Where does the {WORD} live?", "about": about}
        answer = await client.post(f"/notebooks/{notebook}/questions?wait=1", json=body)
        assert {hit["source_id"] for hit in answer.json()["retrieved"]} == {made}
    await studio.text(client, notebook, "A second text, about a tower of stone.", "Tower")
    body = {"title": "Third", "text": "A third text."}
    problem(await client.post(f"/notebooks/{notebook}/sources", json=body), 413, "too_large")

    assert (await client.patch(f"/documents/{document}", json={"title": "Named"})).is_success
    assert (await client.get(f"/sources/{made}")).json()["title"] == "Named"
    problem(
        await client.patch(f"/documents/{document}", json={"title": " "}), 400, "invalid_request"
    )
    assert (await client.delete(f"/documents/{document}")).status_code == 204
    assert (await client.get(f"/sources/{made}")).status_code == 404
    assert (await client.get(f"/sources/{source}")).status_code == 200


async def test_a_source_that_goes_takes_its_quotes_along(studio: Beleg) -> None:
    client, notebook, source = await ready(studio)
    document = await queued(client, notebook)
    await make(studio, document)
    [cited] = (await told(client, document))["citations"]
    assert (cited["source_title"], cited["removed"]) == ("Bridge", False)
    assert (await client.delete(f"/notebooks/{notebook}/sources/{source}")).status_code == 204
    [cited] = (await told(client, document))["citations"]
    assert (cited["removed"], cited["source_title"], cited["quote"]) == (True, "", "")
    body = {"source_id": source}
    assert (await client.post(f"/notebooks/{notebook}/sources", json=body)).is_success
    assert (await told(client, document))["citations"][0]["quote"]
    assert (await client.delete(f"/sources/{source}")).status_code == 204
    now = await told(client, document)
    assert (now["status"], now["citations"][0]["removed"]) == ("ready", True)
    quotes = f"select data::text from document_citations where document_id = '{document}'"
    assert not any("many cars" in data for [data] in sql(studio, quotes))
    made = now["source_id"]
    assert (await client.delete(f"/sources/{made}")).status_code == 204
    assert (await client.get(f"/documents/{document}")).status_code == 404


async def deleted(
    beleg: Beleg,
    work: Coroutine[Any, Any, object],
    is_there: Callable[[], object],
    delete: Coroutine[Any, Any, httpx.Response],
) -> None:
    """Delete while `work` waits for an answer, and let that come."""
    running = asyncio.ensure_future(work)
    async with asyncio.timeout(30):
        while not is_there():
            assert not running.done(), running
            await asyncio.sleep(0.01)
    assert (await delete).status_code == 204
    await running
    assert await beleg.services.documents.blobs.keys("") == []


@pytest.mark.parametrize(
    ("what", "kind"), [("document", "document"), ("document", "tts"), ("notebook", "tts")]
)
async def test_deleted_while_it_is_made_nothing_stays(
    start: Start, tmp_path: Path, what: str, kind: str
) -> None:
    beleg = await start(**SPEAKS)
    client, notebook, source = await ready(beleg)
    beleg.provider.reset()
    beleg.provider.settings.speaking_delay_s = 0.3
    beleg.provider.settings.token_delay_s = 0.001
    beleg.provider.answer(GOOD.replace("script", WORD))
    document = await queued(client, notebook, focus=f"The {WORD}.")
    path = f"/documents/{document}" if what == "document" else f"/notebooks/{notebook}"

    async def delete() -> httpx.Response:
        gone = await client.delete(path)
        await client.delete(f"/sources/{source}")
        return gone

    work = beleg.services.generate_document(DocumentId(UUID(document)))
    await deleted(beleg, work, lambda: calls(beleg, kind), delete())
    url = beleg.environment["DATABASE_URL"]
    assert traces(url, tmp_path, WORD) == set()
    assert traces(url, tmp_path, document) == {
        *("model_calls.document_id", "saq_jobs.key", "saq_jobs.job"),
    }
    assert sql(beleg, "select count(*) from model_calls where status = 'pending'") == [(0,)]


@dataclass
class SlowStorage:
    """A storage that takes a recording only once it is let."""

    blobs: BlobStore
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    let: asyncio.Event = field(default_factory=asyncio.Event)

    async def put(self, key: str, content: BinaryIO) -> None:
        if "document-" in key:
            self.begun.set()
            await self.let.wait()
        await self.blobs.put(key, content)


async def test_a_storage_that_is_slow_keeps_no_question_waiting(studio: Beleg) -> None:
    client, notebook, _ = await ready(studio)
    studio.provider.answer(GOOD)
    document = await queued(client, notebook)
    storage = SlowStorage(studio.services.documents.blobs)
    making = replace(studio.services.generate_document, blobs=cast("BlobStore", storage))
    running = asyncio.create_task(making(DocumentId(UUID(document))))
    await storage.begun.wait()
    path = f"/notebooks/{notebook}/questions"
    asking = client.post(path, params={"wait": 1}, json={"question": "Is it red?"})
    answer = await asyncio.wait_for(asking, timeout=5)
    assert answer.json()["status"] == "complete"
    deleting = asyncio.create_task(client.delete(f"/documents/{document}"))
    await asyncio.sleep(0.1)
    storage.let.set()
    assert (await deleting).status_code == 204
    await running
    assert not [key for key in await storage.blobs.keys("") if document in key]


async def test_a_recording_without_its_row_is_swept(studio: Beleg) -> None:
    client, notebook, _ = await ready(studio)
    studio.provider.answer(GOOD)
    document = await queued(client, notebook)
    await make(studio, document)
    user, blobs = UserId(UUID(await me(client))), studio.services.documents.blobs
    gone = [f"{user}/document-{new_id()}", f"{user}/export-{new_id()}-0-1"]
    before = await blobs.keys(f"{user}/")
    assert document_key(user, DocumentId(UUID(document))) in before
    for key in gone:
        await blobs.put(key, io.BytesIO(b"left by a process that died"))
    await replace(studio.services.sweep_files, min_age=timedelta(seconds=-60))()
    assert await blobs.keys(f"{user}/") == before


async def test_a_notebook_takes_its_overviews_along(start: Start, tmp_path: Path) -> None:
    beleg = await start(**SPEAKS)
    client, notebook, source = await ready(beleg)
    document = await queued(client, notebook)
    beleg.provider.answer(GOOD.replace("script", WORD))
    await make(beleg, document)
    await beleg.read(str((await told(client, document))["source_id"]))
    url = beleg.environment["DATABASE_URL"]
    assert {"documents.text", "chunks.text"} <= traces(url, tmp_path, WORD)
    assert (await client.delete(f"/notebooks/{notebook}")).status_code == 204
    assert traces(url, tmp_path, WORD) == set()
    assert (await client.get(f"/sources/{source}")).status_code == 200
    assert len(await beleg.services.documents.blobs.keys("")) == 1


async def test_guests_may_listen_and_no_more(studio: Beleg) -> None:
    client, notebook, _ = await ready(studio)
    document = await queued(client, notebook)
    guest = await studio.user()
    body = {"email": (await guest.get("/me")).json()["email"], "role": "read"}
    assert (await client.post(f"/notebooks/{notebook}/shares", json=body)).status_code == 201
    await make(studio, document)
    listed = (await guest.get(f"/notebooks/{notebook}/documents")).json()["items"]
    assert [one["id"] for one in listed] == [document]
    assert listed[0]["citations"][0]["quote"]
    costs = [(await told(one, document))["cost"] for one in (client, guest)]
    assert (float(costs[0]) > 0, costs[1], listed[0]["cost"]) == (True, None, None)
    url = listed[0]["audio_url"].removeprefix("/api/v1")
    assert (await guest.get(url)).status_code == 200
    problem(await ask(guest, notebook), 403, "forbidden")
    problem(await guest.delete(f"/documents/{document}"), 403, "forbidden")
    problem(await guest.patch(f"/documents/{document}", json={"title": "x"}), 403, "forbidden")
    problem(await guest.post(f"/documents/{document}/retry"), 403, "forbidden")
    stranger = await studio.user()
    problem(await stranger.get(f"/documents/{document}"), 404, "not_found")


async def test_a_failed_overview_is_shown_to_the_admin_who_may_retry_it(studio: Beleg) -> None:
    client, notebook, _ = await ready(studio)
    document = await queued(client, notebook)
    studio.provider.settings.rules.append(Rule((Fault.FORBIDDEN,), kind="document"))
    await make(studio, document)
    admin = await studio.user()
    sql(studio, f"update users set is_admin = true where id = '{await me(admin)}'")
    failed = (await admin.get("/admin/failed-jobs")).json()["items"]
    [job] = [one for one in failed if one["id"] == document]
    assert (job["kind"], job["code"]) == ("make_document", "model_refused")
    another = await queued(client, notebook)
    busy = await admin.post(f"/admin/failed-jobs/{document}/retry")
    problem(busy, 429, "quota_exhausted")
    assert (await client.delete(f"/documents/{another}")).status_code == 204
    assert (await admin.post(f"/admin/failed-jobs/{document}/retry")).status_code == 202
    assert (await told(client, document))["status"] == "queued"


async def test_an_account_takes_its_overviews_along_and_leaves_none(
    start: Start, tmp_path: Path
) -> None:
    beleg = await start(**SPEAKS)
    await beleg.user()  # the admin
    client, notebook, _ = await ready(beleg)
    document = await queued(client, notebook)
    beleg.provider.answer(GOOD.replace("script", WORD))
    await make(beleg, document)
    made, user = await told(client, document), UserId(UUID(await me(client)))
    export = (await client.post("/me/export")).json()["id"]
    await beleg.services.export_account(user, ExportId(UUID(export)))
    taken = (await client.get(f"/me/exports/{export}/archive")).content
    with zipfile.ZipFile(io.BytesIO(taken)) as archive:
        folder = f"documents/{document}"
        kept = json.loads(archive.read(f"{folder}/document.json"))
        assert (kept["title"], kept["text"]) == (made["title"], made["transcript"])
        assert kept["citations"][0]["quote"] == made["citations"][0]["quote"]
        assert len(archive.read(f"{folder}/audio.mp3")) == made["bytes"]
        assert json.loads(archive.read("manifest.json"))["documents"] == 1

    assert await queued(client, notebook)
    async with beleg.services.accounts.uow() as tx:
        owner = await tx.accounts.get(user)
    assert owner
    await beleg.services.delete_account.request(user, by=owner)
    await beleg.services.delete_account(user)
    url = beleg.environment["DATABASE_URL"]
    assert traces(url, tmp_path, WORD) == set()
    assert traces(url, tmp_path, document) == {"saq_jobs.key", "saq_jobs.job"}
    assert await beleg.services.documents.blobs.keys("") == []
    assert sql(beleg, "select count(*) from documents_of_day") == [(0,)]


async def test_without_its_sources_it_fails_before_anything_is_spent(studio: Beleg) -> None:
    client, notebook, source = await ready(studio)
    document = await queued(client, notebook)
    assert (await client.delete(f"/sources/{source}")).status_code == 204
    before = len(studio.provider.ledger)
    await make(studio, document)
    failed = await told(client, document)
    assert (failed["status"], failed["cost"]) == ("failed", "0")
    assert "were deleted" in failed["error"]
    assert len(studio.provider.ledger) == before
