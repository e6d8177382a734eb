"""Domain error -> status, then a problem object or a page."""

import math
from datetime import UTC, datetime, time, timedelta
from http import HTTPStatus
from typing import Any

import msgspec
import structlog
from litestar import Request, Response
from litestar.enums import ParamType
from litestar.exceptions import HTTPException, ValidationException

from app.rendering import error_page
from domain import errors

AnyRequest = Request[Any, Any, Any]
log = structlog.get_logger()

STATUS: dict[type[errors.BelegError], int] = {
    errors.NotFound: 404,
    errors.Expired: 410,
    errors.NotSignedIn: 401,
    errors.Forbidden: 403,
    errors.WrongPassword: 403,
    errors.Conflict: 409,
    errors.Rejected: 400,
    errors.UnsupportedType: 415,
    errors.AddressRefused: 400,
    errors.TooLarge: 413,
    errors.OutOfCredit: 402,
    errors.OverQuota: 429,
    errors.TooManyAttempts: 429,
    errors.Unreachable: 502,
    errors.Unreadable: 422,
    errors.PasswordNeeded: 422,
    errors.NotSetUp: 422,
    errors.ModelError: 502,
    errors.ModelUnavailable: 503,
    errors.ModelRefused: 502,
    errors.AnswerTooLong: 502,
    errors.ModelCut: 502,
    errors.ModelAnswerInvalid: 502,
    errors.Unavailable: 503,
}
"""The most specific class of an error decides."""

_STATUS_OF_CODE = {kind.code: status for kind, status in STATUS.items()}
_CODE_OF_STATUS = {
    400: "invalid_request",
    401: "not_signed_in",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_type",
}
_DETAIL_OF_STATUS = {
    404: "There is nothing here under that address.",
    405: "This address does not take that method.",
    413: "The request is larger than this address takes.",
}
_RETRY_AFTER_S = 5
_HUNG_UP = "client disconnected prematurely"
"""What the framework says, with status 500, of an upload that breaks off."""


class ProblemBody(msgspec.Struct):
    """An RFC 9457 problem object; `code` is stable."""

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


def stored_problem(problem: errors.Problem) -> ProblemBody:
    """A problem object for what failed earlier, with the status it would have had."""
    return problem_body(problem.code, problem.detail, _STATUS_OF_CODE.get(problem.code, 500))


def on_beleg_error(request: AnyRequest, error: errors.BelegError) -> Response[Any]:
    """An error that the domain expects."""
    status = status_of(error)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.warning("unavailable", path=request.url.path, code=error.code, reason=error.message)
    return _respond(request, error.code, error.message, status, headers_of(error))


def on_http_error(request: AnyRequest, error: HTTPException) -> Response[Any]:
    """An error of the framework: unknown path, wrong method, malformed body."""
    status = error.status_code
    if error.detail == _HUNG_UP:
        log.info("hung_up", path=request.url.path)
        return _respond(request, "invalid_request", "The request breaks off.", 400, {})
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return on_unexpected(request, error)
    detail = _DETAIL_OF_STATUS.get(status) or error.detail
    if isinstance(error, ValidationException) and isinstance(error.extra, list):
        detail = "; ".join(_invalid(part) for part in error.extra) or detail
    code = _CODE_OF_STATUS.get(status, "invalid_request")
    return _respond(request, code, detail, status, error.headers or {})


def on_deep_nesting(request: AnyRequest, error: RecursionError) -> Response[Any]:
    """Nothing of ours recurses as deep as a hostile JSON body does."""
    log.warning("nested_too_deeply", path=request.url.path, reason=str(error))
    return _respond(request, "invalid_request", "The body is nested too deeply.", 400, {})


def on_unexpected(request: AnyRequest, error: Exception) -> Response[Any]:
    """A mistake of ours: logged whole, told in general."""
    log.error("unexpected_error", path=request.url.path, exc_info=error)
    detail = "Something went wrong here. It was logged; try again."
    return _respond(request, "internal_error", detail, 500, {})


def _invalid(part: dict[str, Any]) -> str:
    """What is wrong with a parameter or a field, as a clause."""
    key = part.get("key", "data")
    name = "body" if key == "data" else key
    if part.get("source") == ParamType.HEADER:
        name = name.replace("_", "-").title()  # as it is sent
    message = str(part.get("message", "")).strip("'")
    return f"{name} is missing" if message == key else f"{name}: {message}"


def headers_of(error: errors.BelegError) -> dict[str, str]:
    """What its status asks for: how to sign in, or when to come back."""
    status = status_of(error)
    if status == HTTPStatus.UNAUTHORIZED:
        return {"WWW-Authenticate": "Bearer"}
    asked = getattr(error, "retry_after_s", None)
    if asked or status == HTTPStatus.SERVICE_UNAVAILABLE:
        return {"Retry-After": str(math.ceil(asked or _RETRY_AFTER_S))}
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        now = datetime.now(UTC)  # noqa: TID251 - a header of this response, not a rule
        midnight = datetime.combine(now.date() + timedelta(days=1), time(), UTC)
        return {"Retry-After": str(math.ceil((midnight - now).total_seconds()))}
    return {}


def _respond(
    request: AnyRequest, code: str, detail: str, status: int, headers: dict[str, str]
) -> Response[Any]:
    if not request.url.path.startswith("/api/") and "text/html" in request.headers.get(
        "accept", ""
    ):
        return error_page(request, code, detail, status)
    body = msgspec.json.encode(problem_body(code, detail, status))
    return Response(
        body, status_code=status, media_type="application/problem+json", headers=headers
    )
