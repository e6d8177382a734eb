"""What the admin does, as JSON."""

from datetime import UTC, datetime
from decimal import Decimal

from litestar import Router, delete, get, patch, post
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
from app.security import AnyRequest, own_url
from app.structs.accounts import money
from app.structs.lists import ListBody
from app.structs.people import (
    AccountChange,
    AccountRow,
    AuditRow,
    CreditOut,
    GrantIn,
    InvitationIn,
    InvitationOut,
    LinkOut,
    NewInvitation,
)
from domain.account import one_line
from domain.ids import InvitationId, UserId
from domain.stores import Page
from domain.usecases.change_password import LINK_LIFETIME

_LONGEST_REASON = 200


@get("/users")
async def accounts(
    services: Wired, limit: Limit = 100, cursor: Cursor = None
) -> ListBody[AccountRow]:
    """Every account, oldest first."""
    page = await services.administer.accounts(limit=limit, after=cursor_id(cursor))
    return list_body(Page(tuple(map(AccountRow.of, page.items)), page.next_cursor))


@patch("/users/{user_id:str}")
async def change(
    user_id: PathText, data: JSONBody[AccountChange], services: Wired, user: Caller
) -> AccountRow:
    """Make somebody an admin or not; shut their account, or open it again."""
    changed = await services.administer.change(
        user,
        UserId(path_id(user_id)),
        is_admin=data.is_admin,
        is_disabled=data.is_disabled,
    )
    return AccountRow.of(changed)


@post("/users/{user_id:str}/grants")
async def grant(
    user_id: PathText, data: JSONBody[GrantIn], services: Wired, user: Caller
) -> CreditOut:
    """Give an account credit: what it may spend then."""
    reason = one_line(data.reason, _LONGEST_REASON)
    where = UserId(path_id(user_id))
    credit = await services.administer.grant(user, where, Decimal(data.amount), reason)
    return CreditOut(money(credit))


@post("/users/{user_id:str}/password-reset")
async def reset_link(
    user_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> LinkOut:
    """A link with which somebody sets a new password, once; earlier ones end."""
    secret = await services.change_password.make_link(user, UserId(path_id(user_id)))
    ends = datetime.now(UTC) + LINK_LIFETIME  # noqa: TID251 - told, not decided, here
    return LinkOut(secret, own_url(request, f"/reset/{secret}"), ends)


@post("/invitations")
async def invite(
    data: JSONBody[InvitationIn], request: AnyRequest, services: Wired, user: Caller
) -> NewInvitation:
    """A link with which one person makes an account."""
    made, secret = await services.administer.invite(user, days=data.days)
    url = own_url(request, f"/sign-up?invitation={secret}")
    return NewInvitation(token=secret, url=url, expires_at=made.expires_at, id=made.id)


@get("/invitations")
async def invitations(
    services: Wired, limit: Limit = 100, cursor: Cursor = None
) -> ListBody[InvitationOut]:
    """Every invitation, oldest first, without its secret."""
    page = await services.administer.invitations(limit=limit, after=cursor_id(cursor))
    return list_body(Page(tuple(map(InvitationOut.of, page.items)), page.next_cursor))


@delete("/invitations/{invitation_id:str}")
async def end_invitation(invitation_id: PathText, services: Wired, user: Caller) -> None:
    """Revoke an invitation that nobody used."""
    await services.administer.end_invitation(user, InvitationId(path_id(invitation_id)))


@get("/audit")
async def audit(services: Wired, limit: Limit = 100, cursor: Cursor = None) -> ListBody[AuditRow]:
    """Acts that matter to security, newest first."""
    page = await services.audit(limit=limit, after=cursor_id(cursor))
    return list_body(Page(tuple(map(AuditRow.of, page.items)), page.next_cursor))


router = Router(
    "/admin",
    route_handlers=[
        *(accounts, change, grant, reset_link),
        *(invite, invitations, end_invitation, audit),
    ],
    tags=["admin"],
    request_max_body_size=MAX_JSON_BYTES,
)
