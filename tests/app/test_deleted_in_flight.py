"""A source that is deleted while something is made of it: nothing of that stays either."""

import asyncio
import io
import threading
from collections.abc import Callable, Coroutine, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from domain.ids import NotebookId, SourceId, VersionId, parse_id
from tests.adapters.made_sound import encoded
from tests.app.conftest import Beleg, Start
from tests.app.traces import traces
from tests.provider.pictures import coded, scan

pytestmark = pytest.mark.asyncio(loop_scope="session")

SETTINGS = {"STT_MODEL": "whisper-1", "URL_ALLOW_HOSTS": "127.0.0.1"}
WORD = "Quoxalith"
PAGE = f"<html><body><article><h1>{WORD}</h1><p>{'The bridge is red. ' * 40}</p></article></body>"


def uuid(text: object) -> Any:  # noqa: ANN401 - an id of any kind
    return parse_id(str(text))


async def deleted(
    beleg: Beleg,
    client: httpx.AsyncClient,
    source: str,
    work: Coroutine[Any, Any, object],
    is_there: Callable[[], object],
) -> None:
    """Delete it while `work` waits for an answer, and let that come."""
    running = asyncio.ensure_future(work)
    async with asyncio.timeout(30):
        while not is_there():
            assert not running.done(), running
            await asyncio.sleep(0.01)
    assert (await client.delete(f"/sources/{source}")).status_code == 204
    await asyncio.gather(running, return_exceptions=True)
    assert await beleg.services.sources.blobs.keys("") == []


def called(beleg: Beleg, kind: str) -> Callable[[], object]:
    return lambda: any(entry.kind == kind for entry in beleg.provider.ledger)


def picture() -> bytes:
    out = io.BytesIO()
    coded(4711).save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "make", "kind", "said"),
    [
        ("scan.pdf", lambda: scan([4711, 4712]), "vision", "mason 47"),
        ("page.png", picture, "vision", "mason 47"),
        ("talk.m4a", lambda: encoded("ipod", "aac"), "stt", "harbour froze"),
        ("bridge.txt", f"The {WORD} bridge is red.".encode, "embedding", WORD),
    ],
)
async def test_a_call_that_reads_it(
    start: Start, tmp_path: Path, name: str, make: Callable[[], bytes], kind: str, said: str
) -> None:
    beleg = await start(**SETTINGS)
    settings = beleg.provider.settings
    settings.vision_delay_s = settings.hearing_delay_s = settings.embedding_delay_s = 0.7
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    added = await client.post(f"/notebooks/{notebook}/sources", files={"file": (name, make())})
    source = str(added.json()["id"])
    await deleted(beleg, client, source, beleg.read(source), called(beleg, kind))
    url = beleg.environment["DATABASE_URL"]
    assert traces(url, tmp_path, said) == set()
    assert traces(url, tmp_path, source) == {
        "model_calls.source_id",
        "saq_jobs.key",
        "saq_jobs.job",
    }


async def test_calls_that_tell_of_it(start: Start, tmp_path: Path) -> None:
    beleg = await start(**SETTINGS)
    client = await beleg.user()
    me = (await client.get("/me")).json()["email"]
    async with beleg.services.accounts.uow() as tx:
        found = await tx.accounts.by_email(me)
    assert found
    for kind in ("summary", "chat"):
        notebook = await beleg.notebook(client)
        source = await beleg.text(client, notebook, f"The {WORD} bridge is red. It is long.")
        entry = await beleg.services.sources.get(found[0], SourceId(uuid(source)))
        beleg.provider.reset()
        beleg.provider.settings.token_delay_s = 0.3
        beleg.provider.answer([f"When was the {WORD} ", "bridge built?\n", f"Is {WORD} red?\n"])
        work = (
            beleg.services.summarise_source(VersionId(uuid(entry.version_id)))
            if kind == "summary"
            else beleg.services.suggest.write(found[0], NotebookId(uuid(notebook)), "en")
        )
        await deleted(beleg, client, source, work, called(beleg, kind))
        for said in (WORD, "of which this is the summary"):
            assert traces(beleg.environment["DATABASE_URL"], tmp_path, said) == set()


@pytest.fixture
def slow_site() -> Iterator[tuple[str, threading.Event, list[str]]]:
    """A page whose second visitor waits until the event is set; who came is listed."""
    go_on, asked = threading.Event(), []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            if len(asked) > 1:
                go_on.wait(30)
            body = PAGE.replace("red", f"red{len(asked)}").encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/{WORD}", go_on, asked
    server.shutdown()
    server.server_close()


async def test_a_page_that_is_fetched_again(
    start: Start, tmp_path: Path, slow_site: tuple[str, threading.Event, list[str]]
) -> None:
    address, go_on, asked = slow_site
    beleg = await start(**SETTINGS)
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    added = await client.post(f"/notebooks/{notebook}/sources", json={"url": address})
    source = str(added.json()["id"])
    await beleg.read(source)
    assert (await client.get(f"/sources/{source}")).json()["status"] == "ready"
    assert (await client.post(f"/sources/{source}/refresh")).status_code == 202
    asyncio.get_running_loop().call_later(1.5, go_on.set)
    await deleted(beleg, client, source, beleg.read(source), lambda: len(asked) > 1)
    assert traces(beleg.environment["DATABASE_URL"], tmp_path, WORD) == set()
