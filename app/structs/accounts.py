"""Accounts, tokens and usage as the JSON API has them."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated
from uuid import UUID

import msgspec

from domain.account import ApiToken, User
from domain.ledger import UsageGroup, UsageRow

Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class SignUpIn(msgspec.Struct, forbid_unknown_fields=True):
    """An address and a password, and the secret of an invitation where one is needed."""

    email: str
    password: str
    invitation: str | None = None


class TokenIn(msgspec.Struct, forbid_unknown_fields=True):
    """A name, and an address with a password where the caller is not signed in.

    `scopes` are any of read, ask, write and admin; all that the caller has where they are left out.
    """

    name: str = "token"
    email: str | None = None
    password: str | None = None
    scopes: list[str] | None = None
    expires_at: Moment | None = None


class UserOut(msgspec.Struct):
    """An account."""

    id: UUID
    email: str
    is_admin: bool
    created_at: datetime

    @classmethod
    def of(cls, user: User) -> "UserOut":
        """From the domain."""
        return cls(user.id, user.email, user.is_admin, user.created_at)


class Preferences(msgspec.Struct):
    """What a person chose."""

    pdf_capture: str
    language: str


class PreferencesIn(msgspec.Struct, forbid_unknown_fields=True):
    """What to change."""

    pdf_capture: str | None = None
    language: str | None = None


class MeIn(PreferencesIn, forbid_unknown_fields=True):
    """What to change, bare or under `preferences` as the account shows it."""

    preferences: PreferencesIn | None = None


class UsageTotal(msgspec.Struct):
    """Calls, tokens and USD."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost: str


class MeOut(msgspec.Struct):
    """The signed-in account."""

    id: UUID
    email: str
    is_admin: bool
    created_at: datetime
    preferences: Preferences
    credit: str
    usage_today: UsageTotal


class AccountOut(msgspec.Struct):
    """A new account and its first token, which is shown this once."""

    user: UserOut
    token: str


class TokenOut(msgspec.Struct):
    """A new token; its secret is shown this once."""

    token: str
    id: UUID


class TokenRow(msgspec.Struct):
    """A token without its secret."""

    id: UUID
    name: str
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None

    @classmethod
    def of(cls, token: ApiToken) -> "TokenRow":
        """From the domain."""
        return cls(
            *(token.id, token.name, list(token.scopes), token.created_at),
            *(token.expires_at, token.last_used_at),
        )


UsdPerMillion = Annotated[str, msgspec.Meta(description="USD per million tokens")]
UsdPerMinute = Annotated[str, msgspec.Meta(description="USD per minute of sound")]
UsdPerCharacters = Annotated[str, msgspec.Meta(description="USD per million characters read aloud")]


class UnitPrice(msgspec.Struct):
    """USD per million tokens, per minute of sound, per million characters read aloud."""

    input: UsdPerMillion
    output: UsdPerMillion
    minute: UsdPerMinute
    characters: UsdPerCharacters


class UsageRowOut(msgspec.Struct):
    """A model call."""

    id: UUID
    kind: str
    model: str
    status: str
    input_tokens: int
    output_tokens: int
    seconds: float | None
    characters: int | None
    estimated: bool
    unit_price: UnitPrice
    cost: str
    created_at: datetime
    notebook_id: UUID | None
    source_id: UUID | None
    answer_id: UUID | None
    document_id: UUID | None

    @classmethod
    def of(cls, row: UsageRow) -> "UsageRowOut":
        """From the domain."""
        return cls(
            id=row.id,
            kind=row.kind.value,
            model=row.model,
            status=row.status.value,
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            seconds=None if row.seconds is None else float(row.seconds),
            characters=row.characters,
            estimated=row.estimated,
            unit_price=UnitPrice(
                *(money(row.input_price), money(row.output_price)),
                *(money(row.minute_price), money(row.character_price)),
            ),
            cost=money(row.cost),
            created_at=row.created_at,
            notebook_id=row.notebook_id,
            source_id=row.source_id,
            answer_id=row.answer_id,
            document_id=row.document_id,
        )


class UsageGroupsOut(msgspec.Struct):
    """Sums, each with the keys that were asked for."""

    items: list[dict[str, str | int | None]]


def usage_group(group: UsageGroup) -> dict[str, str | int | None]:
    """A sum with its keys."""
    return {
        **dict(group.key),
        "calls": group.calls,
        "input_tokens": group.input_tokens,
        "output_tokens": group.output_tokens,
        "cost": money(group.cost),
    }


def money(amount: Decimal) -> str:
    """USD as a plain decimal string."""
    return f"{amount.normalize():f}"
