"""Accounts: who may ask, and what they may still spend."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from domain.errors import Rejected
from domain.ids import InvitationId, SessionId, TokenId, UserId
from domain.limits import LimitName
from domain.text_gate import clean

LOCAL_EMAIL = "local@localhost"
"""The account of the person at the machine, in local mode; nobody signs up as them."""
_EMAIL = re.compile(r"[^\s@<>\"]{1,64}@[^\s@<>\"]{1,250}")
_MIN_PASSWORD, _MAX_PASSWORD = 8, 1024


@dataclass(frozen=True, slots=True)
class User:
    """An account."""

    id: UserId
    email: str
    is_admin: bool
    pdf_capture: str
    language: str
    credit: Decimal
    """USD it may still spend, reservations of calls in flight taken off."""
    created_at: datetime
    is_disabled: bool = False
    """True where the admin has shut it: nobody signs in to it."""
    is_leaving: bool = False
    """True where it is being deleted."""
    limits: Mapping[LimitName, int] = field(default_factory=dict)
    """Those that the admin set for this account."""

    def limit(self, name: LimitName, setting: int) -> int:
        """What holds for this account, where the setting says so much."""
        return self.limits.get(name, setting)


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A named bearer token; its secret is shown once and stored hashed.

    Args:
        scopes: what it may be used for, by name.
        last_used_at: to the minute.
    """

    id: TokenId
    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class Session:
    """A browser that is signed in.

    Args:
        browser: as it called itself at sign-in.
        last_used_at: to the minute.
    """

    id: SessionId
    browser: str
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class Invitation:
    """A link that lets one person make an account; its secret is shown once."""

    id: InvitationId
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None
    used_by: str | None
    """The address that was made with it."""


def plain_address(email: str) -> str:
    """An address as it is compared; not checked."""
    return clean(email).strip().lower()


def valid_address(email: str) -> str:
    """An address that an account may have, as it is compared.

    Raises:
        Rejected: it is none.
    """
    address = plain_address(email)
    if not _EMAIL.fullmatch(address) or address == LOCAL_EMAIL:
        raise Rejected("This is no e-mail address.")
    return address


def one_line(text: str, longest: int) -> str:
    """A label as it is stored: clean, on one line, cut."""
    return " ".join(clean(text).split())[:longest]


def check_password(password: str) -> None:
    """Let pass what may be a password.

    Raises:
        Rejected: it is too short or too long.
    """
    if not _MIN_PASSWORD <= len(password) <= _MAX_PASSWORD:
        raise Rejected(f"A password has {_MIN_PASSWORD} to {_MAX_PASSWORD:,} characters.")
