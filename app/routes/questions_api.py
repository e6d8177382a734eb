"""Questions and answers, as JSON and as a stream."""

from collections.abc import AsyncIterator
from typing import Annotated, Any

import msgspec
from litestar import Request, Response, Router, delete, get, post
from litestar.di import NamedDependency
from litestar.openapi import ResponseSpec
from litestar.params import FromQuery, HeaderParameter, JSONBody
from litestar.response import Stream

from app import sse
from app.errors import stored_problem
from app.requests import (
    MAX_JSON_BYTES,
    Asking,
    Caller,
    Cursor,
    Key,
    Limit,
    PathText,
    Wired,
    about_id,
    cursor_id,
    list_body,
    path_id,
    source_ids,
)
from app.runs import Runs
from app.structs.answers import (
    AnswerOut,
    CitationOut,
    FeedbackIn,
    QuestionIn,
    QuestionOut,
    SuggestionsOut,
)
from app.structs.lists import ListBody
from app.while_open import while_open
from domain.conversation import Answer, AnswerEvent, Citation, EventKind
from domain.errors import NotFound, Problem
from domain.ids import AnswerId, NotebookId
from domain.stores import Page

LastEventId = Annotated[str | None, HeaderParameter(name="Last-Event-ID")]
Running = NamedDependency[Runs]
_CLOSED = Problem(NotFound.code, "You may not see this notebook any more.")


@post(
    "/notebooks/{notebook_id:str}/questions",
    responses={
        201: ResponseSpec(QuestionOut, generate_examples=False),
        200: ResponseSpec(
            AnswerOut, generate_examples=False, description="The finished answer, or its stream"
        ),
    },
)
async def ask(
    notebook_id: PathText,
    data: JSONBody[QuestionIn],
    request: Request[Any, Any, Any],
    services: Wired,
    runs: Running,
    visitor: Asking,
    wait: FromQuery[bool] = False,
    idempotency_key: Key = None,
    last_event_id: LastEventId = None,
) -> Response[QuestionOut] | Response[AnswerOut] | Stream:
    """Ask a question. The answer says at once where to follow what is written.

    With `Accept: text/event-stream` it is the stream itself, which `Content-Location` names; sent
    again with its key and `Last-Event-ID` it goes on. With `wait=1` it is the finished answer.
    """
    user = visitor.user
    asked = await services.ask(
        user,
        NotebookId(path_id(notebook_id)),
        data.question,
        source_ids=source_ids(data.source_ids),
        about=about_id(data.about),
        idempotency_key=idempotency_key,
    )
    await runs.start(asked)
    answer_id = asked.answer.id
    path = f"/api/v1/answers/{answer_id}"
    if "text/event-stream" in request.headers.get("accept", ""):
        after = 0 if asked.is_new else sse.last_event_id(last_event_id)
        stream = _stream(services, visitor, asked.answer, after)
        stream.status_code = 200  # readers of event streams take nothing else for one
        stream.set_header("Content-Location", f"{path}/events")
        return stream
    if wait:
        async for _ in services.answers.events(answer_id, after=0):
            pass
        return Response(await _answer_out(services, user, answer_id), status_code=200)
    return Response(QuestionOut(answer_id, answer_id, f"{path}/events"), headers={"Location": path})


@get("/answers/{answer_id:str}")
async def read(answer_id: PathText, services: Wired, user: Caller) -> AnswerOut:
    """One answer with its citations and what was retrieved."""
    return await _answer_out(services, user, AnswerId(path_id(answer_id)))


@get(
    "/answers/{answer_id:str}/events",
    responses={
        200: ResponseSpec(
            str, generate_examples=False, media_type="text/event-stream", description="Its events"
        ),
        204: ResponseSpec(None, description="It has ended, and nothing is left to send"),
    },
)
async def events(
    answer_id: PathText, services: Wired, visitor: Asking, last_event_id: LastEventId = None
) -> Stream | Response[None]:
    """The answer as it is written, from the event after `Last-Event-ID`.

    204 where that was the last one: an EventSource then stops coming back.
    """
    answer = await services.answers.get(visitor.user, AnswerId(path_id(answer_id)))
    after = sse.last_event_id(last_event_id)
    if await services.answers.is_over(answer, after):
        return Response(None, status_code=204)
    return _stream(services, visitor, answer, after)


