"""An audio overview through real processes, whose worker is killed while it is read aloud."""

from collections import Counter
from collections.abc import Callable

from tests.conftest import Product, until
from tests.product.stage import ENVIRONMENT, Stage, kill
from tests.provider import Entry, Provider, Status

SPEAKS = {"TTS_PROVIDER": "openai", "TTS_MODEL": "tts-1"}
TEXT = "The harbour of Vellin froze over in the winter of 1709. Ships lay in the ice for weeks. "


def spoken(provider: Provider, *statuses: Status) -> list[Entry]:
    return [e for e in provider.ledger if e.kind == "tts" and e.status in statuses]


def test_a_kill_loses_the_call_in_flight_and_nothing_that_was_paid_for(
    product: Callable[..., Product],
) -> None:
    with Provider() as provider:
        beleg = product(INFERENCE_BASE_URL=provider.url, **ENVIRONMENT, **SPEAKS)
        stage = Stage(provider, beleg, [beleg.web()[1]])
        worker = beleg.worker("studio")
        beleg.worker()
        person = stage.person()
        notebook = person.notebook(TEXT * 20)
        provider.settings.speaking_delay_s = 0.4
        body = {"kind": "audio_overview", "options": {"voices": ["willow", "rowan"]}}
        made = person.client.post(f"/notebooks/{notebook}/documents", json=body)
        assert made.status_code == 202, made.text
        path = f"/documents/{made.json()['id']}"

        until(
            lambda: (
                len(spoken(provider, Status.SERVED)) >= 3
                and len(spoken(provider, Status.OPEN)) == 1
            )
        )
        kill(worker)
        provider.settings.speaking_delay_s = 0.0
        beleg.worker("studio")
        until(lambda: person.client.get(path).json()["status"] in {"ready", "failed"})
        found = person.client.get(path).json()
        assert (found["status"], found["error"]) == ("ready", None)
        assert found["voices"] == ["willow", "rowan"]
        # Asked about like every other source, read by the other pool.
        person.wait_until_ready([found["source_id"]])

        assert sum(entry.kind == "document" for entry in provider.ledger) == 1
        served = Counter(entry.input_sha1 for entry in spoken(provider, Status.SERVED))
        assert set(served.values()) == {1}
        [lost] = spoken(provider, Status.CLOSED)
        assert served[lost.input_sha1] == 1, "what was in flight is read again"
        rows = [row for row in person.usage() if row["document_id"] == found["id"]]
        assert Counter(row["status"] for row in rows if row["kind"] == "tts") == {
            "served": len(served),
            "unknown": 1,
        }
        assert stage.sql("select sum(reserved) from users") == [(0,)]
        for client in stage.clients:
            client.close()
