"""Sources, as JSON."""

import io
from typing import Annotated, Any, BinaryIO, cast
from urllib.parse import quote

from litestar import Request, Response, Router, delete, get, post
from litestar.datastructures import UploadFile
from litestar.openapi import ResponseSpec
from litestar.params import FromPath, QueryParameter
from litestar.response import Stream

from app.requests import (
    FORM_BYTES,
    MOST_PAGES,
    TAKES_FILES,
    Caller,
    Cursor,
    Key,
    Limit,
    OffsetOrNone,
    PageNumber,
    PathText,
    Wired,
    cursor_id,
    json_body,
    list_body,
    path_id,
)
from app.services import Services
from app.structs.lists import ListBody
from app.structs.sources import BoxOut, PassageOut, PlaceOut, RetryIn, SourceIn, SourceOut
from domain.account import User
from domain.errors import NotFound, Rejected, TooLarge
from domain.ids import ChunkId, NotebookId, SourceId
from domain.limits import require_few_bytes
from domain.source import Source, SourceKind, capture_mode
from domain.stores import Page


@post(
    "/notebooks/{notebook_id:str}/sources",
    status_code=202,
    opt=TAKES_FILES,
    responses={
        200: ResponseSpec(SourceOut, generate_examples=False, description="The library has it")
    },
)
async def add(
    notebook_id: PathText,
    request: Request[Any, Any, Any],
    services: Wired,
    user: Caller,
    idempotency_key: Key = None,
) -> Response[SourceOut]:
    """Add a source: multipart `file`, or JSON `{url}`, `{title, text}` or `{source_id}`.

    202 where it will be read, 200 where the library has it already.
    """
    where = NotebookId(path_id(notebook_id))
    settings = services.settings
    if request.content_type[0] == "multipart/form-data":
        _check_size(request, max(settings.max_file_bytes, settings.max_audio_bytes))
        source, is_new = await _add_file(where, request, services, user, idempotency_key)
    else:
        _check_size(request, settings.max_file_bytes)
        body = json_body(await _short_body(request, settings.max_file_bytes), SourceIn)
        source, is_new = await _add_json(where, body, services, user, idempotency_key)
    path = f"/api/v1/sources/{source.id}"
    return Response(
        SourceOut.of(source), status_code=202 if is_new else 200, headers={"Location": path}
    )


def _check_size(request: Request[Any, Any, Any], max_bytes: int) -> None:
    """Refuse what says that it is too large, before any of it is read."""
    announced = request.headers.get("content-length", "0")
    if announced.isascii() and announced.isdigit() and int(announced) > max_bytes + FORM_BYTES:
        require_few_bytes("This", int(announced), max_bytes)


async def _short_body(request: Request[Any, Any, Any], max_bytes: int) -> bytes:
    """A body that may not say how long it is, and is held in memory."""
    body = bytearray()
    async for block in request.stream():
        body += block
        if len(body) > max_bytes + FORM_BYTES:
            raise TooLarge(f"This has more than {max_bytes / 1e6:,g} MB, which is the limit.")
    return bytes(body)


async def _add_file(
    notebook_id: NotebookId,
    request: Request[Any, Any, Any],
    services: Services,
    user: User,
    key: str | None,
) -> tuple[Source, bool]:
    form = await request.form()
    file, *more = form.getall("file", [None])
    if more or not isinstance(file, UploadFile):
        raise Rejected("Send the file as the multipart field `file`, one a request.")
    try:
        return await services.add_source(
            user,
            notebook_id,
            cast("BinaryIO", file.file),
            file.filename or "",
            title=str(form.get("title", "")),
            capture_mode=capture_mode(form.get("pdf_capture") or user.pdf_capture),
            idempotency_key=key,
        )
    finally:
        await file.close()


async def _add_json(
    notebook_id: NotebookId, body: SourceIn, services: Services, user: User, key: str | None
) -> tuple[Source, bool]:
    if sum(part is not None for part in (body.url, body.source_id, body.text)) != 1:
        raise Rejected("Send one of: url, title and text, source_id, or a multipart file.")
    if body.url is not None:
        return await services.add_source.page(
            user,
            notebook_id,
            body.url,
            title=body.title,
            capture_mode=capture_mode(user.pdf_capture),
            idempotency_key=key,
        )
    if body.source_id is not None:
        source_id = SourceId(path_id(body.source_id))
        return await services.add_source.link(user, notebook_id, source_id, idempotency_key=key)
    if body.text is None or not body.text.strip():
        raise Rejected("This text is empty.")
    title = body.title.strip() or "Text"
    is_markdown = title.lower().endswith(".md")
    return await services.add_source(
        user,
        notebook_id,
        io.BytesIO(body.text.replace("\0", "").encode()),
        _file_name(title),
        title=title,
        kind=SourceKind.MARKDOWN if is_markdown else SourceKind.TEXT,
        idempotency_key=key,
    )


def _file_name(title: str) -> str:
    """What a text is called when it is downloaded."""
    name = title.replace("/", "-").replace("\\", "-")
    return name if name.lower().endswith((".md", ".txt")) else f"{name}.txt"


@get("/notebooks/{notebook_id:str}/sources")
async def list_in_notebook(
    notebook_id: PathText, services: Wired, user: Caller, limit: Limit = 100, cursor: Cursor = None
) -> ListBody[SourceOut]:
    """A notebook's sources."""
    page = await services.sources.in_notebook(
        user, NotebookId(path_id(notebook_id)), limit=limit, after=cursor_id(cursor)
    )
    return list_body(Page(tuple(map(SourceOut.of, page.items)), page.next_cursor))


