"""The whole app in the test's own process, over a real database and the test provider."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
import pytest_asyncio
from litestar import Litestar

from app.asgi import create_app
from app.services import Services
from app.settings import read_settings
from domain.ids import SourceId, UserId
from tests.conftest import migrated_database
from tests.provider import Provider

SPEAKS = {"TTS_PROVIDER": "openai", "TTS_MODEL": "tts-1", "TTS_API_KEY": "test"}
"""Settings of an app that reads aloud by the test provider."""


class Beleg:
    """A running app, and clients of it."""

    def __init__(
        self,
        app: Litestar,
        provider: Provider,
        environment: Mapping[str, str],
        stack: AsyncExitStack,
    ) -> None:
        self.app = app
        self.provider = provider
        self.environment = environment
        self._stack = stack

    @property
    def services(self) -> Services:
        services: Services = self.app.state.services
        return services

    async def client(self, peer: str = "127.0.0.1", **headers: str) -> httpx.AsyncClient:
        """A client that is nobody yet."""
        app: Any = self.app  # httpx and Litestar describe ASGI in different types
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=(peer, 50000))
        client = httpx.AsyncClient(
            transport=transport, base_url="http://beleg.test/api/v1", headers=headers
        )
        return await self._stack.enter_async_context(client)

    async def user(self) -> httpx.AsyncClient:
        """A client with an account of its own; without a password, for hashing one is slow."""
        accounts = self.services.accounts
        async with accounts.uow() as tx:
            email = f"{secrets.token_hex(6)}@example.org"
            user = await tx.accounts.add(email, None, accounts.rules.credit)
        return await self.signed_in(user.id)

    async def signed_in(self, user_id: UserId) -> httpx.AsyncClient:
        """A client with a new token of that account."""
        accounts = self.services.accounts
        async with accounts.uow() as tx:
            user = await tx.accounts.get(user_id)
        assert user
        _, token = await accounts.add_token(user, "test")
        return await self.client(Authorization=f"Bearer {token}")

    async def notebook(self, client: httpx.AsyncClient, title: str = "Bridges") -> str:
        response = await client.post("/notebooks", json={"title": title})
        return str(response.json()["id"])

    async def text(
        self, client: httpx.AsyncClient, notebook: str, text: str, title: str = "Bridge"
    ) -> str:
        """A text source, read by the worker's own use-case."""
        response = await client.post(
            f"/notebooks/{notebook}/sources", json={"title": title, "text": text}
        )
        assert response.status_code == 202, response.text
        source = str(response.json()["id"])
        await self.read(source)
        return source

    async def read(self, source: str) -> None:
        await self.services.ingest_source(SourceId(UUID(source)))


Start = Callable[..., Awaitable[Beleg]]


@asynccontextmanager
async def _running(app: Litestar) -> AsyncIterator[None]:
    """The app's lifespan in one task from start to end, which fixtures are not."""
    started, stop = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        async with app.lifespan():
            started.set()
            await stop.wait()

    task = asyncio.create_task(live())
    starting = asyncio.create_task(started.wait())
    await asyncio.wait([task, starting], return_when=asyncio.FIRST_COMPLETED)
    starting.cancel()
    if task.done():
        await task
    try:
        yield
    finally:
        stop.set()
        await task


@asynccontextmanager
async def _starting(postgres: str, data: Path) -> AsyncIterator[Start]:
    """Starts apps over one new database and one test provider."""
    async with AsyncExitStack() as stack:
        url = stack.enter_context(migrated_database(postgres))
        provider = stack.enter_context(Provider())

        async def begin(**changed: str) -> Beleg:
            environment = {
                "DATABASE_URL": url,
                "BELEG_DATA": str(data),
                "INFERENCE_BASE_URL": provider.url,
                "INFERENCE_API_KEY": "test",
                "LLM_MODEL": "glm-5.3-flash",
                "EMBEDDING_MODEL": "qwen3-embedding-4b",
                "EMBEDDING_DIMENSION": "64",
                "SIGN_UP": "open",
                **changed,
            }
            app = create_app(read_settings(environment))
            await stack.enter_async_context(_running(app))
            return Beleg(app, provider, environment, stack)

        yield begin


@pytest_asyncio.fixture(loop_scope="session")
async def start(postgres: str, tmp_path: Path) -> AsyncIterator[Start]:
    """Starts an app of the test's own, with the given environment."""
    async with _starting(postgres, tmp_path) as begin:
        yield begin


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def _shared(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Beleg]:
    async with _starting(postgres, tmp_path_factory.mktemp("beleg")) as begin:
        yield await begin()


@pytest.fixture
def beleg(_shared: Beleg) -> Beleg:
    """The app as it is by default, one for all tests: each takes users of its own."""
    _shared.provider.reset()
    _shared.services.accounts.attempts.forget("peer 127.0.0.1")
    return _shared


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def _speaking(
    postgres: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Beleg]:
    async with _starting(postgres, tmp_path_factory.mktemp("studio")) as begin:
        yield await begin(**SPEAKS)


@pytest.fixture
def studio(_speaking: Beleg) -> Beleg:
    """An app that reads aloud, one for all tests: each takes users of its own."""
    _speaking.provider.reset()
    return _speaking


def problem(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem object of an answer that must be one."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert body.keys() == {"type", "title", "status", "detail", "code"}
    assert body["status"] == status
    assert body["code"] == code
    assert body["detail"]
    return body
