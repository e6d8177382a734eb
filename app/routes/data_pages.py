"""Preferences, the archive of one's account, and leaving, on the account's page."""

from typing import Any

from litestar import Response, Router, get, post
from litestar.response import Stream

from app.rendering import go_to
from app.requests import AnyRequest, Asking, Caller, PathText, Wired
from app.routes.account_data_api import archive_stream
from app.routes.credential_pages import account_page
from app.security import no_session_cookie, peer_of
from domain.errors import BelegError


@post("/account/preferences", status_code=200)
async def change_preferences(
    request: AnyRequest, services: Wired, visitor: Asking
) -> Response[Any]:
    """Remember the language of the pages and how PDF files are read."""
    form = await request.form()
    await services.accounts.set_preferences(
        visitor.user,
        pdf_capture=str(form.get("pdf_capture", "")) or None,
        language=str(form.get("language", "")),
    )
    return go_to(request, "/account")


@post("/account/export", status_code=200)
async def export(request: AnyRequest, services: Wired, user: Caller) -> Response[Any]:
    """Have an archive of everything made."""
    await services.export_account.request(user, peer=peer_of(request))
    return go_to(request, "/account#data")


@get("/account/exports/{export_id:str}")
async def archive(export_id: PathText, services: Wired, user: Caller) -> Stream:
    """The archive, as a zip file."""
    return await archive_stream(services, user, export_id)


@post("/account/delete", status_code=200)
async def leave(request: AnyRequest, services: Wired, visitor: Asking) -> Response[Any]:
    """Delete the account with everything in it."""
    form, peer = await request.form(), peer_of(request)
    try:
        said = str(form.get("password", ""))
        await services.accounts.confirm_leaving(visitor, said, peer=peer)
        await services.delete_account.request(visitor.user.id, by=visitor.user, peer=peer)
    except BelegError as error:
        told: Response[Any] = await account_page(request, services, visitor, error=error)
        return told
    response = go_to(request, "/sign-in")
    response.set_cookie(no_session_cookie(request))
    return response


router = Router("/", route_handlers=[change_preferences, export, archive, leave])
