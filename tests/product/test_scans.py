"""Pages and images that a vision model reads: what is seen, what is paid, what a kill costs."""

import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from io import BytesIO

import pytest
from PIL import Image

from tests.adapters.small_pdf import line, pdf
from tests.conftest import Product, until
from tests.product.stage import ENVIRONMENT, Json, Person, Stage, check_books, kill
from tests.provider import Fault, Provider, Settings, Status
from tests.provider.pictures import coded, page_text, scan

PAGES = 100
IN_FLIGHT = 4


@pytest.fixture
def slow_provider() -> Iterator[Provider]:
    """One that takes a moment over a picture, so that a kill lands in the middle of calls."""
    with Provider(Settings(vision_delay_s=0.05)) as provider:
        yield provider


def seen(provider: Provider) -> list[str]:
    return [entry.kind for entry in provider.ledger if entry.kind == "vision"]


def test_a_scan_killed_at_page_60_pays_for_no_page_twice(
    slow_provider: Provider, product: Callable[..., Product]
) -> None:
    beleg = product(INFERENCE_BASE_URL=slow_provider.url, **ENVIRONMENT)
    worker = beleg.worker()
    _, address = beleg.web()
    stage = Stage(slow_provider, beleg, [address])
    person = stage.person()
    notebook = person.notebook()
    source = person.upload(notebook, "scan.pdf", scan(range(1, PAGES + 1)))
    until(lambda: len(seen(slow_provider)) >= 60, within_s=60)
    kill(worker)
    at_the_kill = len(seen(slow_provider))
    until(lambda: person.source(source)["progress"]["stage"] == "transcribing")
    beleg.worker()
    person.wait_until_ready([source], within_s=90)

    texts = person.client.get(f"/sources/{source}/passages").json()
    assert [(row["page"], row["text"]) for row in texts] == [
        (number, page_text(number)) for number in range(1, PAGES + 1)
    ]
    rows = [row for row in person.usage() if row["kind"] == "vision"]
    statuses = Counter(row["status"] for row in rows)
    assert statuses["served"] == PAGES
    assert set(statuses) <= {"served", "unknown"}
    assert statuses["unknown"] <= IN_FLIGHT
    calls = len(seen(slow_provider))
    assert PAGES <= calls <= PAGES + statuses["unknown"]
    assert all(row["estimated"] for row in rows if row["status"] == "unknown")
    told = Counter((e.input_tokens, e.output_tokens) for e in slow_provider.ledger)
    booked = Counter(
        (row["input_tokens"], row["output_tokens"])
        for row in person.usage()
        if row["status"] == "served"
    )
    assert not booked - told
    assert stage.count("paid_transcripts") == 0
    print(f"killed at {at_the_kill} calls; {calls} in all, rows {dict(statuses)}")
    for client in stage.clients:
        client.close()


@pytest.fixture
def person(stage: Stage) -> Person:
    return stage.person()


def capture(person: Person, content: bytes, mode: str = "auto", name: str = "a.pdf") -> Json:
    """The source that a file became, in a notebook of its own."""
    notebook = person.notebook()
    response = person.client.post(
        f"/notebooks/{notebook}/sources",
        files={"file": (name, content)},
        data={"pdf_capture": mode},
    )
    assert response.status_code == 202, response.text
    source = str(response.json()["id"])
    until(lambda: person.source(source)["status"] in {"ready", "failed"})
    return person.source(source)


def passages(person: Person, source: Json) -> list[tuple[int | None, str]]:
    rows = person.client.get(f"/sources/{source['id']}/passages").json()
    return [(row["page"], row["text"]) for row in rows]


LAYER = line("The text layer of this page says that the bridge was built in 1932.")


def test_only_pages_without_a_legible_layer_are_seen(stage: Stage, person: Person) -> None:
    content = pdf([LAYER, b"", line("12")])
    source = capture(person, content)
    assert source["status"] == "ready", source
    assert Counter(seen(stage.provider)) == {"vision": 2}
    found = passages(person, source)
    assert found[0][1].startswith("The text layer")
    assert [page for page, _ in found] == [1, 2, 3]
    assert "A picture of" in found[1][1]
    check_books(person.usage(), stage.provider.ledger)


def test_a_mode_is_an_entry_of_its_own(stage: Stage, person: Person) -> None:
    content = pdf([LAYER, LAYER])
    for mode, calls in (("text", 0), ("vision", 2), ("auto", 2)):
        assert capture(person, content, mode)["status"] == "ready"
        assert len(seen(stage.provider)) == calls, mode
    person.client.patch("/me", json={"pdf_capture": "text"}).raise_for_status()
    notebook = person.notebook()
    again = person.client.post(f"/notebooks/{notebook}/sources", files={"file": ("b.pdf", content)})
    assert again.status_code == 200, "the preference is text, and the library has that"


