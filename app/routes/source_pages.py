"""Sources in a notebook: upload, and status as it changes."""

import asyncio
import hashlib
import io
from collections.abc import AsyncIterator, Awaitable, Sequence
from typing import Annotated, Any, BinaryIO, cast

from litestar import Request, Response, Router, get, post
from litestar.datastructures import UploadFile
from litestar.params import FromQuery, HeaderParameter
from litestar.response import Stream

from app import sse
from app.contexts import Frame, SourceList, SourceRow
from app.rendering import frame, go_to, is_htmx, page, render
from app.requests import Asking, Caller, PathText, Wired, path_id
from app.services import Services
from app.texts import Words
from app.while_open import while_open
from domain.access import Role
from domain.account import User
from domain.channels import SOURCE_CHANGED
from domain.errors import Rejected
from domain.ids import NotebookId, SourceId
from domain.notebook import Notebook
from domain.source import Source, capture_mode
from domain.titles import shortened
from domain.web_address import is_address

AnyRequest = Request[Any, Any, Any]
LastEventId = Annotated[str | None, HeaderParameter(name="Last-Event-ID")]
_MOST_SOURCES = 500
_LONGEST_TITLE = 60
"""Characters of a title that is made from a pasted text."""
_PING_S = 15.0
_CALM_S = 0.2
"""Changes that come together are shown together."""


async def sources_of(services: Services, user: User, notebook_id: NotebookId) -> list[Source]:
    """A notebook's sources, in the order they were added."""
    found = await services.sources.in_notebook(user, notebook_id, limit=_MOST_SOURCES, after=None)
    return list(found.items)


def state_of(sources: Sequence[Source]) -> str:
    """A fingerprint of what a list of sources shows."""
    shown = repr([_shown(source) for source in sources])
    return hashlib.blake2s(shown.encode(), digest_size=8).hexdigest()


def _shown(source: Source) -> tuple[object, ...]:
    return (source.id, source.title, source.status, source.progress, source.error, source.skipped)


