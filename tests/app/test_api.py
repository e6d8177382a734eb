"""The JSON API's shapes and statuses, route by route."""

import json
import re
from decimal import Decimal
from pathlib import Path
from urllib.parse import unquote
from uuid import uuid4

import httpx
import pytest

from tests.adapters.small_pdf import line, pdf
from tests.app.conftest import Beleg, Start, problem

pytestmark = pytest.mark.asyncio(loop_scope="session")

TEXT = "The bridge was built in 1932. It is red and carries many cars every day."


async def test_a_source_has_every_field_of_the_contract(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    added = await client.post(
        f"/notebooks/{notebook}/sources", json={"title": "Bridge", "text": TEXT}
    )
    assert added.json()["progress"] == {"stage": "queued", "done": 0, "total": 0}
    source = added.json()["id"]
    await beleg.read(source)
    body = (await client.get(f"/sources/{source}")).json()
    assert body["progress"] == {"stage": "ready", "done": 1, "total": 1}
    assert {
        *("id", "kind", "title", "status", "progress", "error", "language", "pages", "words"),
        *("chunk_count", "summary", "bytes", "created_at"),
    } <= body.keys()
    assert (body["kind"], body["status"], body["title"]) == ("text", "ready", "Bridge")
    assert (body["words"], body["pages"], body["chunk_count"]) == (15, None, 1)
    assert (body["bytes"], body["language"]) == (len(TEXT), "en")
    assert body["created_at"].endswith("Z")


async def test_notebooks_are_created_listed_changed_and_deleted(beleg: Beleg) -> None:
    client = await beleg.user()
    created = await client.post("/notebooks", json={"title": "  One\n two ", "language": "de"})
    assert created.status_code == 201
    notebook = created.json()
    assert notebook["title"] == "One two"
    assert (notebook["source_count"], notebook["chunk_count"]) == (0, 0)
    changed = await client.patch(f"/notebooks/{notebook['id']}", json={"title": "Two"})
    assert (changed.status_code, changed.json()["title"]) == (200, "Two")
    assert changed.json()["language"] == "de"
    assert (await client.delete(f"/notebooks/{notebook['id']}")).status_code == 204
    problem(await client.get(f"/notebooks/{notebook['id']}"), 404, "not_found")


async def test_lists_go_on_at_their_cursor(beleg: Beleg) -> None:
    client = await beleg.user()
    made = [await beleg.notebook(client, f"Notebook {n}") for n in range(5)]
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = (await client.get(f"/notebooks?limit=2&cursor={cursor}")).json()
        assert len(page["items"]) <= 2
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
    assert seen == made[::-1]


async def test_the_same_file_is_known_also_in_a_second_notebook(beleg: Beleg) -> None:
    client = await beleg.user()
    first, second = await beleg.notebook(client), await beleg.notebook(client)
    file = {"file": ("a.txt", TEXT.encode())}
    added = await client.post(f"/notebooks/{first}/sources", files=file)
    again = await client.post(f"/notebooks/{first}/sources", files=file)
    elsewhere = await client.post(f"/notebooks/{second}/sources", files=file)
    assert [r.status_code for r in (added, again, elsewhere)] == [202, 200, 200]
    assert added.json()["id"] == again.json()["id"] == elsewhere.json()["id"]
    assert added.headers["location"] == f"/api/v1/sources/{added.json()['id']}"
    library = (await client.get("/sources")).json()["items"]
    assert [item["id"] for item in library] == [added.json()["id"]]


async def test_an_entry_of_the_library_is_linked_and_unlinked(beleg: Beleg) -> None:
    client = await beleg.user()
    first, second = await beleg.notebook(client), await beleg.notebook(client)
    source = await beleg.text(client, first, TEXT)
    linked = await client.post(f"/notebooks/{second}/sources", json={"source_id": source})
    assert (linked.status_code, linked.json()["id"]) == (200, source)
    assert (await client.delete(f"/notebooks/{first}/sources/{source}")).status_code == 204
    problem(await client.delete(f"/notebooks/{first}/sources/{source}"), 404, "not_found")
    assert (await client.get(f"/notebooks/{first}/sources")).json()["items"] == []
    assert (await client.get(f"/sources/{source}")).json()["status"] == "ready"


async def test_the_fifty_first_source_is_too_many_and_leaves_nothing_behind(start: Start) -> None:
    beleg = await start(MAX_SOURCES_PER_NOTEBOOK="2")
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    for n in range(2):
        body = {"title": f"{n}", "text": f"Text number {n}."}
        assert (await client.post(f"/notebooks/{notebook}/sources", json=body)).status_code == 202
    body = {"title": "3", "text": "Text number 3."}
    told = problem(await client.post(f"/notebooks/{notebook}/sources", json=body), 413, "too_large")
    assert told["detail"].startswith("This notebook has 2 sources, and 2 is the limit.")
    assert len((await client.get("/sources")).json()["items"]) == 2
    assert len(await beleg.services.sources.blobs.keys("")) == 2


async def test_a_file_over_the_limit_is_refused(start: Start) -> None:
    beleg = await start(MAX_FILE_BYTES="1000")
    client = await beleg.user()
    path = f"/notebooks/{await beleg.notebook(client)}/sources"
    told = problem(
        await client.post(path, files={"file": ("a.txt", b"a " * 501)}), 413, "too_large"
    )
    assert "limit" in told["detail"]
    assert not await beleg.services.sources.blobs.keys("")


async def test_an_announced_length_over_the_limit_is_refused_before_it_is_read(
    start: Start,
) -> None:
    beleg = await start(MAX_FILE_BYTES="1000", MAX_AUDIO_BYTES="1000")
    client = await beleg.user()
    read = 0

    async def endless() -> object:
        nonlocal read
        for _ in range(100):
            read += 1
            yield b"x" * 100_000

    headers = {"content-length": "10000000", "content-type": "multipart/form-data; boundary=b"}
    path = f"/notebooks/{await beleg.notebook(client)}/sources"
    response = await client.post(path, content=endless(), headers=headers)  # type: ignore[arg-type]  # the body is never looked at
    told = problem(response, 413, "too_large")
    assert told["detail"] == "This has 10.0 MB; 0.001 MB is the limit."
    assert read <= 1


async def test_a_body_that_does_not_say_how_long_it_is_ends_at_the_limit(start: Start) -> None:
    beleg = await start(MAX_FILE_BYTES="1000", MAX_AUDIO_BYTES="1000")
    client = await beleg.user()

    async def long() -> object:
        for _ in range(20):
            yield b"x" * 100_000

    headers = {"content-type": "multipart/form-data; boundary=b"}
    path = f"/notebooks/{await beleg.notebook(client)}/sources"
    problem(await client.post(path, content=long(), headers=headers), 413, "too_large")  # type: ignore[arg-type]  # an async iterator of bytes


@pytest.mark.parametrize(
    ("title", "kind", "name"),
    [
        ("Bridge", "text", "Bridge.txt"),
        ("notes.md", "markdown", "notes.md"),
        ("AC/DC", "text", "AC-DC.txt"),
        ("", "text", "Text.txt"),
    ],
)
async def test_a_pasted_text_is_what_its_title_says(
    beleg: Beleg, title: str, kind: str, name: str
) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    # The first bytes of a PDF, written about in a text, make no PDF of it.
    text = "A file that begins with %PDF-1.7 is a PDF."
    body = (
        await client.post(f"/notebooks/{notebook}/sources", json={"title": title, "text": text})
    ).json()
    assert (body["kind"], body["name"], body["title"]) == (kind, name, title or "Text")


@pytest.mark.parametrize("text", ["", " \n\t "])
async def test_an_empty_text_is_refused(beleg: Beleg, text: str) -> None:
    client = await beleg.user()
    path = f"/notebooks/{await beleg.notebook(client)}/sources"
    body = {"title": "t", "text": text}
    problem(await client.post(path, json=body), 400, "invalid_request")


@pytest.mark.parametrize("text", ["word " * 200_001, "橋は赤い。" * 100_001])
async def test_too_many_words_fail_visibly_before_anything_is_spent(
    beleg: Beleg, text: str
) -> None:
    client = await beleg.user()
    source = await beleg.text(client, await beleg.notebook(client), text)
    body = (await client.get(f"/sources/{source}")).json()
    assert (body["status"], body["error_code"]) == ("failed", "too_large")
    assert "200,000" in body["error"]
    assert beleg.provider.ledger == []
    assert (await client.get("/usage?rows=1")).json()["items"] == []


async def test_only_a_failed_source_is_read_again(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    ready = await beleg.text(client, notebook, TEXT)
    problem(await client.post(f"/sources/{ready}/retry"), 409, "conflict")
    failed = await beleg.text(client, notebook, "word " * 200_001)
    retried = await client.post(f"/sources/{failed}/retry")
    assert (retried.status_code, retried.json()["status"]) == (202, "queued")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"url": "http://127.0.0.1/"}, 400, "address_refused"),
        ({"url": "https://example.org", "text": "x"}, 400, "invalid_request"),
        ({}, 400, "invalid_request"),
        ({"title": "only"}, 400, "invalid_request"),
        ({"text": "a", "source_id": str(uuid4())}, 400, "invalid_request"),
        ({"source_id": str(uuid4())}, 404, "not_found"),
        ({"source_id": "no id"}, 404, "not_found"),
        ({"text": 5}, 400, "invalid_request"),
        ([], 400, "invalid_request"),
    ],
)
async def test_a_source_that_cannot_be_is_refused(
    beleg: Beleg, body: object, status: int, code: str
) -> None:
    client = await beleg.user()
    path = f"/notebooks/{await beleg.notebook(client)}/sources"
    problem(await client.post(path, json=body), status, code)


