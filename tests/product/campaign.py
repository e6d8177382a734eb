"""A ledger on trial: mixed calls, faults, stops and kills, and whether both sides' books agree."""

import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_UP, Decimal
from typing import Any

import httpx
import psycopg

from tests.adapters.made_sound import tone, wav
from tests.conftest import Product, until
from tests.product.stage import ENVIRONMENT, Person, Stage, in_parallel, kill
from tests.provider import Entry, Fault, Provider, Rule, Settings, Status
from tests.provider.pictures import scan

TRIAL = ENVIRONMENT | {
    "SOURCE_SUMMARIES": "on",
    "MAX_QUESTIONS_PER_NOTEBOOK_DAY": "100000",
    "MAX_SOURCES_PER_NOTEBOOK": "1000",
    "EMBEDDING_TIMEOUT_S": "4",
    "LLM_FIRST_TOKEN_TIMEOUT_S": "4",
    "LLM_BETWEEN_TOKENS_TIMEOUT_S": "4",
    "VISION_TIMEOUT_S": "5",
    "STT_TIMEOUT_S": "5",
}
_REFUSED = (Fault.TOO_MANY, Fault.ERROR, Fault.OVERLOADED, Fault.HANG)
_STREAMED = (*_REFUSED, Fault.CUT, Fault.DROP_MIDWAY, Fault.STALL, Fault.NO_USAGE)
FAULTS = {
    "embedding": (*_REFUSED, Fault.DROP, Fault.WRONG_DIMENSION, Fault.NO_EMBEDDING_USAGE),
    "chat": _STREAMED,
    "summary": _STREAMED,
    "vision": _STREAMED,
    "stt": (*_REFUSED, Fault.DROP, Fault.NO_SECONDS),
}
_PEOPLE = 4
_THREADS = 6
_CREDIT, _LITTLE = Decimal(5), Decimal("0.04")
_SLACK_S = 2.0
"""Between a call's end and the commit of its bill, on a busy machine; and between two clocks."""
_LONGEST_CALL_S = 12.0
_SMALLEST = Decimal("0.000000001")

_BOOKS = """
select u.id, u.credit, u.reserved,
    coalesce(sum(c.cost) filter (where c.status <> 'pending'), 0),
    coalesce(sum(c.reserved) filter (where c.status = 'pending'), 0)
from users u left join model_calls c on c.user_id = u.id group by u.id
"""


@dataclass
class Watch:
    """What a reader beside everything saw of the accounts."""

    reads: int = 0
    wrong: list[str] = field(default_factory=list)
    held: Decimal = Decimal(0)
    """The most that was ever reserved."""

    def look(self, connection: psycopg.Connection[Any], begun_with: dict[str, Decimal]) -> None:
        """One statement sees one moment: every balance must be right in it."""
        self.reads += 1
        for user, credit, reserved, spent, pending in connection.execute(_BOOKS):
            self.held = max(self.held, reserved)
            first = begun_with.get(str(user))
            if credit - reserved < 0 or reserved != pending:
                self.wrong.append(f"{credit=} {reserved=} {pending=}")
            elif first is not None and credit != first - spent:
                self.wrong.append(f"{first=} {credit=} {spent=}")


@contextmanager
def watching(database_url: str, begun_with: dict[str, Decimal]) -> Iterator[Watch]:
    """Read the accounts again and again for as long as the block runs."""
    watch, done = Watch(), threading.Event()

    def read() -> None:
        with psycopg.connect(database_url, autocommit=True) as connection:
            while not done.wait(0.01):
                watch.look(connection, begun_with)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield watch
    finally:
        done.set()
        reader.join()


