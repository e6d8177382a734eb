"""Chunk, vector and posting rows, and the search over them."""

from collections.abc import Sequence

import numpy as np

from adapters.postgres.rows import Store, hit_of, statement
from domain.embedding_set import EmbeddingSet
from domain.ids import ChunkId, SourceId, VersionId
from domain.passage import Chunk
from domain.ports import Vectors
from domain.query import Query
from domain.retrieval import Hit, RetrievalSettings, Scope

_SEARCH = statement("search")
_REACH = 200
"""Nearest chunks among which the best of each source is sought."""


class PostgresIndex(Store):
    """The `Index` port."""

    async def active_set(self) -> EmbeddingSet | None:
        row = await self._one(
            "select id, model, dimension, chunker from embedding_sets where active"
        )
        return EmbeddingSet(row.id, row.model, row.dimension, row.chunker) if row else None

    async def activate(self, model: str, dimension: int, chunker: str) -> EmbeddingSet:
        await self._run("lock table embedding_sets in share row exclusive mode")
        await self._run("update embedding_sets set active = false where active")
        row = await self._one(
            "insert into embedding_sets (model, dimension, chunker, active, created_at)"
            " values (:model, :dimension, :chunker, true, now())"
            " on conflict (model, dimension, chunker) do update set active = true returning id",
            model=model,
            dimension=dimension,
            chunker=chunker,
        )
        assert row is not None  # noqa: S101 - inserted or updated
        return EmbeddingSet(row.id, model, dimension, chunker)

    async def is_empty(self, set_id: int) -> bool:
        row = await self._one(
            "select 1 from chunk_vectors where set_id = :set_id limit 1", set_id=set_id
        )
        return row is None

    async def paid(self, source_id: SourceId, set_id: int) -> dict[bytes, Vectors]:
        rows = await self._all(
            "select p.texts_hash, p.vectors, s.dimension from paid_embeddings p"
            " join embedding_sets s on s.id = p.set_id"
            " where p.source_id = :source_id and p.set_id = :set_id",
            source_id=source_id,
            set_id=set_id,
        )
        return {
            row.texts_hash: np.frombuffer(row.vectors, np.float32).reshape(-1, row.dimension)
            for row in rows
        }

    async def keep_paid(
        self, source_id: SourceId, set_id: int, texts_hash: bytes, vectors: Vectors
    ) -> None:
        await self._run(
            # Nothing is kept for a source that is gone, or that another attempt made ready.
            "insert into paid_embeddings (source_id, set_id, texts_hash, vectors)"
            " select id, :set_id, :texts_hash, :vectors from sources"
            " where id = :source_id and status <> 'ready' for no key update"
            " on conflict do nothing",
            source_id=source_id,
            set_id=set_id,
            texts_hash=texts_hash,
            vectors=vectors.astype(np.float32).tobytes(),
        )

    async def forget_paid(self, source_id: SourceId) -> None:
        await self._run("delete from paid_embeddings where source_id = :id", id=source_id)

    async def vectors(self, version_id: VersionId, set_id: int) -> tuple[list[Chunk], Vectors]:
        rows = await self._all(
            "select c.*, v.embedding from chunks c join chunk_vectors v"
            " on v.version_id = c.version_id and v.ordinal = c.ordinal"
            " where c.version_id = :version_id and v.set_id = :set_id order by c.ordinal",
            version_id=version_id,
            set_id=set_id,
        )
        chunks = [
            Chunk(
                *(row.ordinal, row.passage, row.page, row.start_at, row.end_at),
                *(row.text, row.heading, row.language),
            )
            for row in rows
        ]
        found = [np.asarray(row.embedding, np.float32) for row in rows]
        return chunks, np.stack(found) if found else np.empty((0, 0), np.float32)

    async def write(
        self,
        version_id: VersionId,
        set_id: int,
        chunks: Sequence[tuple[ChunkId, Chunk]],
        vectors: Vectors,
        postings: Sequence[tuple[str, list[int], list[float]]],
    ) -> None:
        await self._copy(
            "chunks",
            (
                *("id", "version_id", "ordinal", "passage", "page", "start_at", "end_at"),
                *("heading", "language", "text"),
            ),
            [
                (
                    i,
                    version_id,
                    c.ordinal,
                    c.passage,
                    c.page,
                    c.start,
                    c.end,
                    c.heading,
                    c.language,
                    c.text,
                )
                for i, c in chunks
            ],
        )
        await self._copy(
            "chunk_vectors",
            ("version_id", "ordinal", "set_id", "embedding"),
            [(version_id, c.ordinal, set_id, v) for (_, c), v in zip(chunks, vectors, strict=True)],
        )
        await self._copy(
            "postings",
            ("version_id", "term", "ordinals", "weights"),
            [(version_id, *posting) for posting in postings],
        )

    async def search(
        self,
        scope: Scope,
        set_id: int,
        vector: Vectors,
        query: Query,
        settings: RetrievalSettings,
    ) -> list[Hit]:
        alone = scope.about is not None
        k = settings.scoped_k if alone else settings.k
        candidates = max(settings.candidates, k)
        sought = [
            (term, n, share)
            for n, word in enumerate(query.words)
            for terms, share in ((word.variants, 1.0), (word.halves, 0.5))
            for term in terms
        ]
        required = [
            (term, part, number)
            for number, condition in enumerate(query.conditions, 1)
            for part, terms in enumerate(condition.parts)
            for term in terms
        ]
        rows = await self._all(
            _SEARCH,
            notebook_id=scope.notebook_id,
            source_ids=None if scope.source_ids is None else list(scope.source_ids),
            about=scope.about,
            set_id=set_id,
            vector=vector,
            terms=[term for term, _, _ in sought],
            words=[n for _, n, _ in sought],
            shares=[share for _, _, share in sought],
            required=[term for term, _, _ in required],
            parts=[part for _, part, _ in required],
            numbers=[number for _, _, number in required],
            sizes=[len(condition.parts) for condition in query.conditions],
            patterns=[condition.pattern for condition in query.conditions],
            excludes=[condition.excludes for condition in query.conditions],
            mode=settings.mode.value,
            candidates=candidates,
            reach=max(_REACH, candidates) if settings.diversity else candidates,
            rrf_k=settings.rrf_k,
            floor=-1.0 if alone else settings.floor,
            generated_slots=k if alone else settings.generated_slots,
            diversity=settings.diversity,
            k=k,
        )
        return [hit_of(row, rank) for rank, row in enumerate(rows, 1)]