@pytest.mark.parametrize("mode", ["auto", "text", "vision"])
async def test_a_capture_mode_may_be_given(beleg: Beleg, mode: str) -> None:
    client = await beleg.user()
    path = f"/notebooks/{await beleg.notebook(client)}/sources"
    form = {"pdf_capture": mode}
    response = await client.post(path, files={"file": ("a.txt", TEXT.encode())}, data=form)
    assert response.status_code == 202


async def test_an_unknown_capture_mode_and_a_missing_file_are_refused(beleg: Beleg) -> None:
    client = await beleg.user()
    path = f"/notebooks/{await beleg.notebook(client)}/sources"
    file = {"file": ("a.txt", TEXT.encode())}
    response = await client.post(path, files=file, data={"pdf_capture": "magic"})
    problem(response, 400, "invalid_request")
    other = {"other": ("a.txt", TEXT.encode())}
    problem(await client.post(path, files=other), 400, "invalid_request")
    two = [("file", ("a.txt", TEXT.encode())), ("file", ("b.txt", b"Something else."))]
    problem(await client.post(path, files=two), 400, "invalid_request")
    problem(
        await client.post(path, files={"file": ("a.psd", b"8BPS\0\1")}),
        *(415, "unsupported_type"),
    )
    problem(await client.post(path, files={"file": ("a.txt", b"")}), 400, "invalid_request")


