"""Is it alive, can questions be asked, and what was it doing?"""

import msgspec
from litestar import Response, Router, get
from litestar.di import NamedDependency
from prometheus_client import CONTENT_TYPE_LATEST

from app.metrics import LedgerTotals, RequestMetrics, exposition
from app.requests import Wired
from domain.errors import Unavailable


class Health(msgspec.Struct):
    """How it is, and what an operator should know."""

    status: str
    notices: list[str]


@get("/health/live")
async def live() -> Health:
    """The process answers."""
    return Health("alive", [])


@get("/health/ready")
async def ready(services: Wired) -> Health:
    """Questions can be asked: 200, else 503."""
    if await services.is_ready():
        return Health("ready", list(services.notices))
    raise Unavailable("The database does not answer.")


@get("/metrics")
async def metrics(
    services: Wired,
    request_metrics: NamedDependency[RequestMetrics],
    ledger_totals: NamedDependency[LedgerTotals],
) -> Response[bytes]:
    """Requests and model calls, for Prometheus."""
    body = exposition(request_metrics, await ledger_totals.read(services.usage.totals))
    return Response(body, media_type=CONTENT_TYPE_LATEST)


router = Router("/", route_handlers=[live, ready, metrics], tags=["health"])
