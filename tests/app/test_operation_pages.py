"""The pages of usage, one's own data and administration: what they show and what their forms do."""

import csv
import io
import json
from decimal import Decimal
from uuid import UUID

import httpx
import psycopg
import pytest

from app.charts import HEIGHT, columns
from app.security import COOKIE, csrf_token
from domain.ids import ExportId, UserId
from tests.app.conftest import Beleg

pytestmark = pytest.mark.asyncio(loop_scope="session")


class Browser:
    """Somebody who is signed in, with forms that carry the token."""

    def __init__(self, client: httpx.AsyncClient, api: httpx.AsyncClient, session: str) -> None:
        self.client, self.api, self._session = client, api, session

    async def get(self, path: str) -> httpx.Response:
        return await self.client.get(f"http://beleg.test{path}")

    async def post(self, path: str, **fields: str) -> httpx.Response:
        data = {"csrf": csrf_token(self._session), **fields}
        return await self.client.post(f"http://beleg.test{path}", data=data)

    async def id(self) -> UserId:
        return UserId(UUID((await self.api.get("/me")).json()["id"]))


async def _browser(beleg: Beleg, *, is_admin: bool = False) -> Browser:
    api = await beleg.user()
    who = UserId(UUID((await api.get("/me")).json()["id"]))
    async with beleg.services.accounts.uow() as tx:
        await tx.accounts.set_admin(who, is_admin=is_admin)
        user = await tx.accounts.get(who)
    assert user
    session = await beleg.services.accounts.open_session(user)
    headers = {"sec-fetch-site": "same-origin", "accept": "text/html", "accept-language": "en"}
    client = await beleg.client(**headers, cookie=f"{COOKIE}={session}")
    return Browser(client, api, session)


async def test_usage_is_summed_and_every_call_is_a_line_of_csv(beleg: Beleg) -> None:
    browser = await _browser(beleg)
    empty = await browser.get("/usage")
    assert "Nothing was used" in empty.text
    notebook = await beleg.notebook(browser.api, "Canals & locks")
    await beleg.text(browser.api, notebook, "The canal has nine locks. It was dug in 1822. ")
    await browser.api.post(f"/notebooks/{notebook}/questions?wait=1", json={"question": "When?"})
    shown = (await browser.get("/usage")).text
    for expected in ("Canals &amp; locks", "Library", "glm-5.3-flash", '<rect class="chart-chat"'):
        assert expected in shown
    table = (await browser.get("/usage.csv")).text
    lines = list(csv.DictReader(io.StringIO(table)))
    rows = (await browser.api.get("/usage?rows=1")).json()["items"]
    assert [line["id"] for line in lines] == [row["id"] for row in rows]
    assert sum(Decimal(line["cost"]) for line in lines) == sum(Decimal(r["cost"]) for r in rows)
    assert "Nothing was used" in (await browser.get("/usage?start=2020-01-01&end=2020-02-01")).text
    assert (await browser.get("/usage?start=x")).status_code == 400


async def test_a_long_period_is_csv_to_its_first_day_and_no_chart(beleg: Beleg) -> None:
    browser = await _browser(beleg)
    notebook = await beleg.notebook(browser.api)
    await beleg.text(browser.api, notebook, "The canal has nine locks. It was dug in 1822. ")
    [row] = (await browser.api.get("/usage?rows=1")).json()["items"]
    with psycopg.connect(beleg.services.settings.database_url) as connection:
        long_ago = "update model_calls set created_at = '2001-02-03' where id = %s"
        connection.execute(long_ago, [row["id"]])
    table = (await browser.get("/usage.csv?start=2001-01-01")).text
    [line] = csv.DictReader(io.StringIO(table))
    assert line.keys() == row.keys()
    assert (line["id"], line["created_at"][:10]) == (row["id"], "2001-02-03")
    assert json.loads(line["unit_price"]) == row["unit_price"]
    assert line["characters"] == line["document_id"] == ""
    refused = await browser.get("/usage?start=2001-01-01")
    assert refused.status_code == 400
    assert "at most 366 days" in refused.text
    assert (await browser.get("/usage?start=2024-01-01&end=2024-12-31")).status_code == 200


