"""Sources, as JSON."""

import io
from typing import Any
from urllib.parse import quote

import msgspec
from litestar import Request, Response, Router, delete, get, post
from litestar.datastructures import UploadFile

from app.services import Services
from app.requests import Cursor, Limit, cursor_id, list_body, path_id
from app.structs import BoxOut, ListBody, PassageOut, SourceIn, SourceOut
from domain.account import User
from domain.errors import Rejected, UnsupportedType
from domain.ids import NotebookId, SourceId
from domain.source import CaptureMode, Source
from domain.stores import Page

UPLOAD_LIMIT_BYTES = 200 * 1024 * 1024
"""What a request may carry; a file's own limit is a setting."""


@post(
    "/notebooks/{notebook_id:str}/sources",
    request_max_body_size=UPLOAD_LIMIT_BYTES,
    status_code=202,
    responses={},
)
async def add(
    notebook_id: str, request: Request[Any, Any, Any], services: Services, user: User
) -> Response[SourceOut]:
    """Add a source: multipart `file`, or JSON `{title, text}` or `{source_id}`.

    202 where it will be read, 200 where the library has it already.
    """
    where = NotebookId(path_id(notebook_id))
    if request.content_type[0] == "multipart/form-data":
        source, is_new = await _add_file(where, request, services, user)
    else:
        body = msgspec.json.decode(await request.body(), type=SourceIn)
        source, is_new = await _add_json(where, body, services, user)
    return Response(SourceOut.of(source), status_code=202 if is_new else 200)


async def _add_file(
    notebook_id: NotebookId, request: Request[Any, Any, Any], services: Services, user: User
) -> tuple[Source, bool]:
    form = await request.form()
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise Rejected("Send the file as the multipart field `file`.")
    try:
        return await services.add_source(
            user,
            notebook_id,
            file.file,
            file.filename or "",
            title=str(form.get("title", "")),
            capture_mode=capture_mode(form.get("pdf_capture")),
        )
    finally:
        await file.close()


async def _add_json(
    notebook_id: NotebookId, body: SourceIn, services: Services, user: User
) -> tuple[Source, bool]:
    if body.url is not None:
        raise UnsupportedType("Web pages cannot be read yet. Save the page and upload the file.")
    if body.source_id is not None:
        return await services.add_source.link(user, notebook_id, SourceId(path_id(body.source_id)))
    if body.text is None:
        raise Rejected("Send one of: title and text, source_id, or a multipart file.")
    content = io.BytesIO(body.text.encode("utf-8", "surrogatepass"))
    name = f"{body.title.strip() or 'Text'}.txt"
    return await services.add_source(user, notebook_id, content, name, title=body.title)


def capture_mode(value: object) -> CaptureMode:
    """How a PDF is to be read; absent means as the product does by default.

    Raises:
        Rejected: a mode that is not there.
    """
    if value in {None, "", "auto", CaptureMode.TEXT.value}:
        return CaptureMode.TEXT
    raise Rejected("pdf_capture is auto or text; pictures of pages cannot be read yet.")


@get("/notebooks/{notebook_id:str}/sources")
async def list_in_notebook(
    notebook_id: str, services: Services, user: User, limit: Limit = 100, cursor: Cursor = None
) -> ListBody[SourceOut]:
    """A notebook's sources."""
    page = await services.sources.in_notebook(
        user, NotebookId(path_id(notebook_id)), limit=limit, after=cursor_id(cursor)
    )
    return list_body(Page(tuple(map(SourceOut.of, page.items)), page.next_cursor))


@delete("/notebooks/{notebook_id:str}/sources/{source_id:str}")
async def unlink(notebook_id: str, source_id: str, services: Services, user: User) -> None:
    """Take a source out of a notebook; the library keeps it."""
    await services.sources.unlink(
        user, NotebookId(path_id(notebook_id)), SourceId(path_id(source_id))
    )


@get("/sources")
async def library(
    services: Services, user: User, limit: Limit = 100, cursor: Cursor = None
) -> ListBody[SourceOut]:
    """Your library."""
    page = await services.sources.library(user, limit=limit, after=cursor_id(cursor))
    return list_body(Page(tuple(map(SourceOut.of, page.items)), page.next_cursor))


@get("/sources/{source_id:str}")
async def read(source_id: str, services: Services, user: User) -> SourceOut:
    """One source."""
    return SourceOut.of(await services.sources.get(user, SourceId(path_id(source_id))))


@delete("/sources/{source_id:str}")
async def remove(source_id: str, services: Services, user: User) -> None:
    """Delete a source with everything that was made from it."""
    await services.sources.delete(user, SourceId(path_id(source_id)))


@post("/sources/{source_id:str}/retry", status_code=202)
async def retry(source_id: str, services: Services, user: User) -> SourceOut:
    """Read a failed source again."""
    return SourceOut.of(await services.sources.retry(user, SourceId(path_id(source_id))))


@get("/sources/{source_id:str}/original")
async def original(source_id: str, services: Services, user: User) -> Response[bytes]:
    """The file as it was uploaded, always as an attachment."""
    source, content = await services.sources.original(user, SourceId(path_id(source_id)))
    return Response(
        content,
        media_type=source.media_type,
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(source.name)}",
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox",
        },
    )


@get("/sources/{source_id:str}/passages")
async def passages(
    source_id: str, services: Services, user: User, page: int | None = None
) -> list[PassageOut]:
    """What was read, page by page."""
    found = await services.sources.passages(user, SourceId(path_id(source_id)), page=page)
    return [PassageOut.of(passage) for passage in found]


@get("/sources/{source_id:str}/pages/{page:int}/image")
async def page_image(
    source_id: str, page: int, services: Services, user: User, width: int = 1200
) -> Response[bytes]:
    """A page of a PDF as PNG."""
    if not 100 <= width <= 3000:
        raise Rejected("width is 100 to 3000 pixels.")
    image = await services.sources.page_image(
        user, SourceId(path_id(source_id)), page, width_px=width
    )
    headers = {"Cache-Control": "private, max-age=3600", "X-Content-Type-Options": "nosniff"}
    return Response(image, media_type="image/png", headers=headers)


@get("/sources/{source_id:str}/pages/{page:int}/highlights")
async def highlights(
    source_id: str, page: int, start: int, end: int, services: Services, user: User
) -> list[BoxOut]:
    """Where the code points [start, end) of a page's text stand on its image."""
    boxes = await services.sources.highlights(
        user, SourceId(path_id(source_id)), page, start, end
    )
    return [BoxOut(box.left, box.top, box.width, box.height) for box in boxes]


router = Router(
    "/",
    route_handlers=[
        *(add, list_in_notebook, unlink, library, read, remove, retry),
        *(original, passages, page_image, highlights),
    ],
    tags=["sources"],
)
