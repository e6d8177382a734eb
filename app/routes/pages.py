"""What every page needs: static files; and the routers of the pages."""

from litestar import Response, Router, get

from app.rendering import STATIC, STATIC_TYPES
from app.requests import PathText
from app.routes import (
    account_pages,
    admin_pages,
    credential_pages,
    data_pages,
    library_pages,
    notebook_pages,
    provider_pages,
    question_pages,
    share_pages,
    source_pages,
    studio_pages,
    usage_pages,
    viewer_pages,
)
from domain.errors import NotFound


@get("/static/{digest:str}/{name:str}", include_in_schema=False)
async def static(digest: PathText, name: PathText) -> Response[bytes]:
    """A static file under the hash of its content: cached for ever."""
    content, expected = STATIC.get(name, (b"", ""))
    if digest != expected:
        raise NotFound
    return Response(
        content,
        media_type=STATIC_TYPES[name.rpartition(".")[2]],
        headers={
            "Cache-Control": "public, max-age=31536000, immutable",
            "X-Content-Type-Options": "nosniff",
        },
    )


router = Router(
    "/",
    route_handlers=[
        static,
        account_pages.router,
        notebook_pages.router,
        source_pages.router,
        studio_pages.router,
        library_pages.router,
        question_pages.router,
        share_pages.router,
        credential_pages.router,
        data_pages.router,
        usage_pages.router,
        viewer_pages.router,
        admin_pages.router,
        provider_pages.router,
    ],
    include_in_schema=False,
)
