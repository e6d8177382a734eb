"""Every address of the OpenAPI document: for nobody, for a stranger, and for rubbish."""

import json
import random
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.openapi import describe
from tests.app.conftest import Beleg, problem

pytestmark = pytest.mark.asyncio(loop_scope="session")

UNKNOWN = (401, "not_signed_in")
TEXT = "The bridge was built in 1932. It is red and carries many cars every day."
ADDRESS = "http://beleg.test"


def _operations(beleg: Beleg) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in describe(beleg.app)["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


async def test_the_document_describes_every_address_of_the_contract(beleg: Beleg) -> None:
    nobody = await beleg.client()
    response = await nobody.get("/openapi.json")
    assert response.status_code == 200
    document = response.json()
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    known = {(method, path.removeprefix("/api/v1")) for method, path, _ in _operations(beleg)}
    assert {
        *(("GET", "/health/live"), ("GET", "/health/ready"), ("GET", "/metrics")),
        *(("POST", "/accounts"), ("POST", "/tokens"), ("GET", "/tokens")),
        ("GET", "/tokens/{token_id}"),
        *(("DELETE", "/tokens/{token_id}"), ("GET", "/me"), ("PATCH", "/me"), ("GET", "/usage")),
        *(("POST", "/notebooks"), ("GET", "/notebooks"), ("GET", "/notebooks/{notebook_id}")),
        *(("PATCH", "/notebooks/{notebook_id}"), ("DELETE", "/notebooks/{notebook_id}")),
        *(
            ("POST", "/notebooks/{notebook_id}/sources"),
            ("GET", "/notebooks/{notebook_id}/sources"),
        ),
        *(("DELETE", "/notebooks/{notebook_id}/sources/{source_id}"), ("GET", "/sources")),
        *(("GET", "/sources/{source_id}"), ("DELETE", "/sources/{source_id}")),
        *(("POST", "/sources/{source_id}/retry"), ("GET", "/sources/{source_id}/original")),
        *(("GET", "/sources/{source_id}/passages"),),
        *(("GET", "/sources/{source_id}/pages/{page}/image"),),
        *(("GET", "/sources/{source_id}/pages/{page}/highlights"),),
        *(("POST", "/notebooks/{notebook_id}/search"),),
        *(("POST", "/notebooks/{notebook_id}/questions"), ("GET", "/answers/{answer_id}")),
        *(("GET", "/answers/{answer_id}/events"), ("POST", "/answers/{answer_id}/stop")),
        *(("GET", "/notebooks/{notebook_id}/messages"),),
        *(("DELETE", "/notebooks/{notebook_id}/messages"),),
    } <= known


async def test_every_address_has_a_summary_a_tag_and_its_problems(beleg: Beleg) -> None:
    problem_schema = {"$ref": "#/components/schemas/Problem"}
    for method, path, operation in _operations(beleg):
        assert operation["summary"], (method, path)
        assert operation["tags"], (method, path)
        for status, response in operation["responses"].items():
            if status >= "400":
                [content] = response["content"].items()
                assert content == ("application/problem+json", {"schema": problem_schema})
    body = describe(beleg.app)["paths"]["/api/v1/notebooks/{notebook_id}/sources"]["post"]
    kinds = body["requestBody"]["content"]
    assert kinds.keys() == {"multipart/form-data", "application/json"}
    assert {"file", "pdf_capture"} <= kinds["multipart/form-data"]["schema"]["properties"].keys()
    assert body["responses"].keys() >= {"200", "202"}


async def test_references_within_the_document_lead_somewhere(beleg: Beleg) -> None:
    document = describe(beleg.app)
    names = set(document["components"]["schemas"])
    text = json.dumps(document)
    used = {part.split('"')[0] for part in text.split('"#/components/schemas/')[1:]}
    assert used <= names


async def test_the_page_of_the_document_loads_from_a_cdn_with_a_hash(beleg: Beleg) -> None:
    nobody = await beleg.client()
    response = await nobody.get("/docs")
    assert response.headers["content-type"].startswith("text/html")
    assert 'integrity="sha384-' in response.text
    assert "/api/v1/openapi.json" in response.text
    assert "default-src 'none'" in response.headers["content-security-policy"]
    problem(await nobody.get("/docs/else"), 404, "not_found")
    problem(await nobody.get("/docs/openapi.json"), 404, "not_found")


async def test_a_token_counts_in_its_header_alone(beleg: Beleg) -> None:
    client = await beleg.user()
    token = client.headers["authorization"].removeprefix("Bearer ")
    nobody = await beleg.client()
    for name in ("token", "access_token", "authorization", "bearer"):
        problem(await nobody.get(f"/me?{name}={token}"), 401, "not_signed_in")
    for scheme in ("Basic", "bear", "Token", ""):
        headers = {"Authorization": f"{scheme} {token}"}
        problem(await nobody.get("/me", headers=headers), 401, "not_signed_in")
    problem(await nobody.get("/me", headers={"Cookie": f"beleg_session={token}"}), *UNKNOWN)
    assert (await nobody.get("/me", headers={"Authorization": f"bearer {token}"})).is_success


async def test_what_is_not_there_is_a_problem_object(beleg: Beleg) -> None:
    client = await beleg.user()
    problem(await client.get("/nothing"), 404, "not_found")
    problem(await client.post("/nothing", json={}), 404, "not_found")
    refused = await client.put("/notebooks", json={})
    problem(refused, 405, "method_not_allowed")
    assert "POST" in refused.headers["allow"]
    html = {"Accept": "text/html"}
    problem(await client.get("/nothing", headers=html), 404, "not_found")


@pytest.mark.parametrize(
    ("content", "media_type", "status", "code"),
    [
        (b"{bad", "application/json", 400, "invalid_request"),
        (b"", "application/json", 400, "invalid_request"),
        (b"[]", "application/json", 400, "invalid_request"),
        (b"null", "application/json", 400, "invalid_request"),
        (b"\xff", "application/json", 400, "invalid_request"),
        (b'{"title": "\\ud800"}', "application/json", 400, "invalid_request"),
        (b'{"title": "a\xff"}', "application/json", 400, "invalid_request"),
        (b'{"title": 5}', "application/json", 400, "invalid_request"),
        (b'{"title": "a", "else": 1}', "application/json", 400, "invalid_request"),
        (b'{"title": "a"}', "text/plain", 415, "unsupported_type"),
        (b"title=a", "application/x-www-form-urlencoded", 415, "unsupported_type"),
        (b'{"title": "' + b"a" * 1_100_000 + b'"}', "application/json", 413, "too_large"),
        (b"[" * 100_000, "application/json", 400, "invalid_request"),
    ],
)
async def test_a_body_that_cannot_be_read_is_refused(
    beleg: Beleg, content: bytes, media_type: str, status: int, code: str
) -> None:
    client = await beleg.user()
    headers = {"content-type": media_type}
    problem(await client.post("/notebooks", content=content, headers=headers), status, code)


@pytest.mark.parametrize("path", ["/accounts", "/tokens", "/notebooks", "/notebooks/x/search"])
@pytest.mark.parametrize("media_type", ["", "text/plain", "multipart/form-data; boundary=b"])
async def test_a_json_address_takes_json_alone(beleg: Beleg, path: str, media_type: str) -> None:
    # Without a type a body is only taken beside a token, which no page of another site can send.
    client = await (beleg.user() if media_type else beleg.client())
    if media_type:
        path = path.replace("/x/", f"/{await beleg.notebook(client)}/")
    headers = {"content-type": media_type} if media_type else {}
    content = b'{"title": "a"}'

    async def in_chunks() -> AsyncIterator[bytes]:
        yield content

    for body in (content, in_chunks()):
        response = await client.post(path, content=body, headers=headers)
        if not media_type and path.startswith("/notebooks"):  # who must sign in learns that first
            problem(response, 401, "not_signed_in")
        else:
            problem(response, 415, "unsupported_type")


async def test_a_token_vouches_for_a_body_without_a_type(beleg: Beleg) -> None:
    client = await beleg.user()
    assert (await client.post("/notebooks", content=b'{"title": "a"}')).status_code == 201
    problem(await client.post("/notebooks", content=b"{bad"), 400, "invalid_request")


@pytest.mark.parametrize("limit", ["0", "501", "-1", "x", "1.5", "9" * 30, ""])
async def test_a_list_gives_one_to_five_hundred(beleg: Beleg, limit: str) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    for path in (
        *("/notebooks", "/sources", "/tokens", "/usage"),
        *(f"/notebooks/{notebook}/sources", f"/notebooks/{notebook}/messages"),
    ):
        problem(await client.get(f"{path}?limit={limit}"), 400, "invalid_request")
        problem(await client.get(f"{path}?cursor=x&rows=1"), 400, "invalid_request")
        assert (await client.get(f"{path}?limit=500")).status_code == 200


async def test_no_rubbish_makes_an_address_fail(beleg: Beleg) -> None:
    choose = random.Random(2)
    owner = await beleg.user()
    ids = await _everything(beleg, owner)
    operations = [each for each in _operations(beleg) if each[0] != "DELETE"]
    for _ in range(400):
        method, path, operation = choose.choice(operations)
        request = _rubbish(choose, method, path, operation, ids)
        response = await owner.send(owner.build_request(**request))
        assert response.status_code < 500, (request, response.text)
        if response.status_code >= 400:
            told = problem(response, response.status_code, response.json()["code"])
            assert told["code"] != "error"


_ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 10**30, 1.5, "", " ", "a", "\0", "a\0b", "é" * 9000, "\ufffe"),
    *("../../x", "'; drop table users; --", "%s{}", [], {}, [None], ["\0"], [[]], {"a": 1}),
    *("vector", "de", "auto", [str(uuid4())], "1", "\u202e", "🙂" * 100),
)


