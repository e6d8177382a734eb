"""kill -9 in the middle of reading thirty files: nothing is lost, doubled, or paid for much."""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from app.bootstrap import running_database
from tests.adapters.small_pdf import line, pdf
from tests.conftest import Product, until
from tests.product.stage import ENVIRONMENT, Person, Stage, check_books, kill
from tests.provider import Provider, Settings, Status, served_inputs
from tests.test_up import Run, is_ready, running

FILES = 30
CREDIT = Decimal(5)


@pytest.fixture
def provider() -> Iterator[Provider]:
    """One that takes as long as real ones do, so that kills land in the middle of calls."""
    with Provider(Settings(embedding_delay_s=0.03)) as running_provider:
        yield running_provider


def sentence(file: int, number: int) -> str:
    return f"File {file} says in line {number} that bridge {number * 7} is older than road {file}."


def content(file: int) -> tuple[str, bytes]:
    """A text or a PDF of about forty chunks."""
    sentences = [sentence(file, number) for number in range(80)]
    if file % 3:
        return f"{file}.txt", "\n".join(sentences).encode()
    pages = [sentences[start : start + 20] for start in range(0, 80, 20)]
    drawn = [b"".join(line(s, y=740 - 16 * n) for n, s in enumerate(page)) for page in pages]
    return f"{file}.pdf", pdf(drawn)


def upload_all(person: Person, files: int = FILES) -> str:
    notebook = person.notebook()
    for file in range(files):
        person.upload(notebook, *content(file))
    return notebook


def wait_for_calls(provider: Provider, more: int) -> None:
    """Until so many more embedding calls have come in: the worker is in the middle of it."""
    before = len(provider.ledger)
    until(lambda: len(provider.ledger) >= before + more, within_s=60)


def kill_database(beleg: Run, address: str) -> None:
    """kill -9 the postmaster; returns once the next one serves."""
    killed = beleg.children()["postgres"]
    os.kill(killed, signal.SIGKILL)
    until(lambda: beleg.children().get("postgres", killed) != killed)
    until(lambda: is_ready(address))


def check_whole(stage: Stage, person: Person, notebook: str, files: int = FILES) -> int:
    """Every source is whole, once, and nothing else is left; the number of chunks."""
    until(lambda: stage.count("sources", "status in ('queued', 'processing')") == 0, within_s=120)
    assert person.states(notebook) == {"ready": files}
    versions = stage.sql(
        "select s.id, v.id, v.chunk_count,"
        " array(select ordinal from chunks where version_id = v.id order by ordinal),"
        " array(select ordinal from chunk_vectors where version_id = v.id order by ordinal),"
        " array(select distinct o from postings p, unnest(p.ordinals) o"
        "  where p.version_id = v.id order by o)"
        " from sources s left join source_versions v on v.source_id = s.id"
    )
    assert len(versions) == len({source for source, *_ in versions}) == files
    for source, version, count, chunks, vectors, postings in versions:
        assert stage.sql("select version_id from sources where id = %s", source) == [(version,)]
        assert count > 20
        assert chunks == vectors == postings == list(range(count))
    for table in ("chunks", "chunk_vectors", "postings", "passages"):
        gone = "version_id not in (select id from source_versions)"
        assert stage.count(table, gone) == 0
    assert stage.count("paid_embeddings") == 0
    until(lambda: stage.count("saq_jobs", "status in ('queued', 'active')") == 0)
    return sum(count for _, _, count, *_ in versions)


def check_bill(stage: Stage, person: Person, provider: Provider, chunks: int) -> str:
    """A row a call; what was in flight at a kill stands at its bound; little is paid twice."""
    served = served_inputs(provider.ledger)
    assert len(served) == chunks
    again = sum(served.values()) - chunks
    received = Counter(d for entry in provider.ledger for d in entry.input_sha1)
    told = Counter(e.input_tokens for e in provider.ledger if e.status is Status.SERVED)
    rows = person.usage()
    assert {row["status"] for row in rows} <= {"served", "unknown"}
    booked = Counter(row["input_tokens"] for row in rows if row["status"] == "served")
    assert booked <= told
    unknown = [row for row in rows if row["status"] == "unknown"]
    lost = len(provider.ledger) - booked.total()
    assert len(unknown) >= lost, "every call has its row"
    assert len(rows) == booked.total() + len(unknown)
    # An intent whose call had not left yet is unknown too: at most what may be in flight at once.
    assert len(unknown) - lost <= 5 * 4
    price = Decimal("0.05") / 1_000_000
    for row in unknown:
        assert row["estimated"]
        assert Decimal(row["cost"]) == row["input_tokens"] * price
    spent = sum(Decimal(row["cost"]) for row in rows)
    [left] = stage.sql("select credit, reserved from users where id = %s", person.id)
    assert left == (CREDIT - spent, 0)
    assert again <= chunks / 4
    return (
        f"{chunks} chunks; served twice: {again} ({again / chunks:.1%}); received twice:"
        f" {received.total() - chunks}; {len(provider.ledger)} calls, {len(unknown)} unknown"
    )


