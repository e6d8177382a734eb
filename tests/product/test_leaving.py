"""Take everything along, then leave: archives and deletions through real processes and kills."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from tests.adapters.small_pdf import line, pdf
from tests.conftest import Product, until
from tests.product.stage import ENVIRONMENT, Json, Person, Stage, kill
from tests.provider import Provider

PASSWORD = "a good password"
NAMES = ("plain.txt", "../../etc/passwd", 'a "quoted" ä.txt', "x" * 180 + ".txt")


@dataclass
class Kept:
    """An archive as somebody reads it who knows nothing but its README."""

    files: dict[str, bytes]

    @classmethod
    def read(cls, content: bytes) -> "Kept":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert archive.testzip() is None
            names = archive.namelist()
            assert len(names) == len(set(names))
            assert not any(name.startswith("/") or ".." in name.split("/") for name in names)
            return cls({name: archive.read(name) for name in names})

    def json(self, name: str) -> Any:  # noqa: ANN401 - whatever stands there
        return json.loads(self.files[name])

    def original(self, source: str) -> bytes:
        [name] = [name for name in self.files if name.startswith(f"sources/{source}/original/")]
        return self.files[name]


@pytest.fixture
def leaving(product: Callable[..., Product]) -> Iterator[Stage]:
    """A product of its own: a web process, and no worker yet."""
    with Provider() as provider:
        beleg = product(INFERENCE_BASE_URL=provider.url, **ENVIRONMENT)
        _, address = beleg.web()
        stage = Stage(provider, beleg, [address])
        stage.person()  # the admin
        yield stage
        for client in stage.clients:
            client.close()


def settled(person: Person) -> tuple[dict[str, bytes], str]:
    """An account with 20 sources, questions, a guest's role: the bytes by source, a notebook."""
    notebooks = [person.notebook(), person.notebook()]
    contents: dict[str, bytes] = {}
    for n in range(20):
        text = f"Number {n}: the bridge of town {n} was built in {1900 + n}. It is red. " * 4
        content = pdf([line(text[:70]), line(text[70:140])]) if n % 5 == 4 else text.encode()
        name = f"{n}.pdf" if n % 5 == 4 else NAMES[n % 4].replace(".txt", f"{n}.txt")
        contents[person.upload(notebooks[n % 2], name, content)] = content
    person.wait_until_ready(contents, within_s=120)
    for n in range(3):
        person.answer_to(notebooks[0], f"When was the bridge of town {n} built?")
    return contents, notebooks[0]


def exported(person: Person, *, within_s: float = 60) -> bytes:
    made = person.client.post("/me/export")
    assert made.status_code == 202, made.text
    return downloaded(person, made.json()["id"], within_s=within_s)


def downloaded(person: Person, export: str, *, within_s: float = 60) -> bytes:
    path = f"/me/exports/{export}"
    until(lambda: person.client.get(path).json()["status"] != "queued", within_s=within_s)
    found = person.client.get(path).json()
    assert found["status"] == "ready", found
    archive = person.client.get(found["url"].removeprefix("/api/v1"))
    assert archive.headers["content-type"] == "application/zip"
    assert len(archive.content) == found["bytes"]
    return archive.content


def check_complete(kept: Kept, person: Person, contents: dict[str, bytes]) -> None:
    """Everything that the API tells of an account stands in the archive."""
    client = person.client
    assert kept.json("manifest.json")["sources"] == len(contents)
    assert kept.json("account.json")["id"] == person.id
    told = {n["id"]: n for n in client.get("/notebooks").json()["items"]}
    assert {n["id"]: n["title"] for n in kept.json("notebooks.json")} == {
        key: notebook["title"] for key, notebook in told.items()
    }
    linked = [source for n in kept.json("notebooks.json") for source in n["source_ids"]]
    assert sorted(linked) == sorted(contents)
    for source, content in contents.items():
        assert kept.original(source) == content
        about, now = kept.json(f"sources/{source}/source.json"), person.source(source)
        for name in ("title", "kind", "language", "pages", "words", "chunk_count", "url"):
            assert about[name] == now[name], name
        assert kept.json(f"sources/{source}/passages.json") == [
            {"page": p["page"], "label": p["label"], "text": p["text"]}
            for p in client.get(f"/sources/{source}/passages").json()
        ]
    for notebook in told:
        check_chat(kept, client.get(f"/notebooks/{notebook}/messages").json()["items"], notebook)
    assert [row["id"] for row in kept.json("usage.json")] == [row["id"] for row in person.usage()]
    assert sum(float(row["cost"]) for row in kept.json("usage.json")) > 0
    assert {"signed_up", "exported"} <= {act["act"] for act in kept.json("audit.json")}


def check_chat(kept: Kept, told: list[Json], notebook: str) -> None:
    chat = {answer["id"]: answer for answer in kept.json(f"chats/{notebook}.json")}
    assert set(chat) == {answer["id"] for answer in told}
    for answer in told:
        mine = chat[answer["id"]]
        assert (mine["question"], mine["text"]) == (answer["question"], answer["text"])
        assert len(mine["retrieved"]) == len(answer["retrieved"])
        for cited, expected in zip(mine["citations"], answer["citations"], strict=True):
            for name in ("marker", "chunk_id", "source_id", "page", "quote", "start", "end"):
                assert cited[name] == expected[name]
            # A citation can be checked with nothing but the archive.
            pages = kept.json(f"sources/{cited['source_id']}/passages.json")
            text = next(p["text"] for p in pages if p["page"] == cited["page"])
            assert text[cited["start"] : cited["end"]] == cited["quote"]


