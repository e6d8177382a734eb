"""Audio overviews by the JSON API, the worker's part run in the test's own process."""

import io
import math
import re
from datetime import timedelta
from uuid import uuid4

import av
import httpx
import pytest

from tests.app.conftest import SPEAKS, Beleg, Start, problem
from tests.app.overviews import Json, ask, limited, make, me, queued, ready, sql, told

pytestmark = pytest.mark.asyncio(loop_scope="session")


def seconds_of(mp3: bytes) -> float:
    with av.open(io.BytesIO(mp3), "r") as container:
        [stream] = container.streams.audio
        assert (container.format.name, stream.codec_context.layout.nb_channels) == ("mp3", 1)
        return math.fsum(f.samples / f.sample_rate for f in container.decode(stream))


async def test_an_overview_is_written_spoken_and_billed(studio: Beleg) -> None:
    beleg = studio
    client, notebook, source = await ready(beleg)
    response = await ask(client, notebook, focus="The colour.")
    document = response.json()
    assert response.status_code == 202
    assert response.headers["location"] == f"/api/v1/documents/{document['id']}"
    assert (document["status"], document["title"], document["audio_url"]) == ("queued", "", None)
    assert (document["language"], document["voices"]) == ("en", ["willow"])
    assert document["source_ids"] == [source]
    await make(beleg, document["id"])

    made = await told(client, document["id"])
    assert (made["status"], made["error"], made["progress"]) == ("ready", None, None)
    assert made["title"] == "What the documents say"
    assert "The bridge was built in 1932" in made["transcript"]
    cited = made["citations"][0]
    mention = cited["mentions"][0]
    assert made["transcript"][mention["answer_start"] : mention["answer_end"]] == "[1]"
    [passage] = (await client.get(f"/sources/{source}/passages")).json()
    assert passage["text"][cited["start"] : cited["end"]] == cited["quote"]
    assert made["seconds"] > 60
    [script] = [e for e in beleg.provider.ledger if e.kind == "document"]
    spoken = [e for e in beleg.provider.ledger if e.kind == "tts"]

    rows = (await client.get("/usage?rows=1")).json()["items"]
    mine = [row for row in rows if row["document_id"] == made["id"]]
    assert {row["kind"] for row in mine} == {"document", "tts"}
    assert all(row["notebook_id"] == notebook and row["status"] == "served" for row in mine)
    assert sum(row["characters"] or 0 for row in mine) == sum(e.characters for e in spoken)
    assert sum(row["input_tokens"] for row in mine) == script.input_tokens
    assert float(made["cost"]) == pytest.approx(math.fsum(float(row["cost"]) for row in mine))
    assert float(made["cost"]) > 0

    page = (await client.get(f"/notebooks/{notebook}/documents")).json()
    assert [one["id"] for one in page["items"]] == [made["id"]]


async def test_it_is_played_by_its_link_and_taken_along(studio: Beleg) -> None:
    beleg = studio
    client, notebook, _ = await ready(beleg)
    document = await queued(client, notebook, title="My bridge / talk")
    for wanted in ("mp3", "md"):
        problem(await client.get(f"/documents/{document}/export?format={wanted}"), 409, "conflict")
    await make(beleg, document)
    made = await told(client, document)
    assert made["title"] == "My bridge / talk", "a title that was given is never replaced"
    url = made["audio_url"].removeprefix("/api/v1")
    nobody, called = await beleg.client(), len(beleg.provider.ledger)
    whole = await nobody.get(url)
    assert (whole.status_code, whole.headers["content-type"]) == (200, "audio/mpeg")
    assert whole.headers["cache-control"] == "no-store"
    assert len(whole.content) == made["bytes"] == int(whole.headers["content-length"])
    assert seconds_of(whole.content) == pytest.approx(made["seconds"], rel=0.02)

    for asked, first, last in (
        ("bytes=100-199", 100, 199),
        ("bytes=100-", 100, made["bytes"] - 1),
        ("bytes=-50", made["bytes"] - 50, made["bytes"] - 1),
    ):
        part = await nobody.get(url, headers={"Range": asked})
        assert part.status_code == 206, asked
        assert part.headers["content-range"] == f"bytes {first}-{last}/{made['bytes']}"
        assert part.content == whole.content[first : last + 1]
    beyond = await nobody.get(url, headers={"Range": f"bytes={made['bytes']}-"})
    problem(beyond, 416, "no_such_range")
    assert beyond.headers["content-range"] == f"bytes */{made['bytes']}"
    backwards = await nobody.get(url, headers={"Range": "bytes=5-3"})
    assert (backwards.status_code, backwards.content) == (200, whole.content)
    head = await nobody.head(url, headers={"Range": "bytes=0-9"})
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == whole.headers["content-length"]
    saved = await nobody.get(f"{url}&download=1")
    assert saved.headers["content-disposition"] == (
        "attachment; filename*=UTF-8''My%20bridge%20-%20talk.mp3"
    )
    taken = await client.get(f"/documents/{document}/export?format=mp3")
    assert taken.content == whole.content
    text = await client.get(f"/documents/{document}/export?format=md")
    assert text.headers["content-type"].startswith("text/markdown")
    assert text.text.startswith("# My bridge / talk\n\n")
    assert "- \\[1\\] Bridge: “It is red and carries many cars every day.”" in text.text
    assert text.text.endswith("## Sources\n\n- Bridge\n\n")
    problem(await client.get(f"/documents/{document}/export?format=pdf"), 400, "invalid_request")
    assert len(beleg.provider.ledger) == called, "whoever listens pays nothing"


