"""Waking up for what other processes commit, also over a connection that was lost."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest
from sqlalchemy.engine import make_url

from adapters.postgres.listener import PostgresListener

CHANNELS = ("one", "two")


@pytest.fixture
async def sender(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    url = make_url(database_url).set(drivername="postgresql")
    connection = await asyncpg.connect(url.render_as_string(hide_password=False))
    yield connection
    await connection.close()


@pytest.fixture
async def listener(database_url: str) -> AsyncIterator[PostgresListener]:
    async with PostgresListener(database_url, CHANNELS) as listening:
        yield listening


async def notify(sender: asyncpg.Connection, channel: str, key: str) -> None:
    await sender.execute("select pg_notify($1, $2)", channel, key)


async def until_set(*wakeups: asyncio.Event, within_s: float = 10) -> None:
    async with asyncio.timeout(within_s):
        await asyncio.gather(*(wakeup.wait() for wakeup in wakeups))


async def test_a_key_wakes_who_waits_for_it_and_who_waits_for_all(
    listener: PostgresListener, sender: asyncpg.Connection
) -> None:
    async with (
        listener.waiting("one", "a") as named,
        listener.waiting("one", "a") as also_named,
        listener.waiting("one", "") as every,
        listener.waiting("one", "b") as other_key,
        listener.waiting("two", "a") as other_channel,
        listener.waiting("two", "") as all_of_other_channel,
    ):
        await notify(sender, "one", "a")
        await until_set(named, also_named, every)
        unmoved = (other_key, other_channel, all_of_other_channel)
        assert not any(wakeup.is_set() for wakeup in unmoved)
        for wakeup in (named, every):
            wakeup.clear()
        await notify(sender, "one", "b")
        await until_set(other_key, every)
        assert not named.is_set()


async def test_what_is_rolled_back_wakes_nobody(
    listener: PostgresListener, sender: asyncpg.Connection
) -> None:
    async with listener.waiting("one", "a") as rolled_back, listener.waiting("one", "b") as kept:
        transaction = sender.transaction()
        await transaction.start()
        await notify(sender, "one", "a")
        await transaction.rollback()
        await notify(sender, "one", "b")
        await until_set(kept)
        assert not rolled_back.is_set()


async def test_a_lost_connection_wakes_everybody_once_it_is_back_and_hears_on(
    listener: PostgresListener, sender: asyncpg.Connection
) -> None:
    async with (
        listener.waiting("one", "a") as keyed,
        listener.waiting("one", "") as every,
        listener.waiting("two", "b") as other,
    ):
        await sender.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
        await until_set(keyed, every, other)
        for wakeup in (keyed, every, other):
            wakeup.clear()
        await notify(sender, "one", "a")
        await until_set(keyed, every)
        assert not other.is_set()


async def test_who_left_is_forgotten(
    listener: PostgresListener, sender: asyncpg.Connection
) -> None:
    async with listener.waiting("one", "a") as gone:
        pass
    async with listener.waiting("one", "a") as here:
        await notify(sender, "one", "a")
        await until_set(here)
    assert not gone.is_set()
