"""Suggested questions through the API: free ones, and one call a state of the sources."""

import asyncio

import pytest

from tests.app.conftest import Beleg, Start, problem
from tests.provider import Fault

pytestmark = pytest.mark.asyncio(loop_scope="session")

TEXT = "# Costs and funding\n\nThe Harbour Bridge is a steel bridge. The deck was painted in 1990."


def guides(beleg: Beleg) -> int:
    return sum(call.kind == "chat" for call in beleg.provider.ledger)


async def test_free_suggestions_cost_nothing_and_ask_no_model(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    address = f"/notebooks/{notebook}/suggestions"
    assert (await client.get(address)).json() == {
        "questions": [],
        "is_written": False,
        "can_be_written": False,
    }
    await beleg.text(client, notebook, TEXT)
    found = (await client.get(address)).json()
    assert found["questions"][:2] == ["What is the Harbour Bridge?", "When was the deck painted?"]
    assert (found["is_written"], found["can_be_written"]) == (False, True)
    assert guides(beleg) == 0
    stranger = await beleg.user()
    problem(await stranger.get(address), 404, "not_found")
    problem(await stranger.post(address), 404, "not_found")


async def test_a_model_is_asked_once_until_the_sources_change(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    await beleg.text(client, notebook, TEXT)
    address = f"/notebooks/{notebook}/suggestions"
    beleg.provider.answer("1. Who painted it?\n2. Why?", "1. What else?")
    both = await asyncio.gather(client.post(address), client.post(address))
    written = {
        "questions": ["Who painted it?", "Why?"],
        "is_written": True,
        "can_be_written": False,
    }
    assert written in [one.json() for one in both]
    assert (await client.post(address)).json() == written
    assert (await client.get(address)).json() == written
    assert guides(beleg) == 1
    rows = (await client.get("/usage?rows=1")).json()["items"]
    [row] = [row for row in rows if row["kind"] == "guide"]
    assert (row["status"], row["notebook_id"]) == ("served", notebook)

    await beleg.text(client, notebook, "The tower is an office building.", title="Tower")
    assert (await client.get(address)).json()["can_be_written"] is True
    assert (await client.post(address)).json()["questions"] == ["What else?"]
    assert guides(beleg) == 2


async def test_a_call_that_was_not_served_may_be_made_again_and_a_paid_one_not(
    beleg: Beleg,
) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    await beleg.text(client, notebook, TEXT)
    address = f"/notebooks/{notebook}/suggestions"
    beleg.provider.fail(Fault.NO_KEY, kind="chat", times=1)
    problem(await client.post(address), 502, "model_refused")
    assert (await client.get(address)).json()["can_be_written"] is True

    beleg.provider.answer("I suggest nothing at all.", "Why?")
    found = (await client.post(address)).json()
    assert (await client.post(address)).json() == found
    assert (found["is_written"], found["can_be_written"]) == (False, False)
    assert found["questions"][0] == "What is the Harbour Bridge?"
    assert guides(beleg) == 2


async def test_without_credit_or_a_model_nothing_is_asked(start: Start) -> None:
    poor = await start(SIGNUP_CREDIT="0.0001")
    client = await poor.user()
    notebook = await poor.notebook(client)
    await poor.text(client, notebook, TEXT)
    problem(await client.post(f"/notebooks/{notebook}/suggestions"), 402, "credit_exhausted")
    assert guides(poor) == 0
    assert (await client.get(f"/notebooks/{notebook}/suggestions")).json()["can_be_written"] is True