@post("/answers/{answer_id:str}/stop", status_code=202)
async def stop(answer_id: PathText, services: Wired, user: Caller) -> AnswerOut:
    """End an answer that is being written; what it said is kept."""
    await services.answers.stop(user, AnswerId(path_id(answer_id)))
    return await _answer_out(services, user, AnswerId(path_id(answer_id)))


@post("/answers/{answer_id:str}/feedback", status_code=200)
async def rate(
    answer_id: PathText, data: JSONBody[FeedbackIn], services: Wired, user: Caller
) -> AnswerOut:
    """Say whether an answer helped, in place of what was said before."""
    where = AnswerId(path_id(answer_id))
    await services.rate_answer(user, where, data.feedback)
    return await _answer_out(services, user, where)


@get("/notebooks/{notebook_id:str}/suggestions")
async def suggestions(notebook_id: PathText, services: Wired, user: Caller) -> SuggestionsOut:
    """First questions for a notebook, in the language of its sources; costs nothing."""
    where = NotebookId(path_id(notebook_id))
    return SuggestionsOut.of(await services.suggest(user, where, user.language))


@post("/notebooks/{notebook_id:str}/suggestions", status_code=200)
async def suggest(notebook_id: PathText, services: Wired, user: Caller) -> SuggestionsOut:
    """Have the model write them: one call until the sources change, however often this is sent."""
    where = NotebookId(path_id(notebook_id))
    return SuggestionsOut.of(await services.suggest.write(user, where, user.language))


@get("/notebooks/{notebook_id:str}/messages")
async def history(
    notebook_id: PathText, services: Wired, user: Caller, limit: Limit = 100, cursor: Cursor = None
) -> ListBody[AnswerOut]:
    """A notebook's questions with their answers, newest first."""
    page = await services.answers.page(
        user, NotebookId(path_id(notebook_id)), limit=limit, after=cursor_id(cursor)
    )
    used = await services.answers.usage([answer.id for answer in page.items])
    items = tuple(AnswerOut.of(answer, *used[answer.id]) for answer in page.items)
    return list_body(Page(items, page.next_cursor))


@delete("/notebooks/{notebook_id:str}/messages")
async def clear(notebook_id: PathText, services: Wired, user: Caller) -> None:
    """Forget a notebook's questions and answers."""
    await services.answers.clear(user, NotebookId(path_id(notebook_id)))


async def _answer_out(services: Wired, user: Caller, answer_id: AnswerId) -> AnswerOut:
    answer = await services.answers.get(user, answer_id)
    used = await services.answers.usage([answer_id])
    return AnswerOut.of(answer, *used[answer_id])


def _stream(services: Wired, visitor: Asking, answer: Answer, after: int) -> Stream:
    events = _events(services, visitor.user, answer.id, after)
    farewell = sse.event("error", stored_problem(_CLOSED))
    return sse.stream(while_open(services, visitor, answer.notebook_id, events, farewell=farewell))


async def _events(
    services: Wired, user: Caller, answer_id: AnswerId, after: int
) -> AsyncIterator[bytes]:
    async for event in services.answers.events(answer_id, after):
        if event is None:
            yield sse.PING
        else:
            yield sse.event(
                event.kind.value, await _data(services, user, answer_id, event), event.id
            )


async def _data(services: Wired, user: Caller, answer_id: AnswerId, event: AnswerEvent) -> object:
    match event.kind:
        case EventKind.DELTA:
            return event.data
        case EventKind.CITATION:
            return CitationOut.of(msgspec.convert(event.data, Citation, strict=False))
        case EventKind.ERROR:
            return stored_problem(Problem(event.data["code"], event.data["detail"]))
        case EventKind.DONE:
            return {"answer": await _answer_out(services, user, answer_id)}


router = Router(
    "/",
    route_handlers=[ask, read, events, stop, rate, suggestions, suggest, history, clear],
    tags=["questions"],
    request_max_body_size=MAX_JSON_BYTES,
)
