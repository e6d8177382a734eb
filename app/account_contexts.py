"""What the templates of accounts and guests are given."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from app.contexts import Frame
from domain.account import ApiToken, Session
from domain.audit import AuditEntry
from domain.export import Export
from domain.notebook import Notebook, Share


@dataclass(frozen=True, slots=True)
class SignInPage:
    """The form to sign in or to sign up."""

    template: ClassVar[str] = "accounts/sign_in.html"
    frame: Frame
    is_new: bool
    sign_up_open: bool
    invitation: str
    provider: str
    """The host of a provider to sign in at; "" for none."""
    next: str
    email: str
    problem: str
    is_reset: bool = False
    """A new password was just set."""


@dataclass(frozen=True, slots=True)
class ResetPage:
    """The form for a new password, behind a link of the admin's."""

    template: ClassVar[str] = "accounts/reset.html"
    frame: Frame
    secret: str
    problem: str


@dataclass(frozen=True, slots=True)
class AccountPage:
    """One's own preferences, password, sessions, tokens and archives.

    Args:
        this: the session that reads the page.
        scopes: what a new token may be given.
        secret: of a token that was just made.
    """

    template: ClassVar[str] = "accounts/account.html"
    frame: Frame
    sessions: Sequence[Session]
    this: UUID | None
    tokens: Sequence[ApiToken]
    scopes: Sequence[str]
    exports: Sequence[Export]
    secret: str = ""
    done: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Acts that matter to security, newest first."""

    template: ClassVar[str] = "accounts/audit.html"
    frame: Frame
    entries: Sequence[AuditEntry]
    next_cursor: UUID | None


@dataclass(frozen=True, slots=True)
class GuestsFragment:
    """Whom a notebook is shared with; what went wrong, with the address it went wrong for."""

    template: ClassVar[str] = "shares/_guests.html"
    frame: Frame
    notebook: Notebook
    guests: Sequence[Share]
    problem: str = ""
    email: str = ""


@dataclass(frozen=True, slots=True)
class GuestsPage(GuestsFragment):
    """Likewise, as a page."""

    template: ClassVar[str] = "shares/guests.html"