@pytest.mark.slow
def test_five_kills_while_thirty_files_are_read(
    provider: Provider, product: Callable[..., Product]
) -> None:
    chance = random.Random(2026)
    beleg = product(INFERENCE_BASE_URL=provider.url, **ENVIRONMENT)
    worker = beleg.worker()
    web, address = beleg.web()
    stage = Stage(provider, beleg, [address])
    person = stage.person()
    notebook = upload_all(person)
    for round_number in range(5):
        wait_for_calls(provider, 1)
        time.sleep(chance.uniform(0.05, 0.6))
        everything = round_number % 2 == 1
        kill(worker, web) if everything else kill(worker)
        worker = beleg.worker()
        if everything:
            web, address = beleg.web()
            person = person.at(address)
    states = person.states(notebook)
    assert states["ready"] < FILES, "the kills came while files were read"
    chunks = check_whole(stage, person, notebook)
    print(check_bill(stage, person, provider, chunks))
    for client in stage.clients:
        client.close()


@pytest.mark.slow
def test_a_kill_of_everything_and_the_database_under_it(provider: Provider, tmp_path: Path) -> None:
    data = tmp_path / "data"
    environment = {"INFERENCE_BASE_URL": provider.url, **ENVIRONMENT}
    with running(data, **environment) as beleg:
        stage = Stage(provider, Product("", data, {}), [beleg.address()])
        person = stage.person()
        notebook = upload_all(person)
        wait_for_calls(provider, 12)
        kill_database(beleg, stage.address)
        wait_for_calls(provider, 12)
        assert person.states(notebook)["ready"] < FILES
        beleg.end(signal.SIGKILL)
    with running(data, **environment) as beleg:
        stage.webs.append(beleg.address())
        person = person.at(stage.webs[-1])
        stage.product.database_url = running_database(data / "postgres") or ""
        chunks = check_whole(stage, person, notebook)
        print(check_bill(stage, person, provider, chunks))
        # The database dies under idle processes: they find it again.
        kill_database(beleg, stage.webs[-1])
        late = person.notebook("What comes late is read, too.")
        assert person.answer_to(late, "What is read?")["status"] == "complete"
        for client in stage.clients:
            client.close()
        assert beleg.end(signal.SIGTERM) == 0


@pytest.mark.slow
def test_jobs_that_run_twice_at_once_are_fenced_and_each_call_is_billed(
    provider: Provider, product: Callable[..., Product]
) -> None:
    provider.settings.embedding_delay_s = 0.2
    beleg = product(INFERENCE_BASE_URL=provider.url, **ENVIRONMENT)
    beleg.worker()
    beleg.worker()
    _, address = beleg.web()
    stage = Stage(provider, beleg, [address])
    person = stage.person()
    notebook = upload_all(person, files=10)
    wait_for_calls(provider, 4)
    for _ in range(3):  # as if the workers that are at it looked dead
        stage.sql("update saq_jobs set status = 'queued', scheduled = 0 where status = 'active'")
        stage.sql("select pg_notify('saq:ingest', 'saq:enqueue')")
        time.sleep(0.5)
    check_whole(stage, person, notebook, files=10)
    [[attempts]] = stage.sql("select sum(attempt) from sources")
    assert attempts > 10, "some were run twice"
    until(lambda: {row["status"] for row in person.usage()} == {"served"})
    check_books(person.usage(), provider.ledger)
    print(f"{attempts} attempts, {len(provider.ledger)} calls")
    for client in stage.clients:
        client.close()
