"""Accounts, tokens, the signed-in account and its usage, as JSON."""

from dataclasses import replace
from datetime import UTC, datetime, time
from typing import Annotated

from litestar import Router, delete, get, patch, post
from litestar.params import FromQuery, JSONBody, QueryParameter

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
    period,
)
from app.security import AnyRequest, api_visitor, check_header, peer_of
from app.services import Services
from app.structs.accounts import (
    AccountOut,
    MeIn,
    MeOut,
    Preferences,
    SignUpIn,
    TokenIn,
    TokenOut,
    TokenRow,
    UsageGroupsOut,
    UsageRowOut,
    UsageTotal,
    UserOut,
    money,
    usage_group,
)
from app.structs.lists import ListBody
from domain.access import EVERY_SCOPE, token_scopes
from domain.account import User
from domain.ids import TokenId
from domain.stores import Page


@post("/accounts")
async def sign_up(data: JSONBody[SignUpIn], request: AnyRequest, services: Wired) -> AccountOut:
    """A new account, and a token to go on with."""
    user = await services.accounts.sign_up(
        data.email, data.password, peer=peer_of(request), invitation=data.invitation or ""
    )
    _, secret = await services.accounts.add_token(user, "first")
    return AccountOut(UserOut.of(user), secret)


@post("/tokens")
async def add_token(data: JSONBody[TokenIn], request: AnyRequest, services: Wired) -> TokenOut:
    """A new token, for an address with its password or for whoever is signed in."""
    scopes = None if data.scopes is None else token_scopes(data.scopes)
    if data.email is not None:
        user = await services.accounts.sign_in(
            data.email, data.password or "", peer=peer_of(request)
        )
        allowed, until = scopes or EVERY_SCOPE, data.expires_at
    else:
        visitor = await api_visitor(request)
        await check_header(request)
        user = visitor.user
        allowed, until = visitor.bounded(scopes, data.expires_at)
    token, secret = await services.accounts.add_token(user, data.name, allowed, until)
    return TokenOut(secret, token.id)


@get("/tokens")
async def list_tokens(
    services: Wired, user: Caller, limit: Limit = 100, cursor: Cursor = None
) -> ListBody[TokenRow]:
    """Your tokens, without their secrets."""
    page = await services.credentials.tokens(user, limit=limit, after=cursor_id(cursor))
    return list_body(Page(tuple(map(TokenRow.of, page.items)), page.next_cursor))


@get("/tokens/{token_id:str}")
async def read_token(token_id: PathText, services: Wired, user: Caller) -> TokenRow:
    """One of your tokens, without its secret."""
    return TokenRow.of(await services.credentials.token(user, TokenId(path_id(token_id))))


@delete("/tokens/{token_id:str}")
async def end_token(token_id: PathText, services: Wired, user: Caller) -> None:
    """Revoke a token."""
    await services.credentials.end_token(user, TokenId(path_id(token_id)))


@get("/me")
async def me(services: Wired, user: Caller) -> MeOut:
    """Who you are, what you chose, what you may spend and what you used today."""
    return await _me(services, user)


@patch("/me")
async def change_me(data: JSONBody[MeIn], services: Wired, user: Caller) -> MeOut:
    """Change your preferences."""
    wanted = data.preferences or data
    await services.accounts.set_preferences(
        user, pdf_capture=wanted.pdf_capture, language=wanted.language
    )
    changed = replace(
        user,
        pdf_capture=wanted.pdf_capture or user.pdf_capture,
        language=user.language if wanted.language is None else wanted.language,
    )
    return await _me(services, changed)


async def _me(services: Services, user: User) -> MeOut:
    now = datetime.now(UTC)  # noqa: TID251 - the day that a reader sees, not a rule of the domain
    midnight = datetime.combine(now.date(), time(), UTC)
    today = await services.usage.grouped(user, midnight, now, ["day"])
    return MeOut(
        id=user.id,
        email=user.email,
        is_admin=user.is_admin,
        created_at=user.created_at,
        preferences=Preferences(user.pdf_capture, user.language),
        credit=money(user.credit),
        usage_today=UsageTotal(
            sum(g.calls for g in today),
            sum(g.input_tokens for g in today),
            sum(g.output_tokens for g in today),
            money(sum((g.cost for g in today), start=user.credit * 0)),
        ),
    )


@get("/usage")
async def usage(
    services: Wired,
    user: Caller,
    start: Annotated[str | None, QueryParameter(name="from")] = None,
    end: Annotated[str | None, QueryParameter(name="to")] = None,
    group_by: FromQuery[str] = "day",
    rows: FromQuery[bool] = False,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> UsageGroupsOut | ListBody[UsageRowOut]:
    """What your model calls used and cost: sums, or with `rows=1` the calls themselves."""
    when = period(start, end, datetime.now(UTC))  # noqa: TID251 - a default of the request
    if rows:
        page = await services.usage.rows(
            user, when.start, when.end, limit=limit, after=cursor_id(cursor)
        )
        return list_body(Page(tuple(map(UsageRowOut.of, page.items)), page.next_cursor))
    groups = await services.usage.grouped(
        user, when.start, when.end, [part.strip() for part in group_by.split(",")]
    )
    return UsageGroupsOut([usage_group(group) for group in groups])


router = Router(
    "/",
    route_handlers=[
        *(sign_up, add_token, list_tokens, read_token, end_token),
        *(me, change_me, usage),
    ],
    tags=["accounts"],
    request_max_body_size=MAX_JSON_BYTES,
)
