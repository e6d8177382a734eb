"""The studio: audio overviews of a notebook, made, watched, heard and read along."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Annotated, Any

from litestar import Request, Response, Router, get, post
from litestar.params import FromQuery, HeaderParameter
from litestar.response import Redirect, Stream

from app import shelf, sse
from app.contexts import Frame
from app.errors import headers_of, status_of
from app.rendering import frame, go_to, is_htmx, page, render
from app.requests import Asking, Caller, PathText, Wired, form_key, path_id
from app.routes.question_pages import selection
from app.services import Services
from app.shelf import Offer, documents_of, offer_of, states_of
from app.structs.documents import audio_url
from app.studio_contexts import (
    DocumentRow,
    MadeFragment,
    OfferFragment,
    StudioProblem,
    TranscriptFragment,
    TranscriptPage,
)
from app.transcript_html import paragraphs_of
from app.while_open import while_open
from domain.access import Role
from domain.account import User
from domain.channels import DOCUMENT_CHANGED
from domain.document import Document, DocumentKind
from domain.errors import BelegError, Conflict
from domain.ids import DocumentId, NotebookId, new_id
from domain.notebook import Notebook
from domain.usecases.create_document import Wanted

AnyRequest = Request[Any, Any, Any]
LastEventId = Annotated[str | None, HeaderParameter(name="Last-Event-ID")]
_PING_S = 15.0
_CALM_S = 0.2
"""Changes that come together are shown together."""


@post("/notebooks/{notebook_id:str}/documents", status_code=200)
async def make(
    notebook_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Queue an audio overview of the sources that are ticked; problems are told at the form."""
    form = await request.form()
    where, around = NotebookId(path_id(notebook_id)), frame(request, user)
    language = str(form.get("language", ""))
    try:
        document = await services.create_document(
            user,
            where,
            Wanted(
                kind=DocumentKind.AUDIO_OVERVIEW,
                title=str(form.get("title", "")),
                focus=str(form.get("focus", "")),
                source_ids=selection(form),
                voices=tuple(map(str, form.getall(f"voice_{language}", []))),
                language=language,
            ),
            idempotency_key=form_key(str(form.get("key", ""))),
        )
    except BelegError as error:
        if not is_htmx(request):
            raise
        said = around.words.problem(error.problem)
        response = page(request, StudioProblem(around, said, new_id()), status_of(error))
        response.headers.update(headers_of(error))
        return response
    if not is_htmx(request):
        return go_to(request, f"/notebooks/{where}#studio")
    notebook = await services.notebooks.get(user, where)
    offer = await offer_of(services, user, notebook, around.words.language)
    return page(request, MadeFragment(around, where, document, offer, new_id()))


