"""The studio on the page: forms, rows as they change, players, transcripts, and guests."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from uuid import UUID

import httpx
import pytest

from app import shelf
from app.routes import studio_pages
from app.security import COOKIE, csrf_token
from domain.access import Visitor
from domain.channels import DOCUMENT_CHANGED
from domain.document import DocumentKind
from domain.ids import NotebookId, new_id
from domain.notebook import Notebook
from tests.app.conftest import Beleg, Start, problem
from tests.app.overviews import limited, make, queued, ready, sql, told
from tests.app.test_page_routes import page_client
from tests.app.test_pages import frame
from tests.app.test_source_events import Listening

pytestmark = pytest.mark.asyncio(loop_scope="session")

HTMX = {"hx-request": "true"}


@dataclass(frozen=True)
class Reader:
    """One person by the API and in a browser."""

    api: httpx.AsyncClient
    pages: httpx.AsyncClient
    visitor: Visitor


async def _reader(beleg: Beleg, api: httpx.AsyncClient) -> Reader:
    token = api.headers["authorization"].removeprefix("Bearer ")
    visitor = await beleg.services.accounts.by_token(token)
    assert visitor is not None
    session = await beleg.services.accounts.open_session(visitor.user)
    headers = {"cookie": f"{COOKIE}={session}", "x-csrf-token": csrf_token(session)}
    return Reader(api, await page_client(beleg, **headers), visitor)


async def _scene(beleg: Beleg) -> tuple[Reader, str, str]:
    """A reader, their notebook, and a source in it that is ready."""
    client, notebook, source = await ready(beleg)
    return await _reader(beleg, client), notebook, source


async def _guest(beleg: Beleg, owner: Reader, notebook: str) -> Reader:
    guest = await _reader(beleg, await beleg.user())
    body = {"email": guest.visitor.user.email, "role": "read"}
    await owner.api.post(f"/notebooks/{notebook}/shares", json=body)
    return guest


def _form(ready_source: str, **more: object) -> dict[str, object]:
    ticked = {"offered": [ready_source], "source": [ready_source]}
    return {"language": "en", "voice_en": ["willow", "rowan"], **ticked, **more}


async def test_the_form_makes_one_however_often_it_is_sent(studio: Beleg) -> None:
    reader, notebook, source = await _scene(studio)
    form = _form(source, focus="The colour.", title="Red", key=str(new_id()))
    for _ in range(2):
        response = await reader.pages.post(f"/notebooks/{notebook}/documents", data=form)
        assert response.headers["location"] == f"/notebooks/{notebook}#studio"
    [made] = (await reader.api.get(f"/notebooks/{notebook}/documents")).json()["items"]
    assert (made["title"], made["focus"], made["voices"]) == (
        "Red",
        "The colour.",
        ["willow", "rowan"],
    )
    page = (await reader.pages.get(f"/notebooks/{notebook}")).text
    assert page.count(f'id="document-{made["id"]}"') == 1
    assert "has to be ready first" in page
    assert "studio-go" not in page


async def test_a_new_one_comes_as_a_row_with_a_fresh_key(studio: Beleg) -> None:
    reader, notebook, source = await _scene(studio)
    response = await reader.pages.post(
        f"/notebooks/{notebook}/documents", data=_form(source, key="once"), headers=HTMX
    )
    assert response.status_code == 200
    assert 'hx-target="#documents" hx-swap="afterbegin"' in response.text
    assert 'id="studio-key" value="once"' not in response.text
    assert 'id="studio-key"' in response.text
    assert "has to be ready first" in response.text


@pytest.mark.parametrize(
    ("changed", "status", "said"),
    [
        ({"voice_en": []}, 400, "one voice, or two"),
        ({"language": "fr"}, 400, "language is one of"),
        ({"source": []}, 400, "No source is selected"),
        ({"focus": "x" * 2_001}, 400, "2,000 is the limit"),
    ],
)
async def test_what_cannot_be_made_is_told_at_the_form(
    studio: Beleg, changed: dict[str, object], status: int, said: str
) -> None:
    reader, notebook, source = await _scene(studio)
    address, form = f"/notebooks/{notebook}/documents", _form(source, **changed)
    response = await reader.pages.post(address, data=form, headers=HTMX)
    assert response.status_code == status
    assert said in response.text
    assert "hx-retarget" not in response.headers, "it stays where the form shows it"
    assert "<form" not in response.text, "what was typed is left alone"
    assert (await reader.pages.post(address, data=form)).status_code == status
    assert not (await reader.api.get(f"/notebooks/{notebook}/documents")).json()["items"]


async def test_caps_are_told_before_and_after_the_button(studio: Beleg) -> None:
    reader, notebook, source = await _scene(studio)
    page = (await reader.pages.get(f"/notebooks/{notebook}")).text
    assert "10 left today, 20 in this notebook." in page
    assert re.search(r"Costs \$0\.\d+ at most\.", page)
    await limited(studio, reader.api, {"max_audio_overviews_per_day": 0})
    page = (await reader.pages.get(f"/notebooks/{notebook}")).text
    assert "Your 0 audio overviews of today are used up" in page
    assert "studio-go" not in page
    address = f"/notebooks/{notebook}/documents"
    late = await reader.pages.post(address, data=_form(source), headers=HTMX)
    assert late.status_code == 429
    assert "Your 0 audio overviews of today are used up" in late.text
    await limited(studio, reader.api, {"max_audio_overviews_per_day": None})
    sql(studio, f"update users set credit = 0.001 where id = '{reader.visitor.user.id}'")
    poor = await reader.pages.post(address, data=_form(source), headers=HTMX)
    assert poor.status_code == 402
    assert "more than your credit covers" in poor.text


async def test_after_a_problem_the_form_has_a_fresh_key(studio: Beleg) -> None:
    reader, notebook, source = await _scene(studio)
    address = f"/notebooks/{notebook}/documents"
    await reader.pages.post(address, data=_form(source, key="once"), headers=HTMX)
    other = _form(source, key="once", focus="Something else.")
    told = await reader.pages.post(address, data=other, headers=HTMX)
    assert told.status_code == 409, "the key was used for something else"
    assert 'id="studio-key" value="once"' not in told.text
    assert 'id="studio-key"' in told.text


async def test_what_is_missing_is_said_in_place_of_the_button(start: Start) -> None:
    reader, notebook, _ = await _scene(await start(TTS_PROVIDER="none"))
    page = (await reader.pages.get(f"/notebooks/{notebook}")).text
    assert "set TTS_PROVIDER" in page
    assert "studio-go" not in page


async def test_only_what_was_added_is_offered_to_be_made_from(studio: Beleg) -> None:
    reader, notebook, source = await _scene(studio)
    document = await queued(reader.api, notebook)
    await make(studio, document)
    made = (await told(reader.api, document))["source_id"]
    await studio.read(made)
    page = (await reader.pages.get(f"/notebooks/{notebook}")).text
    rows = re.findall(r'name="offered" value="([^"]+)" form="composer"( data-upload)?', page)
    assert set(rows) == {(source, " data-upload"), (made, "")}


async def _looking(reader: Reader, beleg: Beleg, notebook: str) -> tuple[Notebook, Listening]:
    where = NotebookId(UUID(notebook))
    return await beleg.services.notebooks.get(reader.visitor.user, where), Listening()


def _changes(
    beleg: Beleg, reader: Reader, notebook: Notebook, listener: Listening, seen: str
) -> AsyncIterator[bytes]:
    services = replace(beleg.services, listener=listener)
    known = shelf.read(seen)
    return studio_pages._changes(services, reader.visitor.user, notebook, known, frame())  # noqa: SLF001 - HTTP clients here get no stream before its end


async def test_rows_come_as_they_change_and_whoever_comes_back_gets_the_rest(
    studio: Beleg,
) -> None:
    reader, notebook, _ = await _scene(studio)
    first = await queued(reader.api, notebook)
    where, listener = await _looking(reader, studio, notebook)

    async def after(seen: str) -> tuple[str, str]:
        changes = _changes(studio, reader, where, listener, seen)
        await anext(changes)
        event = (await anext(changes)).decode()
        return event, event.split("\n", 1)[0].removeprefix("id: ")

    event, seen = await after("")
    assert f'id="document-{first}"' in event
    assert 'hx-target="#documents" hx-swap="afterbegin"' in event
    assert 'hx-target="#studio-offer"' in event
    assert listener.asked == [(DOCUMENT_CHANGED, notebook)]
    event, _ = await after(seen)
    assert first not in event.split("\n", 1)[1], "nothing has changed"

    await make(studio, first)
    second = await queued(reader.api, notebook)
    event, seen = await after(seen)
    assert f'hx-target="#document-{first}" hx-swap="outerMorph"' in event
    assert f"/documents/{first}/sound" in event
    assert f'id="document-{second}"' in event
    await reader.api.delete(f"/documents/{second}")
    event, _ = await after(seen)
    assert f'hx-target="#document-{second}" hx-swap="delete"' in event
    assert f"document-{first}" not in event


async def test_a_state_that_nobody_wrote_here_names_nothing() -> None:
    assert shelf.read('<b>:x,,:,"><script>:1') == {}


async def test_a_player_gets_a_fresh_link_each_time(studio: Beleg) -> None:
    reader, notebook, _ = await _scene(studio)
    document = await queued(reader.api, notebook, title="Red bridge")
    waiting = await reader.pages.get(f"/documents/{document}/sound")
    assert waiting.status_code == 409
    await make(studio, document)
    played = await reader.pages.get(f"/documents/{document}/sound")
    assert (played.status_code, played.headers["cache-control"]) == (303, "no-store")
    nobody = await page_client(studio)
    part = await nobody.get(played.headers["location"], headers={"range": "bytes=0-9"})
    assert (part.status_code, len(part.content)) == (206, 10)
    saved = await reader.pages.get(f"/documents/{document}/sound?download=true")
    whole = await nobody.get(saved.headers["location"])
    assert "Red%20bridge.mp3" in whole.headers["content-disposition"]


async def test_a_guest_hears_and_reads_along_but_makes_and_deletes_nothing(studio: Beleg) -> None:
    reader, notebook, source = await _scene(studio)
    document = await queued(reader.api, notebook, options={"voices": ["willow", "rowan"]})
    await make(studio, document)
    guest = await _guest(studio, reader, notebook)
    page = (await guest.pages.get(f"/notebooks/{notebook}")).text
    assert f"/documents/{document}/sound" in page
    for control in (
        "studio-form",
        f"/documents/{document}/rename",
        f"/documents/{document}/delete",
    ):
        assert control not in page
    for act in ("rename", "retry", "delete"):
        refused = await guest.pages.post(f"/documents/{document}/{act}", data={"title": "Mine"})
        assert refused.status_code == 403
    event = _changes(studio, guest, *await _looking(guest, studio, notebook), "")
    await anext(event)
    assert b"studio-offer" not in await anext(event)
    assert (await guest.pages.get(f"/documents/{document}/sound")).status_code == 303

    quote = (await told(reader.api, document))["citations"][0]["quote"]
    fragment = (await guest.pages.get(f"/documents/{document}/transcript", headers=HTMX)).text
    assert '<strong class="speaker">Willow</strong> The bridge was built' in fragment
    place = re.findall(r'hx-get="(/documents/[^"]+)" hx-target="#viewer"', fragment)[0]
    viewer = (await guest.pages.get(place, headers=HTMX)).text
    assert re.search(rf"<mark[^>]*>{re.escape(quote)}</mark>", viewer)
    alone = (await guest.pages.get(f"/documents/{document}/transcript")).text
    assert "<title>What the documents say" in alone
    assert f'href="{place}" title' in alone, "no viewer stands beside it"
    await reader.api.delete(f"/notebooks/{notebook}/sources/{source}")
    gone = (await guest.pages.get(place, headers=HTMX)).text
    assert "Source removed" in gone
    stranger = await _reader(studio, await studio.user())
    for path in (place, f"/documents/{document}/transcript", f"/documents/{document}/sound"):
        assert (await stranger.pages.get(path)).status_code == 404


async def test_one_is_renamed_and_deleted_on_the_page(studio: Beleg) -> None:
    reader, notebook, _ = await _scene(studio)
    document = await queued(reader.api, notebook)
    renamed = await reader.pages.post(
        f"/documents/{document}/rename", data={"title": "Mine"}, headers=HTMX
    )
    assert f'id="document-{document}"' in renamed.text
    assert "Mine" in renamed.text
    nameless = await reader.pages.post(f"/documents/{document}/rename", data={"title": " "})
    assert nameless.status_code == 400
    gone = await reader.pages.post(f"/documents/{document}/delete", headers=HTMX)
    assert (gone.status_code, gone.text) == (200, "")
    problem(await reader.api.get(f"/documents/{document}"), 404, "not_found")
    room = await studio.services.create_document.room(
        reader.visitor.user, NotebookId(UUID(notebook)), DocumentKind.AUDIO_OVERVIEW
    )
    assert (room.running, room.kept, room.of_day) == (0, 0, 1), "deleted ones count for the day"


async def test_a_failed_one_is_tried_again_on_the_page(studio: Beleg) -> None:
    reader, notebook, _ = await _scene(studio)
    document = await queued(reader.api, notebook)
    studio.provider.settings.answers += ["Nothing.", "Nothing."]
    await make(studio, document)
    page = (await reader.pages.get(f"/notebooks/{notebook}")).text
    assert "wrote twice what cannot be used" in page
    again = await reader.pages.post(f"/documents/{document}/retry", headers=HTMX)
    assert 'class="overview queued"' in again.text
    await make(studio, document)
    assert (await told(reader.api, document))["status"] == "ready"


async def test_what_is_not_ready_is_not_asked_about(studio: Beleg) -> None:
    reader, notebook, _ = await _scene(studio)
    document = await queued(reader.api, notebook)
    await make(studio, document)
    source = (await told(reader.api, document))["source_id"]
    composer = f"/notebooks/{notebook}/composer?about={source}"
    early = await reader.pages.get(composer, headers=HTMX)
    assert early.status_code == 409
    await studio.read(source)
    assert "What the documents say" in (await reader.pages.get(composer, headers=HTMX)).text
