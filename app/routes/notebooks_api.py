"""Notebooks and search, as JSON."""

from litestar import Router, delete, get, patch, post
from litestar.params import JSONBody

from app.requests import (
    MAX_JSON_BYTES,
    Caller,
    Cursor,
    Key,
    Limit,
    PathText,
    Wired,
    cursor_id,
    list_body,
    path_id,
    source_ids,
)
from app.structs.answers import HitOut, SearchIn, SearchOut
from app.structs.lists import ListBody
from app.structs.sources import NotebookChange, NotebookIn, NotebookOut
from domain.errors import Rejected
from domain.ids import NotebookId
from domain.retrieval import RetrievalMode
from domain.stores import Page


@post("/notebooks")
async def create(data: JSONBody[NotebookIn], services: Wired, user: Caller) -> NotebookOut:
    """A new, empty notebook."""
    return NotebookOut.of(await services.notebooks.create(user, data.title, data.language))


@get("/notebooks")
async def list_all(
    services: Wired, user: Caller, limit: Limit = 100, cursor: Cursor = None
) -> ListBody[NotebookOut]:
    """Your notebooks, newest first."""
    page = await services.notebooks.page(user, limit=limit, after=cursor_id(cursor))
    return list_body(Page(tuple(map(NotebookOut.of, page.items)), page.next_cursor))


@get("/notebooks/{notebook_id:str}")
async def read(notebook_id: PathText, services: Wired, user: Caller) -> NotebookOut:
    """One notebook."""
    return NotebookOut.of(await services.notebooks.get(user, NotebookId(path_id(notebook_id))))


@patch("/notebooks/{notebook_id:str}")
async def change(
    notebook_id: PathText, data: JSONBody[NotebookChange], services: Wired, user: Caller
) -> NotebookOut:
    """Rename it, or set its language."""
    return NotebookOut.of(
        await services.notebooks.change(
            user, NotebookId(path_id(notebook_id)), title=data.title, language=data.language
        )
    )


@delete("/notebooks/{notebook_id:str}")
async def remove(notebook_id: PathText, services: Wired, user: Caller) -> None:
    """Delete it with its questions and answers; its sources stay in the library."""
    await services.notebooks.delete(user, NotebookId(path_id(notebook_id)))


@post("/notebooks/{notebook_id:str}/search", status_code=200)
async def search(
    notebook_id: PathText,
    data: JSONBody[SearchIn],
    services: Wired,
    user: Caller,
    idempotency_key: Key = None,
) -> SearchOut:
    """The chunks that a question would be answered from, best first."""
    hits = await services.search(
        user,
        NotebookId(path_id(notebook_id)),
        data.query,
        k=data.k,
        source_ids=source_ids(data.source_ids),
        mode=_mode(data.mode),
        idempotency_key=idempotency_key,
    )
    return SearchOut([HitOut.of(hit) for hit in hits])


def _mode(text: str | None) -> RetrievalMode | None:
    if text is None:
        return None
    try:
        return RetrievalMode(text)
    except ValueError:
        raise Rejected("mode is weighted, rrf, vector or keyword.") from None


router = Router(
    "/",
    route_handlers=[create, list_all, read, change, remove, search],
    tags=["notebooks"],
    request_max_body_size=MAX_JSON_BYTES,
)
