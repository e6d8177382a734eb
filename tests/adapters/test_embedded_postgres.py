import os
import pwd
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import psycopg
import pytest
from sqlalchemy import create_engine, text

from adapters.embedded_postgres import EmbeddedPostgres, running_url
from adapters.postgres.connection import driver_url
from domain.errors import Unavailable

SMALL = {"shared_buffers": "16MB"}
PARENT = """
import sys, time
from pathlib import Path
from adapters.embedded_postgres import EmbeddedPostgres
print(EmbeddedPostgres(Path(sys.argv[1]), settings={"shared_buffers": "16MB"}).start(), flush=True)
time.sleep(600)
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedPostgres]:
    server = EmbeddedPostgres(tmp_path / "data", settings=SMALL)
    yield server
    server.stop()


def postmaster(data_dir: Path) -> int:
    return int((data_dir / "cluster" / "postmaster.pid").read_text().splitlines()[0])


def is_alive(pid: int) -> bool:
    try:
        status = Path("/proc", str(pid), "stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def wait_until_gone(pid: int, *, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while is_alive(pid):
        assert time.monotonic() < deadline, f"process {pid} is still there"
        time.sleep(0.02)


def start_in_another_process(data_dir: Path) -> tuple[subprocess.Popen[str], str]:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(data_dir)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    url = parent.stdout.readline().strip()
    parent.stdout.close()
    return parent, url


def test_it_starts_with_vectors_and_keeps_its_rows(server: EmbeddedPostgres) -> None:
    with psycopg.connect(server.start()) as connection:
        connection.execute("create table kept as select '[1,2]'::halfvec as vector, 'ä' as letter")
    server.stop()
    with psycopg.connect(server.start()) as connection:
        assert connection.execute("select vector::text, upper(letter) from kept").fetchone() == (
            "[1,2]",
            "Ä",
        )


async def test_every_driver_takes_its_url(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path / "mit Leerzeichen & ü%", settings=SMALL)
    try:
        url = server.start()
        connection = await asyncpg.connect(url)
        assert await connection.fetchval("select current_database()") == "beleg"
        await connection.close()
        engine = create_engine(driver_url(url, "psycopg"))
        with engine.connect() as through_sqlalchemy:
            assert through_sqlalchemy.scalar(text("select current_user")) == "postgres"
        engine.dispose()
    finally:
        server.stop()


def test_a_path_too_long_for_a_socket_gets_a_short_one(tmp_path: Path) -> None:
    data_dir = tmp_path / ("long" * 30)
    server = EmbeddedPostgres(data_dir, settings=SMALL)
    try:
        url = server.start()
        assert running_url(data_dir) == url
        with psycopg.connect(url) as connection:
            socket_dir = Path(connection.info.host)
        assert server.start() == url
    finally:
        server.stop()
    assert not socket_dir.exists()


def test_its_socket_is_private_and_no_port_is_open(server: EmbeddedPostgres) -> None:
    with psycopg.connect(server.start()) as connection:
        assert Path(connection.info.host).stat().st_mode & 0o077 == 0
        assert connection.execute("show listen_addresses").fetchone() == ("",)
        assert connection.execute("show fsync").fetchone() == ("on",)


def test_stopping_leaves_nothing(server: EmbeddedPostgres, tmp_path: Path) -> None:
    server.start()
    pid = postmaster(tmp_path / "data")
    server.stop()
    assert not is_alive(pid)
    assert running_url(tmp_path / "data") is None
    assert not (tmp_path / "data" / "socket").exists()


def test_it_dies_with_a_killed_parent_and_recovers(
    server: EmbeddedPostgres, tmp_path: Path
) -> None:
    parent, url = start_in_another_process(tmp_path / "data")
    pid = postmaster(tmp_path / "data")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create table kept as select 7 as n")
    parent.kill()
    parent.wait()
    wait_until_gone(pid, timeout_s=5)
    with psycopg.connect(server.start()) as connection:
        assert connection.execute("select n from kept").fetchone() == (7,)


def test_it_recovers_when_the_server_itself_was_killed(
    server: EmbeddedPostgres, tmp_path: Path
) -> None:
    with psycopg.connect(server.start(), autocommit=True) as connection:
        connection.execute("create table kept as select 7 as n")
        os.kill(postmaster(tmp_path / "data"), signal.SIGKILL)
    # At once: its children still hold the shared memory.
    with psycopg.connect(server.start()) as connection:
        assert connection.execute("select n from kept").fetchone() == (7,)


def test_a_server_that_another_run_left_is_ended_first(
    server: EmbeddedPostgres, tmp_path: Path
) -> None:
    parent, _ = start_in_another_process(tmp_path / "data")
    pid = postmaster(tmp_path / "data")
    try:
        server.start()
        assert not is_alive(pid)
    finally:
        parent.kill()
        parent.wait()


def test_a_stale_pid_file_that_names_another_program_is_no_obstacle(
    server: EmbeddedPostgres, tmp_path: Path
) -> None:
    server.start()
    pid_file = tmp_path / "data" / "cluster" / "postmaster.pid"
    _, _, rest = pid_file.read_text().partition("\n")
    server.stop()
    owner = pid_file.parent.stat().st_uid
    bystander = subprocess.Popen(["/bin/sleep", "600"], user=owner)
    try:
        pid_file.write_text(f"{bystander.pid}\n{rest}")
        server.start()
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_pid_file_without_a_number_is_no_obstacle(
    server: EmbeddedPostgres, tmp_path: Path
) -> None:
    server.start()
    server.stop()
    (tmp_path / "data" / "cluster" / "postmaster.pid").touch()  # as a kill leaves it
    server.start()


def test_a_server_that_ended_but_was_not_asked_how_is_no_obstacle(
    server: EmbeddedPostgres, tmp_path: Path
) -> None:
    server.start()
    pid_file = tmp_path / "data" / "cluster" / "postmaster.pid"
    left = pid_file.read_text()
    _, _, rest = left.partition("\n")
    server.stop()
    ended = subprocess.Popen(["/bin/true"], user=pid_file.parent.stat().st_uid)
    while is_alive(ended.pid):
        time.sleep(0.01)
    pid_file.write_text(f"{ended.pid}\n{rest}")
    server.start()
    ended.wait()


def test_a_server_that_is_killed_while_it_starts_is_started_again(server: EmbeddedPostgres) -> None:
    server.start()
    server.stop()

    def kill() -> None:
        while server.poll() is not None or server._process is None:  # noqa: SLF001 - to kill it
            time.sleep(0.001)
        os.kill(server._process.pid, signal.SIGKILL)  # noqa: SLF001

    killer = threading.Thread(target=kill)
    killer.start()
    with psycopg.connect(server.start()) as connection:
        killer.join()
        assert connection.execute("select 1").fetchone() == (1,)


def test_an_interrupted_first_start_leaves_no_half_made_cluster(
    server: EmbeddedPostgres, tmp_path: Path
) -> None:
    half = tmp_path / "data" / "cluster-half"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18")
    server.start()
    assert not half.exists()


def test_another_major_version_is_refused_by_name(server: EmbeddedPostgres, tmp_path: Path) -> None:
    server.start()
    server.stop()
    (tmp_path / "data" / "cluster" / "PG_VERSION").write_text("16\n")
    with pytest.raises(Unavailable, match="PostgreSQL 16"):
        server.start()


def test_a_setting_it_does_not_know_is_quoted_from_its_log(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path / "data", settings={"no_such_setting": "1"})
    with pytest.raises(Unavailable, match="no_such_setting"):
        server.start()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to become another account")
def test_root_serves_a_folder_that_only_root_may_enter(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    server = EmbeddedPostgres(closed / "data", settings=SMALL)
    try:
        server.start()
        pid = postmaster(closed / "data")
        assert Path("/proc", str(pid)).stat().st_uid == pwd.getpwnam("nobody").pw_uid
        assert closed.stat().st_mode & 0o777 == 0o700
    finally:
        server.stop()


def test_no_server_no_url(tmp_path: Path) -> None:
    assert running_url(tmp_path) is None
