"""The viewer: pages of a source, and passages behind the markers of answers and documents."""

from typing import Annotated, Any

from litestar import Request, Response, Router, get
from litestar.params import FromPath, FromQuery, QueryParameter

from app.contexts import RemovedFragment, RemovedPage, ViewerFragment, ViewerPage
from app.rendering import frame, is_htmx, page
from app.requests import (
    MOST_CODE_POINTS,
    MOST_PAGES,
    Caller,
    Offset,
    PathText,
    Wired,
    path_id,
)
from app.services import Services
from app.source_view import Asked, viewer
from domain.account import User
from domain.errors import BelegError, PasswordNeeded
from domain.ids import AnswerId, DocumentId, SourceId
from domain.ports import Box
from domain.source import Source, SourceKind
from domain.usecases.read_citation import CitedPassage

AnyRequest = Request[Any, Any, Any]
At = Annotated[int | None, QueryParameter(ge=0, le=MOST_CODE_POINTS)]
"""Where the shown part of a text begins; None: where the quote is in it."""


@get("/sources/{source_id:str}")
async def read(
    source_id: PathText,
    request: AnyRequest,
    services: Wired,
    user: Caller,
    page_number: Annotated[int | None, QueryParameter(name="page", ge=1, le=MOST_PAGES)] = None,
    start: Offset = 0,
    end: Offset = 0,
    at: At = None,
    view: FromQuery[str] = "",
) -> Response[Any]:
    """A page of a source, with a quote marked where the address names one."""
    source = await services.sources.get(user, SourceId(path_id(source_id)))
    number = (page_number or 1) if source.pages else None
    passages = await services.sources.passages(user, source.id, page=number)
    fixed = {"page": number, "start": start, "end": end}
    asked = Asked(
        *(number, start, end, at, f"/sources/{source.id}"),
        tuple((key, str(value)) for key, value in fixed.items() if value),
    )
    boxes = await _boxes(services, user, source, asked, view)
    shown = viewer(source, passages[0] if passages else None, asked, boxes, view)
    around = frame(request, user)
    if is_htmx(request):
        return page(request, ViewerFragment(around, shown))
    return page(request, ViewerPage(around, shown, None))


@get("/answers/{answer_id:str}/citations/{marker:int}")
async def cited(
    answer_id: PathText,
    marker: FromPath[int],
    request: AnyRequest,
    services: Wired,
    user: Caller,
    mention: FromQuery[int] = 0,
    at: At = None,
    view: FromQuery[str] = "",
) -> Response[Any]:
    """The passage behind an answer's marker, with the quote marked."""
    where = AnswerId(path_id(answer_id))
    found = await services.read_citation(user, where, marker, mention)
    asked = _asked(found, f"/answers/{where}/citations/{marker}", mention, at)
    return await _passage(request, services, user, found, asked, view)


@get("/documents/{document_id:str}/citations/{marker:int}")
async def cited_by_document(
    document_id: PathText,
    marker: FromPath[int],
    request: AnyRequest,
    services: Wired,
    user: Caller,
    mention: FromQuery[int] = 0,
    at: At = None,
    view: FromQuery[str] = "",
) -> Response[Any]:
    """The passage behind a marker of a document's text, with the quote marked."""
    where = DocumentId(path_id(document_id))
    found = await services.read_citation.of_document(user, where, marker, mention)
    asked = _asked(found, f"/documents/{where}/citations/{marker}", mention, at)
    return await _passage(request, services, user, found, asked, view)


def _asked(found: CitedPassage, path: str, mention: int, at: int | None) -> Asked:
    citation, quote = found.citation, found.mention
    return Asked(
        *(citation.page, quote.start, quote.end, at, path),
        fixed=(("mention", str(mention)),),
        marker=citation.marker,
        title=citation.source_title,
    )


async def _passage(
    request: AnyRequest,
    services: Services,
    user: User,
    found: CitedPassage,
    asked: Asked,
    view: str,
) -> Response[Any]:
    around, citation, quote = frame(request, user), found.citation, found.mention.quote
    if found.source is None:
        if is_htmx(request):
            return page(request, RemovedFragment(around, citation, quote))
        return page(request, RemovedPage(around, citation, quote, found.notebook_id))
    boxes = await _boxes(services, user, found.source, asked, view)
    shown = viewer(found.source, found.passage, asked, boxes, view)
    if is_htmx(request):
        return page(request, ViewerFragment(around, shown))
    return page(request, ViewerPage(around, shown, found.notebook_id))


async def _boxes(
    services: Services, user: User, source: Source, asked: Asked, view: str
) -> list[Box] | None:
    """Where to mark the quote on the page's image; None where the text is shown."""
    if source.kind is SourceKind.IMAGE:
        return None if view == "text" or (asked.has_quote and view != "image") else []
    if view != "image" or source.kind is not SourceKind.PDF or asked.page is None:
        return None
    try:
        await services.sources.require_open(user, source.id, asked.page)
        if not asked.has_quote:
            return []
        return await services.sources.highlights(
            user, source.id, asked.page, asked.start, asked.end
        )
    except PasswordNeeded:
        return None
    except BelegError:
        return []  # the image is worth showing without its mark


router = Router("/", route_handlers=[read, cited, cited_by_document])
