"""What a model's provider answers instead of serving a call, as errors of ours."""

import math
from collections.abc import Mapping
from http import HTTPStatus

from domain.errors import ModelError, ModelRefused, ModelUnavailable
from domain.text_gate import clean

_LATER = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}
_QUOTED_CHARS = 300
_SHORTEST_SECRET = 8
"""Characters: a shorter key protects nothing, and may stand in any word."""


def refusal(
    status: int, host: str, model: str, asked: str, words: str, wait_s: float | None = None
) -> ModelError:
    """The error that a status is.

    Args:
        host: who answered.
        asked: the parameters an endpoint may not know, as a refusal shall name them.
        words: the provider's own, from `own_words`.
        wait_s: seconds it asks to wait.

    Returns:
        ModelUnavailable, not billed, for 408, 425, 429 and 5xx; else ModelRefused, which says
        what to check.
    """
    if status in _LATER or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        message = f"{host} cannot serve {model} right now ({status}): {words}"
        return ModelUnavailable(message, retry_after_s=wait_s)
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN} or "api key" in words.lower():
        return ModelRefused(
            f"{host} does not accept the key for {model} ({status}): {words} "
            "Check the API key in the settings."
        )
    if status == HTTPStatus.NOT_FOUND:
        return ModelRefused(
            f"{host} has no model {model} ({status}): {words} "
            "Check the model's name and the base URL; model lists change."
        )
    if status < HTTPStatus.BAD_REQUEST:
        return ModelRefused(
            f"{host} answers that {model} is elsewhere ({status}), and nothing is sent there "
            "unasked. Check the base URL."
        )
    return ModelRefused(f"{host} refuses the request to {model} with {asked} ({status}): {words}")


def own_words(said: object, key: str) -> str:
    """A provider's own words: a short sentence without the key, which some providers echo."""
    words = clean(str(said))
    if len(key) >= _SHORTEST_SECRET:
        words = words.replace(key, "[key]")
    words = words.strip()[:_QUOTED_CHARS]
    return words if words.endswith((".", "!", "?")) else f"{words}."


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by Retry-After; None for its other form, a date, which no provider sends."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
