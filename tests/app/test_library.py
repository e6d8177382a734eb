"""One entry for a file, whatever the number of notebooks; deleted, nothing of it is left."""

import asyncio
import os
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from domain.account import User
from domain.ids import NotebookId, parse_id
from tests.app.conftest import Beleg, Start
from tests.app.traces import traces

pytestmark = pytest.mark.asyncio(loop_scope="session")

WORD = "Quoxalith"
TEXT = f"# {WORD} bridges\n\nThe {WORD} bridge was built in 1932. It is red. " + (
    "Many cars cross it on every day of the week, and few of them stop. " * 60
)
FILE = ("bridges.md", TEXT.encode())


def notebook_id(text: str) -> NotebookId:
    found = parse_id(text)
    assert found
    return NotebookId(found)


async def me(beleg: Beleg, client: httpx.AsyncClient) -> User:
    email = (await client.get("/me")).json()["email"]
    async with beleg.services.accounts.uow() as tx:
        found = await tx.accounts.by_email(email)
    assert found
    return found[0]


async def in_three_notebooks(beleg: Beleg, client: httpx.AsyncClient) -> tuple[str, list[str]]:
    """A file in three notebooks, each in another way: at once, again, and out of the library."""
    notebooks = [await beleg.notebook(client, title) for title in ("One", "Two", "Three")]
    first, second = await asyncio.gather(
        *(client.post(f"/notebooks/{n}/sources", files={"file": FILE}) for n in notebooks[:2])
    )
    assert sorted([first.status_code, second.status_code]) == [200, 202]
    source = str(first.json()["id"])
    assert second.json()["id"] == source
    await beleg.read(source)
    linked = await client.post(f"/notebooks/{notebooks[2]}/sources", json={"source_id": source})
    assert (linked.status_code, linked.json()["status"]) == (200, "ready")
    return source, notebooks


