"""A product on trial: a provider that can fail, web processes, a worker, people, and the books."""

import json
import secrets
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import psycopg

from tests.conftest import Product, until
from tests.provider import Entry, Provider, Status

CHAT, EMBEDDING = "glm-5.3-flash", "qwen3-embedding-4b"
ENVIRONMENT = {
    "INFERENCE_API_KEY": "test",
    "LLM_MODEL": CHAT,
    "EMBEDDING_MODEL": EMBEDDING,
    "EMBEDDING_DIMENSION": "64",
    "STT_MODEL": "whisper-1",
    "SOURCE_SUMMARIES": "off",  # their own trials turn them on
    "CHUNK_TOKENS": "32",
    "CHUNK_OVERLAP_TOKENS": "0",
    "EMBEDDING_BATCH_ITEMS": "8",
    "DATABASE_POOL_SIZE": "8",
    "URL_ALLOW_HOSTS": "127.0.0.1",  # where tests serve web pages
}
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """A server-sent event as it came."""

    id: int
    kind: str
    data: Json


@dataclass
class Person:
    """An account, seen through the API of one web process."""

    stage: "Stage"
    client: httpx.Client
    id: str

    def at(self, address: str) -> "Person":
        """The same account at another web process."""
        client = self.stage.client(address)
        client.headers["Authorization"] = self.client.headers["Authorization"]
        return Person(self.stage, client, self.id)

    def notebook(self, *texts: str) -> str:
        """A new notebook with these texts, all of them ready."""
        notebook = str(self.client.post("/notebooks", json={"title": "Trial"}).json()["id"])
        self.wait_until_ready([self.add(notebook, text) for text in texts])
        return notebook

    def add(self, notebook: str, text: str) -> str:
        """The id of a text that is being read."""
        body = {"title": text[:20], "text": text}
        return self._added(self.client.post(f"/notebooks/{notebook}/sources", json=body))

    def upload(self, notebook: str, name: str, content: bytes) -> str:
        """The id of a file that is being read."""
        files = {"file": (name, content)}
        return self._added(self.client.post(f"/notebooks/{notebook}/sources", files=files))

    @staticmethod
    def _added(response: httpx.Response) -> str:
        assert response.status_code == 202, response.text
        return str(response.json()["id"])

    def source(self, source: str) -> Json:
        found: Json = self.client.get(f"/sources/{source}").json()
        return found

    def states(self, notebook: str) -> Counter[str]:
        """How many sources are queued, processing, ready, failed."""
        listed = self.client.get(f"/notebooks/{notebook}/sources", params={"limit": 500}).json()
        return Counter(source["status"] for source in listed["items"])

    def wait_until_ready(self, sources: Iterable[str], within_s: float = 60) -> None:
        for source in sources:
            until(lambda: self.source(source)["status"] in {"ready", "failed"}, within_s=within_s)  # noqa: B023 - called at once
            found = self.source(source)
            assert found["status"] == "ready", found

    def ask(self, notebook: str, question: str, **headers: str) -> str:
        """The id of an answer that is being written."""
        response = self.post_question(notebook, {"question": question}, **headers)
        assert response.status_code == 201, response.text
        return str(response.json()["answer_id"])

    def post_question(self, notebook: str, body: Json, **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post(f"/notebooks/{notebook}/questions", json=body, headers=named)

    def answer_to(self, notebook: str, question: str, **body: object) -> Json:
        """The finished answer."""
        response = self.client.post(
            f"/notebooks/{notebook}/questions",
            params={"wait": 1},
            json={"question": question, **body},
        )
        assert response.status_code == 200, response.text
        answer: Json = response.json()
        return answer

    def answer(self, answer: str) -> Json:
        found: Json = self.client.get(f"/answers/{answer}").json()
        return found

    @contextmanager
    def following(self, answer: str, after: int | None = None) -> Iterator[Iterator[Event]]:
        """The events of an answer as they come; leaving the block hangs up."""
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        path = f"/answers/{answer}/events"
        with self.client.stream("GET", path, headers=headers) as response:
            assert response.status_code == 200
            yield _events(response.iter_lines())

    def events(self, answer: str, after: int | None = None) -> list[Event]:
        """All events to the end."""
        with self.following(answer, after) as events:
            return list(events)

    def usage(self) -> list[Json]:
        """Every usage row, by the API."""
        rows: list[Json] = []
        cursor = None
        while True:
            query = {"rows": "1", "limit": "500", **({"cursor": cursor} if cursor else {})}
            page = self.client.get("/usage", params=query).json()
            rows += page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return rows


def _events(lines: Iterator[str]) -> Iterator[Event]:
    fields: dict[str, str] = {}
    for line in lines:
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields:
            yield Event(int(fields["id"]), fields["event"], json.loads(fields["data"]))
            fields = {}


def text_of(events: Iterable[Event]) -> str:
    """The joined deltas."""
    return "".join(event.data["text"] for event in events if event.kind == "delta")


@dataclass
class Stage:
    """The product, its provider and its database."""

    provider: Provider
    product: Product
    webs: list[str] = field(default_factory=list)
    """Addresses of web processes that stay."""
    clients: list[httpx.Client] = field(default_factory=list)

    @property
    def address(self) -> str:
        return self.webs[0]

    def client(self, address: str) -> httpx.Client:
        """A client of the API, closed after the test."""
        self.clients.append(httpx.Client(base_url=f"{address}/api/v1", timeout=60))
        return self.clients[-1]

    def person(self, *, credit: str | None = None) -> Person:
        """A new account, with so much USD where given."""
        client = self.client(self.address)
        email = f"{secrets.token_hex(6)}@example.org"
        response = client.post("/accounts", json={"email": email, "password": "a good password"})
        response.raise_for_status()
        client.headers["Authorization"] = f"Bearer {response.json()['token']}"
        person = Person(self, client, response.json()["user"]["id"])
        if credit is not None:
            self.sql("update users set credit = %s where id = %s", credit, person.id)
        return person

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Rows of a statement, committed."""
        with psycopg.connect(self.product.database_url) as connection:
            cursor = connection.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description else []

    def count(self, table: str, where: str = "true", *values: object) -> int:
        return int(self.sql(f"select count(*) from {table} where {where}", *values)[0][0])


def kill(*processes: subprocess.Popen[bytes]) -> None:
    """kill -9, all at once."""
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()


def in_parallel(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count)


def check_books(rows: Iterable[Mapping[str, Any]], entries: Iterable[Entry]) -> None:
    """Usage rows against the provider's ledger: call for call, token for token where reported."""
    rows, entries = list(rows), [entry for entry in entries if entry.kind != "models"]
    assert Counter(row["kind"] for row in rows) == Counter(entry.kind for entry in entries)
    told = Counter(
        (entry.kind, entry.input_tokens, entry.output_tokens, entry.seconds)
        for entry in entries
        if entry.usage_reported
    )
    booked = Counter(
        (row["kind"], row["input_tokens"], row["output_tokens"], int(row["seconds"] or 0))
        for row in rows
        if not row["estimated"] and row["status"] != "failed"
    )
    assert booked == told
    refused = sum(entry.status is Status.REFUSED for entry in entries)
    assert Counter(row["status"] == "failed" for row in rows)[True] == refused
    assert all(float(row["cost"]) == 0 for row in rows if row["status"] == "failed")
    silent = [entry for entry in entries if not entry.usage_reported]
    estimated = [row for row in rows if row["estimated"]]
    assert len(estimated) == len(silent) - refused
    assert all(row["input_tokens"] > 0 or row["seconds"] for row in estimated)
