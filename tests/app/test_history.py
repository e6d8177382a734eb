"""What a model reads of a chat's earlier turns."""

import pytest

from tests.app.conftest import Beleg
from tests.provider import Fault

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_model_reads_earlier_answers_without_their_markers(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    await beleg.read(await beleg.text(client, notebook, "The bridge is red. It is old."))
    ask = f"/notebooks/{notebook}/questions?wait=1"
    beleg.provider.answer("It is red [1].", "It is old [1].")
    first = await client.post(ask, json={"question": "Is the bridge red?"})
    assert first.json()["text"] == "It is red [1]."

    # Its number would name another passage now, so a model must never see it.
    beleg.provider.fail(Fault.NO_KEY, kind="chat", containing="It is red [1].")
    second = await client.post(ask, json={"question": "Is the bridge old?"})
    beleg.provider.reset()
    assert second.json()["status"] == "complete"
    assert second.json()["text"] == "It is old [1]."
