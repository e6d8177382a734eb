"""One POST to a provider without an SDK worth having, and what goes wrong with it."""

import asyncio
from collections.abc import Mapping

import httpx

from domain.errors import ModelUnavailable

_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
CONNECT_TIMEOUT_S = 5.0


def open_http(base_url: str, headers: Mapping[str, str]) -> httpx.AsyncClient:
    """A client that leaves every time limit but connecting to us; the caller closes it."""
    timeout = httpx.Timeout(None, connect=CONNECT_TIMEOUT_S)
    return httpx.AsyncClient(base_url=base_url, headers=dict(headers), timeout=timeout)


async def answer_to(
    client: httpx.AsyncClient, path: str, body: bytes, media_type: str, *, timeout_s: float
) -> httpx.Response:
    """The whole answer, whatever its status.

    Raises:
        ModelUnavailable: none came; it may have been billed unless no connection was made.
    """
    host = client.base_url.host
    try:
        async with asyncio.timeout(timeout_s):
            return await client.post(path, content=body, headers={"Content-Type": media_type})
    except _NOT_SENT as error:
        raise ModelUnavailable(f"{host} cannot be reached.") from error
    except TimeoutError as error:
        message = f"{host} took too long to answer."
        raise ModelUnavailable(message, may_be_billed=True) from error
    except (httpx.RequestError, httpx.StreamError) as error:
        raise ModelUnavailable(f"{host} did not answer.", may_be_billed=True) from error