@post(
    "/notebooks/{notebook_id:str}/sources",
    status_code=200,
)
async def add(
    notebook_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Add files, a pasted text or address; what cannot be added is told beside what was."""
    where, t = NotebookId(path_id(notebook_id)), frame(request, user).words
    adding = services.add_source
    form = await request.form()
    mode = capture_mode(form.get("pdf_capture") or user.pdf_capture)
    title, text = str(form.get("title", "")).strip(), str(form.get("text", ""))
    problems: list[str] = []
    is_script = request.headers.get("accept") == "application/json"  # ours, a file at a time

    known = {source.id for source in await sources_of(services, user, where)}

    async def attempt(name: str, add_it: Awaitable[tuple[Source, bool]]) -> None:
        try:
            source, _ = await add_it
        except Rejected as error:
            problems.append(_named("" if is_script else name, error, t))
            return
        if source.id in known:
            problems.append(t("already_here", title=source.title))
        known.add(source.id)

    for content in form.getall("file", []):
        if isinstance(content, UploadFile) and content.filename:
            file, name = cast("BinaryIO", content.file), content.filename
            await attempt(name, adding(user, where, file, name, capture_mode=mode))
            await content.close()
    for entry in form.getall("source_id", []):
        await attempt("", adding.link(user, where, SourceId(path_id(str(entry)))))
    if is_address(text):
        await attempt(text.strip(), adding.page(user, where, text, title=title, capture_mode=mode))
    elif text.strip():
        title = title or shortened(text, _LONGEST_TITLE)
        file = io.BytesIO(text.encode("utf-8", "surrogatepass"))
        await attempt(title, adding(user, where, file, f"{title}.txt", title=title))
    if is_script:
        return Response({"problems": problems})
    return await _list(request, services, user, where, problems)


def _named(name: str, error: Rejected, t: Words) -> str:
    """What went wrong with a file, among several."""
    told = t.problem(error.problem)
    return told if not name or name in told else f"{name}: {told}"


@post("/notebooks/{notebook_id:str}/sources/{source_id:str}/remove", status_code=200)
async def remove(
    notebook_id: PathText, source_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Take a source out of the notebook."""
    where = NotebookId(path_id(notebook_id))
    await services.sources.unlink(user, where, SourceId(path_id(source_id)))
    return await _list(request, services, user, where, [])


@post("/notebooks/{notebook_id:str}/sources/{source_id:str}/refresh", status_code=200)
async def refresh(
    notebook_id: PathText, source_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Fetch a web page again."""
    where = NotebookId(path_id(notebook_id))
    await services.sources.refresh(user, SourceId(path_id(source_id)))
    return await _list(request, services, user, where, [])


@post("/notebooks/{notebook_id:str}/sources/{source_id:str}/stop", status_code=200)
async def stop(
    notebook_id: PathText, source_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """End the reading of a source."""
    where = NotebookId(path_id(notebook_id))
    await services.sources.stop(user, SourceId(path_id(source_id)))
    return await _list(request, services, user, where, [])


@post("/notebooks/{notebook_id:str}/sources/{source_id:str}/retry", status_code=200)
async def retry(
    notebook_id: PathText, source_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Read a failed source again, a locked PDF with the password of the form."""
    where = NotebookId(path_id(notebook_id))
    password = str((await request.form()).get("password", ""))
    await services.sources.retry(user, SourceId(path_id(source_id)), password=password)
    return await _list(request, services, user, where, [])


async def _list(
    request: AnyRequest,
    services: Services,
    user: User,
    notebook_id: NotebookId,
    problems: Sequence[str],
) -> Response[Any]:
    if not is_htmx(request) and not problems:
        return go_to(request, f"/notebooks/{notebook_id}")
    if not is_htmx(request):
        raise Rejected(" ".join(problems))
    sources = await sources_of(services, user, notebook_id)
    context = SourceList(frame(request, user), notebook_id, sources, problems, Role.OWNER)
    return page(request, context)


@get("/notebooks/{notebook_id:str}/sources/events")
async def events(
    notebook_id: PathText,
    request: AnyRequest,
    services: Wired,
    visitor: Asking,
    seen: FromQuery[str] = "",
    last_event_id: LastEventId = None,
) -> Stream:
    """Rows of the list of sources as they change; `seen` is what the page shows already."""
    where = NotebookId(path_id(notebook_id))
    user = visitor.user
    notebook = await services.notebooks.get(user, where)
    changes = _changes(services, user, notebook, last_event_id or seen, frame(request, user))
    return sse.stream(while_open(services, visitor, where, changes))


async def _changes(
    services: Services, user: User, notebook: Notebook, state: str, around: Frame
) -> AsyncIterator[bytes]:
    """An event a change: the rows that changed, or the whole list where it is another one.

    The event's id is the fingerprint of the list as it then is.
    """
    rows: dict[SourceId, tuple[object, ...]] = {}
    yield sse.PING
    async with services.listener.waiting(SOURCE_CHANGED, str(notebook.owner_id)) as news:
        while True:
            news.clear()
            sources = await sources_of(services, user, notebook.id)
            if state != (state := state_of(sources)):
                yield sse.html(_difference(around, notebook, sources, rows), state)
            rows = {source.id: _shown(source) for source in sources}
            await asyncio.sleep(_CALM_S)
            try:
                async with asyncio.timeout(_PING_S):
                    await news.wait()
            except TimeoutError:
                yield sse.PING


def _difference(
    around: Frame,
    notebook: Notebook,
    sources: Sequence[Source],
    rows: dict[SourceId, tuple[object, ...]],
) -> str:
    if [source.id for source in sources] != list(rows):
        whole = render(SourceList(around, notebook.id, sources, [], notebook.role))
        return _partial("source-list", "innerHTML", whole)
    changed = (source for source in sources if rows[source.id] != _shown(source))
    return "".join(
        _partial(
            f"source-{source.id}",
            "outerHTML",
            render(SourceRow(around, notebook.id, source, notebook.role)),
        )
        for source in changed
    )


def _partial(target: str, swap: str, html: str) -> str:
    return f'<hx-partial hx-target="#{target}" hx-swap="{swap}">{html}</hx-partial>'


router = Router(
    "/",
    route_handlers=[remove, retry, refresh, stop, events],
)
