"""Child processes that cannot outlive their parent."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import CalledProcessError

_LAUNCH = Path(__file__).with_name("launch.py")
_ROOT = str(Path(__file__).resolve().parents[1])


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


async def started(
    module: str,
    arguments: Sequence[str] = (),
    *,
    stdin: int = asyncio.subprocess.PIPE,
    descriptors: Sequence[int] = (),
    most_line_bytes: int = 1 << 16,
    environment: Mapping[str, str] | None = None,
) -> asyncio.subprocess.Process:
    """A module of ours in a process and a session of its own; what it prints is a pipe.

    Args:
        module: is told our process id before the arguments, so that it can end with us.
        stdin: as `asyncio.subprocess` has it.
        descriptors: open files that it shares with us.
        most_line_bytes: of a line that is read of it.
        environment: all of its environment, beside what Python needs.

    Raises:
        OSError: it cannot be started.
    """
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", module, str(os.getpid()), *arguments),
        stdin=stdin,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={
            "PYTHONPATH": _ROOT,
            "PYTHONDONTWRITEBYTECODE": "1",
            "LC_ALL": "C.UTF-8",
            **(environment or {}),
        },
        cwd="/",
        pass_fds=tuple(descriptors),
        limit=most_line_bytes,
        start_new_session=True,
    )


async def output_of(
    module: str, arguments: Sequence[str], given: bytes, *, wall_s: float, **environment: str
) -> bytes:
    """What a process of ours prints that reads `given` and ends; see `started`.

    Args:
        wall_s: seconds it may take; it is killed then, and where its caller is cancelled.

    Raises:
        TimeoutError: it took longer.
        CalledProcessError: it failed.
        OSError: it cannot be started.
    """
    process = await started(module, arguments, environment=environment)
    try:
        async with asyncio.timeout(wall_s):
            out, _ = await process.communicate(given)
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode:
        raise CalledProcessError(process.returncode, module)
    return out
