"""The library: every source of a person, what is done with it, and picking from it."""

from typing import Annotated, Any
from urllib.parse import urlencode

from litestar import Request, Response, Router, get, post
from litestar.params import FromQuery, HeaderParameter
from litestar.response import Stream

from app.contexts import LibraryPage, LibraryRow, PickerFragment, PickerPage
from app.ranges import ranged
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
    size, media_type, opened = await services.sources.sound(user, SourceId(path_id(source_id)))
    headers = {"Cache-Control": "private, no-cache", "Content-Disposition": "attachment"}
    return ranged(opened, size, media_type, wanted, headers)


router = Router(
    "/",
    route_handlers=[library, row, add, retry, refresh, stop, delete, picker, sound],
)