@delete("/notebooks/{notebook_id:str}/sources/{source_id:str}")
async def unlink(notebook_id: PathText, source_id: PathText, services: Wired, user: Caller) -> None:
    """Take a source out of a notebook; the library keeps it."""
    await services.sources.unlink(
        user, NotebookId(path_id(notebook_id)), SourceId(path_id(source_id))
    )


@get("/sources")
async def library(
    services: Wired, user: Caller, limit: Limit = 100, cursor: Cursor = None
) -> ListBody[SourceOut]:
    """Your library."""
    page = await services.sources.library(user, limit=limit, after=cursor_id(cursor))
    return list_body(Page(tuple(map(SourceOut.of, page.items)), page.next_cursor))


@get("/sources/{source_id:str}")
async def read(source_id: PathText, services: Wired, user: Caller) -> SourceOut:
    """One source."""
    return SourceOut.of(await services.sources.get(user, SourceId(path_id(source_id))))


@delete("/sources/{source_id:str}")
async def remove(source_id: PathText, services: Wired, user: Caller) -> None:
    """Delete a source with everything that was made from it."""
    await services.sources.delete(user, SourceId(path_id(source_id)))


@post("/sources/{source_id:str}/retry", status_code=202)
async def retry(
    source_id: PathText,
    request: Request[Any, Any, Any],
    services: Wired,
    user: Caller,
    idempotency_key: Key = None,
) -> SourceOut:
    """Read a failed source again; `{password}` opens a PDF, and is kept for this run alone."""
    where = SourceId(path_id(source_id))
    body = await request.body()
    password = json_body(body, RetryIn).password if body else ""
    source = await services.sources.retry(
        user, where, password=password, idempotency_key=idempotency_key
    )
    return SourceOut.of(source)


@post("/sources/{source_id:str}/refresh", status_code=202)
async def refresh(
    source_id: PathText, services: Wired, user: Caller, idempotency_key: Key = None
) -> SourceOut:
    """Fetch a web page again. Its text serves until the new one is ready, and if it fails."""
    where = SourceId(path_id(source_id))
    return SourceOut.of(
        await services.sources.refresh(user, where, idempotency_key=idempotency_key)
    )


@post("/sources/{source_id:str}/stop", status_code=200)
async def stop(source_id: PathText, services: Wired, user: Caller) -> SourceOut:
    """End the reading of a source: it fails, and what was paid for is kept for a retry."""
    return SourceOut.of(await services.sources.stop(user, SourceId(path_id(source_id))))


@get("/sources/{source_id:str}/notebooks")
async def notebooks(source_id: PathText, services: Wired, user: Caller) -> list[PlaceOut]:
    """The notebooks that have a source, oldest first."""
    found = await services.sources.shelved(user, SourceId(path_id(source_id)))
    return [PlaceOut(place.notebook_id, place.title) for place in found.places]


@get("/sources/{source_id:str}/original")
async def original(source_id: PathText, services: Wired, user: Caller) -> Stream:
    """The file as it was uploaded or fetched, always as an attachment."""
    source, content = await services.sources.original(user, SourceId(path_id(source_id)))
    name = quote(source.file_name, safe="")
    return Stream(
        content,
        media_type=source.media_type,
        headers={
            "Content-Length": str(source.bytes),
            "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox",
        },
    )


@get("/sources/{source_id:str}/passages")
async def passages(
    source_id: PathText, services: Wired, user: Caller, page: PageNumber = None
) -> list[PassageOut]:
    """What was read, page by page."""
    found = await services.sources.passages(user, SourceId(path_id(source_id)), page=page)
    return [PassageOut.of(passage) for passage in found]


@get("/sources/{source_id:str}/pages/{page:int}/image")
async def page_image(
    source_id: PathText,
    page: FromPath[int],
    services: Wired,
    user: Caller,
    width: Annotated[int, QueryParameter(ge=100, le=3000, description="pixels")] = 1200,
) -> Response[bytes]:
    """A page of a PDF as PNG; or an image, which is its own page 1, as PNG or JPEG."""
    image = await services.sources.page_image(
        user, SourceId(path_id(source_id)), _page(page), width_px=width
    )
    headers = {"Cache-Control": "private, max-age=3600", "X-Content-Type-Options": "nosniff"}
    media_type = "image/png" if image.startswith(b"\x89PNG") else "image/jpeg"
    return Response(image, media_type=media_type, headers=headers)


@get("/sources/{source_id:str}/pages/{page:int}/highlights")
async def highlights(
    source_id: PathText,
    page: FromPath[int],
    services: Wired,
    user: Caller,
    start: OffsetOrNone = None,
    end: OffsetOrNone = None,
    chunk_id: Annotated[str | None, QueryParameter(description="without start and end")] = None,
) -> list[BoxOut]:
    """Where the code points [start, end) of a page's text, or a chunk, stand on its image."""
    where, number = SourceId(path_id(source_id)), _page(page)
    if start is not None and end is not None:
        boxes = await services.sources.highlights(user, where, number, start, end)
    elif start is None and end is None and chunk_id is not None:
        chunk = ChunkId(path_id(chunk_id))
        boxes = await services.sources.chunk_highlights(user, where, number, chunk)
    else:
        raise Rejected("Send start and end, or chunk_id.")
    return [BoxOut(box.left, box.top, box.width, box.height) for box in boxes]


def _page(number: int) -> int:
    if not 1 <= number <= MOST_PAGES:
        raise NotFound("There is no such page.")
    return number


router = Router(
    "/",
    route_handlers=[
        *(list_in_notebook, unlink, library, read, remove, retry, refresh),
        *(stop, notebooks),
        *(original, passages, page_image, highlights),
    ],
    tags=["sources"],
)
