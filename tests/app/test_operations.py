"""What an admin sees and puts right by the API, and what becomes of it."""

from datetime import timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import httpx
import pytest

from app.settings import read_settings
from app.settings_shown import settings_shown
from domain.ids import CallId, SourceId, UserId, new_id
from domain.ledger import Intent
from domain.usage import CallKind, Price, TokenUsage
from tests.app.conftest import Beleg, Start, problem
from tests.provider import Fault

pytestmark = pytest.mark.asyncio(loop_scope="session")

TEXT = "The bridge was built in 1932. It is red. It carries many cars every day."


async def _admin(beleg: Beleg) -> httpx.AsyncClient:
    client = await beleg.user()
    async with beleg.services.accounts.uow() as tx:
        await tx.accounts.set_admin(await _id(client), is_admin=True)
    return client


async def _id(client: httpx.AsyncClient) -> UserId:
    return UserId(UUID((await client.get("/me")).json()["id"]))


async def _unknown(beleg: Beleg, user: UserId, *, cost: str = "0.10") -> CallId:
    """A call whose process died."""
    call = Intent(
        id=CallId(new_id()),
        user_id=user,
        kind=CallKind.CHAT,
        model="glm-5.3-flash",
        price=Price(Decimal(10), Decimal(10)),
        bound=TokenUsage(int(Decimal(cost) * 50_000), int(Decimal(cost) * 50_000), estimated=True),
    )
    async with beleg.services.accounts.uow() as tx:
        await tx.ledger.open(call, timedelta(seconds=-1))
    async with beleg.services.accounts.uow() as tx:
        await tx.ledger.abandon()
    return call.id


async def test_an_unknown_call_is_settled_and_what_was_too_much_comes_back(beleg: Beleg) -> None:
    admin, user = await _admin(beleg), await beleg.user()
    before = Decimal((await user.get("/me")).json()["credit"])
    call = await _unknown(beleg, await _id(user))
    assert Decimal((await user.get("/me")).json()["credit"]) == before - Decimal("0.1")
    listed = (await admin.get("/admin/calls")).json()["items"]
    [row] = [row for row in listed if row["id"] == str(call)]
    assert (row["status"], row["cost"], row["estimated"]) == ("unknown", "0.1", True)
    path = f"/admin/calls/{call}/settle"
    problem(
        await admin.post(path, json={"served": True, "input_tokens": -1}), 400, "invalid_request"
    )
    used = {"served": True, "input_tokens": 1000, "output_tokens": 10}
    assert (await admin.post(path, json=used)).status_code == 204
    assert Decimal((await user.get("/me")).json()["credit"]) == before - Decimal("0.0101")
    [mine] = (await user.get("/usage?rows=1")).json()["items"]
    assert (mine["status"], mine["input_tokens"], mine["cost"]) == ("served", 1000, "0.0101")
    problem(await admin.post(path, json=used), 409, "conflict")
    not_served = await _unknown(beleg, await _id(user))
    answer = await admin.post(f"/admin/calls/{not_served}/settle", json={"served": False})
    assert answer.status_code == 204
    assert Decimal((await user.get("/me")).json()["credit"]) == before - Decimal("0.0101")
    problem(await admin.post(f"/admin/calls/{uuid4()}/settle", json=used), 404, "not_found")


async def test_limits_of_one_person_hold_in_place_of_the_settings(beleg: Beleg) -> None:
    admin, user, other = await _admin(beleg), await beleg.user(), await beleg.user()
    path = f"/admin/users/{await _id(user)}/limits"
    limits = {
        "max_questions_per_notebook_day": 1,
        "max_file_bytes": 200,
        "max_words_per_source": 20,
        "max_sources_per_notebook": 2,
    }
    assert (await admin.patch(path, json=limits)).json()["limits"] == limits
    notebook = await beleg.notebook(user)
    big = {"title": "Big", "text": "x " * 200}
    problem(await user.post(f"/notebooks/{notebook}/sources", json=big), 413, "too_large")
    wordy = await beleg.text(user, notebook, "a b c d e f g h i j k l m n o p q r s t u v w")
    assert (await user.get(f"/sources/{wordy}")).json()["error_code"] == "too_large"
    await beleg.text(user, notebook, TEXT)
    third = {"title": "Third", "text": "One more."}
    problem(await user.post(f"/notebooks/{notebook}/sources", json=third), 413, "too_large")
    ask = f"/notebooks/{notebook}/questions?wait=1"
    assert (await user.post(ask, json={"question": "When?"})).status_code == 200
    late = await user.post(ask, json={"question": "When?"})
    assert "Your 1 questions" in problem(late, 429, "quota_exhausted")["detail"]

    elsewhere = await beleg.notebook(other)
    assert (await other.post(f"/notebooks/{elsewhere}/sources", json=big)).status_code == 202
    cleared = await admin.patch(path, json=dict.fromkeys(limits))
    assert cleared.json()["limits"] == {}
    assert (await user.post(ask, json={"question": "When?"})).status_code == 200
    problem(await admin.patch(path, json={"max_file_bytes": -1}), 400, "invalid_request")
    problem(await admin.patch(path, json={"max_fun": 1}), 400, "invalid_request")