async def test_a_link_is_good_for_its_document_and_ten_minutes(
    studio: Beleg, monkeypatch: pytest.MonkeyPatch
) -> None:
    beleg = studio
    client, notebook, _ = await ready(beleg)
    document = await queued(client, notebook)
    await make(beleg, document)
    made = await told(client, document)
    url = str(made["audio_url"]).removeprefix("/api/v1")
    nobody = await beleg.client()
    found = re.search(r"expires=(\d+)&signature=(.+)", url)
    assert found
    expires, signature = found.groups()
    for forged in (
        url.replace(signature, "A" * len(signature)),
        url.replace(signature, "ü"),
        url.replace(expires, str(int(expires) + 1)),
        url.replace(document, str(uuid4())),
    ):
        problem(await nobody.get(forged), 403, "forbidden")
    problem(await nobody.get(f"/documents/{document}/audio"), 400, "invalid_request")
    assert (await nobody.get(f"/documents/{document}")).status_code == 401

    clock = beleg.services.documents.clock
    then = clock.now() + timedelta(seconds=601)
    monkeypatch.setattr(type(clock), "now", lambda _: then)
    problem(await nobody.get(url), 410, "expired")
    monkeypatch.undo()
    assert (await nobody.get(url)).status_code == 200
    assert (await client.delete(f"/documents/{document}")).status_code == 204
    problem(await nobody.get(url), 404, "not_found")


@pytest.mark.parametrize(
    ("wanted", "status", "said"),
    [
        ({"kind": "report"}, 400, "kind is one of audio_overview"),
        ({"options": {"voices": ["hal"]}}, 400, "There is no voice 'hal'"),
        ({"options": {"voices": ["linde", "linde"]}}, 400, "two different ones"),
        ({"options": {"voices": ["linde", "willow"]}}, 400, "one language"),
        ({"options": {"voices": ["linde"], "language": "en"}}, 400, "one language"),
        ({"options": {"voices": []}}, 400, "one voice, or two"),
        ({"options": {"language": "fr"}}, 400, "language is one of de, en"),
        ({"options": {"speed": 2}}, 400, "speed"),
        ({"focus": "x" * 2_001}, 400, "2,000 is the limit"),
        ({"title": "x" * 301}, 400, "at most 300"),
        ({"source_ids": []}, 400, "No source is selected"),
        ({"source_ids": ["x"]}, 404, "not in this notebook"),
        ({"source_ids": [str(uuid4())]}, 404, "not in this notebook"),
    ],
)
async def test_what_cannot_be_made_costs_nothing(
    studio: Beleg, wanted: Json, status: int, said: str
) -> None:
    client, notebook, _ = await ready(studio)
    await refused(studio, client, notebook, status, said, **wanted)


@pytest.mark.parametrize(
    ("limit", "status", "said"),
    [
        ("max_running_audio_overviews_per_notebook", 429, "Wait until one is ready"),
        ("max_audio_overviews_per_notebook", 409, "Delete one first"),
        ("max_audio_overviews_per_day", 429, "tomorrow (UTC)"),
    ],
)
async def test_a_person_s_own_limits_count(
    studio: Beleg, limit: str, status: int, said: str
) -> None:
    client, notebook, _ = await ready(studio)
    await limited(studio, client, {limit: 0})
    response = await refused(studio, client, notebook, status, said)
    if status == 429:
        soon = "per_notebook" in limit
        assert (response.headers["retry-after"] == "60") == soon
    await limited(studio, client, {limit: None})
    await queued(client, notebook)


async def test_without_credit_for_all_of_it_nothing_begins(studio: Beleg) -> None:
    client, notebook, _ = await ready(studio)
    sql(studio, f"update users set credit = 0.1 where id = '{await me(client)}'")
    await refused(studio, client, notebook, 402, "more than your credit covers")


async def test_what_is_not_set_up_is_named_but_unknown_voices_first(start: Start) -> None:
    for settings, named in (
        ({"TTS_PROVIDER": "none"}, "TTS_PROVIDER"),
        ({**SPEAKS, "LLM_MODEL": "extractive"}, "INFERENCE_API_KEY"),
    ):
        beleg = await start(**settings)
        client, notebook, _ = await ready(beleg)
        wrong = {"voices": ["hal"]}
        await refused(beleg, client, notebook, 400, "no voice 'hal'", options=wrong)
        await refused(beleg, client, notebook, 422, f"set {named}", source_ids=[])


async def test_a_source_that_is_not_ready_or_was_made_here_is_none(studio: Beleg) -> None:
    client, notebook, source = await ready(studio)
    body = {"title": "Later", "text": "It is not read yet."}
    later = (await client.post(f"/notebooks/{notebook}/sources", json=body)).json()["id"]
    chosen = {"source_ids": [source, later]}
    await refused(studio, client, notebook, 409, "“Later” is not ready yet", **chosen)
    document = await queued(client, notebook)
    assert (await told(client, document))["source_ids"] == [source]
    await make(studio, document)
    made = (await told(client, document))["source_id"]
    await refused(studio, client, notebook, 400, "no source of another", source_ids=[made])


async def refused(
    beleg: Beleg,
    client: httpx.AsyncClient,
    notebook: str,
    status: int,
    said: str,
    **wanted: object,
) -> httpx.Response:
    """Ask for what cannot be made: nothing is spent, and nothing is there afterwards."""
    listed = (await client.get(f"/notebooks/{notebook}/documents")).json()["items"]
    made = f"select sum(made) from documents_of_day where user_id = '{await me(client)}'"
    counted, called = sql(beleg, made), len(beleg.provider.ledger)
    response = await ask(client, notebook, **wanted)
    assert response.status_code == status, response.text
    assert said in response.json()["detail"]
    assert len(beleg.provider.ledger) == called
    assert sql(beleg, made) == counted
    now = (await client.get(f"/notebooks/{notebook}/documents")).json()["items"]
    assert [one["id"] for one in now] == [one["id"] for one in listed]
    return response