@dataclass
class Campaign:
    """A product under fire.

    Args:
        calls: that the provider shall have received before the product is left in peace.
        kills: of a worker and of a web process in turn.
    """

    provider: Provider
    product: Product
    calls: int
    kills: int
    seed: int = 1
    killed: list[float] = field(default_factory=list)
    """Unix seconds."""
    did: Counter[str] = field(default_factory=Counter)

    def run(self) -> tuple[Watch, "Books"]:
        """Everything, to the end of the last job; what the reader saw, and the books then."""
        self.worker = self.product.worker()
        with in_parallel(2) as pool:
            self.webs = list(pool.map(lambda _: self.product.web(), range(2)))
        self.stage = Stage(self.provider, self.product, [address for _, address in self.webs])
        granted = [_CREDIT] * (_PEOPLE - 1) + [_LITTLE]
        self.people = [self.stage.person(credit=str(credit)) for credit in granted]
        begun_with = {p.id: credit for p, credit in zip(self.people, granted, strict=True)}
        self.notebooks = {person.id: person.notebook() for person in self.people}
        for person in self.people:
            person.add(self.notebooks[person.id], _text("The first bridge", 6))
        self.provider.settings.rules = [
            Rule(faults, kind=kind, rate=0.34, retry_after_s=0) for kind, faults in FAULTS.items()
        ]
        try:
            with watching(self.product.database_url, begun_with) as watch:
                self._fire()
                self._wait_for_the_end()
            return watch, self._books()
        finally:
            for client in self.stage.clients:
                client.close()

    def _fire(self) -> None:
        with in_parallel(_THREADS) as pool:
            running = [
                pool.submit(self._act, random.Random(self.seed * 100 + n)) for n in range(_THREADS)
            ]
            for number in range(self.kills):
                share = self.calls * (number + 1) // (self.kills + 1)
                until(lambda: len(self.provider.ledger) >= share, within_s=300)  # noqa: B023 - called at once
                self._kill(number)
            for each in running:
                each.result()

    def _kill(self, number: int) -> None:
        if number % 2 == 0:
            kill(self.worker)
            self.killed.append(time.time())
            self.worker = self.product.worker()
        else:
            # The other one serves meanwhile.
            process, _ = self.webs.pop(0)
            kill(process)
            self.killed.append(time.time())
            self.webs.append(self.product.web())

    def _act(self, chance: random.Random) -> None:
        actions = (*[self._ask] * 4, self._read_text, self._see, self._hear, self._search)
        while len(self.provider.ledger) < self.calls:
            action = chance.choice(actions)
            person = chance.choice(self.people).at(chance.choice(list(self.webs))[1])
            with suppress(httpx.TransportError):  # of a process that is killed
                self.did[action.__name__[1:]] += 1
                action(person, chance)

    def _ask(self, person: Person, chance: random.Random) -> None:
        body = {"question": f"When was bridge {chance.randrange(99)} built?"}
        response = person.post_question(self.notebooks[person.id], body)
        assert response.status_code in {201, 402}, response.text
        if response.status_code != 201:
            return
        answer, ending = response.json()["answer_id"], chance.random()
        if ending < 0.3:
            time.sleep(chance.uniform(0, 0.3))
            self.did["stop"] += 1
            person.client.post(f"/answers/{answer}/stop").raise_for_status()
        elif ending < 0.5:
            self.did["hang up"] += 1
            with person.following(answer) as events:
                next(events, None)
        else:
            person.events(answer)

    def _read_text(self, person: Person, chance: random.Random) -> None:
        text = _text(f"Text {chance.random()}", 60)
        self._follow(person, person.add(self.notebooks[person.id], text))

    def _see(self, person: Person, chance: random.Random) -> None:
        pages = [chance.randrange(1, 60_000) for _ in range(3)]
        self._follow(person, person.upload(self.notebooks[person.id], "scan.pdf", scan(pages)))

    def _hear(self, person: Person, chance: random.Random) -> None:
        recording = wav(tone(chance.uniform(1, 40)))
        self._follow(person, person.upload(self.notebooks[person.id], "talk.wav", recording))

    @staticmethod
    def _follow(person: Person, source: str) -> None:
        """Wait until it is read, so that work does not pile up; half a minute at most."""
        until_s = time.monotonic() + 30
        while time.monotonic() < until_s:
            if person.source(source)["status"] in {"ready", "failed"}:
                return
            time.sleep(0.3)

    def _search(self, person: Person, chance: random.Random) -> None:
        path = f"/notebooks/{self.notebooks[person.id]}/search"
        response = person.client.post(path, json={"query": f"bridge {chance.randrange(99)}"})
        assert response.status_code in {200, 402, 503, 502}, response.text

    def _wait_for_the_end(self) -> None:
        self.provider.settings.rules = []
        until(self._is_over, within_s=300)
        waited_s = time.time() - max(self.killed, default=0)
        until(self._nothing_is_held, within_s=max(60 - waited_s, 5))

    def _is_over(self) -> bool:
        waiting = {
            "sources": "status in ('queued', 'processing')",
            "answers": "status = 'streaming'",
            "saq_jobs": "status in ('queued', 'active')",
        }
        return not any(self.stage.count(table, where) for table, where in waiting.items())

    def _nothing_is_held(self) -> bool:
        held = {"model_calls": "status = 'pending'", "users": "reserved <> 0"}
        return not any(self.stage.count(table, where) for table, where in held.items())

    def _books(self) -> "Books":
        address = self.webs[-1][1]
        rows = [row for person in self.people for row in person.at(address).usage()]
        assert len(rows) == self.stage.count("model_calls")
        calls = [entry for entry in self.provider.ledger if entry.kind != "models"]
        return Books(rows, calls, self.killed, self.did["stop"])


