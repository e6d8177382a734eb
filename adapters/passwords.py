"""Passwords by Argon2."""

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError


class Argon2Passwords:
    """The `PasswordHasher` port, with the library's current parameters."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        self._nobody = self._hasher.hash("nobody has this password")

    def hash(self, password: str) -> str:
        """A salted hash."""
        return self._hasher.hash(password)

    def verify(self, hashed: str | None, password: str) -> bool:
        """True where they belong together."""
        try:
            self._hasher.verify(hashed or self._nobody, password)
        except (Argon2Error, InvalidHashError):
            return False
        return hashed is not None
