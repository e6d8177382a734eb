"""Several things at once: bounded, and none that was begun is dropped."""

import asyncio

import pytest

from domain.parallel import both, run_each


async def test_no_more_run_at_once_than_the_gate_lets() -> None:
    running, most = 0, 0

    async def job() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1

    await run_each(asyncio.Semaphore(3), [job] * 10)
    assert most == 3


async def test_after_a_failure_none_begins_and_those_under_way_end() -> None:
    done: list[str] = []

    async def fail() -> None:
        await asyncio.sleep(0.001)
        raise ValueError("the first")

    async def finish() -> None:
        await asyncio.sleep(0.01)
        done.append("under way")

    async def late() -> None:
        done.append("late")

    with pytest.raises(ValueError, match="the first"):
        await run_each(asyncio.Semaphore(2), [fail, finish, late, late])
    assert done == ["under way"]


async def test_of_two_at_once_each_comes_to_its_end() -> None:
    done: list[str] = []

    async def fail() -> None:
        raise ValueError("at once")

    async def finish() -> None:
        await asyncio.sleep(0.001)
        done.append("the second")

    with pytest.raises(ValueError, match="at once"):
        await both(fail(), finish())
    with pytest.raises(ValueError, match="at once"):
        await both(finish(), fail())
    assert done == ["the second"] * 2
