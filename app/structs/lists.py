"""Lists as the JSON API has them."""

from typing import Generic, TypeVar
from uuid import UUID

import msgspec

T = TypeVar("T")


class ListBody(msgspec.Struct, Generic[T]):
    """A part of a list; `next_cursor` is null at its end."""

    items: list[T]
    next_cursor: UUID | None
