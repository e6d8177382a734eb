"""The reading process: started by `pdf_process`, reads one file at a time, within limits.

Everything a hostile file can do happens in here: an abort of PDFium's, a page that inflates to
gigabytes, an endless loop. The process holds no secret and no connection, and its parent ends it.
"""

import os
import sys
import time
from collections.abc import Iterator
from typing import BinaryIO

from adapters.extraction import wire
from adapters.extraction.confinement import allow_cpu, confine
from adapters.extraction.pdf_pages import PdfFile
from adapters.extraction.pdf_picture import drawn, located
from adapters.extraction.text import read_text
from domain.errors import NotFound, PasswordNeeded, Unreadable

_MEMORY_BYTES = 900 << 20
_CPU_S = 90
_BATCH_PAGES = 64
_BATCH_CHARACTERS = 200_000
_BATCH_S = 0.25
_TOO_BIG = (
    "This file needs more memory than reading a file may take. Split it and upload the parts."
)


def main() -> None:
    """Answer requests until the parent closes the pipe."""
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not get between the frames.
    os.dup2(2, 1)
    confine(int(sys.argv[1]), memory_bytes=_MEMORY_BYTES)
    while (request := wire.next_request(requests)) is not None:
        allow_cpu(_CPU_S)
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
    except PasswordNeeded as error:
        failed = wire.Failed("locked", error.message)
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
        case wire.ReadPdf(content, password):
            yield from _pages(PdfFile(content, password))
        case wire.ReadText(content, markdown, charset):
            yield read_text(content, charset, markdown=markdown)
        case wire.ReadDocument(content, kind, charset):
            from adapters.extraction.documents import read_document  # noqa: PLC0415 - likewise

            yield read_document(content, kind, charset)
        case wire.Draw(content, page, width_px):
            yield wire.Drawing(drawn(PdfFile(content), page, width_px))
        case wire.DrawPages(content, pages, dpi, password):
            from adapters.extraction import pictures  # noqa: PLC0415 - seldom needed

            yield wire.Pictures(pictures.pages(PdfFile(content, password), pages, dpi))
        case wire.ReadPicture(content, most_pixels):
            from adapters.extraction import pictures  # noqa: PLC0415 - seldom needed

            yield wire.Pictures([pictures.upright(content, most_pixels)])
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


if __name__ == "__main__":
    main()
