"""Search a notebook without asking a model to answer."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

import msgspec

from domain.access import Role
from domain.account import User
from domain.embedding_set import EmbeddingSet
from domain.errors import Conflict, NotFound, Rejected, Unavailable
from domain.ids import NotebookId, SourceId
from domain.language import detect_question
from domain.metering import MeteredEmbedder, Payer
from domain.notebook import languages_of, may_hold_answers
from domain.ports import Embedded
from domain.query import search_query, wanted
from domain.reranking import MeteredReranker
from domain.retrieval import Hit, RetrievalMode, RetrievalSettings, Scope
from domain.stores import KEY_LEASE, Stores, UnitOfWork
from domain.text_gate import clean

_MAX_QUERY = 8000
_MAX_K = 100
_TRIES, _PAUSE_S = 150, 0.2
"""How often and how long a repeated request waits for the first one, longer than a lease."""


@dataclass(frozen=True, slots=True)
class _Request:
    """A request that may come again."""

    key: str
    body_hash: bytes


@dataclass(frozen=True, slots=True)
class SearchNotebook:
    """The chunks that a question would be answered from."""

    uow: UnitOfWork
    embedder: MeteredEmbedder
    embedding_set: EmbeddingSet
    settings: RetrievalSettings
    reranker: MeteredReranker | None = None

    async def __call__(
        self,
        user: User,
        notebook_id: NotebookId,
        query: str,
        *,
        k: int | None = None,
        source_ids: Sequence[SourceId] | None = None,
        mode: RetrievalMode | None = None,
        idempotency_key: str | None = None,
    ) -> list[Hit]:
        """Best first.

        One embedding call, and one of the reranker if there is one; none where there is nothing
        to search.

        Raises:
            NotFound, Rejected, Conflict, OutOfCredit, ModelError.
        """
        text = await self._checked(user, notebook_id, query, k)
        settings = replace(self.settings, k=k or self.settings.k, mode=mode or self.settings.mode)
        scope = Scope(notebook_id, source_ids)
        if not idempotency_key:
            return await self._search(user, scope, text, settings, None)
        asked = ("search", notebook_id, query, k, source_ids, mode)
        request = _Request(
            idempotency_key, hashlib.sha256(repr(asked).encode("utf-8", "replace")).digest()
        )
        first = await self._first_answer(user, request)
        if first is not None:
            return first
        async with self._at_work(user, request):
            return await self._search(user, scope, text, settings, request)

    async def _checked(self, user: User, notebook_id: NotebookId, query: str, k: int | None) -> str:
        text = clean(query).strip()
        async with self.uow() as tx:
            if await tx.notebooks.get(notebook_id, user.id, at_least=Role.ASK) is None:
                raise NotFound("There is no such notebook.")
            if not text or len(text) > _MAX_QUERY:
                raise Rejected(f"A query has 1 to {_MAX_QUERY:,} characters.")
            if k is not None and not 1 <= k <= _MAX_K:
                raise Rejected(f"k is 1 to {_MAX_K}.")
        return text

    async def _first_answer(self, user: User, request: "_Request") -> list[Hit] | None:
        """What the first request with this key found and they may still see; None for the first."""
        for _ in range(_TRIES):
            async with self.uow() as tx:
                known = await tx.idempotency.recall(user.id, request.key, request.body_hash)
                if known is None:
                    await tx.idempotency.remember(user.id, request.key, request.body_hash, "")
                    return None
                if known:
                    hits = msgspec.json.decode(known, type=list[Hit])
                    seen = await tx.sources.seen({hit.source_id for hit in hits}, user.id)
                    return [hit for hit in hits if hit.source_id in seen]
            await self.embedder.meter.clock.sleep(_PAUSE_S)
        raise Conflict("The first request with this key is still at work. Ask again in a moment.")

    @asynccontextmanager
    async def _at_work(self, user: User, request: "_Request") -> AsyncIterator[None]:
        """Hold the request's key until the block ends; it is free again where that fails."""
        renewing = asyncio.create_task(self._renew(user, request))
        try:
            yield
        except BaseException:
            async with self.uow() as tx:
                await tx.idempotency.forget(user.id, request.key)
            raise
        finally:
            renewing.cancel()

    async def _renew(self, user: User, request: "_Request") -> None:
        while True:
            await self.embedder.meter.clock.sleep(KEY_LEASE.total_seconds() / 4)
            with suppress(Unavailable):
                async with self.uow(at_once=True) as tx:
                    await tx.idempotency.renew(user.id, request.key)

    async def _search(
        self,
        user: User,
        scope: Scope,
        text: str,
        settings: RetrievalSettings,
        request: "_Request | None",
    ) -> list[Hit]:
        hits: list[Hit] = []

        async def remember(tx: Stores) -> None:
            if request:
                kept = await tx.sources.still_there({hit.source_id for hit in hits})
                hits[:] = [hit for hit in hits if hit.source_id in kept]
                found = msgspec.json.encode(hits).decode()
                await tx.idempotency.remember(user.id, request.key, request.body_hash, found)

        async with self.uow() as tx:
            documents = await tx.notebooks.holdings(scope.notebook_id)
            if not may_hold_answers(documents, scope.source_ids, None):
                await remember(tx)
                return hits

        async def search(tx: Stores, embedded: Embedded) -> None:
            language = detect_question(text)
            languages = languages_of(documents)
            hits[:] = await tx.index.search(
                scope,
                self.embedding_set.id,
                embedded.vectors[0],
                search_query(text, language, languages),
                reranker.widened(settings) if reranker else settings,
            )
            if reranker is None:
                await remember(tx)

        reranker = self.reranker
        payer = Payer(user.id, notebook_id=scope.notebook_id)
        await self.embedder.embed([wanted(text)], "question", payer, after=search)
        if reranker:
            hits[:] = await reranker.best(text, hits, settings.k, payer)
            async with self.uow() as tx:
                await remember(tx)
        return hits
