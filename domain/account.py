"""Accounts: who may ask, and what they may still spend."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from domain.ids import TokenId, UserId


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