@dataclass
class Books:
    """The usage rows of everybody, what the provider received, when processes were killed, and
    how many answers were stopped."""

    rows: list[dict[str, Any]]
    calls: list[Entry]
    killed: Sequence[float]
    stopped: int

    def check(self) -> str:
        """Row for row, call for call.

        Every call that reported its use has a row with just these numbers, or was in flight at a
        kill and has an `unknown` row that covers it. Every other row is one of an intent whose
        call a kill or, at no cost, a stop prevented.
        """
        assert {row["status"] for row in self.rows} <= {"served", "cut", "failed", "unknown"}
        for row in self.rows:
            assert Decimal(row["cost"]) == (0 if row["status"] == "failed" else _cost(row)), row
        unknown = [row for row in self.rows if row["status"] == "unknown"]
        assert all(row["estimated"] for row in unknown)
        assert all(self._was_in_flight(_unix(row), None) for row in unknown)
        lost = self._without_a_settled_row()
        for call in lost:
            # One that fell silent is waited for, and so in flight, until its caller gives up.
            ended = None if call.status is Status.HUNG else call.ended
            assert self._was_in_flight(call.time, ended), call
            covering = min(
                (row for row in unknown if _covers(row, call)),
                key=lambda row: call.time - _unix(row),
                default=None,
            )
            assert covering is not None, (call, unknown)
            unknown.remove(covering)
        return (
            f"{len(self.calls)} calls, {len(self.rows)} rows; {len(lost)} in flight at"
            f" {len(self.killed)} kills, {len(unknown)} more that were never sent; "
            f"{dict(Counter(row['status'] for row in self.rows))};"
            f" {dict(Counter(call.kind for call in self.calls))};"
            f" {sum(bool(call.fault) for call in self.calls) / len(self.calls):.0%} with a fault"
        )

    def _without_a_settled_row(self) -> list[Entry]:
        """Calls that no settled row tells of; fails where a settled row tells of no call."""
        calls: dict[tuple[Any, ...], list[Entry]] = defaultdict(list)
        for call in self.calls:
            calls[_reported(call)].append(call)
        unsent = 0
        for row in sorted(self.rows, key=_unix):
            if row["status"] == "unknown":
                continue
            # Of calls that look alike the nearest in time is the row's.
            alike = calls[_told(row)]
            own = min(alike, key=lambda call: abs(call.time - _unix(row)), default=None)
            if own is not None:
                alike.remove(own)
            else:
                assert _told(row) == ("chat", "refused"), row
                unsent += 1
        assert unsent <= self.stopped
        return [call for alike in calls.values() for call in alike]

    def _was_in_flight(self, begun: float, ended: float | None) -> bool:
        return any(
            begun <= at + _SLACK_S and at - _SLACK_S <= (ended or begun + _LONGEST_CALL_S)
            for at in self.killed
        )


def _told(row: dict[str, Any]) -> tuple[Any, ...]:
    """What a settled row says: that nothing was served, what was reported, or that it is silent."""
    if row["status"] == "failed":
        return row["kind"], "refused"
    if row["estimated"]:
        return row["kind"], "silent"
    seconds = int(row["seconds"] or 0)
    return row["kind"], row["model"], row["input_tokens"], row["output_tokens"], seconds


def _reported(call: Entry) -> tuple[Any, ...]:
    if call.status is Status.REFUSED:
        return call.kind, "refused"
    if not call.usage_reported:
        return call.kind, "silent"
    return call.kind, call.model, call.input_tokens, call.output_tokens, call.seconds


def _covers(row: dict[str, Any], call: Entry) -> bool:
    return (
        (row["kind"], row["model"]) == (call.kind, call.model)
        and _unix(row) <= call.time + 0.1
        and row["input_tokens"] >= call.input_tokens
        and row["output_tokens"] >= call.output_tokens
        and (row["seconds"] or 0) >= call.seconds - 1
    )


def _unix(row: dict[str, Any]) -> float:
    return datetime.fromisoformat(row["created_at"]).timestamp()


def _cost(row: dict[str, Any]) -> Decimal:
    price = {name: Decimal(value) for name, value in row["unit_price"].items()}
    tokens = row["input_tokens"] * price["input"] + row["output_tokens"] * price["output"]
    seconds = Decimal(str(row["seconds"] or 0))
    exact: Decimal = tokens / 1_000_000 + seconds * price["minute"] / 60
    return exact.quantize(_SMALLEST, rounding=ROUND_UP)


def _text(name: str, sentences: int) -> str:
    return " ".join(
        f"{name} tells in line {n} that bridge {n * 7} was built before road {n * 3}."
        for n in range(sentences)
    )


def slow_provider() -> Provider:
    """One that takes a moment over everything, so that kills and stops land within calls."""
    slowly = Settings(
        embedding_delay_s=0.1, vision_delay_s=0.15, hearing_delay_s=0.15, token_delay_s=0.008
    )
    return Provider(slowly)
