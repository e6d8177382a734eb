"""The admin's pages: accounts, sources, jobs, providers, open calls, settings."""

from decimal import Decimal, InvalidOperation
from typing import Any

from litestar import Response, Router, get, post
from litestar.params import FromQuery

from app.errors import status_of
from app.operations_contexts import (
    AdminCallsPage,
    AdminHealthPage,
    AdminJobsPage,
    AdminSettingsPage,
    AdminSourcesPage,
    AdminUsersPage,
)
from app.rendering import frame, go_to, page
from app.requests import AnyRequest, Caller, PathText, Wired, cursor_id, path_id
from app.security import own_url, peer_of
from app.services import Services
from app.settings_shown import settings_shown
from domain.account import User, one_line
from domain.errors import BelegError, Rejected
from domain.ids import CallId, UserId
from domain.limits import LimitName
from domain.sign_up import SignUp
from domain.usage import TokenUsage

_ROWS = 50
_LONGEST_REASON = 200
Cursor = FromQuery[str | None]


@get("/admin/users")
async def users(
    request: AnyRequest, services: Wired, user: Caller, cursor: Cursor = None
) -> Response[str]:
    """Every account, oldest first."""
    return await _users(request, services, user, cursor=cursor)


@post("/admin/users/{user_id:str}/grants", status_code=200)
async def grant(
    user_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Give an account credit."""
    form, who = await request.form(), UserId(path_id(user_id))
    try:
        amount = _amount(str(form.get("amount", "")))
        reason = one_line(str(form.get("reason", "")), _LONGEST_REASON) or "admin"
        await services.administer.grant(user, who, amount, reason)
    except BelegError as error:
        return await _users(request, services, user, error=error)
    return go_to(request, "/admin/users")


@post("/admin/users/{user_id:str}/limits", status_code=200)
async def set_limits(
    user_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Set limits of one person; an empty field takes one back."""
    form, who = await request.form(), UserId(path_id(user_id))
    try:
        amounts = {name: _number(str(form.get(name.value, ""))) for name in LimitName}
        await services.operate.set_limits(user, who, amounts)
    except BelegError as error:
        return await _users(request, services, user, error=error)
    return go_to(request, "/admin/users")


@post("/admin/users/{user_id:str}/change", status_code=200)
async def change(
    user_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Make somebody an admin or not; shut their account, or open it again."""
    form, who = await request.form(), UserId(path_id(user_id))
    wanted = {name: {"on": True, "off": False}.get(str(form.get(name, ""))) for name in _SWITCHES}
    try:
        await services.administer.change(user, who, **wanted)
    except BelegError as error:
        return await _users(request, services, user, error=error)
    return go_to(request, "/admin/users")


@post("/admin/users/{user_id:str}/password-reset", status_code=200)
async def reset_link(
    user_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[str]:
    """A link with which somebody sets a new password, shown this once."""
    secret = await services.change_password.make_link(user, UserId(path_id(user_id)))
    return await _users(request, services, user, link=own_url(request, f"/reset/{secret}"))


@post("/admin/users/{user_id:str}/delete", status_code=200)
async def delete(
    user_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Delete somebody's account with everything in it."""
    who = UserId(path_id(user_id))
    try:
        await services.administer.require_other(user, who)
        await services.delete_account.request(who, by=user, peer=peer_of(request))
    except BelegError as error:
        return await _users(request, services, user, error=error)
    return go_to(request, "/admin/users")


@post("/admin/invitations", status_code=200)
async def invite(request: AnyRequest, services: Wired, user: Caller) -> Response[str]:
    """A link with which one person makes an account, shown this once."""
    _, secret = await services.administer.invite(user)
    link = own_url(request, f"/sign-up?invitation={secret}")
    return await _users(request, services, user, link=link)


@get("/admin/sources")
async def sources(
    request: AnyRequest, services: Wired, user: Caller, cursor: Cursor = None
) -> Response[str]:
    """Everybody's sources with their summaries, newest first."""
    found = await services.operate.sources(limit=_ROWS, after=cursor_id(cursor))
    return page(request, AdminSourcesPage(frame(request, user), found.items, found.next_cursor))


@get("/admin/jobs")
async def jobs(
    request: AnyRequest, services: Wired, user: Caller, cursor: Cursor = None
) -> Response[str]:
    """Queues, and work that failed."""
    queues = await services.operate.queues()
    failed = await services.operate.failed(limit=_ROWS, after=cursor_id(cursor))
    around = frame(request, user)
    return page(request, AdminJobsPage(around, queues, failed.items, failed.next_cursor))


@post("/admin/jobs/{job_id:str}/retry", status_code=200)
async def retry(
    job_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Try failed work again."""
    await services.operate.retry(user, path_id(job_id))
    return go_to(request, "/admin/jobs")


@get("/admin/health")
async def health(request: AnyRequest, services: Wired, user: Caller) -> Response[str]:
    """How the models served their last calls."""
    return page(request, AdminHealthPage(frame(request, user), await services.operate.health()))


@get("/admin/calls")
async def open_calls(
    request: AnyRequest, services: Wired, user: Caller, cursor: Cursor = None
) -> Response[str]:
    """Calls of unknown end."""
    return await _calls(request, services, user, cursor=cursor)


@post("/admin/calls/{call_id:str}/settle", status_code=200)
async def settle(
    call_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> Response[Any]:
    """Say how a call ended."""
    form = await request.form()
    try:
        used = None
        if form.get("served") == "yes":
            given = [_number(str(form.get(name, ""))) or 0 for name in _USED]
            used = TokenUsage(*(given[0], given[1]), seconds=Decimal(given[2]), characters=given[3])
        await services.operate.settle(user, CallId(path_id(call_id)), used)
    except BelegError as error:
        return await _calls(request, services, user, error=error)
    return go_to(request, "/admin/calls")


@get("/admin/settings")
async def settings(request: AnyRequest, services: Wired, user: Caller) -> Response[str]:
    """The settings in force, without secrets."""
    context = AdminSettingsPage(frame(request, user), settings_shown(services.settings))
    return page(request, context)


_SWITCHES = ("is_admin", "is_disabled")
_USED = ("input_tokens", "output_tokens", "seconds", "characters")


async def _users(
    request: AnyRequest,
    services: Services,
    user: User,
    *,
    cursor: str | None = None,
    link: str = "",
    error: BelegError | None = None,
) -> Response[str]:
    found = await services.administer.accounts(limit=_ROWS, after=cursor_id(cursor))
    around = frame(request, user)
    limits = [(name, int(getattr(services.settings, name.value))) for name in LimitName]
    problem = around.words.problem(error.problem) if error else ""
    can_invite = services.settings.sign_up is not SignUp.CLOSED
    context = AdminUsersPage(
        *(around, found.items, limits, found.next_cursor, link, problem), can_invite=can_invite
    )
    return page(request, context, status_of(error) if error else 200)


async def _calls(
    request: AnyRequest,
    services: Services,
    user: User,
    *,
    cursor: str | None = None,
    error: BelegError | None = None,
) -> Response[str]:
    found = await services.operate.open_calls(limit=_ROWS, after=cursor_id(cursor))
    around = frame(request, user)
    problem = around.words.problem(error.problem) if error else ""
    context = AdminCallsPage(around, found.items, found.next_cursor, problem)
    return page(request, context, status_of(error) if error else 200)


def _amount(text: str) -> Decimal:
    try:
        return Decimal(text.strip().replace(",", "."))
    except InvalidOperation:
        raise Rejected("The amount is a number of USD.") from None


def _number(text: str) -> int | None:
    """A whole number; None for an empty field."""
    plain = text.strip()
    if not plain:
        return None
    if not plain.isascii() or not plain.isdigit() or len(plain) > len("1000000000000"):
        raise Rejected(f"{plain[:20]} is no whole number.")
    return int(plain)


router = Router(
    "/",
    route_handlers=[
        *(users, grant, set_limits, change, reset_link, delete, invite),
        *(sources, jobs, retry, health, open_calls, settle, settings),
    ],
)
