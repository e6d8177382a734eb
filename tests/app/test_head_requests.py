"""HEAD answers what GET does, without a body."""

import asyncio
from uuid import uuid4

import httpx
import pytest

from tests.app.conftest import Beleg
from tests.provider import Fault

pytestmark = pytest.mark.asyncio(loop_scope="session")

TEXT = "The bridge was built in 1932. It is red and carries many cars every day."


def _headers(response: httpx.Response) -> dict[str, str]:
    return {name: text for name, text in response.headers.items() if name != "x-request-id"}


async def test_a_head_tells_what_a_get_would(beleg: Beleg) -> None:
    client, nobody = await beleg.user(), await beleg.client()
    source = await beleg.text(client, await beleg.notebook(client), TEXT)
    for asking, path, status in (
        (client, f"/sources/{source}/original", 200),
        (client, f"/sources/{source}", 200),
        (client, "/notebooks", 200),
        (nobody, f"/sources/{source}/original", 401),
        (client, f"/sources/{uuid4()}", 404),
        (client, f"/sources/{source}/retry", 405),
    ):
        got, head = await asking.get(path), await asking.head(path)
        assert (got.status_code, head.status_code) == (status, status), path
        assert head.content == b""
        assert _headers(head) == _headers(got)


async def test_a_head_waits_for_no_stream(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    await beleg.text(client, notebook, TEXT)
    beleg.provider.fail(Fault.HANG, kind="chat")
    asked = (
        await client.post(f"/notebooks/{notebook}/questions", json={"question": "When?"})
    ).json()
    path = f"/answers/{asked['answer_id']}"
    async with asyncio.timeout(5):
        head = await client.head(f"{path}/events")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"].startswith("text/event-stream")
    assert (await client.get(path)).json()["status"] == "streaming"
    await client.post(f"{path}/stop")
