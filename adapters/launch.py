"""Become a program that dies with its parent; run as a script, it needs the standard library only.

Arguments: the parent's process id, the signal to die by, "-" or "uid:gid:capability" (an account to
drop root for; "-" where no capability is kept), then the program and its arguments.

Source: prctl(2), capset(2), capabilities(7).
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_KEEPCAPS = 8
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_RAISE = 2
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _prctl(option: int, *values: int) -> None:
    padded = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    _check(_libc.prctl(option, *padded))


def _keep_only(capability: int) -> None:
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    mask = 1 << capability
    # effective, permitted, inheritable: first of the capabilities 0 to 31, then of 32 to 63
    sets = (ctypes.c_uint32 * 6)(mask, mask, mask, 0, 0, 0)
    _check(_libc.capset(header, sets))
    _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, capability)


def _drop_root(uid: int, gid: int, capability: int | None) -> None:
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    if capability is not None:
        _prctl(_PR_SET_KEEPCAPS, 1)
    os.setresuid(uid, uid, uid)
    if capability is not None:
        _keep_only(capability)


def main(parent: str, death_signal: str, account: str, *command: str) -> None:
    """Drop root where asked, tie this process to its parent, and become the program."""
    if account != "-":
        uid, gid, capability = account.split(":")
        _drop_root(int(uid), int(gid), None if capability == "-" else int(capability))
    # Only now: a change of account would clear it.
    _prctl(_PR_SET_PDEATHSIG, int(death_signal))
    if os.getppid() != int(parent):
        sys.exit("The parent ended before the program could start.")
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored_by_python, signal.SIG_DFL)
    os.execv(command[0], command)  # noqa: S606 - a fixed program, no shell


if __name__ == "__main__":
    main(*sys.argv[1:])
