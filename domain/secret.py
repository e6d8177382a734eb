"""Secrets that stand for something: what is given out, and what is stored of it."""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode


def new_secret() -> str:
    """256 random bits, to be shown once."""
    return secrets.token_urlsafe(32)


def derived(secret: str, purpose: str) -> str:
    """Another secret that follows from one, and does not tell it."""
    value = hmac.digest(secret.encode(), purpose.encode(), "sha256")
    return urlsafe_b64encode(value).rstrip(b"=").decode()


def digest(secret: str) -> bytes:
    """What is stored of a secret: with 256 random bits in it, a plain hash is enough."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()
