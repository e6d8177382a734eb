"""Secrets that stand for something: what is given out, and what is stored of it."""

import hashlib
import secrets


def new_secret() -> str:
    """256 random bits, to be shown once."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    """What is stored of a secret: with 256 random bits in it, a plain hash is enough."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()
