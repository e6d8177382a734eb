"""Become tesseract within limits: the process that `tesseract` starts.

Arguments: the parent's process id, then the program and its arguments.
"""

import os
import sys

from adapters.extraction.confinement import allow_cpu, confine

_MEMORY_BYTES = 900 << 20
_CPU_S = 60


def main() -> None:
    """Limit this process, and run the program in its place."""
    confine(int(sys.argv[1]), memory_bytes=_MEMORY_BYTES)
    allow_cpu(_CPU_S)
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - a fixed program, no shell


if __name__ == "__main__":
    main()