def _names(folder: Path) -> list[str]:
    lines = (folder / "safety" / "filenames.jsonl").read_text().splitlines()
    return [json.loads(line)["name"] for line in lines]


def _files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


async def test_hostile_file_names_become_one_clean_line(beleg: Beleg, shared_data: Path) -> None:
    client = await beleg.user()
    names = [*_names(shared_data), "a\nb\"c'.txt", "../../x", "ü" * 400 + ".txt", ".."]
    names += ["gpj.\u202etxt", "a\u0000b.txt", "..\\..\\win.ini", "a;b=c.txt", "日本語.txt"]
    files = Path(beleg.environment["BELEG_DATA"])
    before = _files(files)
    kept = set()
    for start in range(0, len(names), 40):
        notebook = await beleg.notebook(client)
        for number, name in enumerate(names[start : start + 40], start):
            source = await _upload(client, notebook, name, f"Text {number}".encode())
            for shown in (source["name"], source["title"]):
                assert shown
                assert shown.isprintable()
                assert len(shown) <= 300
                assert "/" not in shown
                assert "\\" not in shown
            kept.add(source["id"])
    assert len(kept) == len(names)
    written = _files(files) - before
    assert len(written) == len(names)
    assert all(
        re.fullmatch(r"files/[0-9a-f-]{36}/[0-9a-f]{64}", str(path.relative_to(files)))
        for path in written
    )


