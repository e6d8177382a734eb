"""Password hashes."""

import asyncio
import threading
import time

import pytest

from adapters.passwords import Argon2Passwords

HASHER = Argon2Passwords()


async def test_a_hash_verifies_its_password_alone() -> None:
    hashed = await HASHER.hash("a good password")
    assert await HASHER.verify(hashed, "a good password")
    for other in ("a good passwort", "", "A good password", "a good password "):
        assert not await HASHER.verify(hashed, other)


async def test_hashes_are_salted_and_hold_no_password() -> None:
    one, other = await HASHER.hash("a good password"), await HASHER.hash("a good password")
    assert one != other
    assert one.startswith("$argon2id$")
    assert "password" not in one


@pytest.mark.parametrize("password", ["ünïcode 🔑", "\0\0", "x" * 1024, "nobody has this password"])
async def test_any_text_is_a_password(password: str) -> None:
    assert await HASHER.verify(await HASHER.hash(password), password)


@pytest.mark.parametrize("hashed", ["", "plain", "$argon2id$broken", "$2b$12$bcrypt"])
async def test_what_is_no_hash_verifies_nothing(hashed: str) -> None:
    assert not await HASHER.verify(hashed, "a good password")


async def test_nobody_takes_as_long_as_somebody_and_is_never_right() -> None:
    hashed = await HASHER.hash("a good password")

    async def seconds(against: str | None) -> float:
        begun = time.process_time()
        assert not await HASHER.verify(against, "nobody has this password")
        return time.process_time() - begun

    somebody = min([await seconds(hashed) for _ in range(3)])
    nobody = min([await seconds(None) for _ in range(3)])
    assert nobody > somebody / 3


async def test_a_flood_takes_two_threads_of_its_own() -> None:
    before = {thread.ident for thread in threading.enumerate()}
    hasher = Argon2Passwords()
    hashed = await hasher.hash("a good password")
    free = asyncio.create_task(asyncio.to_thread(time.perf_counter))
    guesses = [asyncio.create_task(hasher.verify(hashed, str(n))) for n in range(6)]
    await free
    assert not all(guess.done() for guess in guesses)
    assert not any(await asyncio.gather(*guesses))
    new = [thread.name for thread in threading.enumerate() if thread.ident not in before]
    assert 1 <= sum(name.startswith("argon2") for name in new) <= 2
    hasher.close()
