"""`beleg up`: the whole product on one machine, until Ctrl-C."""

import asyncio
import contextlib
import errno
import ipaddress
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Self

from app import bootstrap
from app.data_folder import DataFolder
from app.settings import read_settings
from app.supervisor import Patience, Program, Supervisor
from domain.errors import Conflict, Rejected, Unavailable
from domain.jobs import QUEUES

_PORT = 8470
_PORTS_TRIED = 100
_HIGHEST_PORT = 65_535
_BACKLOG = 2048
_BELEG = (sys.executable, "-P", "-m", "app.cli")
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_IMPATIENT_AFTER_S = 30.0
_MEMORY = re.compile(r"\d+ ?(kB|MB|GB)")


def up(*, host: str, port: int | None, data: Path) -> None:
    """Start the database, migrate, run web and workers; return after Ctrl-C or SIGTERM.

    With `DATABASE_URL` in the environment that database is used and none is started.

    Args:
        host: the address to listen on; only a loopback address makes it local mode.
        port: the port; None takes the first free one from 8470.
        data: the data folder.

    Raises:
        Conflict: it runs already, or the port is taken.
        Rejected: the host is no address of this machine.
        Unavailable: a part does not start; the message says why.
    """
    for sign in _STOP_SIGNALS:
        if signal.getsignal(sign) != signal.SIG_IGN:
            signal.signal(sign, signal.default_int_handler)
    bootstrap.check(read_settings())
    folder = DataFolder(data)
    with contextlib.suppress(KeyboardInterrupt), _listen(host, port) as listener:
        address = _address(listener)
        folder.announce(address)
        with _Database(folder) as database:
            environment = _environment(folder, database.url, listener)
            _migrate(environment)
            supervisor = Supervisor(
                logs=folder.logs, environment=environment, tie=bootstrap.tied_command, say=_say
            )
            asyncio.run(_serve(supervisor, database, listener, address))


class _Database:
    """The database of a run: the operator's by `DATABASE_URL`, else one that lives as long."""

    def __init__(self, folder: DataFolder) -> None:
        self.url = os.environ.get("DATABASE_URL", "").strip()
        self._own = None
        if not self.url:
            buffers = os.environ.get("BELEG_SHARED_BUFFERS", "").strip() or "256MB"
            if not _MEMORY.fullmatch(buffers):
                raise Rejected(f"BELEG_SHARED_BUFFERS is like 256MB or 1GB, not {buffers!r}.")
            self._own = bootstrap.embedded_postgres(
                folder.database,
                settings={"shared_buffers": buffers},
                log_file=folder.logs / "postgres.log",
            )

    def __enter__(self) -> Self:
        if self._own:
            try:
                self.url = self._own.start()
            except BaseException:
                self._own.stop()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._own:
            self._own.stop()

    async def keep_running(self) -> None:
        """Start it again whenever it died; a database of the operator's is not watched."""
        patience = Patience()
        while self._own:
            started = time.monotonic()
            while (status := self._own.poll()) is None:  # noqa: ASYNC110 - its end sets no event
                await asyncio.sleep(0.2)
            pause_s = patience.pause_s(lived_s=time.monotonic() - started, status=status)
            if pause_s is None:
                raise Unavailable("The database ended three times in a row; see postgres.log.")
            _say(f"The database ended (status {status}); it starts again")
            if patience.failures:  # else it ran for a while, or was killed: at once
                await asyncio.sleep(pause_s)
            # Blocks on purpose: no other child starts again before the database answers.
            self._own.start()


