"""Guests of a notebook, as JSON."""

from litestar import Router, delete, get, post
from litestar.params import JSONBody

from app.requests import (
    MAX_JSON_BYTES,
    Caller,
    Cursor,
    Limit,
    PathText,
    Wired,
    cursor_id,
    list_body,
    path_id,
)
from app.structs.lists import ListBody
from app.structs.people import ShareIn, ShareOut
from domain.ids import NotebookId, UserId
from domain.stores import Page


@post("/notebooks/{notebook_id:str}/shares")
async def share(
    notebook_id: PathText, data: JSONBody[ShareIn], services: Wired, user: Caller
) -> ShareOut:
    """Share a notebook with an account, or give a guest another role."""
    where = NotebookId(path_id(notebook_id))
    return ShareOut.of(await services.share(user, where, data.email, data.role))


@get("/notebooks/{notebook_id:str}/shares")
async def guests(
    notebook_id: PathText, services: Wired, user: Caller, limit: Limit = 100, cursor: Cursor = None
) -> ListBody[ShareOut]:
    """Whom a notebook is shared with."""
    page = await services.share.guests(
        user, NotebookId(path_id(notebook_id)), limit=limit, after=cursor_id(cursor)
    )
    return list_body(Page(tuple(map(ShareOut.of, page.items)), page.next_cursor))


@delete("/notebooks/{notebook_id:str}/shares/{user_id:str}")
async def end(notebook_id: PathText, user_id: PathText, services: Wired, user: Caller) -> None:
    """Let a guest out at once. Guests may leave by themselves."""
    where = NotebookId(path_id(notebook_id))
    await services.share.end(user, where, UserId(path_id(user_id)))


router = Router(
    "/",
    route_handlers=[share, guests, end],
    tags=["notebooks"],
    request_max_body_size=MAX_JSON_BYTES,
)
