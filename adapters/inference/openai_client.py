"""The OpenAI SDK as every OpenAI-compatible endpoint is called with it, and its errors in ours."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from http import HTTPStatus
from typing import Any

import httpx2
import msgspec
import openai
from openai import AsyncOpenAI

from adapters.bounded_http import MOST_BYTES, late, lost, open_bounded
from adapters.refusals import own_words, refusal, retry_after_s
from domain.errors import ModelUnavailable

_NO_KEY = "no-key-is-set"


class Client(AsyncOpenAI):
    """The SDK's client, with a shorter way to send JSON.

    Its `create` walks every field of what is sent, and its `post` builds options, headers, models
    and addresses anew for each call: two fifths of the time that a call takes in this process.
    """

    @cached_property
    def _every_call(self) -> dict[str, Any]:
        """What all requests have in common."""
        own = {"Authorization": f"Bearer {self.api_key}", "Content-Type": "application/json"}
        return {
            "headers": httpx2.Headers([*self._client.headers.multi_items(), *own.items()]),
            "extensions": {"timeout": self._client.timeout.as_dict()},
        }

    @cached_property
    def _urls(self) -> dict[str, httpx2.URL]:
        """The address of every path that was sent to."""
        return {}

    async def send(
        self, path: str, body: Mapping[str, object], *, stream: bool = False
    ) -> httpx2.Response:
        """The response to one POST. Where it is a stream, the caller closes it.

        Raises:
            openai.APIStatusError: for every status but 2xx.
            openai.APIConnectionError: the cause tells what was lost.
        """
        url = self._urls.get(path)
        if url is None:
            url = self._urls[path] = httpx2.URL(f"{str(self.base_url).rstrip('/')}/{path}")
        content = msgspec.json.encode(body)
        request = httpx2.Request("POST", url, content=content, **self._every_call)
        try:
            response = await self._client.send(request, stream=stream)
            if not response.is_success:
                await response.aread()
        except httpx2.RequestError as error:
            raise openai.APIConnectionError(request=request) from error
        if not response.is_success:
            raise self._make_status_error_from_response(response)
        return response


def open_client(base_url: str, api_key: str, *, most_bytes: int = MOST_BYTES) -> Client:
    """A client that never retries by itself and leaves every time limit but connecting to us.

    Close it with `close()`. An empty key is sent as a placeholder: local servers take any.
    """
    http = open_bounded(most_bytes=most_bytes)
    return Client(
        base_url=base_url,
        api_key=api_key or _NO_KEY,
        max_retries=0,
        timeout=http.timeout,
        http_client=http,
    )


@contextmanager
def translated(client: AsyncOpenAI, model: str, asked: str) -> Iterator[None]:
    """Raise what goes wrong inside as a ModelError that says what to check, without the key.

    Args:
        client: whose host is named and whose key is kept out.
        model: the model that is called.
        asked: the parameters an endpoint may not know, as a refusal shall name them.

    Raises:
        ModelUnavailable: for 408, 425, 429, 5xx, timeouts and lost connections. It may have been
            billed unless an error status came or no connection was made.
        ModelRefused: for every other status.
    """
    try:
        yield
    except openai.APIStatusError as error:
        wait_s = retry_after_s(error.response.headers)
        words = _words(error, client)
        raise refusal(error.status_code, _host(client), model, asked, words, wait_s) from error
    except openai.APIConnectionError as error:
        raise lost(_host(client), error.__cause__) from error
    except TimeoutError as error:
        raise late(_host(client), error) from error
    except openai.APIError as error:
        # An error object inside a stream: its status, if any, stands in its code.
        code = error.code or ""
        status = int(code) if code.isdecimal() else HTTPStatus.BAD_GATEWAY
        answered = refusal(status, _host(client), model, asked, _words(error, client))
        if isinstance(answered, ModelUnavailable):
            answered.may_be_billed = True
        raise answered from error
    except (ValueError, RecursionError) as error:
        message = f"{_host(client)} answered with something that is not its API."
        raise ModelUnavailable(message, may_be_billed=True) from error


def _words(error: openai.APIError, client: AsyncOpenAI) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    said = body.get("message") or error.code or error.type or "no reason given."
    return own_words(said, client.api_key)


def _host(client: AsyncOpenAI) -> str:
    return str(client.base_url.host)
