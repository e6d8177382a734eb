"""Questions and answers, as JSON and as a stream."""

from collections.abc import AsyncIterator
from typing import Annotated, Any

import msgspec
from litestar import Request, Response, Router, delete, get, post
from litestar.params import Parameter
from litestar.response import Stream

from app import sse
from app.services import Services
from app.requests import Cursor, Limit, cursor_id, list_body, path_id, source_ids
from app.runs import Runs
from app.structs import AnswerOut, CitationOut, ListBody, ProblemOut, QuestionIn, QuestionOut
from domain.account import User
from domain.conversation import Answer, AnswerEvent, Citation, EventKind
from domain.errors import Problem
from domain.ids import AnswerId, NotebookId, SourceId
from domain.stores import Page

Key = Annotated[str | None, Parameter(header="Idempotency-Key", max_length=200)]
LastEventId = Annotated[str | None, Parameter(header="Last-Event-ID")]


@post("/notebooks/{notebook_id:str}/questions")
async def ask(
    notebook_id: str,
    data: QuestionIn,
    request: Request[Any, Any, Any],
    services: Services,
    runs: Runs,
    user: User,
    wait: bool = False,
    idempotency_key: Key = None,
) -> Response[QuestionOut] | Response[AnswerOut] | Stream:
    """Ask. Answers at once with where to follow; streams with `Accept: text/event-stream`; with
    `wait=1` gives the finished answer."""
    asked = await services.ask(
        user,
        NotebookId(path_id(notebook_id)),
        data.question,
        source_ids=source_ids(data.source_ids),
        about=None if data.about is None else SourceId(path_id(data.about)),
        idempotency_key=idempotency_key,
    )
    runs.start(asked)
    answer_id = asked.answer.id
    if "text/event-stream" in request.headers.get("accept", ""):
        return sse.stream(_events(services, user, answer_id, after=0))
    if wait:
        async for _ in services.answers.events(answer_id, after=0):
            pass
        return Response(await _answer_out(services, user, answer_id), status_code=200)
    path = f"/api/v1/answers/{answer_id}"
    return Response(
        QuestionOut(answer_id, answer_id, f"{path}/events"), headers={"Location": path}
    )


@get("/answers/{answer_id:str}")
async def read(answer_id: str, services: Services, user: User) -> AnswerOut:
    """One answer with its citations and what was retrieved."""
    return await _answer_out(services, user, AnswerId(path_id(answer_id)))


@get("/answers/{answer_id:str}/events")
async def events(
    answer_id: str, services: Services, user: User, last_event_id: LastEventId = None
) -> Stream:
    """The answer as it is written, from the event after `Last-Event-ID`."""
    answer = await services.answers.get(user, AnswerId(path_id(answer_id)))
    after = sse.last_event_id(last_event_id)
    return sse.stream(_events(services, user, answer.id, after))


@post("/answers/{answer_id:str}/stop", status_code=202)
async def stop(answer_id: str, services: Services, user: User) -> AnswerOut:
    """End an answer that is being written; what it said is kept."""
    await services.answers.stop(user, AnswerId(path_id(answer_id)))
    return await _answer_out(services, user, AnswerId(path_id(answer_id)))


@get("/notebooks/{notebook_id:str}/messages")
async def history(
    notebook_id: str, services: Services, user: User, limit: Limit = 100, cursor: Cursor = None
) -> ListBody[AnswerOut]:
    """A notebook's questions with their answers, newest first."""
    page = await services.answers.page(
        user, NotebookId(path_id(notebook_id)), limit=limit, after=cursor_id(cursor)
    )
    items = [await _with_usage(services, answer) for answer in page.items]
    return list_body(Page(tuple(items), page.next_cursor))


@delete("/notebooks/{notebook_id:str}/messages")
async def clear(notebook_id: str, services: Services, user: User) -> None:
    """Forget a notebook's questions and answers."""
    await services.answers.clear(user, NotebookId(path_id(notebook_id)))


async def _answer_out(services: Services, user: User, answer_id: AnswerId) -> AnswerOut:
    return await _with_usage(services, await services.answers.get(user, answer_id))


async def _with_usage(services: Services, answer: Answer) -> AnswerOut:
    usage, cost = await services.answers.usage(answer.id)
    return AnswerOut.of(answer, usage, cost)


async def _events(
    services: Services, user: User, answer_id: AnswerId, after: int
) -> AsyncIterator[bytes]:
    async for event in services.answers.events(answer_id, after):
        if event is None:
            yield sse.PING
        else:
            yield sse.event(
                event.kind.value, await _data(services, user, answer_id, event), event.id
            )


async def _data(services: Services, user: User, answer_id: AnswerId, event: AnswerEvent) -> object:
    match event.kind:
        case EventKind.DELTA:
            return event.data
        case EventKind.CITATION:
            return CitationOut.of(msgspec.convert(event.data, Citation, strict=False))
        case EventKind.ERROR:
            return ProblemOut.of(Problem(event.data["code"], event.data["detail"]))
        case EventKind.DONE:
            return {"answer": await _answer_out(services, user, answer_id)}


router = Router(
    "/", route_handlers=[ask, read, events, stop, history, clear], tags=["questions"]
)
