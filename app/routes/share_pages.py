"""Whom a notebook is shared with, on the page."""

from typing import Any

from litestar import Request, Response, Router, get, post

from app.account_contexts import GuestsFragment, GuestsPage
from app.rendering import frame, go_to, is_htmx, page
from app.requests import Caller, PathText, Wired, path_id
from app.services import Services
from domain.account import User
from domain.errors import BelegError, NotFound, Rejected, TooManyAttempts
from domain.ids import NotebookId, UserId

AnyRequest = Request[Any, Any, Any]
_GUESTS = 500


@get("/notebooks/{notebook_id:str}/shares")
async def guests(
    notebook_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[str]:
    """Every guest, and a form for the next one."""
    return await _guests(request, services, user, NotebookId(path_id(notebook_id)))


@post("/notebooks/{notebook_id:str}/shares", status_code=200)
async def share(
    notebook_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Let somebody in, or give a guest another role."""
    form = await request.form()
    where, email = NotebookId(path_id(notebook_id)), str(form.get("email", ""))
    try:
        await services.share(user, where, email, str(form.get("role", "")))
    except (NotFound, Rejected, TooManyAttempts) as error:
        return await _guests(request, services, user, where, error, email)
    if not is_htmx(request):
        return go_to(request, f"/notebooks/{where}/shares")
    return await _guests(request, services, user, where)


@post("/notebooks/{notebook_id:str}/shares/{user_id:str}/remove", status_code=200)
async def unshare(
    notebook_id: PathText, user_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Let a guest out, who may be whoever asks."""
    where, guest = NotebookId(path_id(notebook_id)), UserId(path_id(user_id))
    await services.share.end(user, where, guest)
    if guest == user.id:
        return go_to(request, "/")
    if not is_htmx(request):
        return go_to(request, f"/notebooks/{where}/shares")
    return await _guests(request, services, user, where)


async def _guests(
    request: AnyRequest,
    services: Services,
    user: User,
    notebook_id: NotebookId,
    error: BelegError | None = None,
    email: str = "",
) -> Response[str]:
    notebook = await services.notebooks.get(user, notebook_id)
    found = await services.share.guests(user, notebook_id, limit=_GUESTS, after=None)
    around = frame(request, user)
    problem = around.words.problem(error.problem) if error else ""
    kind = GuestsFragment if is_htmx(request) else GuestsPage
    # A fragment is swapped in whatever its status; without scripts it is a page.
    return page(request, kind(around, notebook, found.items, problem, email), 422 if error else 200)


router = Router("/", route_handlers=[guests, share, unshare])