async def test_what_is_no_pdf_is_one_entry_whatever_mode_is_named(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    added = [
        await client.post(
            f"/notebooks/{notebook}/sources", files={"file": FILE}, data={"pdf_capture": mode}
        )
        for mode in ("auto", "text")
    ]
    assert [one.status_code for one in added] == [202, 200]
    assert len({one.json()["id"] for one in added}) == 1


async def test_a_file_in_three_notebooks_is_kept_read_and_paid_for_once(start: Start) -> None:
    beleg = await start()
    client = await beleg.user()
    source, notebooks = await in_three_notebooks(beleg, client)
    user = await me(beleg, client)
    assert len(await beleg.services.sources.blobs.keys(f"{user.id}/")) == 1
    paid = (await client.get("/usage", params={"rows": 1})).json()["items"]
    calls = [entry for entry in beleg.provider.ledger if entry.kind == "embedding"]
    embedding = [row for row in paid if row["kind"] == "embedding"]
    assert len(embedding) == len(calls)
    assert {row["source_id"] for row in embedding} == {source}
    [listed] = (await client.get("/sources")).json()["items"]
    for notebook in notebooks:
        found = (await client.get(f"/notebooks/{notebook}")).json()
        assert (found["source_count"], found["chunk_count"]) == (1, listed["chunk_count"])
        hits = (await client.post(f"/notebooks/{notebook}/search", json={"query": WORD})).json()
        assert {hit["source_id"] for hit in hits["results"]} == {source}
    again = await client.post(f"/notebooks/{notebooks[0]}/sources", files={"file": FILE})
    assert (again.status_code, again.json()["id"]) == (200, source)

    for notebook in notebooks:
        await client.delete(f"/notebooks/{notebook}/sources/{source}")
    assert (await client.get("/sources")).json()["items"] == [listed]
    assert len(await beleg.services.sources.blobs.keys(f"{user.id}/")) == 1


async def test_of_a_deleted_source_nothing_is_found_anywhere(start: Start, tmp_path: Path) -> None:
    beleg = await start()
    client = await beleg.user()
    source, notebooks = await in_three_notebooks(beleg, client)
    user, notebook = await me(beleg, client), notebooks[0]
    [entry] = (await beleg.services.sources.library(user, limit=2, after=None)).items
    version = entry.version_id
    assert version
    await beleg.services.summarise_source(version)
    beleg.provider.answer(f"When was the {WORD} bridge built?\nWhich colour has {WORD}?")
    await beleg.services.suggest.write(user, notebook_id(notebook), "en")
    beleg.provider.answer("It was built in 1933 [1], and is not red [1].")
    asked = {"question": "When was the red bridge built?"}
    answer = (await client.post(f"/notebooks/{notebook}/questions?wait=1", json=asked)).json()
    assert WORD in answer["citations"][0]["quote"]
    assert WORD in answer["citations"][0]["source_title"] + answer["retrieved"][0]["text"]
    key, query = {"Idempotency-Key": "search"}, {"query": "red bridge"}
    found = (await client.post(f"/notebooks/{notebook}/search", json=query, headers=key)).json()
    assert WORD in found["results"][0]["text"]
    url = beleg.environment["DATABASE_URL"]
    kept = traces(url, tmp_path, WORD)
    assert kept >= {
        *("sources.title", "passages.text", "chunks.text", "postings.term"),
        *("suggested_questions.questions", "idempotency_keys.resource"),
        *("answer_passages.text", "citations.mentions", "answer_events.data"),
    }

    assert "source_summaries.version_id" in traces(url, tmp_path, str(version))

    assert (await client.delete(f"/sources/{source}")).status_code == 204
    assert traces(url, tmp_path, WORD) == set()
    assert traces(url, tmp_path, source) == {
        "answer_passages.source_id",  # what its answer was made of, without a word of it
        *("answer_events.data", "model_calls.source_id", "saq_jobs.key", "saq_jobs.job"),
    }
    assert traces(url, tmp_path, str(version)) == {
        *("answer_passages.version_id", "answer_events.data", "saq_jobs.key", "saq_jobs.job"),
    }
    assert await beleg.services.sources.blobs.keys("") == []
    for path in (f"/sources/{source}", f"/sources/{source}/original"):
        assert (await client.get(path)).status_code == 404
    for each in notebooks:
        hits = await client.post(f"/notebooks/{each}/search", json={"query": WORD})
        assert hits.json() == {"results": []}
    stored = (await client.get(f"/answers/{answer['id']}")).json()
    assert stored["text"] == answer["text"]
    assert [(c["removed"], c["quote"], c["source_title"]) for c in stored["citations"]] == [
        (True, "", "")
    ]
    again = (await client.post(f"/notebooks/{notebook}/search", json=query, headers=key)).json()
    assert again == {"results": []}


DYING = """
import asyncio, io, os, sys
from dataclasses import replace
from uuid import UUID
from app.bootstrap import services
from app.settings import read_settings

async def main():
    async with services(read_settings()) as wired:
        class Dying(type(wired.add_source.blobs)):
            async def put(self, key, content):
                await super().put(key, content)
                os.kill(os.getpid(), 9)
        blobs = Dying(wired.add_source.blobs._folder)
        async with wired.accounts.uow() as tx:
            user = await tx.accounts.get(UUID(sys.argv[1]))
        adding = replace(wired.add_source, blobs=blobs)
        await adding(user, UUID(sys.argv[2]), io.BytesIO(b"The bridge is red."), "a.txt")

asyncio.run(main())
"""


async def test_a_process_killed_between_a_file_and_its_row_leaves_nothing_for_ever(
    start: Start, tmp_path: Path
) -> None:
    beleg = await start()
    client = await beleg.user()
    user, notebook = await me(beleg, client), await beleg.notebook(client)
    killed = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", DYING, str(user.id), notebook),
        env={**os.environ, **beleg.environment, "PYTHONPATH": str(Path.cwd())},
        cwd=tmp_path,
    )
    assert await killed.wait() == -9
    blobs = beleg.services.sources.blobs
    [orphan] = await blobs.keys("")
    assert (await client.get("/sources")).json()["items"] == []
    await beleg.services.sweep_files()
    assert await blobs.keys("") == [orphan]  # too young: its row might be about to be committed

    await client.post(f"/notebooks/{notebook}/sources", files={"file": FILE})
    half = tmp_path / "files" / str(user.id) / "half.part"
    half.write_bytes(b"The bridge is r")
    await replace(beleg.services.sweep_files, min_age=timedelta(seconds=-60))()
    assert not half.exists()
    [kept] = await blobs.keys("")
    assert await blobs.get(kept) == FILE[1]
