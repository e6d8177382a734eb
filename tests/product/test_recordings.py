"""Recordings through real processes: what is sent, what is billed, what is kept and what goes."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.adapters.made_sound import encoded, tone, wav
from tests.conftest import Product, until
from tests.product.stage import ENVIRONMENT, Person, Stage, check_books, kill
from tests.provider import Fault, Provider, Rule, Settings, Status
from tests.provider.sounds import transcript

SILENCE = wav(np.zeros(16_000 * 2, np.int16))
RECORDING = wav(tone(1.5))


def notebook_of(person: Person) -> str:
    return str(person.client.post("/notebooks", json={"title": "Talks"}).json()["id"])


def files(stage: Stage, person: Person) -> list[Path]:
    """What is kept for a person in the storage."""
    folder = stage.product.data / "files" / person.id
    return sorted(path for path in folder.rglob("*") if path.is_file())


def ended(person: Person, source: str) -> dict[str, object]:
    until(lambda: person.source(source)["status"] in {"ready", "failed"}, within_s=40)
    return person.source(source)


def test_a_recording_is_heard_once_and_its_words_are_cited(stage: Stage) -> None:
    person = stage.person()
    notebook = notebook_of(person)
    source = person.upload(notebook, "talk.wav", RECORDING)
    found = ended(person, source)
    assert (found["status"], found["kind"], found["media_type"]) == ("ready", "audio", "audio/wav")
    [passage] = person.client.get(f"/sources/{source}/passages").json()
    assert (passage["page"], passage["text"]) == (None, transcript(RECORDING))
    [row] = [row for row in person.usage() if row["kind"] == "stt"]
    assert (row["seconds"], row["unit_price"]["minute"]) == (2, "0.006")
    assert (row["cost"], row["source_id"]) == ("0.0002", source)
    original = person.client.get(f"/sources/{source}/original")
    assert (original.content, original.headers["content-type"]) == (RECORDING, "audio/wav")
    check_books(person.usage(), stage.provider.ledger)


def test_what_must_be_converted_is_converted_once_and_goes_with_its_source(stage: Stage) -> None:
    stage.provider.reset(Settings(rules=[Rule((Fault.RECORDING_TOO_LARGE,), kind="stt", times=1)]))
    person = stage.person()
    notebook = notebook_of(person)
    content = encoded("ipod", "aac")
    source = person.upload(notebook, "talk.m4a", content)
    failed = ended(person, source)
    assert failed["status"] == "failed"
    assert "(413)" in str(failed["error"])
    [derived] = [path for path in files(stage, person) if path.suffix == ".mp3"]
    made = derived.stat().st_mtime_ns
    person.client.post(f"/sources/{source}/retry").raise_for_status()
    assert ended(person, source)["status"] == "ready"
    assert derived.stat().st_mtime_ns == made
    [passage] = person.client.get(f"/sources/{source}/passages").json()
    assert passage["text"] == transcript(derived.read_bytes())
    assert person.client.get(f"/sources/{source}/original").content == content
    person.client.delete(f"/sources/{source}").raise_for_status()
    assert not files(stage, person)


@pytest.mark.parametrize(
    ("fault", "said", "status"),
    [
        (Fault.NOTHING_HEARD, "No speech", "served"),
        (Fault.NO_TRANSCRIPT, "no transcript", "served"),
        (Fault.DROP, "not made again", "cut"),
    ],
)
def test_an_answer_without_speech_fails_the_source_and_stays_billed(
    stage: Stage, fault: Fault, said: str, status: str
) -> None:
    stage.provider.reset(Settings(rules=[Rule((fault,), kind="stt")]))
    person = stage.person()
    notebook = notebook_of(person)
    source = person.upload(notebook, "hum.wav", RECORDING)
    failed = ended(person, source)
    assert failed["status"] == "failed"
    assert said in str(failed["error"])
    rows = [row for row in person.usage() if row["kind"] == "stt"]
    assert [row["status"] for row in rows] == [status]
    assert all(float(row["cost"]) > 0 for row in rows)
    if fault is Fault.NOTHING_HEARD:
        person.client.post(f"/sources/{source}/retry").raise_for_status()
        assert ended(person, source)["status"] == "failed"
        assert len(stage.provider.ledger) == 1
    check_books(person.usage(), stage.provider.ledger)


def test_what_need_not_be_paid_for_is_not(stage: Stage) -> None:
    person = stage.person()
    notebook = notebook_of(person)
    for content, said in (
        (SILENCE, "silent"),
        (b"RIFF\x24\x00\x00\x00WAVEfmt ", "damaged"),
        (b"ID3\x04" + b"\0" * 400, "damaged"),
    ):
        source = person.upload(notebook, "talk.wav", content)
        assert said in str(ended(person, source)["error"])
    poor = stage.person(credit="0.0001")
    notebook = notebook_of(poor)
    source = poor.upload(notebook, "talk.wav", RECORDING)
    assert "credit" in str(ended(poor, source)["error"])
    assert stage.provider.ledger == []
    assert person.usage() == poor.usage() == []


def test_a_worker_killed_while_a_recording_is_heard_leaves_one_unknown_row(
    product: Callable[..., Product],
) -> None:
    with Provider() as provider:
        provider.reset(Settings(hearing_delay_s=5))
        beleg = product(INFERENCE_BASE_URL=provider.url, **ENVIRONMENT)
        stage = Stage(provider, beleg, [beleg.web()[1]])
        worker = beleg.worker()
        person = stage.person()
        source = person.upload(notebook_of(person), "talk.wav", RECORDING)
        provider.wait_for(bool, timeout_s=30)
        kill(worker)
        provider.settings.hearing_delay_s = 0
        beleg.worker()
        assert ended(person, source)["status"] == "ready"
        rows = [row for row in person.usage() if row["kind"] == "stt"]
        assert sorted(row["status"] for row in rows) == ["served", "unknown"]
        heard = [entry for entry in provider.ledger if entry.kind == "stt"]
        assert sorted(entry.status for entry in heard) == [Status.CLOSED, Status.SERVED]
        for client in stage.clients:
            client.close()


def test_a_source_deleted_while_it_is_heard_leaves_nothing(stage: Stage) -> None:
    stage.provider.reset(Settings(hearing_delay_s=2))
    person = stage.person()
    source = person.upload(notebook_of(person), "talk.m4a", encoded("ipod", "aac"))
    stage.provider.wait_for(bool, timeout_s=30)
    person.client.delete(f"/sources/{source}").raise_for_status()
    until(lambda: stage.provider.ledger[0].status is Status.SERVED)
    until(lambda: [row["status"] for row in person.usage()] == ["served"])
    assert not files(stage, person)
    assert stage.count("paid_transcripts", "source_id = %s", source) == 0
