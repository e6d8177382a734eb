"""PDFs behind a password: asked for, used for one run, gone afterwards."""

import re
from io import BytesIO
from pathlib import Path

import psycopg
import pytest
from pypdf import PdfReader, PdfWriter

from tests.adapters.small_pdf import line, pdf
from tests.app.conftest import Beleg, problem
from tests.app.test_page_routes import csrf, signed_in

pytestmark = pytest.mark.asyncio(loop_scope="session")

PASSWORD = "pässwört"
TEXT = "The locked page says that the bridge is red."


def locked(*, owner_only: bool = False) -> bytes:
    writer = PdfWriter(PdfReader(BytesIO(pdf([line(TEXT)]))))
    writer.encrypt("" if owner_only else PASSWORD, "owner", algorithm="AES-256")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def kept(beleg: Beleg) -> int:
    """Rows and files that hold a password, or what one is sealed with."""
    with psycopg.connect(beleg.environment["DATABASE_URL"]) as connection:
        found = connection.execute("select count(*) from sealed_passwords").fetchone()
    assert found is not None
    return int(found[0]) + len(list(Path(beleg.environment["BELEG_DATA"]).rglob("pad-*")))


async def test_a_locked_pdf_asks_for_its_password_and_forgets_it(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    path = f"/notebooks/{notebook}/sources"
    added = await client.post(path, files={"file": ("a.pdf", locked())})
    source = added.json()["id"]
    await beleg.read(source)
    failed = (await client.get(f"/sources/{source}")).json()
    assert (failed["status"], failed["error_code"]) == ("failed", "password_needed")
    assert "protected by a password" in failed["error"]

    retry = f"/sources/{source}/retry"
    await client.post(retry, json={"password": "wrong"})
    await beleg.read(source)
    failed = (await client.get(f"/sources/{source}")).json()
    assert failed["error_code"] == "password_needed"
    assert "not by the one that was entered" in failed["error"]

    problem(await client.post(retry, json={"password": "x" * 128}), 400, "invalid_request")
    problem(await client.post(retry, json={"password": 7}), 400, "invalid_request")
    again = await client.post(retry, json={"password": PASSWORD})
    assert again.status_code == 202
    assert kept(beleg) == 2
    await beleg.read(source)
    ready = (await client.get(f"/sources/{source}")).json()
    assert ready["status"] == "ready", ready
    [passage] = (await client.get(f"/sources/{source}/passages")).json()
    assert TEXT in passage["text"]
    assert kept(beleg) == 0
    problem(await client.get(f"/sources/{source}/pages/1/image"), 422, "password_needed")


async def test_deleting_a_source_forgets_its_password(beleg: Beleg) -> None:
    client = await beleg.user()
    path = f"/notebooks/{await beleg.notebook(client)}/sources"
    added = await client.post(path, files={"file": ("a.pdf", locked())})
    source = added.json()["id"]
    await beleg.read(source)
    await client.post(f"/sources/{source}/retry", json={"password": PASSWORD})
    assert (await client.delete(f"/sources/{source}")).status_code == 204
    assert kept(beleg) == 0


async def test_a_pdf_that_only_its_owner_locked_opens_by_itself(beleg: Beleg) -> None:
    client = await beleg.user()
    path = f"/notebooks/{await beleg.notebook(client)}/sources"
    added = await client.post(path, files={"file": ("a.pdf", locked(owner_only=True))})
    await beleg.read(added.json()["id"])
    assert (await client.get(f"/sources/{added.json()['id']}")).json()["status"] == "ready"


async def test_the_page_asks_for_the_password(beleg: Beleg) -> None:
    client = await signed_in(beleg)
    token = csrf((await client.get("/")).text)
    made = await client.post("/notebooks", data={"title": "Locked", "csrf": token})
    notebook = made.headers["location"]
    upload = {"csrf": token, "pdf_capture": "text"}
    files = {"file": ("locked.pdf", locked())}
    await client.post(f"{notebook}/sources", data=upload, files=files)
    [source] = re.findall(r'id="source-([0-9a-f-]{36})"', (await client.get(notebook)).text)
    await beleg.read(source)
    page = (await client.get(notebook)).text
    assert 'type="password" name="password"' in page
    action = f"{notebook}/sources/{source}/retry"
    assert f'action="{action}"' in page
    await client.post(action, data={"csrf": token, "password": PASSWORD})
    await beleg.read(source)
    assert "bridge is red" in (await client.get(f"/sources/{source}")).text
    as_image = (await client.get(f"/sources/{source}?page=1&view=image")).text
    assert "there are no images of its pages" in as_image
    assert "/pages/1/image" not in as_image
    assert "bridge is red" in as_image
