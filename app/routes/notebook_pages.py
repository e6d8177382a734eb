"""The list of notebooks, and the page of one."""

from typing import Any

from litestar import Request, Response, Router, get, post
from litestar.params import FromQuery

from app.contexts import NotebookPage, NotebooksPage
from app.rendering import frame, go_to, page
from app.requests import Caller, PathText, Wired, cursor_id, path_id
from app.routes.question_pages import TURNS, source_about, turns_of
from app.routes.source_pages import sources_of, state_of
from app.shelf import shelf_of
from app.uploads import Limits
from domain.ids import NotebookId, new_id

AnyRequest = Request[Any, Any, Any]
_NOTEBOOKS = 60


@get("/")
async def list_all(
    request: AnyRequest, services: Wired, user: Caller, cursor: FromQuery[str | None] = None
) -> Response[str]:
    """Every notebook, newest first."""
    found = await services.notebooks.page(user, limit=_NOTEBOOKS, after=cursor_id(cursor))
    return page(request, NotebooksPage(frame(request, user), found.items, found.next_cursor))


@post("/notebooks", status_code=200)
async def create(request: AnyRequest, services: Wired, user: Caller) -> Response[Any]:
    """Make a notebook and open it."""
    form = await request.form()
    notebook = await services.notebooks.create(user, str(form.get("title", "")))
    return go_to(request, f"/notebooks/{notebook.id}")


@get("/notebooks/{notebook_id:str}")
async def read(
    notebook_id: PathText,
    request: AnyRequest,
    services: Wired,
    user: Caller,
    about: FromQuery[str] = "",
) -> Response[str]:
    """Sources, chat, studio and viewer of a notebook."""
    notebook = await services.notebooks.get(user, NotebookId(path_id(notebook_id)))
    sources = await sources_of(services, user, notebook.id)
    answers = await services.answers.page(user, notebook.id, limit=TURNS, after=None)
    around = frame(request, user)
    context = NotebookPage(
        frame=around,
        notebook=notebook,
        notebook_id=notebook.id,
        role=notebook.role,
        sources=sources,
        state=state_of(sources),
        turns=turns_of(answers.items, around),
        before=answers.next_cursor,
        key=new_id(),
        about=await source_about(services, user, notebook.id, about),
        limits=Limits.of(services.settings, user),
        shelf=await shelf_of(services, user, notebook, around.words.language),
    )
    return page(request, context)


@post("/notebooks/{notebook_id:str}/rename", status_code=200)
async def rename(
    notebook_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Give it another title."""
    form = await request.form()
    where = NotebookId(path_id(notebook_id))
    await services.notebooks.change(user, where, title=str(form.get("title", "")))
    return go_to(request, "/" if form.get("stay") == "list" else f"/notebooks/{where}")


@post("/notebooks/{notebook_id:str}/delete", status_code=200)
async def delete(
    notebook_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Remove it with its questions and answers."""
    await services.notebooks.delete(user, NotebookId(path_id(notebook_id)))
    return go_to(request, "/")


router = Router(
    "/",
    route_handlers=[list_all, create, read, rename, delete],
)
