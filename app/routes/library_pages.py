"""The library: every source of a person, what is done with it, and picking from it."""

import re
from collections.abc import AsyncGenerator
from typing import Annotated, Any
from urllib.parse import urlencode

from litestar import Request, Response, Router, get, post
from litestar.params import FromQuery, HeaderParameter
from litestar.response import Stream

from app.contexts import LibraryPage, LibraryRow, PickerFragment, PickerPage
from app.rendering import frame, go_to, is_htmx, page
from app.requests import Caller, PathText, Wired, cursor_id, path_id
from app.services import Services
from domain.access import Role
from domain.account import User
from domain.ids import NotebookId, SourceId
from domain.library import Wanted
from domain.notebook import Notebook
from domain.source import SourceKind, SourceStatus

AnyRequest = Request[Any, Any, Any]
_ENTRIES = 50
_NOTEBOOKS = 200
_RANGE = re.compile(r"bytes=(\d{1,15})-(\d{1,15})?")


async def _own_notebooks(services: Services, user: User) -> list[Notebook]:
    found = await services.notebooks.page(user, limit=_NOTEBOOKS, after=None)
    return [notebook for notebook in found.items if notebook.role is Role.OWNER]


@get("/library")
async def library(
    request: AnyRequest,
    services: Wired,
    user: Caller,
    q: FromQuery[str] = "",
    kind: FromQuery[str] = "",
    status: FromQuery[str] = "",
    cursor: FromQuery[str | None] = None,
) -> Response[str]:
    """Every source, newest first, or those that are looked for."""
    wanted = Wanted(
        " ".join(q.replace("\0", "").split()),
        SourceKind(kind) if kind in set(SourceKind) else None,
        SourceStatus(status) if status in set(SourceStatus) else None,
    )
    found = await services.sources.shelf(user, wanted, limit=_ENTRIES, after=cursor_id(cursor))
    asked = {"q": q, "kind": kind, "status": status, "cursor": found.next_cursor}
    more = urlencode({name: value for name, value in asked.items() if value}, errors="replace")
    notebooks = await _own_notebooks(services, user)
    next_url = f"/library?{more}" if found.next_cursor else ""
    return page(
        request, LibraryPage(frame(request, user), found.items, notebooks, wanted, next_url)
    )


@get("/library/{source_id:str}")
async def row(
    source_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """One entry as it is now, for the page that shows it."""
    if not is_htmx(request):
        return go_to(request, "/library")
    entry = await services.sources.shelved(user, SourceId(path_id(source_id)))
    notebooks = await _own_notebooks(services, user)
    return page(request, LibraryRow(frame(request, user), entry, notebooks))


@post("/library/{source_id:str}/add", status_code=200)
async def add(
    source_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Put a source into a notebook, and go there."""
    where = NotebookId(path_id(str((await request.form()).get("notebook_id", ""))))
    await services.add_source.link(user, where, SourceId(path_id(source_id)))
    return go_to(request, f"/notebooks/{where}#sources")


@post("/library/{source_id:str}/retry", status_code=200)
async def retry(
    source_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Read a failed source again, a locked PDF with the password of the form."""
    password = str((await request.form()).get("password", ""))
    await services.sources.retry(user, SourceId(path_id(source_id)), password=password)
    return go_to(request, "/library")


@post("/library/{source_id:str}/refresh", status_code=200)
async def refresh(
    source_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Fetch a web page again."""
    await services.sources.refresh(user, SourceId(path_id(source_id)))
    return go_to(request, "/library")


@post("/library/{source_id:str}/stop", status_code=200)
async def stop(
    source_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """End the reading of a source."""
    await services.sources.stop(user, SourceId(path_id(source_id)))
    return go_to(request, "/library")


@post("/library/{source_id:str}/delete", status_code=200)
async def delete(
    source_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Delete a source with everything that was made from it."""
    await services.sources.delete(user, SourceId(path_id(source_id)))
    return go_to(request, "/library")


@get("/notebooks/{notebook_id:str}/library")
async def picker(
    notebook_id: PathText,
    request: AnyRequest,
    services: Wired,
    user: Caller,
    q: FromQuery[str] = "",
) -> Response[str]:
    """What of the library a notebook does not have, to be added."""
    notebook = await services.notebooks.get(user, NotebookId(path_id(notebook_id)))
    words = " ".join(q.replace("\0", "").split())
    wanted = Wanted(words, outside=notebook.id)
    found = await services.sources.shelf(user, wanted, limit=_ENTRIES, after=None)
    kind = PickerFragment if is_htmx(request) else PickerPage
    return page(
        request,
        kind(frame(request, user), notebook, found.items, words, found.next_cursor is None),
    )


@get("/sources/{source_id:str}/sound")
async def sound(
    source_id: PathText,
    services: Wired,
    user: Caller,
    wanted: Annotated[str | None, HeaderParameter(name="Range")] = None,
) -> Stream:
    """A recording for the page's player, from any byte on: players jump."""
    where, asked = SourceId(path_id(source_id)), _RANGE.fullmatch(wanted or "")
    first = int(asked[1]) if asked else 0
    size, media_type, content = await services.sources.sound(user, where, first=first)
    headers = {
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-cache",
        "Content-Disposition": "attachment",
        "Content-Security-Policy": "sandbox",
        "X-Content-Type-Options": "nosniff",
    }
    if asked and first >= size:
        headers["Content-Range"] = f"bytes */{size}"
        return Stream(iter(()), status_code=416, headers=headers)
    last = min(int(asked[2]), size - 1) if asked and asked[2] else size - 1
    last = max(last, first)
    if asked:
        headers["Content-Range"] = f"bytes {first}-{last}/{size}"
    headers["Content-Length"] = str(last + 1 - first)
    status = 206 if asked else 200
    part = _first(content, last + 1 - first)
    return Stream(part, status_code=status, media_type=media_type, headers=headers)


async def _first(content: AsyncGenerator[bytes, None], count: int) -> AsyncGenerator[bytes, None]:
    """So many bytes of it."""
    async for block in content:
        yield block[:count]
        count -= len(block)
        if count <= 0:
            return


router = Router(
    "/",
    route_handlers=[library, row, add, retry, refresh, stop, delete, picker, sound],
)
