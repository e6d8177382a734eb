"""Summaries through real processes: one call a source, once it is ready, which cannot harm it."""

import subprocess
from collections.abc import Callable
from decimal import Decimal

from tests.conftest import Product, sign_up, until
from tests.product.stage import ENVIRONMENT, Person, Stage, check_books, kill
from tests.provider import Entry, Fault, Provider, Rule, Status

TEXT = (
    "The harbour of Vellin froze over in the winter of 1709. Ships lay in the ice for eleven weeks."
    " The town fed their crews from the granary of the guild. In spring the guild sent the bill to"
    " the king, who never paid it. "
)


def summaries(ledger: list[Entry]) -> list[Entry]:
    return [entry for entry in ledger if entry.kind == "summary"]


def summed_up(person: Person, source: str) -> dict[str, object]:
    def is_there() -> bool:
        found = person.source(source)
        return bool(found["summary"] or found["summary_problem"])

    until(is_there, within_s=30)
    return person.source(source)


def test_each_source_gets_one_summary_that_is_paid_for_once(
    product: Callable[..., Product],
) -> None:
    with Provider() as provider:
        beleg = product(INFERENCE_BASE_URL=provider.url, **ENVIRONMENT | {"SOURCE_SUMMARIES": "on"})
        stage = Stage(provider, beleg, [beleg.web()[1]])
        worker = beleg.worker()
        person = stage.person()
        notebook = str(person.client.post("/notebooks", json={"title": "Trial"}).json()["id"])
        source = person.add(notebook, TEXT * 200)
        found = summed_up(person, source)
        assert (found["status"], found["summary_kind"]) == ("ready", "written")
        assert "of which this is the summary" in str(found["summary"])
        [call] = summaries(provider.ledger)
        assert 2_000 < call.input_tokens < 6_000  # its head alone
        [row] = [row for row in person.usage() if row["kind"] == "summary"]
        assert (row["source_id"], row["status"]) == (source, "served")
        assert Decimal(str(row["cost"])) > 0

        # The same text again is the same entry: nothing more is paid for.
        other = str(person.client.post("/notebooks", json={"title": "Other"}).json()["id"])
        again = person.client.post(
            f"/notebooks/{other}/sources", json={"title": (TEXT * 200)[:20], "text": TEXT * 200}
        )
        assert (again.status_code, again.json()["summary"]) == (200, found["summary"])
        assert len(summaries(provider.ledger)) == 1

        # A model that fails leaves the source ready, and the source says why.
        provider.settings.rules = [Rule((Fault.FORBIDDEN,), kind="summary")]
        failed = summed_up(person, person.add(notebook, "One. " + TEXT))
        assert (failed["status"], failed["summary"], failed["summary_kind"]) == (
            *("ready", None),
            None,
        )
        assert "Check the API key" in str(failed["summary_problem"])
        provider.settings.rules = []
        check_books(person.usage(), provider.ledger)

        # Credit for the vectors alone: no summary, and that is said.
        poor = stage.person(credit="0.0005")
        theirs = str(poor.client.post("/notebooks", json={"title": "Trial"}).json()["id"])
        short = summed_up(poor, poor.add(theirs, "Two. " + TEXT))
        assert short["status"] == "ready"
        assert "credit" in str(short["summary_problem"])
        assert {row["kind"] for row in poor.usage()} == {"embedding"}

        assert_a_kill_costs_what_was_in_flight(stage, person, notebook, worker)
        for client in stage.clients:
            client.close()


def assert_a_kill_costs_what_was_in_flight(
    stage: Stage, person: Person, notebook: str, worker: subprocess.Popen[bytes]
) -> None:
    stage.provider.settings.token_delay_s = 1.0
    source = person.add(notebook, "Three. " + TEXT)
    made = len(summaries(stage.provider.ledger))
    until(lambda: len(summaries(stage.provider.ledger)) > made, within_s=20)
    assert person.source(source)["status"] == "ready"
    kill(worker)
    stage.provider.settings.token_delay_s = 0.0
    stage.product.worker()
    assert summed_up(person, source)["summary_kind"] == "written"
    rows = [
        row for row in person.usage() if row["kind"] == "summary" and row["source_id"] == source
    ]
    assert sorted(row["status"] for row in rows) == ["served", "unknown"]
    ended = summaries(stage.provider.ledger)[made:]
    assert sorted(entry.status for entry in ended) == [Status.CLOSED, Status.SERVED]


def test_without_a_model_its_own_sentences_sum_a_source_up(
    product: Callable[..., Product],
) -> None:
    beleg = product()
    _, address = beleg.web()
    beleg.worker()
    client = sign_up(address)
    notebook = client.post("/notebooks", json={"title": "Harbour"}).json()["id"]
    body = {"title": "Harbour", "text": TEXT}
    source = client.post(f"/notebooks/{notebook}/sources", json=body).json()["id"]
    until(lambda: client.get(f"/sources/{source}").json()["summary"], within_s=60)
    found = client.get(f"/sources/{source}").json()
    assert found["summary_kind"] == "quoted"
    assert all(sentence in TEXT for sentence in found["summary"].split(". "))
    rows = client.get("/usage", params={"rows": "1"}).json()["items"]
    assert {row["kind"] for row in rows} == {"embedding"}