async def test_failed_work_is_listed_with_its_reason_and_tried_again(beleg: Beleg) -> None:
    admin, user = await _admin(beleg), await beleg.user()
    notebook = await beleg.notebook(user)
    beleg.provider.fail(Fault.NO_KEY, kind="embedding", times=1)
    source = await beleg.text(user, notebook, TEXT, "Unlucky")
    failed = (await admin.get("/admin/failed-jobs?limit=500")).json()["items"]
    [job] = [job for job in failed if job["id"] == source]
    assert (job["kind"], job["title"], job["code"]) == ("ingest_source", "Unlucky", "model_refused")
    assert "does not accept the key" in job["reason"]
    health = (await admin.get("/admin/health")).json()["items"]
    [embedding] = [one for one in health if one["kind"] == "embedding"]
    assert "does not accept the key" in embedding["last_error"]
    assert 0 <= embedding["success_rate"] < 1
    assert (await admin.post(f"/admin/failed-jobs/{source}/retry")).status_code == 202
    queue, *_ = (await admin.get("/admin/queues")).json()["items"]
    assert (queue["name"], queue["queued"] >= 1) == ("ingest", True)
    await beleg.read(source)
    assert (await user.get(f"/sources/{source}")).json()["status"] == "ready"
    problem(await admin.post(f"/admin/failed-jobs/{source}/retry"), 404, "not_found")


async def test_sources_are_listed_with_their_owners_and_summaries(beleg: Beleg) -> None:
    admin, user = await _admin(beleg), await beleg.user()
    source = await beleg.text(user, await beleg.notebook(user), TEXT, "Bridges")
    version = await beleg.services.sources.get(await _user(beleg, user), _source(source))
    assert version.version_id
    await beleg.services.summarise_source(version.version_id)
    listed = (await admin.get("/admin/sources?limit=500")).json()["items"]
    [mine] = [row for row in listed if row["id"] == source]
    assert (mine["owner"], mine["title"]) == ((await user.get("/me")).json()["email"], "Bridges")
    assert mine["summary"]
    assert TEXT not in str(listed)


async def _user(beleg: Beleg, client: httpx.AsyncClient):  # type: ignore[no-untyped-def]  # noqa: ANN202 - a User
    async with beleg.services.accounts.uow() as tx:
        return await tx.accounts.get(await _id(client))


def _source(text: str) -> SourceId:
    return SourceId(UUID(text))


async def test_settings_are_told_without_secrets() -> None:
    environment = {
        "DATABASE_URL": "postgresql://u:hidden@h/db",
        "INFERENCE_BASE_URL": "http://name:hidden@127.0.0.1/v1",
        "INFERENCE_API_KEY": "hidden",
        "STT_MODEL": "whisper-1",
        "EMBEDDING_API_KEY": "hidden",
        "SIGN_UP": "invite",
    }
    shown = dict(settings_shown(read_settings(environment)))
    assert "hidden" not in str(shown)
    assert shown["DATABASE_URL"] == shown["LLM_API_KEY"] == "(set)"
    assert shown["LLM_BASE_URL"] == "http://127.0.0.1/v1"
    assert shown["SIGN_UP"] == "invite"
    assert shown["MAX_FILE_BYTES"] == "20000000"


async def test_the_only_admin_stays_while_there_are_others(start: Start) -> None:
    beleg = await start()
    first, second = await beleg.user(), await beleg.user()
    email = (await first.get("/me")).json()["email"]
    body = {"password": email}  # an account without a password is named
    problem(await first.request("DELETE", "/me", json=body), 409, "conflict")
    problem(await first.request("DELETE", "/me", json={"password": "x"}), 403, "wrong_password")
    own, other = await _id(first), await _id(second)
    problem(await first.delete(f"/admin/users/{own}"), 409, "conflict")
    problem(await second.delete(f"/admin/users/{own}"), 403, "forbidden")
    problem(await first.delete(f"/admin/users/{uuid4()}"), 404, "not_found")
    assert (await first.delete(f"/admin/users/{other}")).status_code == 202
    assert (await second.get("/me")).status_code == 401
    back = await first.patch(f"/admin/users/{other}", json={"is_disabled": False})
    problem(back, 409, "conflict")
    await beleg.services.delete_account(other)
    assert [row["id"] for row in (await first.get("/admin/users")).json()["items"]] == [str(own)]
    assert (await first.request("DELETE", "/me", json=body)).status_code == 202
    await beleg.services.delete_account(own)
    assert (await first.get("/me")).status_code == 401
