"""Questions and answers on the page, and the stream of an answer as HTML."""

from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any
from urllib.parse import quote

import msgspec
from litestar import Request, Response, Router, get, post
from litestar.datastructures import FormMultiDict
from litestar.di import NamedDependency
from litestar.params import FromQuery, HeaderParameter
from litestar.response import Stream
from markupsafe import Markup

from app import sse
from app.answer_copy import as_html, as_markdown
from app.answer_html import StreamedText, answer_html
from app.contexts import (
    AskedFragment,
    ComposerFragment,
    FeedbackFragment,
    Frame,
    SuggestionsFragment,
    Turn,
    TurnFragment,
    TurnsFragment,
)
from app.rendering import frame, go_to, is_htmx, page, render
from app.requests import (
    Asking,
    Caller,
    PathText,
    Wired,
    about_id,
    cursor_id,
    form_key,
    path_id,
    source_ids,
)
from app.routes.source_pages import sources_of
from app.runs import Runs
from app.services import Services
from app.while_open import while_open
from domain.account import User
from domain.conversation import Answer, AnswerStatus, Citation, EventKind, Feedback, Rating
from domain.errors import Conflict, NotFound
from domain.ids import AnswerId, NotebookId, SourceId, new_id, parse_id
from domain.source import Source, SourceStatus

AnyRequest = Request[Any, Any, Any]
LastEventId = Annotated[str | None, HeaderParameter(name="Last-Event-ID")]
Running = NamedDependency[Runs]
TURNS = 20
"""Turns that a page shows at first."""


def turn_of(answer: Answer, around: Frame) -> Turn:
    """An answer, ready to be shown."""
    html = Markup()
    if answer.status is not AnswerStatus.STREAMING:
        html = answer_html(answer, around.words)
    return Turn(answer, html, frozenset(citation.rank for citation in answer.citations))


def turns_of(newest_first: Sequence[Answer], around: Frame) -> list[Turn]:
    """Turns as they are read: the newest at the end."""
    return [turn_of(answer, around) for answer in reversed(newest_first)]


@post("/notebooks/{notebook_id:str}/questions", status_code=200)
async def ask(
    notebook_id: PathText, request: AnyRequest, services: Wired, runs: Running, user: Caller
) -> Response[Any]:
    """Record a question; its answer starts and is followed by the turn's own stream."""
    form = await request.form()
    where = NotebookId(path_id(notebook_id))
    one = about_id(str(form.get("about", "")) or None)
    asked = await services.ask(
        user,
        where,
        str(form.get("question", "")),
        # One source is asked whether or not it is ticked among all.
        source_ids=None if one else selection(form),
        about=one,
        idempotency_key=form_key(str(form.get("key", ""))),
    )
    await runs.start(asked)
    if not is_htmx(request):
        return go_to(request, f"/notebooks/{where}")
    around = frame(request, user)
    notebook = await services.notebooks.get(user, where)
    about = await source_about(services, user, where, str(form.get("about", "")))
    turn = turn_of(asked.answer, around)
    return page(request, AskedFragment(around, notebook, turn, new_id(), about))


async def source_about(
    services: Services, user: User, notebook_id: NotebookId, about: str
) -> Source | None:
    """The ready source that questions are asked about alone; None where all are."""
    wanted = parse_id(about) if about else None
    sources = await sources_of(services, user, notebook_id) if wanted else []
    ready = (source for source in sources if source.status is SourceStatus.READY)
    return next((source for source in ready if source.id == wanted), None)


@get("/notebooks/{notebook_id:str}/composer")
async def composer(
    notebook_id: PathText,
    request: AnyRequest,
    services: Wired,
    user: Caller,
    about: FromQuery[str] = "",
) -> Response[Any]:
    """The box for a question, to one source alone or to all again."""
    where = NotebookId(path_id(notebook_id))
    if not is_htmx(request):
        return go_to(request, f"/notebooks/{where}?about={quote(about)}")
    notebook = await services.notebooks.get(user, where)
    source = await source_about(services, user, where, about)
    if about and source is None:
        raise Conflict("This is not ready to be asked about, or it left the notebook.")
    return page(request, ComposerFragment(frame(request, user), notebook, new_id(), source))


