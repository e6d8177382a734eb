"""Who may use which address: the table that the guard of every request reads."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from domain.access import Role, TokenScope


class Who(StrEnum):
    """Who an address is for."""

    ANYONE = "anyone"
    """Nobody is asked who they are."""
    ACCOUNT = "account"
    """Whoever is signed in; what they see is their own."""
    READER = "reader"
    """Whoever may read what the path names: its owner, or who it is shared with."""
    ASKER = "asker"
    """Likewise, to ask."""
    OWNER = "owner"
    """The owner of what the path names."""
    ADMIN = "admin"


LEAST_ROLE = {Who.READER: Role.READ, Who.ASKER: Role.ASK, Who.OWNER: Role.OWNER}
"""What somebody must be to the thing that the path names first."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Who may use an address, and the scope that a token needs for it."""

    who: Who
    scope: TokenScope | None


# who, a token's scope, method, path. Pages know no tokens: a session may do all its person may.
_TABLE = """
anyone  -     GET    /health/live
anyone  -     GET    /health/ready
anyone  -     GET    /metrics
anyone  -     GET    /api/v1/openapi.json
anyone  -     GET    /api/v1/docs
anyone  -     GET    /api/v1/docs/openapi.json
anyone  -     GET    /api/v1/docs/{path}

anyone  -     POST   /api/v1/accounts
anyone  -     POST   /api/v1/tokens
account read  GET    /api/v1/tokens
account read  GET    /api/v1/tokens/{token_id}
account write DELETE /api/v1/tokens/{token_id}
account read  GET    /api/v1/me
account write PATCH  /api/v1/me
account read  GET    /api/v1/usage
account write POST   /api/v1/me/password
anyone  -     POST   /api/v1/password-resets
account read  GET    /api/v1/me/sessions
account write DELETE /api/v1/me/sessions
account write DELETE /api/v1/me/sessions/{session_id}
account write POST   /api/v1/me/export
account read  GET    /api/v1/me/exports
account read  GET    /api/v1/me/exports/{export_id}
account read  GET    /api/v1/me/exports/{export_id}/archive
account write DELETE /api/v1/me

account write POST   /api/v1/notebooks
account read  GET    /api/v1/notebooks
reader  read  GET    /api/v1/notebooks/{notebook_id}
owner   write PATCH  /api/v1/notebooks/{notebook_id}
owner   write DELETE /api/v1/notebooks/{notebook_id}
asker   ask   POST   /api/v1/notebooks/{notebook_id}/search
owner   write POST   /api/v1/notebooks/{notebook_id}/shares
owner   read  GET    /api/v1/notebooks/{notebook_id}/shares
reader  write DELETE /api/v1/notebooks/{notebook_id}/shares/{user_id}

owner   write POST   /api/v1/notebooks/{notebook_id}/sources
reader  read  GET    /api/v1/notebooks/{notebook_id}/sources
owner   write DELETE /api/v1/notebooks/{notebook_id}/sources/{source_id}
account read  GET    /api/v1/sources
reader  read  GET    /api/v1/sources/{source_id}
owner   write DELETE /api/v1/sources/{source_id}
owner   write POST   /api/v1/sources/{source_id}/retry
owner   write POST   /api/v1/sources/{source_id}/refresh
owner   write POST   /api/v1/sources/{source_id}/stop
owner   read  GET    /api/v1/sources/{source_id}/notebooks
reader  read  GET    /api/v1/sources/{source_id}/original
reader  read  GET    /api/v1/sources/{source_id}/passages
reader  read  GET    /api/v1/sources/{source_id}/pages/{page}/image
reader  read  GET    /api/v1/sources/{source_id}/pages/{page}/highlights

asker   ask   POST   /api/v1/notebooks/{notebook_id}/questions
reader  read  GET    /api/v1/notebooks/{notebook_id}/suggestions
asker   ask   POST   /api/v1/notebooks/{notebook_id}/suggestions
reader  read  GET    /api/v1/notebooks/{notebook_id}/messages
reader  write DELETE /api/v1/notebooks/{notebook_id}/messages
owner   write POST   /api/v1/notebooks/{notebook_id}/documents
reader  read  GET    /api/v1/notebooks/{notebook_id}/documents
reader  read  GET    /api/v1/documents/{document_id}
owner   write PATCH  /api/v1/documents/{document_id}
owner   write DELETE /api/v1/documents/{document_id}
owner   write POST   /api/v1/documents/{document_id}/retry
reader  read  GET    /api/v1/documents/{document_id}/export
anyone  -     GET    /api/v1/documents/{document_id}/audio

owner   read  GET    /api/v1/answers/{answer_id}
owner   read  GET    /api/v1/answers/{answer_id}/events
owner   ask   POST   /api/v1/answers/{answer_id}/stop
owner   ask   POST   /api/v1/answers/{answer_id}/feedback

account read  GET    /api/v1/voices

admin   admin GET    /api/v1/admin/users
admin   admin PATCH  /api/v1/admin/users/{user_id}
admin   admin DELETE /api/v1/admin/users/{user_id}
admin   admin POST   /api/v1/admin/users/{user_id}/grants
admin   admin POST   /api/v1/admin/users/{user_id}/password-reset
admin   admin POST   /api/v1/admin/invitations
admin   admin GET    /api/v1/admin/invitations
admin   admin DELETE /api/v1/admin/invitations/{invitation_id}
admin   admin GET    /api/v1/admin/audit
admin   admin PATCH  /api/v1/admin/users/{user_id}/limits
admin   admin GET    /api/v1/admin/sources
admin   admin GET    /api/v1/admin/queues
admin   admin GET    /api/v1/admin/failed-jobs
admin   admin POST   /api/v1/admin/failed-jobs/{job_id}/retry
admin   admin GET    /api/v1/admin/health
admin   admin GET    /api/v1/admin/calls
admin   admin POST   /api/v1/admin/calls/{call_id}/settle
admin   admin GET    /api/v1/admin/settings

anyone  -     GET    /static/{digest}/{name}
anyone  -     GET    /sign-in
anyone  -     POST   /sign-in
anyone  -     GET    /sign-in/provider
anyone  -     GET    /sign-in/provider/return
anyone  -     GET    /sign-up
anyone  -     POST   /sign-up
anyone  -     GET    /reset/{secret}
anyone  -     POST   /reset/{secret}
account -     POST   /sign-out
account -     GET    /account
account -     POST   /account/password
account -     POST   /account/sessions/end
account -     POST   /account/sessions/{session_id}/end
account -     POST   /account/tokens
account -     POST   /account/tokens/{token_id}/revoke
account -     POST   /account/preferences
account -     POST   /account/export
account -     GET    /account/exports/{export_id}
account -     POST   /account/delete
account -     GET    /usage
account -     GET    /usage.csv
admin   -     GET    /admin/users
admin   -     POST   /admin/users/{user_id}/grants
admin   -     POST   /admin/users/{user_id}/limits
admin   -     POST   /admin/users/{user_id}/change
admin   -     POST   /admin/users/{user_id}/password-reset
admin   -     POST   /admin/users/{user_id}/delete
admin   -     POST   /admin/invitations
admin   -     GET    /admin/sources
admin   -     GET    /admin/jobs
admin   -     POST   /admin/jobs/{job_id}/retry
admin   -     GET    /admin/health
admin   -     GET    /admin/calls
admin   -     POST   /admin/calls/{call_id}/settle
admin   -     GET    /admin/settings
admin   -     GET    /admin/audit
account -     POST   /language
account -     GET    /
account -     POST   /notebooks
reader  -     GET    /notebooks/{notebook_id}
owner   -     POST   /notebooks/{notebook_id}/rename
owner   -     POST   /notebooks/{notebook_id}/delete
owner   -     POST   /notebooks/{notebook_id}/sources
owner   -     POST   /notebooks/{notebook_id}/sources/{source_id}/remove
owner   -     POST   /notebooks/{notebook_id}/sources/{source_id}/retry
owner   -     POST   /notebooks/{notebook_id}/sources/{source_id}/refresh
reader  -     GET    /notebooks/{notebook_id}/sources/events
owner   -     POST   /notebooks/{notebook_id}/sources/{source_id}/stop
owner   -     POST   /notebooks/{notebook_id}/documents
reader  -     GET    /notebooks/{notebook_id}/documents/events
owner   -     POST   /documents/{document_id}/rename
owner   -     POST   /documents/{document_id}/retry
owner   -     POST   /documents/{document_id}/delete
reader  -     GET    /documents/{document_id}/sound
reader  -     GET    /documents/{document_id}/transcript
owner   -     GET    /notebooks/{notebook_id}/library
reader  -     GET    /sources/{source_id}
reader  -     GET    /sources/{source_id}/sound
account -     GET    /library
owner   -     GET    /library/{source_id}
owner   -     POST   /library/{source_id}/add
owner   -     POST   /library/{source_id}/retry
owner   -     POST   /library/{source_id}/refresh
owner   -     POST   /library/{source_id}/stop
owner   -     POST   /library/{source_id}/delete
owner   -     GET    /notebooks/{notebook_id}/shares
owner   -     POST   /notebooks/{notebook_id}/shares
reader  -     POST   /notebooks/{notebook_id}/shares/{user_id}/remove
asker   -     POST   /notebooks/{notebook_id}/questions
reader  -     GET    /notebooks/{notebook_id}/turns
asker   -     GET    /notebooks/{notebook_id}/composer
asker   -     GET    /notebooks/{notebook_id}/suggestions
asker   -     POST   /notebooks/{notebook_id}/suggestions
reader  -     POST   /notebooks/{notebook_id}/clear
owner   -     GET    /answers/{answer_id}/citations/{marker}
reader  -     GET    /documents/{document_id}/citations/{marker}
owner   -     POST   /answers/{answer_id}/stop
owner   -     POST   /answers/{answer_id}/feedback
owner   -     GET    /answers/{answer_id}/copy
owner   -     GET    /answers/{answer_id}/stream
"""


def _rules() -> Mapping[tuple[str, str], Rule]:
    rows = [line.split() for line in _TABLE.splitlines() if line]
    rules = {
        (method, path): Rule(Who(who), None if scope == "-" else TokenScope(scope))
        for who, scope, method, path in rows
    }
    assert len(rules) == len(rows)  # noqa: S101 - an address stands in the table once
    return rules


RULES = _rules()
"""By method and path, as the router writes it."""
