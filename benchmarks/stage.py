"""What the benchmarks share: a durable database, a whole product, a provider, texts, figures."""

import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import numpy as np
import psycopg
import pypdfium2

from adapters.embedded_postgres import EmbeddedPostgres
from adapters.postgres.migrate import upgrade
from tests.conftest import SHARED_DATA, Product

ROOT = Path(__file__).parents[1]
PDFS = SHARED_DATA / "pdfs"
LIMITS = {
    "SIGNUP_CREDIT": "1000000",
    "MAX_QUESTIONS_PER_NOTEBOOK_DAY": "1000000",
    "MAX_SOURCES_PER_NOTEBOOK": "300",
}
"""The product's environment: limits out of the way."""
MODELS = {
    **LIMITS,
    "INFERENCE_API_KEY": "test",
    "LLM_MODEL": "glm-5.3-flash",
    "EMBEDDING_MODEL": "qwen3-embedding-4b",
}
"""Likewise, with models that the test provider knows."""

_WORDY = (
    *("freeculture-352p", "pdkids-55p", "paper-rag-2005.11401", "paper-alce", "paper-pasa"),
    *("paper-tracemonkey", "redbook-18p"),
)


@contextmanager
def folder() -> Iterator[Path]:
    """An empty folder that goes away; PostgreSQL's own account may pass through it.

    From here on SIGTERM ends the script like any exit, so that nothing it started is left.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="beleg-bench-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


@contextmanager
def database(data: Path) -> Iterator[str]:
    """The URL of a migrated database with the product's own settings, fsync among them."""
    server = EmbeddedPostgres(data / "postgres")
    try:
        url = server.start()
        upgrade(url)
        with psycopg.connect(url) as connection:
            fsync = connection.execute("show fsync").fetchone()
            commit = connection.execute("show synchronous_commit").fetchone()
        if (fsync, commit) != (("on",), ("on",)):
            sys.exit("These figures mean nothing without fsync.")
        yield url
    finally:
        server.stop()


@contextmanager
def provider() -> Iterator[str]:
    """The base URL of a test provider that answers at once, in a process of its own."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.provider"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        assert child.stdout is not None
        yield child.stdout.readline().strip()
    finally:
        child.terminate()
        child.wait()


@contextmanager
def product(database_url: str, data: Path, **environment: str) -> Iterator[Product]:
    """A product over that database; its processes are started by the caller, and ended here."""
    beleg = Product(database_url, data, environment)
    try:
        yield beleg
    except BaseException:
        print(beleg.log()[-4000:], file=sys.stderr)
        raise
    finally:
        beleg.stop()


@contextmanager
def with_models(**environment: str) -> Iterator[tuple[Product, str]]:
    """A product over a database of its own, and the address of the provider of its models."""
    with (
        folder() as data,
        database(data) as url,
        provider() as models,
        product(url, data, INFERENCE_BASE_URL=models, **MODELS, **environment) as beleg,
    ):
        yield beleg, models


def account(address: str) -> httpx.Client:
    """A client of the API, signed in with a token of its own."""
    client = httpx.Client(base_url=f"{address}/api/v1", timeout=600)
    response = client.post(
        "/accounts", json={"email": f"{os.urandom(6).hex()}@example.org", "password": "bench-pass"}
    )
    response.raise_for_status()
    client.headers["Authorization"] = f"Bearer {response.json()['token']}"
    return client


def words() -> list[str]:
    """Running words of the open PDFs; without them, the project's own documents line by line."""
    if PDFS.is_dir():
        return [word for name in _WORDY for word in _pdf_text(PDFS / f"{name}.pdf").split()]
    lines = [
        re.findall(r"[A-Za-z]+[.,]?", line)
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
        for line in path.read_text().splitlines()
        if line[:1].isalpha()
    ]
    chosen = np.random.default_rng(5).integers(0, len(lines), 20_000)
    return [word for place in chosen for word in lines[place]]


def _pdf_text(path: Path) -> str:
    file = pypdfium2.PdfDocument(path)
    try:
        pages = [file[n].get_textpage().get_text_range() for n in range(len(file))]
    finally:
        file.close()
    # PDFium's marks for hyphens at the end of a line, and other control characters.
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe]", "", "\n".join(pages))


def questions(corpus: Sequence[str], count: int, *, seed: int) -> list[str]:
    """Questions in a person's words about runs of the text, so that both sides find something."""
    chance = np.random.default_rng(seed)
    openings = (
        *("What does the text say about {}?", "How is {} explained, and why?"),
        *("Which of the authors wrote about {}?", "When was {} first described?"),
    )
    starts = chance.integers(0, len(corpus) - 8, count)
    asked = []
    for n, start in enumerate(starts):
        topic = " ".join(re.findall(r"\w+", " ".join(corpus[start : start + 7])))
        asked.append(openings[n % len(openings)].format(topic))
    return asked


def percentile(values: Sequence[float], share: float) -> float:
    """The value that so large a share of `values` does not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def ratio(part: Sequence[float], whole: Sequence[float]) -> float:
    """Median over median."""
    return statistics.median(part) / statistics.median(whole)


def heading(title: str) -> None:
    """Say what is measured, on what, and when."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    print(
        f"{title}\n{os.cpu_count()} cores, {memory} GB, Python {platform.python_version()}, {now}"
    )


def verdict(name: str, value: float, bound: float, *, least: bool = False) -> bool:
    """Print a figure beside its bound; True where it holds."""
    holds = value >= bound if least else value <= bound
    sign = ">=" if least else "<="
    print(f"{'ok  ' if holds else 'MISS'}  {name}: {value:.3f} ({sign} {bound:g})", flush=True)
    return holds
