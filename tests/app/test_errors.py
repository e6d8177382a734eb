"""Errors as problem objects: status, code, headers."""

import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from litestar import Litestar, Request, get, post
from litestar.exceptions import HTTPException, InternalServerException
from litestar.params import FromQuery
from litestar.testing import create_test_client
from structlog.testing import capture_logs

from app.errors import (
    STATUS,
    on_beleg_error,
    on_http_error,
    on_unexpected,
    status_of,
    stored_problem,
)
from domain import errors
from domain.errors import BelegError, Problem

RAISED: list[Exception] = []


@get("/api/raise")
async def fail() -> None:
    raise RAISED[-1]


@get("/api/number")
async def number(value: FromQuery[int]) -> int:
    return value


def _leaves(kind: type[BelegError] = BelegError) -> Iterator[type[BelegError]]:
    """The leaves of the tree; what a module adds for itself never reaches a client."""
    below = [each for each in kind.__subclasses__() if each.__module__ == errors.__name__]
    for each in below:
        yield from _leaves(each)
    if not below:
        yield kind


def _response(error: Exception) -> tuple[int, dict[str, object], dict[str, str]]:
    RAISED.append(error)
    with create_test_client(
        [fail],
        exception_handlers={
            BelegError: on_beleg_error,
            HTTPException: on_http_error,
            Exception: on_unexpected,
        },
        raise_server_exceptions=False,
        openapi_config=None,
    ) as client:
        answer = client.get("/api/raise")
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.status_code, answer.json(), dict(answer.headers)


def test_every_leaf_of_the_tree_has_a_status_and_a_stable_code() -> None:
    leaves = list(_leaves())
    assert len(leaves) >= 14
    for leaf in leaves:
        assert leaf in STATUS, leaf
        assert leaf.code != "error"
        assert status_of(leaf()) == STATUS[leaf]
    codes = [leaf.code for leaf in leaves]
    assert len(set(codes)) == len(codes)


def test_the_tree_in_the_document_is_the_tree() -> None:
    document = inspect.getdoc(errors) or ""
    for leaf in _leaves():
        assert f" {leaf.__name__}" in document


@pytest.mark.parametrize("leaf", list(_leaves()), ids=lambda leaf: leaf.__name__)
def test_an_expected_error_is_a_problem_object_with_its_sentence(leaf: type[BelegError]) -> None:
    status, body, _ = _response(leaf("What happened, and what to do."))
    assert status == STATUS[leaf]
    assert body == {
        "type": "about:blank",
        "title": body["title"],
        "status": status,
        "detail": "What happened, and what to do.",
        "code": leaf.code,
    }


def test_what_may_work_later_says_when() -> None:
    _, _, headers = _response(errors.Unavailable())
    assert int(headers["retry-after"]) >= 1
    _, _, headers = _response(errors.ModelUnavailable(retry_after_s=7.2))
    assert headers["retry-after"] == "8"
    _, _, headers = _response(errors.OverQuota())
    assert 0 < int(headers["retry-after"]) <= 86_400
    _, _, headers = _response(errors.NotFound())
    assert "retry-after" not in headers


def test_who_is_not_signed_in_is_told_how() -> None:
    _, _, headers = _response(errors.NotSignedIn())
    assert headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("error", [RuntimeError("secret"), InternalServerException("secret")])
def test_a_mistake_of_ours_tells_nothing_of_itself(error: Exception) -> None:
    status, body, _ = _response(error)
    assert (status, body["code"]) == (500, "internal_error")
    assert "secret" not in str(body)


def test_a_missing_or_wrong_parameter_is_named() -> None:
    app = Litestar([number], exception_handlers={HTTPException: on_http_error}, openapi_config=None)
    with create_test_client(
        [number], exception_handlers=app.exception_handlers, openapi_config=None
    ) as client:
        missing, wrong = client.get("/api/number").json(), client.get("/api/number?value=x").json()
    assert (missing["status"], missing["code"]) == (400, "invalid_request")
    assert "value" in missing["detail"]
    assert wrong["detail"].startswith("value: ")


def test_a_stored_problem_keeps_its_code_and_gets_its_status_back() -> None:
    body = stored_problem(Problem("credit_exhausted", "No credit."))
    assert (body.status, body.code, body.detail) == (402, "credit_exhausted", "No credit.")
    assert stored_problem(Problem("something_else", "?")).status == 500


async def test_an_upload_that_breaks_off_is_no_mistake_of_ours() -> None:
    @post("/api/read")
    async def read(request: Request[Any, Any, Any]) -> None:
        async for _ in request.stream():
            pass

    said: list[Any] = []
    told: list[Any] = [{"type": "http.request", "body": b"half", "more_body": True}]

    async def receive() -> Any:  # noqa: ANN401 - a message of ASGI
        return told.pop() if told else {"type": "http.disconnect"}

    async def send(message: Any) -> None:  # noqa: ANN401
        said.append(message)

    app = Litestar([read], exception_handlers={HTTPException: on_http_error}, openapi_config=None)
    scope: Any = {
        "type": "http",
        "method": "POST",
        "path": "/api/read",
        "raw_path": b"/api/read",
        "query_string": b"",
        "headers": [],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "scheme": "http",
        "root_path": "",
        "http_version": "1.1",
        "app": app,
    }
    with capture_logs() as logs:
        await app(scope, receive, send)
    assert said[0]["status"] == 400
    assert [(log["event"], log["log_level"]) for log in logs] == [("hung_up", "info")]
