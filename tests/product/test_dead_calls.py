"""kill -9 within a call that belongs to no answer and no source; another process's goes on."""

import time
from collections import Counter
from contextlib import suppress
from decimal import Decimal

import httpx

from tests.conftest import until
from tests.product.stage import Person, Stage, in_parallel, kill

CREDIT = Decimal(5)
SLOW_S = 23.0
"""Longer than the lease of a call, and than four processes need to see that nobody renews it."""


def search(person: Person, notebook: str) -> int | None:
    """The status of a search; None where its process was killed."""
    with suppress(httpx.TransportError):
        body = {"query": "When was the bridge built?"}
        return person.client.post(f"/notebooks/{notebook}/search", json=body).status_code
    return None


def test_a_killed_search_is_charged_at_its_bound_and_a_slow_one_is_served(stage: Stage) -> None:
    patience = {"EMBEDDING_TIMEOUT_S": "50"}
    with in_parallel(2) as pool:
        (dying, one), (living, other) = pool.map(lambda _: stage.product.web(**patience), range(2))
        person = stage.person(credit=str(CREDIT))
        notebook = person.notebook("The bridge was built in 1932.")
        stage.provider.reset()
        stage.provider.settings.embedding_delay_s = SLOW_S
        lost = pool.submit(search, person.at(one), notebook)
        slow = pool.submit(search, person.at(other), notebook)
        until(lambda: len(stage.provider.ledger) == 2)
        kill(dying)
        killed = time.monotonic()
        stage.sql(  # every process loses the database, and finds it again
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
        unknown = f"status = 'unknown' and user_id = '{person.id}'"
        until(lambda: stage.count("model_calls", unknown) == 1, within_s=30)
        print(f"unknown {time.monotonic() - killed:.1f} s after the kill")
        assert (lost.result(), slow.result()) == (None, 200)
    kill(living)
    _, *rows = person.usage()
    assert Counter(row["status"] for row in rows) == {"unknown": 1, "served": 1}
    bound = next(row["input_tokens"] for row in rows if row["status"] == "unknown")
    assert bound > next(row["input_tokens"] for row in rows if row["status"] == "served")
    [left] = stage.sql("select credit, reserved from users where id = %s", person.id)
    assert left == (CREDIT - sum(Decimal(row["cost"]) for row in person.usage()), 0)
