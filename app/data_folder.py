"""The folder that holds everything of one Beleg, and the lock that keeps a second one out."""

import fcntl
import json
import os
from pathlib import Path

from domain.errors import Conflict, Rejected


def default_data_folder() -> Path:
    """`BELEG_DATA`, or the usual place in the home folder."""
    named = os.environ.get("BELEG_DATA", "").strip()
    return Path(named) if named else Path.home() / ".local" / "share" / "beleg"


class DataFolder:
    """A data folder that this process owns until it ends, however it ends.

    The lock is the kernel's, on a file that tells who holds it, so nothing stale can be left.

    Args:
        path: the folder; made where it is missing, for its owner alone.

    Raises:
        Conflict: another process holds it; the message says which, and where it serves.
        Rejected: the folder cannot be made or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().resolve()
        self.database = self.path / "postgres"
        self.logs = self.path / "logs"
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.logs.mkdir(mode=0o700, exist_ok=True)
            self._lock = (self.path / "up.lock").open("ab+", buffering=0)
        except OSError as error:
            raise _unusable(error) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict(f"Beleg already runs over {self.path}: {self._holder()}.") from None
        self._write(None)

    def announce(self, address: str) -> None:
        """Let others read where this process serves."""
        self._write(address)

    def _write(self, address: str | None) -> None:
        try:
            self._lock.truncate(0)
            self._lock.write(json.dumps({"pid": os.getpid(), "address": address}).encode())
        except OSError as error:  # the disk is full
            self._lock.close()
            raise _unusable(error) from error

    def _holder(self) -> str:
        self._lock.seek(0)
        try:
            holder = json.load(self._lock)
        except ValueError:
            return "it is just starting"
        where = holder["address"] or "still starting"
        return f"{where} (pid {holder['pid']})"


def _unusable(error: OSError) -> Rejected:
    return Rejected(f"The data folder cannot be used: {error}")