def _rubbish(
    choose: random.Random,
    method: str,
    path: str,
    operation: dict[str, Any],
    ids: dict[str, str],
) -> dict[str, Any]:
    """A request to that address whose parts are each right, wrong or odd."""
    parts = {name: choose.choice([right, right, right, "x", "%00"]) for name, right in ids.items()}
    parts["page"] = choose.choice(["1", "0", "-1", "2147483648", "9" * 25, "x"])
    query = {
        part["name"]: str(choose.choice(_ODD))
        for part in operation.get("parameters", [])
        if part["in"] == "query" and choose.random() < 0.5
    }
    headers = {
        part["name"]: choose.choice(["", "1", "-1", "9" * 40, "x" * 300, "a b"])
        for part in operation.get("parameters", [])
        if part["in"] == "header" and choose.random() < 0.5
    }
    request: dict[str, Any] = {
        "method": method,
        "url": ADDRESS + _filled(path, parts),
        "params": query,
        "headers": headers,
    }
    if method in {"POST", "PATCH"}:
        body = {name: choose.choice(_ODD) for name in _fields(path) if choose.random() < 0.7}
        content = json.dumps(body).encode()
        if choose.random() < 0.2:
            at = choose.randrange(len(content))
            content = content[:at] + choose.randbytes(3) + content[at:]
        request["content"] = content
        headers["content-type"] = choose.choice(
            ["application/json"] * 6 + ["text/plain", "multipart/form-data; boundary=b", "x"]
        )
    return request


