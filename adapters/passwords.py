"""Passwords by Argon2."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

_AT_ONCE = 2


class Argon2Passwords:
    """The `PasswordHasher` port, with the library's current parameters.

    It computes in two threads of its own: a flood of passwords takes neither the memory of more
    hashes than that, nor the threads that others wait for.
    """

    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        self._nobody = self._hasher.hash("nobody has this password")
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="argon2")

    async def hash(self, password: str) -> str:
        """A salted hash."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._hasher.hash, password)

    async def verify(self, hashed: str | None, password: str) -> bool:
        """True where they belong together."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._verify, hashed, password)

    def _verify(self, hashed: str | None, password: str) -> bool:
        try:
            self._hasher.verify(hashed or self._nobody, password)
        except (Argon2Error, InvalidHashError):
            return False
        return hashed is not None

    def is_outdated(self, hashed: str) -> bool:
        """True where today's parameters would make a better hash."""
        return self._hasher.check_needs_rehash(hashed)

    def close(self) -> None:
        """End the threads; what waits for them is given up."""
        self._threads.shutdown(wait=False, cancel_futures=True)