async def _serve(
    supervisor: Supervisor, database: _Database, listener: socket.socket, address: str
) -> None:
    main = asyncio.current_task()
    assert main is not None  # noqa: S101 - a coroutine under asyncio.run has one

    def stop() -> None:
        if main.cancelling():
            supervisor.kill_all()
        else:
            _say("Beleg ends; once more Ctrl-C ends it at once")
            main.cancel()

    loop = asyncio.get_running_loop()
    for sign in _STOP_SIGNALS:
        if signal.getsignal(sign) != signal.SIG_IGN:
            loop.add_signal_handler(sign, stop)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(database.keep_running())
            for program in _programs(listener):
                tasks.create_task(supervisor.keep_running(program))
            tasks.create_task(_say_when_ready(listener, address))
    except asyncio.CancelledError:
        main.uncancel()
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None


def _programs(listener: socket.socket) -> Iterator[Program]:
    descriptor = listener.fileno()
    yield Program("web", [*_BELEG, "web", "--fd", str(descriptor)], pass_fds=(descriptor,))
    for queue in QUEUES:
        yield Program(f"worker-{queue}", [*_BELEG, "worker", "--queue", queue])


def _environment(
    folder: DataFolder, database_url: str, listener: socket.socket
) -> Mapping[str, str]:
    environment = {
        "OMP_WAIT_POLICY": "passive",  # idle threads of the local model would burn a core
        **os.environ,
        "DATABASE_URL": database_url,
        "BELEG_DATA": str(folder.path),
        "PYTHONUNBUFFERED": "1",
    }
    environment.pop("BELEG_LOCAL", None)
    if ipaddress.ip_address(listener.getsockname()[0]).is_loopback:
        environment["BELEG_LOCAL"] = "1"
    return environment


def _migrate(environment: Mapping[str, str]) -> None:
    result = subprocess.run(  # noqa: S603 - our own program
        bootstrap.tied_command([*_BELEG, "migrate"]),
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        check=False,
    )
    if result.returncode != 0:
        tail = "\n".join(f"  {line}" for line in result.stdout.splitlines()[-15:])
        raise Unavailable(f"The database could not be migrated. It said:\n{tail}")


def _listen(host: str, port: int | None) -> socket.socket:
    """The listening socket. The web process inherits it, so its restarts refuse nobody."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise Rejected(f"{host} is no address: {error.strerror}") from error
    if port is not None and not 0 <= port <= _HIGHEST_PORT:
        raise Rejected(f"A port is 0 to {_HIGHEST_PORT}, not {port}.")
    for candidate in range(_PORT, _PORT + _PORTS_TRIED) if port is None else [port]:
        try:
            return socket.create_server((address[0], candidate), family=family, backlog=_BACKLOG)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise Rejected(f"Cannot listen on {host}:{candidate}: {error.strerror}") from error
    taken = f"Port {port} is" if port is not None else f"The {_PORTS_TRIED} ports from {_PORT} are"
    raise Conflict(f"{taken} taken; choose another one with --port.")


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def _say_when_ready(listener: socket.socket, address: str) -> None:
    """Print the address, once, when questions can be asked."""
    host, port = listener.getsockname()[:2]
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - read, not bound
    impatient_at = time.monotonic() + _IMPATIENT_AFTER_S
    pause_s = 0.02
    while True:
        status, body = await _get_ready(reachable, port)
        if status == b"200":
            with contextlib.suppress(OSError):
                print(f"Beleg is ready: {address}", flush=True)  # noqa: T201 - this is its output
            return
        if time.monotonic() > impatient_at:
            impatient_at += _IMPATIENT_AFTER_S
            _say(f"Still not ready. {body.decode(errors='replace')}")
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 1.5, 1.0)


async def _get_ready(host: str, port: int) -> tuple[bytes, bytes]:
    """Status and body of /health/ready; empty where the web process does not answer yet."""
    request = f"GET /health/ready HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(10):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(request.encode())
                head, _, body = (await reader.read()).partition(b"\r\n\r\n")
            finally:
                writer.close()
            return head.split(b" ", 2)[1] if head else b"", body
    return b"", b""


def _say(line: str) -> None:
    with contextlib.suppress(OSError):  # a terminal that is gone ends nothing
        print(line, file=sys.stderr, flush=True)  # noqa: T201 - this is its output