def _fields(path: str) -> tuple[str, ...]:
    names: dict[str, tuple[str, ...]] = {
        "accounts": ("email", "password"),
        "tokens": ("email", "password", "name"),
        "me": ("pdf_capture", "language", "preferences"),
        "notebooks": ("title", "language"),
        "search": ("query", "k", "mode", "source_ids"),
        "questions": ("question", "about", "source_ids"),
        "sources": ("title", "text"),
    }
    return names.get(path.rsplit("/", 1)[-1], ("title", "language"))


def _filled(path: str, ids: dict[str, str]) -> str:
    for name in ("notebook_id", "source_id", "answer_id", "token_id"):
        path = path.replace(f"{{{name}}}", ids.get(name, str(uuid4())))
    path = path.replace("{page}", ids.get("page", "1"))
    return f"{path}?start=0&end=1" if path.endswith("/highlights") else path


def _body(path: str) -> dict[str, str] | None:
    """A right body for that address."""
    bodies = {
        "search": {"query": "a bridge"},
        "questions": {"question": "When?"},
        "sources": {"title": "a", "text": "b"},
        "notebooks": {"title": "a"},
    }
    last = path.rsplit("/", 1)[-1]
    return bodies.get(last, {} if last in {"{notebook_id}", "me"} else None)


async def _everything(beleg: Beleg, client: httpx.AsyncClient) -> dict[str, str]:
    """A notebook with a source and an answer."""
    notebook = await beleg.notebook(client)
    source = await beleg.text(client, notebook, TEXT)
    path = f"/notebooks/{notebook}/questions?wait=1"
    answer = (await client.post(path, json={"question": "When was it built?"})).json()
    return {"notebook_id": notebook, "source_id": source, "answer_id": answer["id"]}
