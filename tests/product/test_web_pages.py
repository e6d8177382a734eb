"""Web pages through real processes: fetched, read, fetched again, deleted."""

import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.adapters.small_pdf import line, pdf
from tests.app.test_locked_pdf import PASSWORD, TEXT, locked
from tests.conftest import until
from tests.product.stage import Json, Person, Stage
from tests.provider import Fault
from tests.provider.pictures import page_text, scan

ARTICLE = """<!DOCTYPE html><html><head><title>{title}</title></head><body>
<nav><a href="/">Start</a></nav><article><h1>{title}</h1>
<p>Die alte Brücke über den Fluss wurde im Jahr {year} gebaut und ist seit langem gesperrt.</p>
<p>Nach dem Umbau, der drei Jahre gedauert hat, fahren nun wieder Busse und Bahnen darüber.</p>
</article></body></html>"""


class Site:
    """A web server of this machine, whose pages a test changes as it likes."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[int, Mapping[str, str], bytes]] = {}
        self.asked: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                status, headers, body = site.pages.get(self.path, (404, {}, b""))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}{path}"

    def put(self, path: str, body: str | bytes, media_type: str = "text/html") -> None:
        content = body.encode() if isinstance(body, str) else body
        self.pages[path] = (200, {"Content-Type": media_type}, content)


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.server.shutdown()
    made.server.server_close()


def add(person: Person, url: str) -> tuple[str, str]:
    """A new notebook, and the source in it that has come to its end."""
    notebook = str(person.client.post("/notebooks", json={"title": "Web"}).json()["id"])
    added = person.client.post(f"/notebooks/{notebook}/sources", json={"url": url})
    assert added.status_code == 202, added.text
    ended(person, added.json()["id"])
    return notebook, str(added.json()["id"])


def ended(person: Person, source: str) -> Json:
    until(lambda: person.source(source)["status"] in {"ready", "failed"})
    return person.source(source)


def refreshed(person: Person, source: str) -> Json:
    answer = person.client.post(f"/sources/{source}/refresh")
    assert answer.status_code == 202, answer.text
    assert answer.json()["status"] == "queued"
    return ended(person, source)


def text_of(person: Person, source: str) -> str:
    return "\n".join(row["text"] for row in person.client.get(f"/sources/{source}/passages").json())


def files_of(stage: Stage, person: Person) -> list[Path]:
    return [
        path for path in (stage.product.data / "files" / person.id).rglob("*") if path.is_file()
    ]


def test_a_page_is_read_and_can_be_found(stage: Stage, site: Site) -> None:
    person = stage.person()
    site.put("/brücke", ARTICLE.format(title="Die Brücke", year=1932))
    site.pages["/b"] = (302, {"Location": "/br%C3%BCcke"}, b"")
    site.pages["/br%C3%BCcke"] = site.pages["/brücke"]
    notebook, source = add(person, site.url("/b#teil"))
    found = person.source(source)
    assert found["status"] == "ready", found
    assert (found["kind"], found["title"], found["name"]) == ("url", "Die Brücke", site.url("/b"))
    assert found["language"] == "de"
    assert "1932" in text_of(person, source)
    assert "Start" not in text_of(person, source)
    hits = person.client.post(
        f"/notebooks/{notebook}/search", json={"query": "Wann wurde die Brücke gebaut?"}
    ).json()["results"]
    assert hits[0]["source_id"] == source
    original = person.client.get(f"/sources/{source}/original")
    assert original.content == site.pages["/brücke"][2]
    assert original.headers["content-disposition"].endswith("''b.html")
    assert original.headers["x-content-type-options"] == "nosniff"


def test_a_pdf_behind_an_address_is_read_as_one(stage: Stage, site: Site) -> None:
    person = stage.person()
    site.put("/paper", pdf([line("The bridge was built in 1932.")]), "application/octet-stream")
    _, source = add(person, site.url("/paper"))
    found = person.source(source)
    assert (found["status"], found["kind"], found["pages"]) == ("ready", "pdf", 1), found
    assert person.client.get(f"/sources/{source}/pages/1/image").status_code == 200
    site.put("/notes.md", "# Title\n\nThe tower is white.", "text/plain; charset=utf-8")
    assert person.source(add(person, site.url("/notes.md"))[1])["kind"] == "markdown"
    site.put("/latin", "Grüße aus Köln, sagt der Text.".encode("cp1252"), "text/plain")
    assert "Grüße" in text_of(person, add(person, site.url("/latin"))[1])


def test_a_refresh_that_finds_nothing_new_costs_nothing(stage: Stage, site: Site) -> None:
    person = stage.person()
    page = ARTICLE.format(title="Die Brücke", year=1932)
    site.put("/", page)
    _, source = add(person, site.url("/"))
    paid = len(person.usage())
    assert paid
    version = stage.sql("select version_id from sources where id = %s", source)
    assert refreshed(person, source)["status"] == "ready"
    site.put("/", page.replace("<nav>", '<nav data-once="7">'))  # other bytes, the same text
    assert refreshed(person, source)["status"] == "ready"
    assert site.asked == ["/"] * 3
    assert len(person.usage()) == paid
    assert stage.sql("select version_id from sources where id = %s", source) == version
    [file] = files_of(stage, person)
    assert b"data-once" in file.read_bytes()


def test_a_refresh_makes_a_new_version_and_leaves_the_old_one(stage: Stage, site: Site) -> None:
    person = stage.person()
    site.put("/", ARTICLE.format(title="Die Brücke", year=1932))
    _, source = add(person, site.url("/"))
    site.put("/", ARTICLE.format(title="Die Brücke", year=1955))
    found = refreshed(person, source)
    assert (found["status"], found["error"]) == ("ready", None)
    assert "1955" in text_of(person, source)
    assert stage.count("source_versions", "source_id = %s", source) == 2
    assert (
        stage.count(
            "passages p, source_versions v",
            "v.id = p.version_id and v.source_id = %s and p.text like '%%1932%%'",
            source,
        )
        == 1
    )
    assert len(files_of(stage, person)) == 1


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [(500, b"", "an error of its own"), (200, b"<html><h1>Just a moment...</h1>", "human")],
)
def test_a_refresh_that_fails_keeps_the_last_good_text(
    stage: Stage, site: Site, status: int, body: bytes, told: str
) -> None:
    person = stage.person()
    site.put("/", ARTICLE.format(title="Die Brücke", year=1932))
    notebook, source = add(person, site.url("/"))
    good = site.pages["/"]
    site.pages["/"] = (status, {"Content-Type": "text/html"}, body)
    found = refreshed(person, source)
    assert found["status"] == "ready"
    assert told in found["error"]
    assert "1932" in text_of(person, source)
    assert person.client.get(f"/sources/{source}/original").content == good[2]
    hits = person.client.post(f"/notebooks/{notebook}/search", json={"query": "Brücke"}).json()
    assert hits["results"]
    site.pages["/"] = good
    assert refreshed(person, source)["error"] is None
    assert len(files_of(stage, person)) == 1


def test_a_failed_page_is_retried_with_the_bytes_that_came(stage: Stage, site: Site) -> None:
    person = stage.person()
    site.put("/", "<html><title>x</title><p>Please enable JavaScript.</p></html>")
    _, source = add(person, site.url("/"))
    found = person.source(source)
    assert (found["status"], found["error_code"]) == ("failed", "unreadable"), found
    assert person.client.post(f"/sources/{source}/retry").status_code == 202
    assert ended(person, source)["status"] == "failed"
    assert site.asked == ["/"]
    site.put("/", ARTICLE.format(title="Die Brücke", year=1932))
    assert refreshed(person, source)["status"] == "ready"
    assert len(files_of(stage, person)) == 1


@pytest.mark.parametrize("before", ["The bridge was built in 1932.", TEXT])
def test_a_page_that_became_a_locked_pdf_is_opened_by_its_password(
    stage: Stage, site: Site, before: str
) -> None:
    person = stage.person()
    site.put("/paper", pdf([line(before)]), "application/pdf")
    _, source = add(person, site.url("/paper"))
    retry = f"/sources/{source}/retry"
    assert person.client.post(retry, json={"password": PASSWORD}).status_code == 409
    site.put("/paper", locked(), "application/pdf")
    found = refreshed(person, source)
    assert (found["status"], found["error_code"]) == ("ready", "password_needed")
    for password, said in (("wrong", "password_needed"), (PASSWORD, None)):
        assert person.client.post(retry, json={"password": password}).status_code == 202
        assert ended(person, source)["error_code"] == said
    assert TEXT in text_of(person, source)
    assert person.client.post(retry).status_code == 409
    assert stage.count("sealed_passwords", "source_id = %s", source) == 0
    assert len(files_of(stage, person)) == 1


def test_what_was_read_of_other_bytes_is_not_taken_for_a_page_fetched_anew(
    stage: Stage, site: Site
) -> None:
    person = stage.person()
    site.put("/scan.pdf", scan([1]), "application/pdf")
    stage.provider.fail(Fault.NO_KEY, kind="embedding")
    _, source = add(person, site.url("/scan.pdf"))
    assert person.source(source)["status"] == "failed"
    stage.provider.settings.rules.clear()
    site.put("/scan.pdf", scan([2]), "application/pdf")
    assert refreshed(person, source)["status"] == "ready"
    assert text_of(person, source) == page_text(2)
    assert [entry.kind for entry in stage.provider.ledger].count("vision") == 2


def test_addresses_of_this_network_fail_before_they_are_asked(stage: Stage, site: Site) -> None:
    person = stage.person()
    port = site.server.server_address[1]
    notebook = person.client.post("/notebooks", json={"title": "Web"}).json()["id"]
    for url in (f"http://localhost:{port}/", "http://10.0.0.1/", "file:///etc/passwd"):
        refused = person.client.post(f"/notebooks/{notebook}/sources", json={"url": url})
        assert (refused.status_code, refused.json()["code"]) == (400, "address_refused")
    site.pages["/"] = (302, {"Location": f"http://[::1]:{port}/secret"}, b"")
    found = person.source(add(person, site.url("/"))[1])
    assert (found["status"], found["error_code"]) == ("failed", "address_refused"), found
    assert site.asked == ["/"]


def test_a_deleted_page_leaves_nothing(stage: Stage, site: Site) -> None:
    person = stage.person()
    site.put("/", ARTICLE.format(title="Die Brücke", year=1932))
    _, source = add(person, site.url("/"))
    site.put("/", "<html><h1>Just a moment...</h1></html>")
    refreshed(person, source)
    assert len(files_of(stage, person)) == 2
    assert person.client.delete(f"/sources/{source}").status_code == 204
    assert files_of(stage, person) == []
    for table in ("source_versions", "fetches"):
        assert stage.count(table, "source_id = %s", source) == 0