async def _upload(
    client: httpx.AsyncClient, notebook: str, name: str, content: bytes, *, status: int = 202
) -> dict[str, str]:
    # Written by hand: a client library would refuse or escape the names that matter here.
    raw = name.encode("utf-8", "surrogatepass")
    raw = raw.replace(b'"', b"%22").replace(b"\n", b"%0A").replace(b"\r", b"%0D")
    body = b"\r\n".join(
        [
            b"--b",
            b'Content-Disposition: form-data; name="file"; filename="' + raw + b'"',
            b"Content-Type: text/plain",
            b"",
            content,
            b"--b--",
            b"",
        ]
    )
    headers = {"content-type": "multipart/form-data; boundary=b"}
    response = await client.post(f"/notebooks/{notebook}/sources", content=body, headers=headers)
    assert response.status_code == status, (name, response.text)
    found: dict[str, str] = response.json()
    return found


@pytest.mark.parametrize("name", ["a\udc80b.txt", "\ud83d.txt"])
async def test_a_file_name_that_is_no_text_is_refused(beleg: Beleg, name: str) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    refused = await _upload(client, notebook, name, b"The bridge is red.", status=400)
    assert refused["code"] == "invalid_request"
    assert (await client.get("/sources")).json()["items"] == []


@pytest.mark.parametrize("name", ['Brücke "7"; a.txt', "日本語.txt", "ü" * 300])
async def test_the_original_comes_as_an_attachment_that_nothing_renders(
    beleg: Beleg, name: str
) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    content = b"<script>alert(1)</script> is no page."
    added = await client.post(f"/notebooks/{notebook}/sources", files={"file": (name, content)})
    source = added.json()
    response = await client.get(f"/sources/{source['id']}/original")
    assert response.status_code == 200
    assert response.content == content
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-security-policy"] == "sandbox"
    kind, _, encoded = response.headers["content-disposition"].partition("; filename*=UTF-8''")
    assert kind == "attachment"
    assert encoded.isascii()
    assert unquote(encoded) == source["name"]


async def test_pages_are_drawn_and_quotes_found_on_them(beleg: Beleg, shared_data: Path) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    content = (shared_data / "pdfs" / "de-grundgesetz-50p.pdf").read_bytes()
    added = await client.post(
        f"/notebooks/{notebook}/sources", files={"file": ("gg.pdf", content, "application/pdf")}
    )
    source = added.json()["id"]
    image = await client.get(f"/sources/{source}/pages/1/image?width=200")
    assert image.headers["content-type"] == "image/png"
    assert image.content.startswith(b"\x89PNG")
    boxes = (await client.get(f"/sources/{source}/pages/1/highlights?start=0&end=40")).json()
    assert boxes
    assert all(0 <= value <= 1 for box in boxes for value in box.values())
    nothing = await client.get(f"/sources/{source}/pages/1/highlights?start=5&end=2147483647")
    assert nothing.status_code == 200
    for path in ("pages/51/image", "pages/0/image", "pages/99999999999/image", "pages/x/image"):
        problem(await client.get(f"/sources/{source}/{path}"), 404, "not_found")
    problem(
        await client.get(f"/sources/{source}/pages/1/highlights?start=1"),
        *(400, "invalid_request"),
    )


