"""The built package, installed elsewhere and started from an empty folder."""

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.conftest import ROOT, Product


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds what an installation would, and nothing of this one."""
    folder = tmp_path_factory.mktemp("wheel")
    build = ["-m", "pip", "--disable-pip-version-check", "-q", "wheel", "--no-deps"]
    build += ["--no-build-isolation", "-w", str(folder), str(ROOT)]
    subprocess.run([sys.executable, *build], check=True)
    [wheel] = folder.glob("beleg-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def test_a_wheel_migrates_and_serves_its_pages_from_an_empty_folder(
    installed: Path, postgres: str, tmp_path: Path, product: Callable[..., Product]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("create database of_the_wheel")
    database_url = postgres.replace("/beleg?", "/of_the_wheel?")
    environment = {**os.environ, "PYTHONPATH": str(installed), "DATABASE_URL": database_url}

    def run(*arguments: str) -> str:
        command = [sys.executable, "-P", *arguments]
        done = subprocess.run(
            command, cwd=empty, env=environment, check=True, capture_output=True, text=True
        )
        return done.stdout

    assert str(installed) in run("-c", "import app; print(app.__file__)")
    run("-m", "app.cli", "migrate")
    beleg = product(PYTHONPATH=str(installed))
    beleg.database_url = database_url
    _, address = beleg.web()
    page = httpx.get(f"{address}/sign-in")
    assert page.status_code == 200
    files = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text)
    assert len(files) >= 3
    assert {httpx.get(address + file).status_code for file in files} == {200}
    assert not list(empty.iterdir())
