"""Become tesseract within limits: the process that `tesseract` starts.

Arguments: the parent's process id, "upright" or "turned" (the picture on the standard input is
first turned upside down), then the program and its arguments.
"""

import os
import sys
from io import BytesIO

from adapters.extraction.confinement import allow_cpu, confine

_MEMORY_BYTES = 900 << 20
_CPU_S = 60
_MOST_WRITTEN_BYTES = 256 << 20


def main() -> None:
    """Limit this process, and run the program in its place."""
    parent, way, *command = sys.argv[1:]
    written_bytes = _MOST_WRITTEN_BYTES if way == "turned" else 0
    confine(int(parent), memory_bytes=_MEMORY_BYTES, written_bytes=written_bytes)
    allow_cpu(_CPU_S)
    if way == "turned":
        _turn()
    os.execv(command[0], command)  # noqa: S606 - a fixed program, no shell


def _turn() -> None:
    """Put the picture on the standard input upside down, in memory."""
    from PIL import Image  # noqa: PLC0415 - seldom needed

    turned = os.memfd_create("turned")
    with (
        Image.open(BytesIO(sys.stdin.buffer.read())) as image,
        os.fdopen(os.dup(turned), "wb") as out,
    ):
        image.transpose(Image.Transpose.ROTATE_180).save(out, "PNG", compress_level=1)
    os.lseek(turned, 0, os.SEEK_SET)
    os.dup2(turned, 0)


if __name__ == "__main__":
    main()
