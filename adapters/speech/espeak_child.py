"""Become espeak-ng within limits: the process that `local` starts for one line.

Arguments: the parent's process id, then the program and its arguments. The text is on the standard
input.
"""

import os
import sys

from adapters.extraction.confinement import allow_cpu, confine

_MEMORY_BYTES = 256 << 20
_CPU_S = 30


def main() -> None:
    """Limit this process, and run the program in its place."""
    parent, *command = sys.argv[1:]
    confine(int(parent), memory_bytes=_MEMORY_BYTES, starts_threads=True)
    allow_cpu(_CPU_S)
    os.execv(command[0], command)  # noqa: S606 - a fixed program, no shell


if __name__ == "__main__":
    main()
