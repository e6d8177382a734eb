"""Queues, failed jobs, providers, open calls, limits and settings for the admin, as JSON."""

from litestar import Router, get, patch, post
from litestar.params import JSONBody

from app.requests import (
    MAX_JSON_BYTES,
    Caller,
    Cursor,
    Limit,
    PathText,
    Wired,
    cursor_id,
    list_body,
    path_id,
)
from app.settings_shown import settings_shown
from app.structs.lists import ListBody
from app.structs.operations import (
    FailedJobOut,
    HealthOut,
    LimitsIn,
    ModelHealthOut,
    OpenCallOut,
    OwnedSourceOut,
    QueueOut,
    QueuesOut,
    SettingOut,
    SettingsOut,
    SettleIn,
)
from app.structs.people import AccountRow
from domain.ids import CallId, UserId
from domain.stores import Page


@get("/sources")
async def sources(
    services: Wired, limit: Limit = 100, cursor: Cursor = None
) -> ListBody[OwnedSourceOut]:
    """Everybody's sources with their summaries, newest first."""
    page = await services.operate.sources(limit=limit, after=cursor_id(cursor))
    return list_body(Page(tuple(map(OwnedSourceOut.owned, page.items)), page.next_cursor))


@get("/queues")
async def queues(services: Wired) -> QueuesOut:
    """How much waits in each queue, and for how long."""
    return QueuesOut([QueueOut.of(state) for state in await services.operate.queues()])


@get("/failed-jobs")
async def failed_jobs(
    services: Wired, limit: Limit = 100, cursor: Cursor = None
) -> ListBody[FailedJobOut]:
    """Work that failed, with its reason, newest first."""
    page = await services.operate.failed(limit=limit, after=cursor_id(cursor))
    return list_body(Page(tuple(map(FailedJobOut.of, page.items)), page.next_cursor))


@post("/failed-jobs/{job_id:str}/retry", status_code=202)
async def retry(job_id: PathText, services: Wired, user: Caller) -> None:
    """Try failed work again; what was paid for is not paid for again."""
    await services.operate.retry(user, path_id(job_id))


@get("/health")
async def health(services: Wired) -> HealthOut:
    """How each model served its last calls of a day: success, latency, last error."""
    return HealthOut([ModelHealthOut.of(one) for one in await services.operate.health()])


@get("/calls")
async def open_calls(
    services: Wired, limit: Limit = 100, cursor: Cursor = None
) -> ListBody[OpenCallOut]:
    """Calls that were in flight when their process died, newest first."""
    page = await services.operate.open_calls(limit=limit, after=cursor_id(cursor))
    return list_body(Page(tuple(map(OpenCallOut.opened, page.items)), page.next_cursor))


@post("/calls/{call_id:str}/settle", status_code=204)
async def settle(
    call_id: PathText, data: JSONBody[SettleIn], services: Wired, user: Caller
) -> None:
    """Say how such a call ended; what was charged too much is credited."""
    await services.operate.settle(user, CallId(path_id(call_id)), data.usage)


@patch("/users/{user_id:str}/limits")
async def set_limits(
    user_id: PathText, data: JSONBody[LimitsIn], services: Wired, user: Caller
) -> AccountRow:
    """Set limits for one person in place of the settings."""
    changed = await services.operate.set_limits(user, UserId(path_id(user_id)), data.amounts)
    return AccountRow.of(changed)


@get("/settings")
async def settings(services: Wired) -> SettingsOut:
    """The settings in force; secrets only say whether they are set."""
    return SettingsOut([SettingOut(*row) for row in settings_shown(services.settings)])


router = Router(
    "/admin",
    route_handlers=[
        *(sources, queues, failed_jobs, retry, health),
        *(open_calls, settle, set_limits, settings),
    ],
    tags=["admin"],
    request_max_body_size=MAX_JSON_BYTES,
)