async def test_a_chunk_is_found_on_its_page_by_its_id(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    content = pdf(
        [line("The tower is as white as snow."), line("The bridge over it is red.", y=300)]
    )
    files = {"file": ("a.pdf", content)}
    added = await client.post(f"/notebooks/{notebook}/sources", files=files)
    source = added.json()["id"]
    await beleg.read(source)
    text = await beleg.text(client, notebook, TEXT)
    body = {"query": "Which colour has the bridge?"}
    hits = (await client.post(f"/notebooks/{notebook}/search", json=body)).json()["results"]
    [second] = [hit for hit in hits if hit["page"] == 2]
    [other] = [hit for hit in hits if hit["source_id"] == text]
    path = f"/sources/{source}/pages/2/highlights"
    ends = {"start": second["start"], "end": second["end"]}
    boxes = (await client.get(path, params={"chunk_id": second["chunk_id"]})).json()
    assert len(boxes) == 1
    assert boxes == (await client.get(path, params=ends)).json()
    both = await client.get(path, params={"chunk_id": str(uuid4()), "start": 0, "end": 3})
    assert both.json()[0]["width"] < boxes[0]["width"]
    for chunk in (other["chunk_id"], str(uuid4()), "x"):
        problem(await client.get(path, params={"chunk_id": chunk}), 404, "not_found")
    here = {"chunk_id": second["chunk_id"]}
    problem(await client.get(path.replace("/2/", "/1/"), params=here), 404, "not_found")
    stranger = await beleg.user()
    problem(await stranger.get(path, params=here), 404, "not_found")
    for params in ({}, {"start": 1}, {**here, "end": 1}):
        problem(await client.get(path, params=params), 400, "invalid_request")


async def test_a_web_page_is_queued_once_by_its_address(beleg: Beleg) -> None:
    client = await beleg.user()
    path = f"/notebooks/{await beleg.notebook(client)}/sources"
    first = await client.post(path, json={"url": " HTTPS://Example.org:443#top "})
    assert first.status_code == 202
    source = first.json()
    told = (source["kind"], source["url"], source["name"], source["title"], source["status"])
    assert told == ("url", *["https://example.org/"] * 3, "queued")
    again = await client.post(path, json={"url": "https://example.org/"})
    assert (again.status_code, again.json()["id"]) == (200, source["id"])
    elsewhere = f"/notebooks/{await beleg.notebook(client)}/sources"
    linked = await client.post(elsewhere, json={"url": "https://example.org/"})
    assert (linked.status_code, linked.json()["id"]) == (200, source["id"])
    assert len((await client.get("/sources")).json()["items"]) == 1
    problem(await client.get(f"/sources/{source['id']}/original"), 404, "not_found")
    problem(await client.post(f"/sources/{source['id']}/refresh"), 409, "conflict")
    text = await beleg.text(client, path.split("/")[2], TEXT)
    problem(await client.post(f"/sources/{text}/refresh"), 409, "conflict")
    assert (await client.delete(f"/sources/{source['id']}")).status_code == 204
    problem(await client.get(f"/sources/{source['id']}"), 404, "not_found")


async def test_search_rows_have_every_field_and_no_mark_of_citation(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    source = await beleg.text(client, notebook, TEXT)
    body = {"query": "When was the bridge's 'deck' built?", "k": 3, "mode": "rrf"}
    response = await client.post(f"/notebooks/{notebook}/search", json=body)
    [row] = response.json()["results"]
    assert row.keys() == {
        *("rank", "chunk_id", "source_id", "source_title", "page", "start", "end", "text"),
        *("similarity", "score"),
    }
    assert (row["rank"], row["source_id"], row["text"]) == (1, source, TEXT)
    [passage] = (await client.get(f"/sources/{source}/passages")).json()
    assert passage["text"][row["start"] : row["end"]] == row["text"]


@pytest.mark.parametrize(
    "change",
    [{"k": 0}, {"k": 101}, {"k": 10**30}, {"mode": "magic"}, {"query": " "}, {"query": "a" * 8001}],
)
async def test_a_search_that_cannot_be_costs_nothing(
    beleg: Beleg, change: dict[str, object]
) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    body = {"query": "a bridge", **change}
    problem(await client.post(f"/notebooks/{notebook}/search", json=body), 400, "invalid_request")
    assert beleg.provider.ledger == []


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        ("search", b'{"query": "a", "k": "3"}', "The body is not valid: Expected `int | null`"),
        ("search", b'{"query": "a", "k": 3.5}', "The body is not valid: Expected `int | null`"),
        ("search", b'{"query": 1}', "The body is not valid: Expected `str`"),
        ("search", b"[]", "The body is not valid: Expected `object`"),
        ("search", b'{"query": "a', "The body is not valid JSON: Input data was truncated."),
        ("questions", b'{"question": "a"', "The body is not valid JSON: Input data was truncated."),
        ("questions", b"{question}", "The body is not valid JSON: "),
        ("sources", b'{"title": "a", "text": "\xff"}', "The body is not valid JSON: "),
        ("sources", b'{"title": "a", "text": 1}', "The body is not valid: Expected `str | null`"),
    ],
)
async def test_a_malformed_body_is_refused_and_says_what_is_wrong(
    beleg: Beleg, path: str, content: bytes, said: str
) -> None:
    client = await beleg.user()
    address = f"/notebooks/{await beleg.notebook(client)}/{path}"
    headers = {"Content-Type": "application/json"}
    response = await client.post(address, content=content, headers=headers)
    assert problem(response, 400, "invalid_request")["detail"].startswith(said)
    assert beleg.provider.ledger == []


