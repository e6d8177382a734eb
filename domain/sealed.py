"""Passwords of files, sealed: neither the sealed text nor its pad alone tells anything.

The sealed text lies in the database and the pad in the storage of files, both for one run.
"""

from domain.errors import Rejected

PAD_BYTES = 128
_MOST_BYTES = PAD_BYTES - 1


def seal(password: str, pad: bytes) -> bytes:
    """The password under a one-time pad of PAD_BYTES random bytes; its length does not show.

    Raises:
        Rejected: it is longer than a PDF's password can be.
    """
    plain = password.encode()
    if len(plain) > _MOST_BYTES or b"\0" in plain:
        raise Rejected(f"The password of a PDF has at most {_MOST_BYTES} bytes and no NUL.")
    return _combined(plain.ljust(PAD_BYTES, b"\0"), pad)


def unseal(sealed: bytes, pad: bytes) -> str:
    """What `seal` was given."""
    return _combined(sealed, pad).rstrip(b"\0").decode()


def _combined(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))
