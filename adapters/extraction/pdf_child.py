"""The reading process: started by `pdf_process`, reads one file at a time, within limits.

Everything a hostile file can do happens in here: an abort of PDFium's, a page that inflates to
gigabytes, an endless loop. The process holds no secret and no connection, and its parent ends it.
"""

import ctypes
import math
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from typing import BinaryIO

from adapters.extraction import wire
from adapters.extraction.pdf_pages import PdfFile
from adapters.extraction.pdf_picture import drawn, located
from adapters.extraction.text import read_text
from domain.errors import NotFound, Unreadable

_MEMORY_BYTES = 1 << 30
_CPU_S = 90
_MOST_FILES = 16
_BATCH_PAGES = 64
_BATCH_CHARACTERS = 200_000
_BATCH_S = 0.25
_PR_SET_PDEATHSIG = 1
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_TOO_BIG = (
    "This file needs more memory than reading a file may take. Split it and upload the parts."
)


def main() -> None:
    """Answer requests until the parent closes the pipe."""
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not get between the frames.
    os.dup2(2, 1)
    _confine()
    while (request := wire.next_request(requests)) is not None:
        _allow_cpu(_CPU_S)
        if not _answered(request, replies):
            return


def _answered(request: wire.Request, replies: BinaryIO) -> bool:
    """Send what `request` asks for; False where the process should not go on."""
    try:
        for reply in _replies(request):
            replies.write(wire.frame(reply))
            replies.flush()
    except NotFound as error:
        failed = wire.Failed("not_found", error.message)
    except Unreadable as error:
        failed = wire.Failed("unreadable", error.message)
    except MemoryError:
        failed = wire.Failed("memory", _TOO_BIG)
    else:
        return True
    replies.write(wire.frame(failed))
    replies.flush()
    return failed.kind != "memory"


def _replies(request: wire.Request) -> Iterator[wire.Reply]:
    match request:
        case wire.ReadPdf(content):
            yield from _pages(PdfFile(content))
        case wire.ReadText(content, markdown):
            yield read_text(content, markdown=markdown)
        case wire.Draw(content, page, width_px):
            yield wire.Drawing(drawn(PdfFile(content), page, width_px))
        case wire.Locate(content, page, start, end):
            yield wire.Places(located(PdfFile(content), page, start, end))


def _pages(file: PdfFile) -> Iterator[wire.Reply]:
    """Pages a batch at a time, so that progress shows and memory stays flat."""
    batch: list[wire.PageText] = []
    characters, since = 0, time.monotonic()
    for page in file.texts():
        batch.append(page)
        characters += len(page.text)
        if (
            len(batch) >= _BATCH_PAGES
            or characters > _BATCH_CHARACTERS
            or time.monotonic() - since > _BATCH_S
        ):
            yield wire.Pages(batch, file.pages)
            batch, characters, since = [], 0, time.monotonic()
    if batch:
        yield wire.Pages(batch, file.pages)
    yield wire.Done(file.pages, file.title)


def _confine() -> None:
    """Die with the parent, write nothing, start nothing, talk to nobody, stay small."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        # Refused in some containers; nothing here opens a socket in any case.
        libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
        # Only now: a change of user namespace forgets it.
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(sys.argv[1]):
        sys.exit("the parent is gone")
    for limit, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, _MOST_FILES),
        (resource.RLIMIT_AS, _size_bytes() + _MEMORY_BYTES),
    ):
        _, hard = resource.getrlimit(limit)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (least, least))


def _size_bytes() -> int:
    """Address space in use now; 0 where the system does not tell."""
    if sys.platform != "linux":
        return 0
    with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - pathlib is slow
        return int(statm.read().split()[0]) * resource.getpagesize()


def _allow_cpu(seconds: int) -> None:
    """Let the kernel end the process `seconds` of CPU time from now."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = math.ceil(time.process_time()) + seconds
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


if __name__ == "__main__":
    main()
