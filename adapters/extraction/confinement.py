"""What a process that reads strangers' files is kept to: it calls this on itself."""

import ctypes
import math
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

_MOST_FILES = 16
_PR_SET_PDEATHSIG = 1
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000


def confine(
    parent: int, *, memory_bytes: int, written_bytes: int = 0, starts_threads: bool = False
) -> None:
    """Die with the parent, write no more than allowed, start nothing, talk to nobody, stay small.

    Args:
        parent: its process id.
        memory_bytes: address space from now on.
        written_bytes: the longest file that may be written.
        starts_threads: as threads count as processes, it may start those, too.
    """
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        # Refused in some containers; nothing here opens a socket in any case.
        libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
        # Only now: a change of user namespace forgets it.
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the parent is gone")
    for limit, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, written_bytes),
        (resource.RLIMIT_NOFILE, _MOST_FILES),
        (resource.RLIMIT_AS, _size_bytes() + memory_bytes),
    ):
        _, hard = resource.getrlimit(limit)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (least, least))
    if not starts_threads:
        _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
        resource.setrlimit(resource.RLIMIT_NPROC, (0, hard))  # see `threads_allowed`
        # NumPy, which many libraries load, ends a process that may not start its threads.
        os.environ["OPENBLAS_NUM_THREADS"] = "1"


@contextmanager
def threads_allowed() -> Iterator[None]:
    """Let threads start within the block, for a library that cannot do without."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))


def _size_bytes() -> int:
    """Address space in use now; 0 where the system does not tell."""
    if sys.platform != "linux":
        return 0
    with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - pathlib is slow
        return int(statm.read().split()[0]) * resource.getpagesize()


def allow_cpu(seconds: int) -> None:
    """Let the kernel end the process `seconds` of CPU time from now."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = math.ceil(time.process_time()) + seconds
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
