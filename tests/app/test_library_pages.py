"""The library's pages over HTTP: what they list and do, also without scripts."""

import re

import httpx
import pytest

from tests.adapters.made_sound import tone, wav
from tests.app.conftest import Beleg, Start
from tests.app.test_page_routes import csrf, signed_in

pytestmark = pytest.mark.asyncio(loop_scope="session")

TEXT = b"The bridge was built in 1932. It is red and carries many cars every day."


class Reader:
    """A person at the pages, without scripts."""

    def __init__(self, client: httpx.AsyncClient, token: str) -> None:
        self.client, self.token = client, token

    async def page(self, path: str, **headers: str) -> str:
        response = await self.client.get(path, headers=headers)
        assert response.status_code == 200, response.text
        return response.text

    async def send(self, path: str, **form: object) -> httpx.Response:
        files = form.pop("files", None)
        data = {"csrf": self.token, **form}
        return await self.client.post(path, data=data, files=files)  # type: ignore[arg-type] # as httpx takes them

    async def notebook(self, title: str) -> str:
        return str((await self.send("/notebooks", title=title)).headers["location"])

    async def add(self, notebook: str, *files: tuple[str, bytes]) -> list[str]:
        """The ids of sources that are queued, newest first."""
        sent = await self.send(f"{notebook}/sources", files=[("file", file) for file in files])
        assert sent.status_code == 303, sent.text
        return re.findall(r'id="entry-([\w-]+)"', await self.page("/library"))


async def reader(beleg: Beleg) -> Reader:
    client = await signed_in(beleg)
    return Reader(client, csrf((await client.get("/")).text))


async def test_the_library_lists_finds_and_says_where_a_source_is_used(beleg: Beleg) -> None:
    person = await reader(beleg)
    assert "Your library is empty" in await person.page("/library", **{"accept-language": "en"})
    first, second = [await person.notebook(title) for title in ("Bridges <b>", "Rivers")]
    other, bridge = await person.add(first, ("bridge.txt", TEXT), ("other.md", b"# A tower\n\nIt."))
    await beleg.read(bridge)
    page = await person.page("/library")
    assert page.index(f"entry-{other}") < page.index(f"entry-{bridge}")
    assert f'<a href="{first}">Bridges &lt;b&gt;</a>' in page
    assert f'href="/sources/{bridge}"' in page
    assert f'href="/sources/{other}"' not in page  # nothing was read yet
    found = await person.page("/library?q=BRIDGE&kind=text&status=ready")
    assert f"entry-{bridge}" in found
    assert f"entry-{other}" not in found
    assert "entry-" not in await person.page("/library?q=bridge%00&kind=pdf&status=x")

    assert f'value="{bridge}"' not in await person.page(f"{first}/library")
    assert f'value="{bridge}"' in await person.page(f"{second}/library?q=bri")
    assert (await person.send(f"{second}/sources", source_id=bridge)).status_code == 303
    assert f'value="{bridge}"' not in await person.page(f"{second}/library")
    notebook_id = first.rsplit("/", 1)[1]
    assert (await person.send(f"/library/{other}/add", notebook_id=notebook_id)).status_code == 303
    assert (await person.send(f"/library/{other}/add", notebook_id="x")).status_code == 404
    assert "Rivers" in await person.page(f"/library/{bridge}", **{"hx-request": "true"})


async def test_a_source_is_stopped_read_again_and_deleted(beleg: Beleg) -> None:
    person = await reader(beleg)
    notebook = await person.notebook("Bridges")
    [source] = await person.add(notebook, ("bridge.txt", TEXT))
    assert "every 2s" in await person.page("/library")
    stopped = await person.send(f"/library/{source}/stop")
    assert stopped.headers["location"] == "/library"
    await beleg.read(source)  # its job ends quietly
    assert "entry failed" in await person.page("/library")
    assert (await person.send(f"{notebook}/sources/{source}/stop")).status_code == 409
    assert (await person.send(f"/library/{source}/retry")).status_code == 303
    await beleg.read(source)
    page = await person.page("/library")
    assert "entry ready" in page
    assert "every 2s" not in page
    assert (await person.send(f"/library/{source}/delete")).status_code == 303
    assert source not in await person.page("/library")
    assert source not in await person.page(notebook)


async def test_the_page_s_script_is_told_in_one_sentence_what_was_not_added(beleg: Beleg) -> None:
    person = await reader(beleg)
    notebook = await person.notebook("Bridges")
    person.client.headers["accept"] = "application/json"
    for files, said in (
        ([("file", ("a.txt", TEXT))], []),
        ([("file", ("a.exe", b"MZ\x90\0\0" * 50))], ["cannot be read"]),
        ([("file", ("b.txt", TEXT))], ["“a.txt” is in this notebook already."]),
    ):
        answer = await person.send(f"{notebook}/sources", files=files)
        told = answer.json()["problems"]
        assert len(told) == len(said)
        assert all(part in line for part, line in zip(said, told, strict=True))
    refused = await person.send(f"{notebook}/sources", text="http://127.0.0.1/")
    assert len(refused.json()["problems"]) == 1


async def test_a_recording_is_played_from_any_byte(start: Start) -> None:
    beleg = await start(STT_MODEL="whisper-1")
    person = await reader(beleg)
    content = wav(tone(0.5))
    notebook = await person.notebook("Talks")
    text, talk = await person.add(notebook, ("talk.wav", content), ("a.txt", TEXT))
    path = f"/sources/{talk}/sound"
    whole = await person.client.get(path)
    assert (whole.status_code, whole.content) == (200, content)
    assert whole.headers["content-type"] == "audio/wav"
    assert whole.headers["content-disposition"] == "attachment"
    for asked, first, last in (("bytes=10-", 10, len(content) - 1), ("bytes=3-9", 3, 9)):
        part = await person.client.get(path, headers={"range": asked})
        assert (part.status_code, part.content) == (206, content[first : last + 1])
        assert part.headers["content-range"] == f"bytes {first}-{last}/{len(content)}"
    beyond = await person.client.get(path, headers={"range": f"bytes={len(content)}-"})
    assert (beyond.status_code, beyond.json()["code"]) == (416, "no_such_range")
    assert (await person.client.get(f"/sources/{text}/sound")).status_code == 404


async def test_the_api_stops_a_source_and_names_its_notebooks(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    files = {"file": ("a.txt", TEXT)}
    source = (await client.post(f"/notebooks/{notebook}/sources", files=files)).json()["id"]
    stopped = await client.post(f"/sources/{source}/stop")
    assert (stopped.json()["status"], stopped.json()["error_code"]) == ("failed", "stopped")
    assert (await client.post(f"/sources/{source}/stop")).status_code == 409
    assert (await client.post(f"/sources/{source}/retry")).json()["status"] == "queued"
    places = await client.get(f"/sources/{source}/notebooks")
    assert places.json() == [{"id": notebook, "title": "Bridges"}]