@post("/documents/{document_id:str}/rename", status_code=200)
async def rename(
    document_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Give it another title."""
    where, form = DocumentId(path_id(document_id)), await request.form()
    return _row(
        request, user, await services.documents.rename(user, where, str(form.get("title", "")))
    )


@post("/documents/{document_id:str}/retry", status_code=200)
async def retry(
    document_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Make a failed one again; what was paid for is not paid for again."""
    where = DocumentId(path_id(document_id))
    return _row(request, user, await services.documents.retry(user, where))


@post("/documents/{document_id:str}/delete", status_code=200)
async def delete(
    document_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Remove it with its recording and the source that it is asked about as."""
    document = await services.documents.get(user, DocumentId(path_id(document_id)))
    await services.documents.delete(user, document.id)
    if is_htmx(request):
        return Response("", media_type="text/html")
    return go_to(request, f"/notebooks/{document.notebook_id}#studio")


def _row(request: AnyRequest, user: User, document: Document) -> Response[Any]:
    if not is_htmx(request):
        return go_to(request, f"/notebooks/{document.notebook_id}#studio")
    around = frame(request, user)
    return page(request, DocumentRow(around, document.notebook_id, document, Role.OWNER))


@get("/documents/{document_id:str}/sound")
async def sound(
    document_id: PathText, services: Wired, user: Caller, download: FromQuery[bool] = False
) -> Redirect:
    """The recording, by a link that is new each time: a player that is open for long asks again."""
    document = await services.documents.get(user, DocumentId(path_id(document_id)))
    links = await services.documents.links([document])
    if document.id not in links:
        raise Conflict("This is not ready.")
    more = "&download=true" if download else ""
    address = f"{audio_url(document.id, links[document.id])}{more}"
    return Redirect(address, status_code=303, headers={"Cache-Control": "no-store"})


@get("/documents/{document_id:str}/transcript")
async def transcript(
    document_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[str]:
    """What is said in it, to be read along."""
    document = await services.documents.get(user, DocumentId(path_id(document_id)))
    if document.text is None:
        raise Conflict("This is not written yet.")
    around, in_pane = frame(request, user), is_htmx(request)
    kind = TranscriptFragment if in_pane else TranscriptPage
    said = paragraphs_of(document, around.words, in_pane=in_pane)
    return page(request, kind(around, document, said))


@get("/notebooks/{notebook_id:str}/documents/events")
async def events(
    notebook_id: PathText,
    request: AnyRequest,
    services: Wired,
    visitor: Asking,
    seen: FromQuery[str] = "",
    last_event_id: LastEventId = None,
) -> Stream:
    """Rows of the studio as they change; `seen` is what the page shows already."""
    where = NotebookId(path_id(notebook_id))
    notebook = await services.notebooks.get(visitor.user, where)
    known = shelf.read(last_event_id or seen)
    changes = _changes(services, visitor.user, notebook, known, frame(request, visitor.user))
    return sse.stream(while_open(services, visitor, where, changes))


async def _changes(
    services: Services,
    user: User,
    notebook: Notebook,
    known: Mapping[DocumentId, str],
    around: Frame,
) -> AsyncIterator[bytes]:
    """An event a change: the rows that are new, other or gone, and what may still be made.

    The event's id says what is then shown of each, so that a reader who comes back gets the rest.
    """
    offer: Offer | None = None
    yield sse.PING
    async with services.listener.waiting(DOCUMENT_CHANGED, str(notebook.id)) as news:
        while True:
            news.clear()
            documents = await documents_of(services, user, notebook.id)
            states = states_of(documents)
            parts = _rows(around, notebook, documents, known)
            if notebook.role is Role.OWNER:
                before = offer
                offer = await offer_of(services, user, notebook, around.words.language)
                parts += [] if offer == before else [_offer(around, offer)]
            if parts:
                yield sse.html("".join(parts), shelf.written(states))
            known = states
            await asyncio.sleep(_CALM_S)
            try:
                async with asyncio.timeout(_PING_S):
                    await news.wait()
            except TimeoutError:
                yield sse.PING


def _rows(
    around: Frame,
    notebook: Notebook,
    documents: Sequence[Document],
    known: Mapping[DocumentId, str],
) -> list[str]:
    """What brings the list up to date, whatever of it a page has done already."""
    states = states_of(documents)
    parts = [_partial(f"document-{gone}", "delete") for gone in known if gone not in states]
    for document in reversed(documents):
        if known.get(document.id) == states[document.id]:
            continue
        row = render(DocumentRow(around, notebook.id, document, notebook.role))
        if document.id in known:
            # Morphed, not replaced: what plays goes on, and what has the focus keeps it.
            parts.append(_partial(f"document-{document.id}", "outerMorph", row))
        else:
            parts.append(_partial(f"document-{document.id}", "delete"))
            parts.append(_partial("documents", "afterbegin", row))
    return parts


def _offer(around: Frame, offer: Offer) -> str:
    return _partial("studio-offer", "outerHTML", render(OfferFragment(around, offer)))


def _partial(target: str, swap: str, html: str = "") -> str:
    return f'<hx-partial hx-target="#{target}" hx-swap="{swap}">{html}</hx-partial>'


router = Router(
    "/",
    route_handlers=[make, rename, retry, delete, sound, transcript, events],
)
