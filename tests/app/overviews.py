"""Audio overviews that are asked for and made, the worker's part in the test's own process."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import httpx
import psycopg

from domain.conversation import Citation
from domain.document import DocumentKind, NewDocument
from domain.ids import DocumentId, NotebookId, UserId, new_id
from domain.limits import LimitName
from tests.app.conftest import Beleg

TEXT = "The bridge was built in 1932. It is red and carries many cars every day. " * 5
Json = dict[str, Any]


async def ready(beleg: Beleg) -> tuple[httpx.AsyncClient, str, str]:
    """A person, their notebook, and a source in it that is ready."""
    client = await beleg.user()
    notebook = await beleg.notebook(client)
    return client, notebook, await beleg.text(client, notebook, TEXT)


async def ask(client: httpx.AsyncClient, notebook: str, **wanted: object) -> httpx.Response:
    body = {"kind": "audio_overview", **wanted}
    return await client.post(f"/notebooks/{notebook}/documents", json=body)


async def queued(client: httpx.AsyncClient, notebook: str, **wanted: object) -> str:
    response = await ask(client, notebook, **wanted)
    assert response.status_code == 202, response.text
    return str(response.json()["id"])


async def written(
    beleg: Beleg, owner: UserId, notebook: str, text: str, citations: Sequence[Citation] = ()
) -> str:
    """One that is written, but not spoken yet."""
    document = NewDocument(
        *(DocumentId(new_id()), NotebookId(UUID(notebook)), owner, DocumentKind.AUDIO_OVERVIEW),
        title=text,
        focus="",
        language="en",
        voices=("willow",),
        source_ids=(),
    )
    async with beleg.services.accounts.uow() as tx:
        await tx.documents.add(document)
        await tx.documents.keep_text(document.id, "", text, tuple(citations))
    return str(document.id)


async def make(beleg: Beleg, document: str) -> None:
    await beleg.services.generate_document(DocumentId(UUID(document)))


async def told(client: httpx.AsyncClient, document: str) -> Json:
    response = await client.get(f"/documents/{document}")
    assert response.status_code == 200, response.text
    found: Json = response.json()
    return found


def calls(beleg: Beleg, kind: str) -> int:
    return sum(entry.kind == kind for entry in beleg.provider.ledger)


async def me(client: httpx.AsyncClient) -> str:
    return str((await client.get("/me")).json()["id"])


async def limited(
    beleg: Beleg, client: httpx.AsyncClient, limits: Mapping[str, int | None]
) -> None:
    user = UserId(UUID(await me(client)))
    async with beleg.services.accounts.uow() as tx:
        await tx.accounts.set_limits(user, {LimitName(k): v for k, v in limits.items()})


def sql(beleg: Beleg, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(beleg.environment["DATABASE_URL"], autocommit=True) as connection:
        done = connection.execute(statement.encode())
        return done.fetchall() if done.description else []
