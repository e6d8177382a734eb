"""Child processes that cannot outlive their parent."""

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_LAUNCH = Path(__file__).with_name("launch.py")


@dataclass(frozen=True, slots=True)
class Account:
    """Whom a program runs as, where root may not run it.

    Args:
        uid, gid: numbers of the account.
        capability: the one Linux capability it keeps; None for none.
    """

    uid: int
    gid: int
    capability: int | None = None


def tied_command(
    command: Sequence[str],
    *,
    death_signal: signal.Signals = signal.SIGKILL,
    account: Account | None = None,
) -> list[str]:
    """The command that runs `command` as a child of this process and ends it with this process.

    The kernel sends `death_signal` once the thread that started the child is gone, also after
    kill -9: start children on the main thread. The child keeps the process id it is started with.

    Args:
        command: absolute path of a program, and its arguments.
        death_signal: what the child gets when its parent is gone.
        account: drop root for it; None runs the child as ourselves.
    """
    who = "-"
    if account is not None:
        kept = "-" if account.capability is None else account.capability
        who = f"{account.uid}:{account.gid}:{kept}"
    launch = [sys.executable, "-I", "-S", str(_LAUNCH)]
    return [*launch, str(os.getpid()), str(int(death_signal)), who, *command]
