"""A notebook's page and the changes of its sources."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest

from app import sse
from app.routes import source_pages
from domain.channels import SOURCE_CHANGED
from tests.app.conftest import Beleg
from tests.app.test_pages import frame

pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass
class Listening:
    """A listener that tells what it is asked for, and never hears anything."""

    asked: list[tuple[str, str]] = field(default_factory=list)

    @asynccontextmanager
    async def waiting(self, channel: str, key: str) -> AsyncIterator[asyncio.Event]:
        self.asked.append((channel, key))
        yield asyncio.Event()


async def test_a_page_waits_for_changes_of_its_reader_s_sources_alone(beleg: Beleg) -> None:
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    await beleg.text(client, notebook, "The bridge is red.")
    token = client.headers["authorization"].removeprefix("Bearer ")
    visitor = await beleg.services.accounts.by_token(token)
    assert visitor is not None
    user = visitor.user
    listener = Listening()
    services = replace(beleg.services, listener=listener)
    mine = await beleg.services.notebooks.page(user, limit=1, after=None)
    changes = source_pages._changes(services, user, mine.items[0], "", frame())  # noqa: SLF001 - HTTP clients here get no stream before its end
    assert await anext(changes) == sse.PING
    assert b"source-list" in await anext(changes)
    assert listener.asked == [(SOURCE_CHANGED, str(user.id))]
