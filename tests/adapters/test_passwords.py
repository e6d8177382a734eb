"""Password hashes."""

import time

import pytest

from adapters.passwords import Argon2Passwords

HASHER = Argon2Passwords()


def test_a_hash_verifies_its_password_alone() -> None:
    hashed = HASHER.hash("a good password")
    assert HASHER.verify(hashed, "a good password")
    for other in ("a good passwort", "", "A good password", "a good password "):
        assert not HASHER.verify(hashed, other)


def test_hashes_are_salted_and_hold_no_password() -> None:
    one, other = HASHER.hash("a good password"), HASHER.hash("a good password")
    assert one != other
    assert one.startswith("$argon2id$")
    assert "password" not in one


@pytest.mark.parametrize("password", ["ünïcode 🔑", "\0\0", "x" * 1024, "nobody has this password"])
def test_any_text_is_a_password(password: str) -> None:
    assert HASHER.verify(HASHER.hash(password), password)


@pytest.mark.parametrize("hashed", ["", "plain", "$argon2id$broken", "$2b$12$bcrypt"])
def test_what_is_no_hash_verifies_nothing(hashed: str) -> None:
    assert not HASHER.verify(hashed, "a good password")


def test_nobody_takes_as_long_as_somebody_and_is_never_right() -> None:
    hashed = HASHER.hash("a good password")

    def seconds(against: str | None) -> float:
        begun = time.process_time()
        assert not HASHER.verify(against, "nobody has this password")
        return time.process_time() - begun

    somebody = min(seconds(hashed) for _ in range(3))
    nobody = min(seconds(None) for _ in range(3))
    assert nobody > somebody / 3