@get("/notebooks/{notebook_id:str}/suggestions")
async def suggestions(
    notebook_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[str]:
    """First questions, as buttons; costs nothing."""
    where, around = NotebookId(path_id(notebook_id)), frame(request, user)
    found = await services.suggest(user, where, around.words.language)
    return page(request, SuggestionsFragment(around, where, found))


@post("/notebooks/{notebook_id:str}/suggestions", status_code=200)
async def suggest(
    notebook_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Have the model write them."""
    where, around = NotebookId(path_id(notebook_id)), frame(request, user)
    found = await services.suggest.write(user, where, around.words.language)
    if not is_htmx(request):
        return go_to(request, f"/notebooks/{where}")
    return page(request, SuggestionsFragment(around, where, found))


def selection(form: FormMultiDict) -> list[SourceId] | None:
    """The sources that are ticked: None for all that were offered, [] where every one is off."""
    offered, chosen = form.getall("offered", []), form.getall("source", [])
    if set(offered) <= set(chosen):
        return None
    return source_ids([str(one) for one in chosen])


@get("/notebooks/{notebook_id:str}/turns")
async def earlier(
    notebook_id: PathText,
    request: AnyRequest,
    services: Wired,
    user: Caller,
    before: FromQuery[str] = "",
) -> Response[str]:
    """The turns before those that are shown."""
    notebook = await services.notebooks.get(user, NotebookId(path_id(notebook_id)))
    found = await services.answers.page(user, notebook.id, limit=TURNS, after=cursor_id(before))
    around = frame(request, user)
    turns = turns_of(found.items, around)
    return page(request, TurnsFragment(around, notebook, turns, found.next_cursor))


@post("/notebooks/{notebook_id:str}/clear", status_code=200)
async def clear(
    notebook_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Forget questions and answers."""
    where = NotebookId(path_id(notebook_id))
    await services.answers.clear(user, where)
    return go_to(request, f"/notebooks/{where}")


@post("/answers/{answer_id:str}/stop", status_code=200)
async def stop(
    answer_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """End an answer that is being written; its stream shows what becomes of it."""
    answer = await services.answers.get(user, AnswerId(path_id(answer_id)))
    await services.answers.stop(user, answer.id)
    if is_htmx(request):
        return Response("", status_code=204)
    return go_to(request, f"/notebooks/{answer.notebook_id}")


@get("/answers/{answer_id:str}/stream")
async def stream(
    answer_id: PathText,
    request: AnyRequest,
    services: Wired,
    visitor: Asking,
    last_event_id: LastEventId = None,
) -> Stream:
    """The answer as HTML while it is written; the last event brings the finished turn."""
    user = visitor.user
    answer = await services.answers.get(user, AnswerId(path_id(answer_id)))
    after = sse.last_event_id(last_event_id)
    events = _html_events(services, user, answer, after, frame(request, user))
    return sse.stream(while_open(services, visitor, answer.notebook_id, events))


@post("/answers/{answer_id:str}/feedback", status_code=200)
async def rate(
    answer_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Keep whether it helped; the button that is pressed again takes that back."""
    form = await request.form()
    where = AnswerId(path_id(answer_id))
    rating = str(form.get("rating", ""))
    feedback = Feedback(
        Rating(rating) if rating in set(Rating) else None, str(form.get("comment", ""))
    )
    await services.rate_answer(user, where, feedback)
    answer = await services.answers.get(user, where)
    if not is_htmx(request):
        return go_to(request, f"/notebooks/{answer.notebook_id}#turn-{where}")
    return page(request, FeedbackFragment(frame(request, user), answer, said=bool(rating)))


@get("/answers/{answer_id:str}/copy")
async def copy(
    answer_id: PathText,
    request: AnyRequest,
    services: Wired,
    user: Caller,
    form: FromQuery[str] = "",
) -> Response[str]:
    """An answer with its citations: as Markdown, or as HTML to be put into a clipboard."""
    answer = await services.answers.get(user, AnswerId(path_id(answer_id)))
    t = frame(request, user).words
    text = str(as_html(answer, t)) if form == "html" else as_markdown(answer, t)
    # Plain text either way: nothing that a model wrote is a page of ours.
    return Response(text, media_type="text/plain")


async def _html_events(
    services: Services, user: User, answer: Answer, after: int, around: Frame
) -> AsyncIterator[bytes]:
    """Events carry the ids of the answer's own events, so a reader who comes back gets the rest.

    All of them are read again for that: a piece of text is shown with the citations before it.
    """
    text = StreamedText(answer, around.words)
    yield sse.PING
    async for event in services.answers.events(answer.id, 0):
        if event is None:
            yield sse.PING
        elif event.kind is EventKind.CITATION:
            text.know(msgspec.convert(event.data, Citation, strict=False))
        elif event.kind is EventKind.DELTA:
            html = text.feed(event.data["text"])
            if event.id > after:
                yield sse.html(html, event.id)
        else:
            yield sse.html(await _last_partial(services, user, answer.id, around), event.id)


async def _last_partial(services: Services, user: User, answer_id: AnswerId, around: Frame) -> str:
    """The finished turn in place of the growing one; nothing, where it was deleted meanwhile."""
    try:
        done = await services.answers.get(user, answer_id)
    except NotFound:
        return f'<hx-partial hx-target="#turn-{answer_id}" hx-swap="delete"></hx-partial>'
    turn = render(TurnFragment(around, turn_of(done, around)))
    return f'<hx-partial hx-target="#turn-{answer_id}" hx-swap="outerHTML">{turn}</hx-partial>'


router = Router(
    "/",
    route_handlers=[
        *(ask, composer, suggestions, suggest, earlier, clear, stop, stream, rate, copy)
    ],
)
