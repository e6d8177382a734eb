"""Domain error -> status, then a problem object or a page."""

from http import HTTPStatus
from typing import Any

import msgspec
import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException

from app.rendering import error_page
from domain import errors

AnyRequest = Request[Any, Any, Any]
log = structlog.get_logger()

STATUS: dict[type[errors.BelegError], int] = {
    errors.NotFound: 404,
    errors.NotSignedIn: 401,
    errors.Forbidden: 403,
    errors.Conflict: 409,
    errors.Rejected: 400,
    errors.UnsupportedType: 415,
    errors.TooLarge: 413,
    errors.OutOfCredit: 402,
    errors.OverQuota: 429,
    errors.Unreadable: 422,
    errors.ModelError: 502,
    errors.ModelUnavailable: 503,
    errors.Unavailable: 503,
}
"""The most specific class of an error decides."""


class ProblemBody(msgspec.Struct):
    """An RFC 9457 problem object."""

    type: str
    title: str
    status: int
    detail: str
    code: str


def status_of(error: errors.BelegError) -> int:
    """The HTTP status of an error of ours."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def problem_body(code: str, detail: str, status: int) -> ProblemBody:
    """A problem object."""
    return ProblemBody("about:blank", HTTPStatus(status).phrase, status, detail, code)


def on_beleg_error(request: AnyRequest, error: errors.BelegError) -> Response[Any]:
    """An error that the domain expects."""
    return _respond(request, error.code, error.message, status_of(error))


def on_http_error(request: AnyRequest, error: HTTPException) -> Response[Any]:
    """An error of the framework: unknown path, wrong method, malformed body."""
    detail = error.detail
    if isinstance(error, ValidationException) and isinstance(error.extra, list):
        parts = [f"{e.get('key', 'body')}: {e.get('message', '')}" for e in error.extra]
        detail = "; ".join(parts) or detail
    code = _CODES.get(error.status_code, "invalid_request")
    return _respond(request, code, detail, error.status_code)


def on_unexpected(request: AnyRequest, error: Exception) -> Response[Any]:
    """A mistake of ours: logged whole, told in general."""
    log.error("unexpected_error", path=request.url.path, exc_info=error)
    detail = "Something went wrong here. It was logged; try again."
    return _respond(request, "internal_error", detail, 500)


_CODES = {401: "not_signed_in", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}


def _respond(request: AnyRequest, code: str, detail: str, status: int) -> Response[Any]:
    if not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", ""):
        return error_page(request, code, detail, status)
    body = msgspec.json.encode(problem_body(code, detail, status))
    headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else {}
    return Response(
        body, status_code=status, media_type="application/problem+json", headers=headers
    )
