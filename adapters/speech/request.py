"""One POST to a provider without an SDK worth having, and what goes wrong with it."""

import asyncio

import httpx2

from adapters.bounded_http import late, lost


async def answer_to(
    client: httpx2.AsyncClient, path: str, body: bytes, media_type: str, *, timeout_s: float
) -> httpx2.Response:
    """The whole answer, whatever its status.

    Args:
        client: from `open_bounded`.

    Raises:
        ModelUnavailable: none came; it may have been billed unless no connection was made.
    """
    host = client.base_url.host
    try:
        async with asyncio.timeout(timeout_s):
            return await client.post(path, content=body, headers={"Content-Type": media_type})
    except TimeoutError as error:
        raise late(host, error) from error
    except (httpx2.RequestError, httpx2.StreamError) as error:
        raise lost(host, error) from error