async def test_preferences_archive_and_leaving(beleg: Beleg) -> None:
    browser = await _browser(beleg)
    saved = await browser.post("/account/preferences", language="de", pdf_capture="text")
    assert (saved.status_code, saved.headers["location"]) == (303, "/account")
    me = (await browser.api.get("/me")).json()
    assert me["preferences"] == {"language": "de", "pdf_capture": "text"}
    assert (await browser.post("/account/export")).status_code == 303
    assert "wird erstellt" in (await browser.get("/account")).text
    [made] = (await browser.api.get("/me/exports")).json()["items"]
    await beleg.services.export_account(await browser.id(), ExportId(UUID(made["id"])))
    assert f'href="/account/exports/{made["id"]}"' in (await browser.get("/account")).text
    assert (await browser.get(f"/account/exports/{made['id']}")).content.startswith(b"PK")
    wrong = await browser.post("/account/delete", password="not it")
    assert wrong.status_code == 403
    left = await browser.post("/account/delete", password=me["email"])
    assert left.headers["location"] == "/sign-in"
    assert (await browser.get("/account")).headers["location"].startswith("/sign-in")


async def test_the_admin_s_forms_do_what_they_say(beleg: Beleg) -> None:
    admin, other = await _browser(beleg, is_admin=True), await _browser(beleg)
    where, who = f"/admin/users/{await other.id()}", await other.id()
    before = Decimal((await other.api.get("/me")).json()["credit"])
    assert (await admin.post(f"{where}/grants", amount="1,5", reason="x")).status_code == 303
    assert Decimal((await other.api.get("/me")).json()["credit"]) == before + Decimal("1.5")
    assert (await admin.post(f"{where}/grants", amount="much")).status_code == 400
    assert (await admin.post(f"{where}/limits", max_file_bytes="7")).status_code == 303
    assert (await admin.post(f"{where}/limits", max_file_bytes="-7")).status_code == 400
    async with beleg.services.accounts.uow() as tx:
        user = await tx.accounts.get(who)
    assert user
    assert {name.value: n for name, n in user.limits.items()} == {"max_file_bytes": 7}
    link = await admin.post(f"{where}/password-reset")
    assert "/reset/" in link.text
    assert "/sign-up?invitation=" in (await admin.post("/admin/invitations")).text
    await admin.post(f"{where}/change", is_disabled="on")
    assert (await other.api.get("/me")).status_code == 401
    await admin.post(f"{where}/change", is_disabled="off")
    assert (await (await beleg.signed_in(who)).get("/me")).status_code == 200
    own = f"/admin/users/{await admin.id()}/delete"
    assert (await admin.post(own)).status_code == 409
    assert (await admin.post(f"{where}/delete")).status_code == 303
    assert (await other.api.get("/me")).status_code == 401
    for path in ("sources", "jobs", "health", "calls", "settings", "audit", "users"):
        assert (await admin.get(f"/admin/{path}")).status_code == 200, path


async def test_columns_are_stacked_to_one_scale() -> None:
    made = columns(
        [
            ("a", {"x": Decimal(2), "y": Decimal(1)}),
            ("b", {}),
            ("c", {"y": Decimal("0.5")}),
        ],
        ["x", "y", "z"],
    )
    assert (made.top, made.present) == (Decimal(5), ("x", "y"))
    [x, y] = made.columns[0].parts
    assert (x.height, y.height) == (HEIGHT * 2 / 5, HEIGHT / 5)
    assert x.y + x.height == HEIGHT
    assert y.y + y.height == pytest.approx(x.y)
    assert made.columns[1].parts == ()
    assert [column.label for column in made.shown] == ["a", "b", "c"]
