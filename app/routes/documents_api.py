"""Documents that are made from sources, as JSON, and their files."""

from typing import Annotated
from urllib.parse import quote

from litestar import Response, Router, delete, get, patch, post
from litestar.openapi import ResponseSpec
from litestar.params import FromQuery, HeaderParameter, JSONBody, QueryParameter
from litestar.response import Stream

from app.document_copy import as_markdown
from app.ranges import ranged
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
)
from app.services import Services
from app.structs.documents import DocumentChange, DocumentIn, DocumentOptions, DocumentOut
from app.structs.lists import ListBody
from app.texts import Words
from domain.account import User
from domain.document import Document, document_kind
from domain.errors import Conflict, NotFound, Rejected
from domain.file_link import FileLink
from domain.ids import DocumentId, NotebookId, SourceId, parse_id
from domain.stores import Page
from domain.usecases.create_document import Wanted

_MP3 = "audio/mpeg"


@post("/notebooks/{notebook_id:str}/documents", status_code=202)
async def create(
    notebook_id: PathText,
    data: JSONBody[DocumentIn],
    services: Wired,
    user: Caller,
    idempotency_key: Key = None,
) -> Response[DocumentOut]:
    """Have a document made from sources of a notebook; a worker makes it."""
    document = await services.create_document(
        user, NotebookId(path_id(notebook_id)), _wanted(data), idempotency_key=idempotency_key
    )
    path = f"/api/v1/documents/{document.id}"
    return Response(await _out(services, user, document), headers={"Location": path})


def _wanted(data: DocumentIn) -> Wanted:
    options = data.options or DocumentOptions()
    return Wanted(
        kind=document_kind(data.kind),
        title=data.title or "",
        focus=data.focus or "",
        source_ids=None if data.source_ids is None else tuple(map(_source_id, data.source_ids)),
        voices=None if options.voices is None else tuple(options.voices),
        language=options.language,
    )


def _source_id(text: str) -> SourceId:
    found = parse_id(text)
    if found is None:
        raise NotFound("A selected source is not in this notebook.")
    return SourceId(found)


@get("/notebooks/{notebook_id:str}/documents")
async def list_in_notebook(
    notebook_id: PathText, services: Wired, user: Caller, limit: Limit = 100, cursor: Cursor = None
) -> ListBody[DocumentOut]:
    """A notebook's documents, newest first."""
    page = await services.documents.page(
        user, NotebookId(path_id(notebook_id)), limit=limit, after=cursor_id(cursor)
    )
    links = await services.documents.links(page.items)
    items = tuple(DocumentOut.of(document, links, user) for document in page.items)
    return list_body(Page(items, page.next_cursor))


@get("/documents/{document_id:str}")
async def read(document_id: PathText, services: Wired, user: Caller) -> DocumentOut:
    """One document, with a new link to its file."""
    where = DocumentId(path_id(document_id))
    return await _out(services, user, await services.documents.get(user, where))


@patch("/documents/{document_id:str}")
async def change(
    document_id: PathText, data: JSONBody[DocumentChange], services: Wired, user: Caller
) -> DocumentOut:
    """Give it a title."""
    where = DocumentId(path_id(document_id))
    return await _out(services, user, await services.documents.rename(user, where, data.title))


@delete("/documents/{document_id:str}")
async def remove(document_id: PathText, services: Wired, user: Caller) -> None:
    """Delete it with its file and the source that it is asked about as."""
    await services.documents.delete(user, DocumentId(path_id(document_id)))


@post("/documents/{document_id:str}/retry", status_code=202)
async def retry(
    document_id: PathText, services: Wired, user: Caller, idempotency_key: Key = None
) -> DocumentOut:
    """Make a failed document again; what was paid for is not paid for again."""
    where = DocumentId(path_id(document_id))
    document = await services.documents.retry(user, where, idempotency_key=idempotency_key)
    return await _out(services, user, document)


@get("/documents/{document_id:str}/export")
async def export(
    document_id: PathText,
    services: Wired,
    user: Caller,
    wanted: Annotated[str, QueryParameter(name="format", description="mp3 or md")] = "md",
) -> Response[str] | Stream:
    """A document to take along: its file, or its text with citations and sources."""
    where = DocumentId(path_id(document_id))
    if wanted == "mp3":
        document, opened = await services.documents.content(user, where)
        headers = {"Content-Disposition": _attachment(document, "mp3"), **_NOT_KEPT}
        return ranged(opened, document.bytes or 0, _MP3, None, headers)
    if wanted != "md":
        raise Rejected("format is mp3 or md.")
    document = await services.documents.get(user, where)
    if document.text is None:
        raise Conflict("This document is not written yet.")
    text = as_markdown(
        document, await services.documents.sources(document), Words(document.language)
    )
    return Response(
        text,
        media_type="text/markdown",
        headers={
            "Content-Disposition": _attachment(document, "md"),
            "X-Content-Type-Options": "nosniff",
        },
    )


@get(
    "/documents/{document_id:str}/audio",
    responses={
        206: ResponseSpec(
            bytes, generate_examples=False, media_type=_MP3, description="The part asked for"
        )
    },
)
async def audio(
    document_id: PathText,
    services: Wired,
    expires: Annotated[int, QueryParameter(ge=0, le=2**53, description="as in audio_url")],
    signature: Annotated[str, QueryParameter(max_length=100, description="as in audio_url")],
    download: FromQuery[bool] = False,
    wanted: Annotated[str | None, HeaderParameter(name="Range")] = None,
) -> Stream:
    """The recording behind an `audio_url`, from any byte on; whoever has the link may listen."""
    document, opened = await services.documents.file(
        DocumentId(path_id(document_id)), FileLink(expires, signature)
    )
    shown = _attachment(document, "mp3") if download else "inline"
    headers = {"Content-Disposition": shown, **_NOT_KEPT}
    return ranged(opened, document.bytes or 0, _MP3, wanted, headers)


_NOT_KEPT = {"Cache-Control": "no-store"}


def _attachment(document: Document, ending: str) -> str:
    name = " ".join(document.title.replace("/", "-").split()) or document.kind.value
    return f"attachment; filename*=UTF-8''{quote(f'{name[:120]}.{ending}', safe='')}"


async def _out(services: Services, user: User, document: Document) -> DocumentOut:
    return DocumentOut.of(document, await services.documents.links([document]), user)


router = Router(
    "/",
    route_handlers=[create, list_in_notebook, read, change, remove, retry, export, audio],
    tags=["documents"],
    request_max_body_size=MAX_JSON_BYTES,
)
