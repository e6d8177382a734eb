"""Is it alive, and can questions be asked?"""

import msgspec
from litestar import Response, Router, get

from app.services import Services


class Health(msgspec.Struct):
    """How it is, and what an operator should know."""

    status: str
    notices: list[str]


@get("/live")
async def live() -> Health:
    """The process answers."""
    return Health("alive", [])


@get("/ready")
async def ready(services: Services) -> Response[Health]:
    """Questions can be asked: 200, else 503."""
    if await services.is_ready():
        return Response(Health("ready", list(services.notices)))
    return Response(Health("The database does not answer.", []), status_code=503)


router = Router("/health", route_handlers=[live, ready], tags=["health"])
