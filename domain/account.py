"""Accounts: who may ask, and what they may still spend."""

import re
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from domain.errors import Rejected
from domain.ids import TokenId, UserId
from domain.text_gate import clean

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


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A named bearer token; its secret is shown once and stored hashed."""

    id: TokenId
    name: str
    created_at: datetime


def plain_address(email: str) -> str:
    """An address as it is compared; not checked."""
    return clean(email).strip().lower()


def valid_address(email: str) -> str:
    """An address that an account may have, as it is compared.

    Raises:
        Rejected: it is none.
    """
    address = plain_address(email)
    if not _EMAIL.fullmatch(address):
        raise Rejected("This is no e-mail address.")
    return address


def check_password(password: str) -> None:
    """Let pass what may be a password.

    Raises:
        Rejected: it is too short or too long.
    """
    if not _MIN_PASSWORD <= len(password) <= _MAX_PASSWORD:
        raise Rejected(f"A password has {_MIN_PASSWORD} to {_MAX_PASSWORD:,} characters.")
