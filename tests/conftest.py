"""What every test may use: the shared data, a migrated database, a whole product."""

import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg
import pytest
from sqlalchemy.engine import make_url

from adapters.embedded_postgres import EmbeddedPostgres
from adapters.postgres.migrate import upgrade

ROOT = Path(__file__).parents[1]
SHARED_DATA = Path(os.environ.get("BELEG_TEST_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of test files that nobody here wrote; a test that needs it skips without."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the shared test data is not at {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that this test run owns, with a migrated template database."""
    server = EmbeddedPostgres(
        tmp_path_factory.mktemp("postgres"),
        settings={"fsync": "off", "shared_buffers": "128MB", "max_connections": "200"},
    )
    url = server.start()
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("create database migrated")
        upgrade(_named(url, "migrated"))
        yield url
    finally:
        server.stop()


@pytest.fixture
def database_url(postgres: str) -> Iterator[str]:
    """A migrated database for one test."""
    with migrated_database(postgres) as url:
        yield url


@contextmanager
def migrated_database(postgres: str) -> Iterator[str]:
    """The URL of a new database on that server, dropped afterwards."""
    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"create database {name} template migrated")
        try:
            yield _named(postgres, name)
        finally:
            connection.execute(f"drop database {name} with (force)")


def _named(url: str, database: str) -> str:
    return make_url(url).set(database=database).render_as_string(hide_password=False)


@dataclass
class Product:
    """Web processes and workers over one database, as children of the test."""

    database_url: str
    data: Path
    environment: dict[str, str]
    children: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def web(self, **environment: str) -> tuple[subprocess.Popen[bytes], str]:
        """A web process that is ready, and its address."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port, descriptor = listener.getsockname()[1], listener.fileno()
            process = self._start(["web", "--fd", str(descriptor)], environment, descriptor)
        address = f"http://127.0.0.1:{port}"
        _until(lambda: _is_ready(address), process)
        return process, address

    def worker(self, queue: str = "ingest", **environment: str) -> subprocess.Popen[bytes]:
        """A worker of that queue."""
        return self._start(["worker", "--queue", queue], environment)

    def log(self) -> str:
        """What all of them wrote."""
        return (self.data / "log").read_text(errors="replace")

    def stop(self) -> None:
        """End them all."""
        for child in self.children:
            child.kill()
            child.wait()

    def _start(
        self, arguments: Sequence[str], environment: Mapping[str, str], *descriptors: int
    ) -> subprocess.Popen[bytes]:
        with (self.data / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "app.cli", *arguments],
                env={
                    **os.environ,
                    "DATABASE_URL": self.database_url,
                    "BELEG_DATA": str(self.data),
                    "SIGN_UP": "open",
                    **self.environment,
                    **environment,
                },
                stdout=log,
                stderr=log,
                pass_fds=descriptors,
            )
        self.children.append(process)
        return process


@pytest.fixture
def product(database_url: str, tmp_path: Path) -> Iterator[Callable[..., Product]]:
    """Makes a product whose processes see the given environment; ends them after the test."""
    made: list[Product] = []

    def make(**environment: str) -> Product:
        made.append(Product(database_url, tmp_path, environment))
        return made[-1]

    yield make
    while _clients:
        _clients.pop().close()
    for each in made:
        each.stop()


_clients: list[httpx.Client] = []


def sign_up(address: str) -> httpx.Client:
    """A client of the API with an account of its own; `product` closes it."""
    client = httpx.Client(base_url=f"{address}/api/v1", timeout=60)
    _clients.append(client)
    email = f"{secrets.token_hex(6)}@example.org"
    response = client.post("/accounts", json={"email": email, "password": "a good password"})
    response.raise_for_status()
    client.headers["Authorization"] = f"Bearer {response.json()['token']}"
    return client


def _is_ready(address: str) -> bool:
    try:
        return httpx.get(f"{address}/health/ready", timeout=2).status_code == 200
    except httpx.TransportError:
        return False


def _until(
    condition: Callable[[], bool],
    process: subprocess.Popen[bytes] | None = None,
    within_s: float = 60.0,
) -> None:
    """Wait for a condition; fail where it does not come, or where the process ends first."""
    deadline = time.monotonic() + within_s
    while not condition():
        if process is not None and process.poll() is not None:
            pytest.fail(f"the process ended with {process.returncode}")
        if time.monotonic() > deadline:
            pytest.fail(f"did not happen within {within_s:.0f} s")
        time.sleep(0.05)


until = _until
__all__ = ["SHARED_DATA", "Product", "migrated_database", "sign_up", "until"]
