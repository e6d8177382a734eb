"""Every answer names its request, and so does what is logged for it."""

from typing import Any

import httpx
import pytest
from litestar import Litestar, Request, Response, get
from structlog.contextvars import get_contextvars

from app.request_id import RequestId
from tests.app.conftest import Beleg

BOUND: list[object] = []


@get("/breaks")
async def breaks() -> None:
    BOUND.append(get_contextvars().get("request_id"))
    raise RuntimeError


def on_error(_: Request[Any, Any, Any], __: RuntimeError) -> Response[None]:
    BOUND.append(get_contextvars().get("request_id"))
    return Response(None, status_code=500)


async def _get(**headers: str) -> httpx.Response:
    app: Any = Litestar(
        [breaks], middleware=[RequestId()], exception_handlers={RuntimeError: on_error}
    )
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://beleg.test") as client:
        return await client.get("/breaks", headers=headers)


async def test_what_is_logged_for_a_request_bears_its_name_also_where_it_fails() -> None:
    BOUND.clear()
    response = await _get()
    assert response.status_code == 500
    assert [response.headers["x-request-id"]] * 2 == BOUND
    assert "request_id" not in get_contextvars()


@pytest.mark.parametrize(
    ("given", "taken"), [("a-1.b_2", True), ("a b", False), ("x" * 65, False), ("", False)]
)
async def test_a_proxy_may_give_the_name(given: str, *, taken: bool) -> None:
    response = await _get(**{"X-Request-ID": given})
    assert (response.headers["x-request-id"] == given) is taken
    assert response.headers["x-request-id"]


@pytest.mark.asyncio(loop_scope="session")
async def test_each_request_has_a_name_of_its_own(beleg: Beleg) -> None:
    client = await beleg.client()
    names = {(await client.get("/me")).headers["x-request-id"] for _ in range(3)}
    assert len(names) == 3
