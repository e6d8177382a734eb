"""A stream that outlives a database that is away, and not the right to see it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import cast

from app.services import Services
from app.while_open import while_open
from domain.access import Visitor
from domain.account import User
from domain.errors import Unavailable
from domain.ids import NotebookId, UserId, new_id

USER = User(
    id=UserId(new_id()),
    email="ada@example.org",
    is_admin=False,
    pdf_capture="auto",
    language="en",
    credit=Decimal(1),
    created_at=datetime(2026, 11, 30, tzinfo=UTC),
)


class House:
    """The services that a stream looks at; its door answers what it is told to."""

    def __init__(self, answers: list[bool | Unavailable]) -> None:
        self.answers = answers
        self.changed = asyncio.Event()
        self.is_asked = asyncio.Event()
        self.share = self.listener = self

    @asynccontextmanager
    async def waiting(self, _channel: str, _key: str) -> AsyncIterator[asyncio.Event]:
        yield self.changed

    async def is_open_to(self, *_: object) -> bool:
        answer = self.answers.pop(0)
        if not self.answers:
            self.is_asked.set()
        if isinstance(answer, Unavailable):
            raise answer
        return answer


async def read(house: House) -> list[bytes]:
    async def events() -> AsyncIterator[bytes]:
        yield b"first"
        await house.is_asked.wait()
        await asyncio.sleep(0.01)  # the door is shut first, where it is
        yield b"second"

    stream = while_open(
        cast("Services", house), Visitor(USER), NotebookId(new_id()), events(), farewell=b"bye"
    )
    return [event async for event in stream]


async def test_a_stream_goes_on_once_the_database_is_back() -> None:
    assert await read(House([Unavailable(), True])) == [b"first", b"second"]


async def test_a_stream_ends_where_its_reader_may_not_see_it_any_more() -> None:
    assert await read(House([Unavailable(), False])) == [b"first", b"bye"]