def rows_of(stage: Stage, user: str) -> dict[str, int]:
    """How many rows of every table name that account in any column of ids."""
    columns = stage.sql(
        "select c.table_name, c.column_name from information_schema.columns c"
        " join information_schema.tables t using (table_schema, table_name)"
        " where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.data_type = 'uuid'"
    )
    assert {("users", "id"), ("sources", "owner_id"), ("model_calls", "user_id")} <= set(columns)
    found = {
        f"{table}.{column}": stage.count(table, f"{column} = %s", user) for table, column in columns
    }
    return {name: count for name, count in found.items() if count}


def text_of_everything(stage: Stage) -> str:
    """Every row of every table but the queue's, as text."""
    tables = stage.sql(
        "select table_name from information_schema.tables where table_schema = 'public'"
        " and table_type = 'BASE TABLE' and table_name not like 'saq%%'"
    )
    rows = [stage.sql(f'select cast(t as text) from "{table}" t') for [table] in tables]
    return "\n".join(text for table in rows for [text] in table)


def files_of(stage: Stage, user: str) -> list[str]:
    folder = stage.product.data / "files" / user
    return sorted(str(path) for path in folder.rglob("*") if path.is_file())


def parts_of(stage: Stage, export: str) -> list[tuple[str, str, int]]:
    """What is made of an archive: names, keys and when their files were written."""
    parts = stage.sql(
        "select name, key from export_parts where export_id = %s order by number", export
    )
    files = stage.product.data / "files"
    return [(name, key, (files / key).stat().st_mtime_ns) for name, key in parts]


def archive_through_a_kill(stage: Stage, person: Person) -> bytes:
    """An archive whose worker is killed in the middle; another one goes on."""
    export = person.client.post("/me/export").json()["id"]
    assert person.client.post("/me/export").json()["id"] == export, "one at a time"
    with psycopg.connect(stage.product.database_url) as connection:
        connection.execute("lock table audit_log")  # which is read last
        worker = stage.product.worker()
        until(lambda: stage.count("export_parts", "export_id = %s and name = 'usage'", export) == 1)
        kill(worker)
    made = parts_of(stage, export)
    assert sum(name.startswith("source ") for name, _, _ in made) == 20
    stage.product.worker()
    archive = downloaded(person, export)
    parts = parts_of(stage, export)
    assert parts[: len(made)] == made, "nothing is made again"
    assert [name for name, _, _ in parts[len(made) :]] == ["audit", "manifest"]
    return archive


def leave_through_a_kill(stage: Stage, person: Person) -> None:
    """A deletion whose worker is killed in the middle; another one goes on."""
    wrong = person.client.request("DELETE", "/me", json={"password": "wrong"})
    assert (wrong.status_code, wrong.json()["code"]) == (403, "wrong_password")
    kill(stage.product.children[-1])
    gone = person.client.request("DELETE", "/me", json={"password": PASSWORD})
    assert gone.status_code == 202, gone.text
    assert person.client.get("/me").status_code == 401
    with psycopg.connect(stage.product.database_url) as connection:
        connection.execute("lock table credit_grants")  # which go last
        worker = stage.product.worker()
        until(lambda: stage.count("sources", "owner_id = %s", person.id) == 0, within_s=60)
        kill(worker)
    assert stage.count("users", "id = %s", person.id) == 1
    stage.product.worker()
    until(lambda: not rows_of(stage, person.id), within_s=60)
    until(lambda: not files_of(stage, person.id))


def test_an_account_takes_everything_along_and_leaves_nothing(leaving: Stage) -> None:
    stage = leaving
    worker = stage.product.worker()
    person, other = stage.person(), stage.person()
    contents, notebook = settled(person)
    theirs = other.notebook("What somebody else keeps stays as it is.")
    other.answer_to(theirs, "What stays?")
    email, address = (one.client.get("/me").json()["email"] for one in (person, other))
    share = {"email": address, "role": "ask"}
    person.client.post(f"/notebooks/{notebook}/shares", json=share).raise_for_status()
    other.answer_to(notebook, "When was the bridge of town 3 built?")
    kept = Kept.read(exported(person))
    check_complete(kept, person, contents)
    assert "town 3" not in json.dumps(kept.json(f"chats/{notebook}.json")), "a guest's question"
    kill(worker)
    check_complete(Kept.read(archive_through_a_kill(stage, person)), person, contents)
    [last] = person.client.get("/me/exports").json()["items"]  # the one before made way
    assert other.client.get(f"/me/exports/{last['id']}/archive").status_code == 404

    spent = sum(float(row["cost"]) for row in person.usage())
    bill = other.usage()
    everything = stage.sql("select count(*), sum(cost) from model_calls")
    leave_through_a_kill(stage, person)
    left = text_of_everything(stage)
    for trace in (person.id, email, "the bridge of town 7", *contents):
        assert trace not in left, trace
    assert stage.sql("select count(*), sum(cost) from model_calls") == everything
    [[unnamed]] = stage.sql("select sum(cost) from model_calls where user_id is null")
    assert float(unnamed) == pytest.approx(spent)
    assert other.usage() == bill
    assert other.answer_to(theirs, "What stays?")["status"] == "complete"
