"""The audit log: acts that matter to security, who did them and to whom."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from domain.ids import UserId


class Act(StrEnum):
    """What was done."""

    SIGNED_UP = "signed_up"
    SIGNED_IN = "signed_in"
    SIGN_IN_FAILED = "sign_in_failed"
    SESSIONS_ENDED = "sessions_ended"
    PASSWORD_CHANGED = "password_changed"  # noqa: S105 - the name of an act
    PROOF_FAILED = "proof_failed"
    PROVIDER_LINKED = "provider_linked"
    RESET_LINK_MADE = "reset_link_made"
    PASSWORD_RESET = "password_reset"  # noqa: S105 - the name of an act
    TOKEN_MADE = "token_made"  # noqa: S105 - the name of an act
    TOKEN_REVOKED = "token_revoked"  # noqa: S105 - the name of an act
    SETTINGS_CHANGED = "settings_changed"
    SHARED = "shared"
    UNSHARED = "unshared"
    INVITED = "invited"
    INVITATION_REVOKED = "invitation_revoked"
    CREDIT_GRANTED = "credit_granted"
    MADE_ADMIN = "made_admin"
    ADMIN_ENDED = "admin_ended"
    DISABLED = "disabled"
    ENABLED = "enabled"
    JOB_RETRIED = "job_retried"
    CALL_SETTLED = "call_settled"
    LIMITS_SET = "limits_set"
    EXPORTED = "exported"
    ACCOUNT_DELETED = "account_deleted"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One act.

    Args:
        actor, subject: addresses; None where there was nobody, or the account is gone.
        peer: the network address it came from, where that was looked at.
        detail: ids and words of ours, nothing about a person.
    """

    id: UUID
    at: datetime
    act: str
    actor_id: UserId | None
    actor: str | None
    subject_id: UserId | None
    subject: str | None
    peer: str
    detail: Mapping[str, str]
