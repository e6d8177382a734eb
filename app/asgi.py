"""The Litestar app: routes, handlers of errors, lifespan."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from litestar import Litestar, Router
from litestar.datastructures import State
from litestar.di import Provide
from litestar.exceptions import HTTPException

from app import openapi
from app.bootstrap import services
from app.errors import on_beleg_error, on_deep_nesting, on_http_error, on_unexpected
from app.guard import guard, provide_user, provide_visitor
from app.head_requests import with_head
from app.log import set_up_logs
from app.metrics import LedgerTotals, RequestMetrics
from app.periodic import reaping
from app.request_id import RequestId
from app.requests import FORM_BYTES, require_json
from app.routes import (
    account_data_api,
    accounts_api,
    admin_api,
    credentials_api,
    documents_api,
    health,
    notebooks_api,
    operations_api,
    pages,
    questions_api,
    shares_api,
    source_pages,
    sources_api,
    voices_api,
)
from app.runs import Runs
from app.services import Services
from app.settings import Settings, read_settings
from domain.errors import BelegError

log = structlog.get_logger()


def create_app(settings: Settings | None = None) -> Litestar:
    """The app; its database and models open when it starts."""
    settings = settings or read_settings()
    set_up_logs()
    # Files are kept on disk as they come; other bodies are held in memory.
    most_uploaded = max(settings.max_file_bytes, settings.max_audio_bytes) + FORM_BYTES
    api = Router(
        "/api/v1",
        route_handlers=[
            accounts_api.router,
            notebooks_api.router,
            sources_api.router,
            Router(
                "/",
                route_handlers=[sources_api.add],
                tags=["sources"],
                request_max_body_size=most_uploaded,
            ),
            questions_api.router,
            documents_api.router,
            shares_api.router,
            voices_api.router,
            credentials_api.router,
            account_data_api.router,
            admin_api.router,
            operations_api.router,
        ],
        before_request=require_json,
    )
    page_uploads = Router(
        "/",
        route_handlers=[source_pages.add],
        include_in_schema=False,
        request_max_body_size=most_uploaded,
    )
    request_metrics, ledger_totals = RequestMetrics(), LedgerTotals()

    @asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncIterator[None]:
        async with services(settings) as wired, reaping(wired):
            for notice in wired.notices:
                log.warning("notice", text=notice)
            if settings.beleg_local:
                # Made before anybody can sign up, so that the person at the machine is the admin.
                await wired.accounts.local_user()
            app.state.services = wired
            app.state.runs = Runs(wired)
            try:
                yield
            finally:
                await app.state.runs.close()

    app = Litestar(
        route_handlers=[health.router, api, openapi.document, pages.router, page_uploads],
        guards=[guard],
        lifespan=[lifespan],
        dependencies={
            "services": Provide(_services, sync_to_thread=False),
            "runs": Provide(_runs, sync_to_thread=False),
            "user": Provide(provide_user),
            "visitor": Provide(provide_visitor),
            "request_metrics": Provide(lambda: request_metrics, sync_to_thread=False),
            "ledger_totals": Provide(lambda: ledger_totals, sync_to_thread=False),
        },
        exception_handlers={
            BelegError: on_beleg_error,
            HTTPException: on_http_error,
            RecursionError: on_deep_nesting,
            Exception: on_unexpected,
        },
        openapi_config=openapi.CONFIG,
        middleware=[RequestId(), request_metrics],
        request_max_body_size=settings.max_file_bytes + FORM_BYTES,
        logging_config=None,
        debug=False,
    )
    app.asgi_handler = with_head(app.asgi_handler)
    return app


def _services(state: State) -> Services:
    wired: Services = state.services
    return wired


def _runs(state: State) -> Runs:
    runs: Runs = state.runs
    return runs
