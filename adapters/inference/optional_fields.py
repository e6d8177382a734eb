"""Fields that an endpoint may not know, and is asked without from its first refusal on."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from openai import BadRequestError, UnprocessableEntityError

from domain.errors import ModelUnavailable

_NEWER = {"max_tokens": "max_completion_tokens"}
"""What an endpoint that refuses a field calls it."""
_TOLD = {
    "stream_options": re.compile("stream_options"),
    "temperature": re.compile("temperature"),
    "max_tokens": re.compile("max_completion_tokens"),
    # Not where only their number is refused: without it, vectors of another length are paid for.
    "dimensions": re.compile(
        r"(?is)(?=.*dimensions).*(?:not (?:support|permit|allow|accept)"
        r"|un(?:supported|known|recogni)|extra )"
    ),
}
"""What a refusal that is about a field says."""


class OptionalFields:
    """What one model refused so far.

    The refused call ends as ModelUnavailable with nothing to wait for, so that the caller's own
    retry makes the next request, and no request goes unseen.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._refused: set[str] = set()

    def taken(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Those of `fields` that the endpoint takes, by the names that it has for them."""
        names = {name: _NEWER.get(name, "") if name in self._refused else name for name in fields}
        return {name: fields[asked] for asked, name in names.items() if name}

    @contextmanager
    def learnt(self, sent: Mapping[str, Any]) -> Iterator[None]:
        """Learn from the refusal of a request with these fields.

        Raises:
            ModelUnavailable: it was about one of them; any other refusal stays what it is.
        """
        try:
            yield
        except (BadRequestError, UnprocessableEntityError) as error:
            said = str(error.body)
            found = {name for name, told in _TOLD.items() if name in sent and told.search(said)}
            if not found:
                raise
            self._refused |= found
            message = f"{self._model} takes no {' and no '.join(sorted(found))}; it is asked"
            message = f"{message} without from now on."
            raise ModelUnavailable(message, retry_after_s=0.0) from error