async def test_an_answer_has_every_field_of_the_contract(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    source = await beleg.text(client, notebook, TEXT)
    beleg.provider.answer("It was built in 1932 [1]. Cars cross it [1].")
    response = await client.post(
        f"/notebooks/{notebook}/questions?wait=1", json={"question": "When was it built?"}
    )
    assert response.status_code == 200
    answer = response.json()
    assert {
        *("id", "question", "status", "mode", "refused", "text", "citations", "retrieved"),
        *("checks", "usage", "error"),
    } <= answer.keys()
    assert (answer["status"], answer["mode"], answer["refused"]) == ("complete", "sources", False)
    [row] = answer["retrieved"]
    assert row["cited"] is True
    [citation] = answer["citations"]
    assert citation.keys() == {
        *("marker", "chunk_id", "source_id", "source_title", "page", "quote", "start", "end"),
        *("similarity", "removed", "mentions"),
    }
    assert (citation["marker"], citation["source_id"], citation["removed"]) == (1, source, False)
    assert [m.keys() for m in citation["mentions"]] == [
        {"answer_start", "answer_end", "quote", "start", "end"}
    ] * 2
    for mention in citation["mentions"]:
        assert answer["text"][mention["answer_start"] : mention["answer_end"]] == "[1]"
        assert TEXT[mention["start"] : mention["end"]] == mention["quote"]
    assert citation["quote"] == citation["mentions"][0]["quote"]
    assert Decimal(answer["usage"]["cost"]) > 0
    assert (await client.get(f"/answers/{answer['id']}")).json() == answer
    assert (await client.get(f"/notebooks/{notebook}/messages")).json()["items"] == [answer]
    assert (await client.delete(f"/notebooks/{notebook}/messages")).status_code == 204
    problem(await client.get(f"/answers/{answer['id']}"), 404, "not_found")


async def test_a_list_of_answers_shows_each_as_it_is_alone(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    path = f"/notebooks/{notebook}/questions?wait=1"
    free = (await client.post(path, json={"question": "Is there anything?"})).json()
    await beleg.text(client, notebook, TEXT)
    beleg.provider.answer("It was built in 1932 [1].")
    cited = (await client.post(path, json={"question": "When was it built?"})).json()
    rated = await client.post(f"/answers/{cited['id']}/feedback", json={"rating": "up"})
    listed = (await client.get(f"/notebooks/{notebook}/messages")).json()["items"]
    assert listed == [rated.json(), free]
    assert [len(answer["citations"]) for answer in listed] == [1, 0]
    assert Decimal(listed[0]["usage"]["cost"]) > 0 == Decimal(listed[1]["usage"]["cost"])


async def test_a_question_says_where_to_follow_its_answer(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    await beleg.text(client, notebook, TEXT)
    asked = await client.post(f"/notebooks/{notebook}/questions", json={"question": "When?"})
    assert asked.status_code == 201
    body = asked.json()
    assert body["events"] == f"/api/v1/answers/{body['answer_id']}/events"
    assert body["question_id"]
    stream = await client.get(f"http://beleg.test{body['events']}")
    assert stream.headers["content-type"].startswith("text/event-stream")
    events = _events(stream.text)
    assert [int(event["id"]) for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["event"] == "done"
    answer = json.loads(events[-1]["data"])["answer"]
    deltas = [json.loads(e["data"])["text"] for e in events if e["event"] == "delta"]
    assert "".join(deltas) == answer["text"]
    rest = await client.get(
        f"http://beleg.test{body['events']}", headers={"Last-Event-ID": events[-2]["id"]}
    )
    assert _events(rest.text) == events[-1:]
    for seen in (events[-1]["id"], "999999999"):
        over = await client.get(
            f"http://beleg.test{body['events']}", headers={"Last-Event-ID": seen}
        )
        assert (over.status_code, over.content) == (204, b"")
    stopped = await client.post(f"/answers/{body['answer_id']}/stop")
    assert (stopped.status_code, stopped.json()["status"]) == (202, "complete")


async def test_the_same_post_streams_where_events_are_accepted_and_says_where_it_goes_on(
    beleg: Beleg,
) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    await beleg.text(client, notebook, TEXT)
    path, body = f"/notebooks/{notebook}/questions", {"question": "When?"}
    headers = {"Accept": "text/event-stream", "Idempotency-Key": "k"}
    response = await client.post(path, json=body, headers=headers)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    events = _events(response.text)
    assert events[-1]["event"] == "done"
    there = response.headers["content-location"].removeprefix("/api/v1")
    assert (await client.get(there)).text == response.text
    # As clients do that know of one address only: they send the POST again.
    again = await client.post(path, json=body, headers={**headers, "Last-Event-ID": "1"})
    assert again.headers["content-location"] == response.headers["content-location"]
    assert _events(again.text) == events[1:]
    assert len([entry for entry in beleg.provider.ledger if entry.kind == "chat"]) == 1


def _events(text: str) -> list[dict[str, str]]:
    blocks = [block for block in text.split("\n\n") if block and not block.startswith(":")]
    return [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks]


async def test_zero_sources_are_a_mode_and_rubbish_is_a_selection_of_nothing(
    beleg: Beleg,
) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    await beleg.text(client, notebook, TEXT)
    path = f"/notebooks/{notebook}/questions?wait=1"
    before = len(beleg.provider.ledger)
    general = (await client.post(path, json={"question": "Why?", "source_ids": []})).json()
    assert (general["mode"], general["retrieved"]) == ("general", [])
    for selection in (["no id"], [str(uuid4())]):
        answer = (await client.post(path, json={"question": "?", "source_ids": selection})).json()
        assert (answer["mode"], answer["retrieved"], answer["status"]) == (
            *("sources", []),
            "complete",
        )
    for about in ("no id", str(uuid4())):
        answer = (await client.post(path, json={"question": "?", "about": about})).json()
        assert answer["retrieved"] == []
    kinds = [entry.kind for entry in beleg.provider.ledger[before:]]
    assert "embedding" not in kinds


@pytest.mark.parametrize("question", ["", " \n", "a" * 8001, "\u0000"])
async def test_a_question_has_one_to_eight_thousand_characters(beleg: Beleg, question: str) -> None:
    client = await beleg.user()
    path = f"/notebooks/{await beleg.notebook(client)}/questions"
    problem(await client.post(path, json={"question": question}), 400, "invalid_request")


async def test_the_day_s_questions_end_before_anything_is_spent(start: Start) -> None:
    beleg = await start(MAX_QUESTIONS_PER_NOTEBOOK_DAY="1")
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    path = f"/notebooks/{notebook}/questions?wait=1"
    assert (await client.post(path, json={"question": "One?"})).status_code == 200
    served = len(beleg.provider.ledger)
    refused = await client.post(path, json={"question": "Two?"})
    problem(refused, 429, "quota_exhausted")
    assert 0 < int(refused.headers["retry-after"]) <= 86_400
    # What is checked before: whose notebook it is, and the text.
    problem(await client.post(path, json={"question": ""}), 400, "invalid_request")
    assert len(beleg.provider.ledger) == served


async def test_without_credit_nothing_is_spent(start: Start) -> None:
    beleg = await start(SIGNUP_CREDIT="0")
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    source = await beleg.text(client, notebook, TEXT)
    body = (await client.get(f"/sources/{source}")).json()
    assert (body["status"], body["error_code"]) == ("failed", "credit_exhausted")
    told = problem(
        await client.post(
            f"/notebooks/{notebook}/questions", json={"question": "?", "source_ids": []}
        ),
        *(402, "credit_exhausted"),
    )
    assert "credit" in told["detail"]
    assert beleg.provider.ledger == []
    assert (await client.get(f"/notebooks/{notebook}/messages")).json()["items"] == []


async def test_usage_is_given_in_rows_and_in_sums(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    source = await beleg.text(client, notebook, TEXT)
    await client.post(f"/notebooks/{notebook}/questions?wait=1", json={"question": "When?"})
    rows = (await client.get("/usage?rows=1")).json()["items"]
    assert [row["kind"] for row in rows] == ["embedding", "embedding", "chat"]
    assert rows[0].keys() == {
        *("id", "kind", "model", "status", "input_tokens", "output_tokens", "seconds"),
        *("characters", "estimated", "unit_price", "cost", "created_at", "notebook_id"),
        *("source_id", "answer_id", "document_id"),
    }
    assert (rows[0]["source_id"], rows[2]["notebook_id"]) == (source, notebook)
    assert {row["status"] for row in rows} == {"served"}
    cost = sum(Decimal(row["cost"]) for row in rows)
    for group in ("day", "kind", "model", "notebook", "day,kind", "notebook,model"):
        sums = (await client.get("/usage", params={"group_by": group})).json()["items"]
        assert sum(Decimal(item["cost"]) for item in sums) == cost
        assert sum(item["calls"] for item in sums) == 3
        assert set(group.split(",")) <= sums[0].keys()
    me = (await client.get("/me")).json()
    assert Decimal(me["credit"]) == 5 - cost
    assert (me["usage_today"]["calls"], Decimal(me["usage_today"]["cost"])) == (3, cost)
    today = rows[0]["created_at"][:10]
    assert (await client.get(f"/usage?from={today}&to={today}")).json()["items"]
    assert (await client.get("/usage?to=2020-01-01")).json()["items"] == []
    assert (await client.get("/usage?from=0001-01-01&to=9999-12-31&rows=1")).json()["items"] == rows
    first = (await client.get("/usage?rows=1&limit=1")).json()
    rest = (await client.get(f"/usage?rows=1&cursor={first['next_cursor']}")).json()
    assert first["items"] + rest["items"] == rows


@pytest.mark.parametrize(
    "query", ["from=x", "to=2026-13-01", "group_by=user", "group_by=", "rows=x"]
)
async def test_usage_that_cannot_be_asked_for_is_refused(beleg: Beleg, query: str) -> None:
    client = await beleg.user()
    problem(await client.get(f"/usage?{query}"), 400, "invalid_request")


async def test_the_account_shows_and_changes_preferences(beleg: Beleg) -> None:
    client = await beleg.user()
    me = (await client.get("/me")).json()
    assert me["preferences"] == {"pdf_capture": "auto", "language": ""}
    changed = (await client.patch("/me", json={"pdf_capture": "text"})).json()
    assert changed["preferences"] == {"pdf_capture": "text", "language": ""}
    nested = {"preferences": {"language": "de"}}
    changed = (await client.patch("/me", json=nested)).json()
    assert changed["preferences"] == {"pdf_capture": "text", "language": "de"}
    assert (await client.get("/me")).json()["preferences"] == changed["preferences"]
    problem(await client.patch("/me", json={"language": "x\u0000"}), 400, "invalid_request")
    problem(await client.patch("/me", json={"pdf_capture": "x"}), 400, "invalid_request")


async def test_health_tells_whether_questions_can_be_asked(beleg: Beleg) -> None:
    nobody = await beleg.client()
    live = await nobody.get("http://beleg.test/health/live")
    ready = await nobody.get("http://beleg.test/health/ready")
    assert (live.status_code, ready.status_code) == (200, 200)
    problem(await nobody.get("http://beleg.test/health/else"), 404, "not_found")


async def test_metrics_count_requests_and_model_calls_without_saying_whose(start: Start) -> None:
    beleg = await start()
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    await beleg.text(client, notebook, TEXT)
    problem(await client.get(f"/sources/{uuid4()}"), 404, "not_found")
    nobody = await beleg.client()
    response = await nobody.get("http://beleg.test/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    lines = response.text.splitlines()
    route = 'method="GET",route="/api/v1/sources/{source_id}",status="404"'
    assert any(line.startswith(f"beleg_http_requests_total{{{route}}} ") for line in lines)
    assert any(line.startswith("beleg_http_first_byte_seconds_bucket") for line in lines)
    call = 'kind="embedding",model="qwen3-embedding-4b",status="served"'
    assert any(line.startswith(f"beleg_model_calls_total{{{call}}} ") for line in lines)
    assert notebook not in response.text