def test_a_scan_in_text_mode_names_the_mode_and_the_way_out(stage: Stage, person: Person) -> None:
    source = capture(person, scan([1, 2]), "text")
    assert source["status"] == "failed"
    assert '"text"' in source["error"]
    assert '"vision"' in source["error"]
    assert stage.provider.ledger == []


def test_a_blank_page_is_no_failure_where_others_have_text(stage: Stage, person: Person) -> None:
    stage.provider.fail(Fault.BLANK, kind="vision", times=1)
    source = capture(person, scan([1, 2]), "vision")
    assert source["status"] == "ready"
    assert len(source["skipped"]) == 1
    stage.provider.fail(Fault.BLANK, kind="vision")
    blank = capture(person, scan([3, 4]), "vision")
    assert blank["status"] == "failed"
    assert "can be read" in blank["error"]
    check_books(person.usage(), stage.provider.ledger)


def test_what_is_refused_or_cut_is_named_and_paid_once(stage: Stage, person: Person) -> None:
    stage.provider.fail(Fault.FILTERED, kind="vision", times=1)
    stage.provider.fail(Fault.LENGTH, kind="vision", times=1)
    source = capture(person, scan([1, 2, 3]))
    assert source["status"] == "ready"
    reasons = sorted(page["reason"] for page in source["skipped"])
    assert len(reasons) == 2
    assert "cut off" in reasons[0]
    assert "refuses" in reasons[1]
    assert len(seen(stage.provider)) == 3
    check_books(person.usage(), stage.provider.ledger)


def test_a_page_that_fails_for_good_fails_the_source_and_what_was_paid_is_kept(
    stage: Stage, person: Person
) -> None:
    stage.provider.fail(Fault.BAD_REQUEST, kind="vision", times=1)
    content = scan(range(1, 7))
    source = capture(person, content)
    assert source["status"] == "failed"
    served = Counter(e.status for e in stage.provider.ledger if e.kind == "vision")[Status.SERVED]
    person.client.post(f"/sources/{source['id']}/retry").raise_for_status()
    person.wait_until_ready([source["id"]])
    ledger = [entry for entry in stage.provider.ledger if entry.kind == "vision"]
    assert len(ledger) == 6 + 1
    assert len({entry.input_sha1 for entry in ledger if entry.status is Status.SERVED}) == 6
    assert served >= 1
    check_books(person.usage(), stage.provider.ledger)


def test_too_many_pages_are_refused_before_the_first_call(stage: Stage, person: Person) -> None:
    source = capture(person, scan(range(1, 102)))
    assert source["status"] == "failed"
    assert "100 is the limit (PDF_VISION_MAX_PAGES)" in source["error"]
    assert stage.provider.ledger == []


def test_without_credit_no_page_is_seen(stage: Stage) -> None:
    poor = stage.person(credit="0")
    source = capture(poor, scan([1]))
    assert "more than your credit covers" in source["error"]
    assert stage.provider.ledger == []


def test_an_image_is_one_call_and_can_be_found_and_cited(stage: Stage, person: Person) -> None:
    out = BytesIO()
    coded(77).convert("RGBA").save(out, "PNG")
    source = capture(person, out.getvalue(), name="77.png")
    assert (source["status"], source["kind"], source["pages"]) == ("ready", "image", None), source
    assert passages(person, source) == [(None, page_text(77))]
    assert len(seen(stage.provider)) == 1
    image = person.client.get(f"/sources/{source['id']}/pages/1/image")
    assert image.headers["content-type"] == "image/png"
    with Image.open(BytesIO(image.content)) as shown:
        assert shown.size == (300, 300)
    original = person.client.get(f"/sources/{source['id']}/original")
    assert original.headers["content-type"] == "image/png"
    [notebook] = [n["id"] for n in person.client.get("/notebooks").json()["items"]]
    answer = person.answer_to(notebook, "Who built bridge 539?")
    assert [c["source_id"] for c in answer["citations"]] == [source["id"]]
    check_books(person.usage(), stage.provider.ledger)


def test_an_image_whose_header_is_a_bomb_is_refused_unseen(stage: Stage, person: Person) -> None:
    out = BytesIO()
    Image.new("1", (1, 1)).save(out, "PNG")
    png = bytearray(out.getvalue())
    png[16:24] = (40_000).to_bytes(4, "big") * 2
    png[29:33] = zlib.crc32(png[12:29]).to_bytes(4, "big")
    source = capture(person, bytes(png), name="bomb.png")
    assert source["status"] == "failed"
    assert "40,000 x 40,000 pixels" in source["error"]
    assert stage.provider.ledger == []
