"""Guests, sessions, passwords, invitations, accounts and the audit log as the JSON API has them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from app.structs.accounts import money
from domain.account import Invitation, Session, User
from domain.audit import AuditEntry
from domain.export import Export, ExportStatus
from domain.notebook import Share


class ShareIn(msgspec.Struct, forbid_unknown_fields=True):
    """An account's address, and a role: read, or ask (which includes it)."""

    email: str
    role: str


class ShareOut(msgspec.Struct):
    """A guest of a notebook."""

    user_id: UUID
    email: str
    role: str
    created_at: datetime

    @classmethod
    def of(cls, share: Share) -> "ShareOut":
        """From the domain."""
        return cls(share.user_id, share.email, share.role.value, share.created_at)


class SessionOut(msgspec.Struct):
    """A browser that is signed in."""

    id: UUID
    browser: str
    is_this: bool
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None

    @classmethod
    def of(cls, session: Session, this: UUID | None) -> "SessionOut":
        """From the domain; `this` is the session that asks."""
        return cls(
            *(session.id, session.browser, session.id == this),
            *(session.created_at, session.expires_at, session.last_used_at),
        )


class PasswordIn(msgspec.Struct, forbid_unknown_fields=True):
    """The password in force, and a new one."""

    current_password: str
    new_password: str


class ResetIn(msgspec.Struct, forbid_unknown_fields=True):
    """The secret of a link that the admin made, and a new password."""

    token: str
    password: str


class LeaveIn(msgspec.Struct, forbid_unknown_fields=True):
    """The password in force; of an account that has none, its address.

    The address counts in a session, or by a token with every scope.
    """

    password: str


class ExportOut(msgspec.Struct):
    """An archive of an account; `url` is where it is downloaded once its status is ready."""

    id: UUID
    status: str
    bytes: int | None
    error: str | None
    url: str | None
    created_at: datetime
    expires_at: datetime

    @classmethod
    def of(cls, export: Export) -> "ExportOut":
        """From the domain."""
        is_ready = export.status is ExportStatus.READY
        return cls(
            *(export.id, export.status.value, export.bytes, export.error),
            f"/api/v1/me/exports/{export.id}/archive" if is_ready else None,
            *(export.created_at, export.expires_at),
        )


class LinkOut(msgspec.Struct):
    """A link that counts once; its secret is shown this once."""

    token: str
    url: str
    expires_at: datetime


class InvitationIn(msgspec.Struct, forbid_unknown_fields=True):
    """For how many days it shall count."""

    days: int = 7


class InvitationOut(msgspec.Struct):
    """An invitation without its secret; `used_by` is the account that was made with it."""

    id: UUID
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None
    used_by: str | None

    @classmethod
    def of(cls, made: Invitation) -> "InvitationOut":
        """From the domain."""
        return cls(made.id, made.created_at, made.expires_at, made.used_at, made.used_by)


class NewInvitation(LinkOut):
    """An invitation with its secret, which is shown this once."""

    id: UUID


class AccountRow(msgspec.Struct):
    """An account as the admin sees it; `limits` are those that are its own."""

    id: UUID
    email: str
    is_admin: bool
    is_disabled: bool
    is_leaving: bool
    credit: str
    limits: Mapping[str, int]
    created_at: datetime

    @classmethod
    def of(cls, user: User) -> "AccountRow":
        """From the domain."""
        return cls(
            *(user.id, user.email, user.is_admin, user.is_disabled, user.is_leaving),
            money(user.credit),
            {name.value: amount for name, amount in user.limits.items()},
            user.created_at,
        )


class AccountChange(msgspec.Struct, forbid_unknown_fields=True):
    """What to change."""

    is_admin: bool | None = None
    is_disabled: bool | None = None


Usd = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,9}(\.[0-9]{1,9})?$", description="USD")]


class GrantIn(msgspec.Struct, forbid_unknown_fields=True):
    """USD to add to an account's credit."""

    amount: Usd
    reason: str = "admin"


class CreditOut(msgspec.Struct):
    """What an account may spend."""

    credit: str


class AuditRow(msgspec.Struct):
    """An act that matters to security."""

    id: UUID
    at: datetime
    act: str
    actor_id: UUID | None
    actor: str | None
    subject_id: UUID | None
    subject: str | None
    peer: str
    detail: Mapping[str, str]

    @classmethod
    def of(cls, entry: AuditEntry) -> "AuditRow":
        """From the domain."""
        return cls(
            *(entry.id, entry.at, entry.act, entry.actor_id, entry.actor),
            *(entry.subject_id, entry.subject, entry.peer, entry.detail),
        )
