"""Take everything along, or leave: an archive of one's account, and its deletion, as JSON."""

from urllib.parse import quote

from litestar import Router, delete, get, post
from litestar.params import JSONBody
from litestar.response import Stream

from app.requests import (
    MAX_JSON_BYTES,
    Asking,
    Caller,
    Cursor,
    Limit,
    PathText,
    Wired,
    cursor_id,
    list_body,
    path_id,
)
from app.security import AnyRequest, peer_of
from app.services import Services
from app.structs.lists import ListBody
from app.structs.people import ExportOut, LeaveIn
from domain.account import User
from domain.ids import ExportId, UserId
from domain.stores import Page


@post("/me/export", status_code=202)
async def export(request: AnyRequest, services: Wired, user: Caller) -> ExportOut:
    """Have an archive of everything made; while one is being made, that one."""
    made = await services.export_account.request(user, peer=peer_of(request))
    return ExportOut.of(made)


@get("/me/exports")
async def exports(
    services: Wired, user: Caller, limit: Limit = 100, cursor: Cursor = None
) -> ListBody[ExportOut]:
    """Your archives, newest first; each is there for a week."""
    page = await services.export_account.of(user, limit=limit, after=cursor_id(cursor))
    return list_body(Page(tuple(map(ExportOut.of, page.items)), page.next_cursor))


@get("/me/exports/{export_id:str}")
async def one_export(export_id: PathText, services: Wired, user: Caller) -> ExportOut:
    """One of your archives."""
    return ExportOut.of(await services.export_account.get(user, ExportId(path_id(export_id))))


@get("/me/exports/{export_id:str}/archive")
async def archive(export_id: PathText, services: Wired, user: Caller) -> Stream:
    """The archive, as a zip file."""
    return await archive_stream(services, user, export_id)


async def archive_stream(services: Services, user: User, export_id: str) -> Stream:
    """An archive on its way to its owner."""
    made, content = await services.export_account.download(user, ExportId(path_id(export_id)))
    return Stream(
        content,
        media_type="application/zip",
        headers={
            "Content-Length": str(made.bytes),
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(made.file_name)}",
            "Cache-Control": "private, no-store",
            "X-Content-Type-Options": "nosniff",
        },
    )


@delete("/me", status_code=202)
async def leave(
    data: JSONBody[LeaveIn], request: AnyRequest, services: Wired, visitor: Asking
) -> None:
    """Delete your account with everything in it. It is shut at once; the rest takes a moment."""
    peer = peer_of(request)
    await services.accounts.confirm_leaving(visitor, data.password, peer=peer)
    await services.delete_account.request(visitor.user.id, by=visitor.user, peer=peer)


@delete("/admin/users/{user_id:str}", status_code=202, tags=["admin"])
async def delete_account(
    user_id: PathText, request: AnyRequest, services: Wired, user: Caller
) -> None:
    """Delete somebody's account with everything in it."""
    who = UserId(path_id(user_id))
    await services.administer.require_other(user, who)
    await services.delete_account.request(who, by=user, peer=peer_of(request))


router = Router(
    "/",
    route_handlers=[export, exports, one_export, archive, leave, delete_account],
    tags=["accounts"],
    request_max_body_size=MAX_JSON_BYTES,
)
