"""The guard of every request: who is asking, and does the table let them?"""

from typing import Any

from litestar import Request
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from app.page_session import check_form, page_visitor
from app.permissions import LEAST_ROLE, RULES, Rule, Who
from app.rendering import VISITOR
from app.security import api_visitor, check_header
from domain.access import Thing, Visitor
from domain.account import User
from domain.errors import Forbidden, NotFound
from domain.ids import parse_id

_THINGS = {
    "notebook_id": "notebook",
    "source_id": "source",
    "answer_id": "answer",
    "document_id": "document",
}
"""Parameters of paths that name what somebody has a role on; the first one decides."""


async def guard(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Let pass whom the table names for this address.

    Raises:
        NotSignedIn: the address wants to know who is asking.
        NotFound: what the path names is not there for them.
        Forbidden: it is, but not for this; or the CSRF token is missing; or no rule is written.
    """
    method, path = str(connection.scope.get("method")), connection.scope["path_template"]
    rule = RULES.get((method, path))
    if method == "OPTIONS" or (rule and rule.who is Who.ANYONE):
        return
    if rule is None:
        raise Forbidden(f"{method} {path} has no rule in app/permissions.py.")
    assert isinstance(connection, Request)  # noqa: S101 - there are no websockets
    is_api = path.startswith("/api/")
    identify = api_visitor if is_api else page_visitor
    visitor = await identify(connection, _thing(connection, rule))
    connection.state[VISITOR] = visitor
    _check(rule, visitor)
    await (check_header if is_api else check_form)(connection)


def _thing(request: Request[Any, Any, Any], rule: Rule) -> Thing | None:
    """What the path names; None where that is nothing, or the rule does not ask."""
    if rule.who not in LEAST_ROLE:
        return None
    for name, text in request.path_params.items():
        found = parse_id(str(text)) if name in _THINGS else None
        if name in _THINGS:
            return Thing(_THINGS[name], found) if found else None
    return None


def _check(rule: Rule, visitor: Visitor) -> None:
    least = LEAST_ROLE.get(rule.who)
    if least and visitor.role is None:
        raise NotFound
    if rule.scope and not visitor.allows(rule.scope):
        raise Forbidden(f"This token may not do that: it needs the scope {rule.scope}.")
    if least and visitor.role:
        visitor.role.require(least)
    if rule.who is Who.ADMIN and not visitor.user.is_admin:
        raise Forbidden("Only the admin may do this.")


async def provide_visitor(request: Request[Any, Any, Any]) -> Visitor:
    """The caller, whom the guard let pass."""
    visitor: Visitor = request.state[VISITOR]
    return visitor


async def provide_user(request: Request[Any, Any, Any]) -> User:
    """The caller's account."""
    return (await provide_visitor(request)).user
