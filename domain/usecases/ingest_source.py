"""Blob -> passages -> chunks -> vectors -> rows: what a worker does to a source."""

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from domain.capture import Attempt, Capture, Superseded, Unchanged, require_few_words
from domain.embedding_set import EmbeddingSet
from domain.errors import (
    BelegError,
    ModelAnswerInvalid,
    ModelUnavailable,
    Problem,
    Unavailable,
)
from domain.ids import ChunkId, SourceId, VersionId, new_id
from domain.jobs import SUMMARISE_SOURCE
from domain.language import detect
from domain.limits import LimitName
from domain.metering import MeteredEmbedder, Payer
from domain.passage import Chunk, Passage
from domain.ports import Chunker, Embedded, Vectors
from domain.source import Progress, Reading, Source, SourceKind, Stage
from domain.stores import Stores, UnitOfWork
from domain.terms import ANALYSER, chunk_terms, weight
from domain.usage import about_tokens

_MAX_TRIES = 8
"""Runs of a source whose model does not answer, before it fails."""
_MAX_CRASHES = 25
"""Runs of a source in all: more, and reading it is what ends the process."""
_PARALLEL_CALLS = 4
"""Embedding calls in flight at once, of all sources: what a kill can cost."""
_ENDS_THE_PROCESS = Problem(
    "unreadable", "Reading this file ended the reading process again and again."
)
_OUR_MISTAKE = Problem(
    "internal_error",
    "Reading this file failed because of a mistake in Beleg. It was logged; the file is kept.",
)

Posting = tuple[str, list[int], list[float]]


@dataclass(frozen=True, slots=True)
class IngestSettings:
    """Limits of one source, checked before anything is spent.

    Args:
        max_words: words of all its passages.
        batch_tokens: estimated tokens one embedding call may carry.
        summaries: True where a source that is ready is summarised.
    """

    max_words: int = 200_000
    batch_tokens: int = 20_000
    summaries: bool = True


@dataclass(frozen=True, slots=True)
class IngestSource:
    """Turn an uploaded file into searchable rows. Running it twice is harmless."""

    uow: UnitOfWork
    capture: Capture
    chunker: Chunker
    embedder: MeteredEmbedder
    embedding_set: EmbeddingSet
    settings: IngestSettings
    gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_PARALLEL_CALLS))
    """Held from a call's intent until its result is committed."""

    async def __call__(self, source_id: SourceId) -> None:
        """Run one attempt; what earlier attempts paid for is used again.

        Raises:
            Unavailable, ModelUnavailable, ModelAnswerInvalid: worth another run later.
        """
        async with self.uow() as tx:
            claimed = await tx.sources.claim(source_id)
            if claimed is None:
                return
        source, tries = claimed
        async with self.uow() as tx:  # apart: rows and account are locked in one order only
            await tx.ledger.abandon(source_id=source_id)
        if tries > _MAX_CRASHES:
            await self._fail(source, _ENDS_THE_PROCESS)
            return
        try:
            await self._ingest(source)
        except Superseded:
            return
        except Unchanged:
            await self._keep(source)
        except (Unavailable, ModelUnavailable, ModelAnswerInvalid) as error:
            if tries < _MAX_TRIES:
                raise
            await self._fail(source, Problem(error.code, f"{error.message} Then press Retry."))
        except BelegError as error:
            await self._fail(source, error.problem)
        except Exception:  # a mistake of ours: the worker logs it and runs the job again
            if tries >= _MAX_TRIES:
                await self._fail(source, _OUR_MISTAKE)
            raise

    async def _ingest(self, source: Source) -> None:
        async with self.uow() as tx:
            paid = await tx.index.paid(source.id, self.embedding_set.id)
            owner = await tx.accounts.get(source.owner_id)
        most_words = self.settings.max_words
        if owner:
            most_words = owner.limit(LimitName.WORDS, most_words)
        reading = await self._read(source, most_words, quietly=bool(paid))
        chunks, language = await asyncio.to_thread(self._cut, reading)
        indexing = asyncio.create_task(asyncio.to_thread(postings_of, chunks))
        vectors = await self._embed(source, chunks, paid)
        postings = await indexing
        version_id = VersionId(new_id())
        async with self.uow() as tx:
            await tx.sources.hold_blob(source.owner_id, source.sha256)
            await self._still_mine(tx, source)
            await tx.sources.publish(
                source,
                version_id,
                reading,
                chunker=self.chunker.name,
                analyser=ANALYSER,
                language=language,
                chunk_count=len(chunks),
            )
            keyed = [(ChunkId(new_id()), chunk) for chunk in chunks]
            await tx.index.write(version_id, self.embedding_set.id, keyed, vectors, postings)
            await tx.index.forget_paid(source.id)
            await tx.transcripts.forget(source.id)
            await self.capture.adopt(tx, source)
            await self.capture.end(source)
            if self.settings.summaries and source.kind is not SourceKind.GENERATED:
                await tx.jobs.enqueue(SUMMARISE_SOURCE, str(version_id), version_id=str(version_id))

    async def _keep(self, source: Source) -> None:
        """End with the version that is there; the bytes may be others that say the same."""
        async with self.uow() as tx:
            await tx.sources.hold_blob(source.owner_id, source.sha256)
            if await tx.sources.still_mine(source.id, source.attempt):
                await tx.fetches.settle(source.id)
                await tx.transcripts.forget(source.id)
                await tx.index.forget_paid(source.id)
                await self.capture.adopt(tx, source)
                await self.capture.end(source)

    async def _read(self, source: Source, most_words: int, *, quietly: bool) -> Reading:
        """The file's passages, each with its language.

        Args:
            quietly: show no progress, because a later stage was shown already.
        """

        async def show(progress: Progress) -> None:
            if not quietly:
                await self._show(source, progress)

        async def require(tx: Stores) -> None:
            await self._still_mine(tx, source)

        reading = await self.capture(Attempt(source, show, require, most_words))
        if source.version_id is not None:
            async with self.uow() as tx:
                before = await tx.sources.passages(source.version_id)
            if [_said(p) for p in before] == [_said(p) for p in reading.passages]:
                raise Unchanged
        require_few_words(reading.words, most_words)
        return await asyncio.to_thread(self._judged, reading)

    def _judged(self, reading: Reading) -> Reading:
        passages = tuple(replace(p, language=detect(p.text)) for p in reading.passages)
        return replace(reading, passages=passages)

    def _cut(self, reading: Reading) -> tuple[list[Chunk], str]:
        sizes: dict[str, int] = defaultdict(int)
        for passage in reading.passages:
            sizes[passage.language] += len(passage.text)
        return self.chunker.chunk(reading.passages), max(sizes, key=sizes.__getitem__)

    async def _embed(
        self, source: Source, chunks: Sequence[Chunk], paid: dict[bytes, Vectors]
    ) -> Vectors:
        """A vector a chunk. Each batch is kept as it is paid for, and progress with it."""
        batches = list(self._batches(chunks))
        found: list[Vectors | None] = [paid.get(_hash(batch)) for batch in batches]
        missing = [n for n, vectors in enumerate(found) if vectors is None]
        await self._show(source, self._progress(batches, found))
        payer = Payer(source.owner_id, source_id=source.id)
        failed: list[Exception] = []

        async def before(tx: Stores) -> None:
            await self._still_mine(tx, source)

        async def pay_for(n: int) -> None:
            async def keep(tx: Stores, embedded: Embedded) -> None:
                found[n] = embedded.vectors
                await tx.index.keep_paid(
                    source.id, self.embedding_set.id, _hash(batches[n]), embedded.vectors
                )
                await tx.sources.show_progress(
                    source.id, source.attempt, self._progress(batches, found)
                )

            async with self.gate:
                if failed:
                    return
                try:
                    await self.embedder.embed(
                        batches[n], "passage", payer, before=before, after=keep
                    )
                except Exception as error:  # noqa: BLE001 - raised below
                    failed.append(error)

        # A failure starts no more calls, but those in flight are paid for: their results are kept.
        async with asyncio.TaskGroup() as group:
            for n in missing:
                group.create_task(pay_for(n))
        if failed:
            raise failed[0]
        return np.concatenate([vectors for vectors in found if vectors is not None])

    def _batches(self, chunks: Sequence[Chunk]) -> Iterator[list[str]]:
        """The texts of the chunks, in order, in calls of bounded count and tokens."""
        batch: list[str] = []
        tokens = 0
        for chunk in chunks:
            size = about_tokens(chunk.indexed_text)
            full = len(batch) == self.embedder.embedder.max_batch_items
            if batch and (full or tokens + size > self.settings.batch_tokens):
                yield batch
                batch, tokens = [], 0
            batch.append(chunk.indexed_text)
            tokens += size
        yield batch

    @staticmethod
    def _progress(batches: Sequence[list[str]], found: Sequence[Vectors | None]) -> Progress:
        done = sum(len(vectors) for vectors in found if vectors is not None)
        return Progress(Stage.EMBEDDING, done, sum(map(len, batches)))

    async def _show(self, source: Source, progress: Progress) -> None:
        async with self.uow() as tx:
            if not await tx.sources.show_progress(source.id, source.attempt, progress):
                raise Superseded

    @staticmethod
    async def _still_mine(tx: Stores, source: Source) -> None:
        if not await tx.sources.still_mine(source.id, source.attempt):
            raise Superseded

    async def _fail(self, source: Source, problem: Problem) -> None:
        async with self.uow() as tx:
            if await tx.sources.still_mine(source.id, source.attempt):
                await tx.sources.fail(source.id, source.attempt, problem)
                await self.capture.end(source)


def _said(passage: Passage) -> tuple[int | None, str, str]:
    return passage.page, passage.label, passage.text


def postings_of(chunks: Sequence[Chunk]) -> list[Posting]:
    """The inverted index of a version: for each term the chunks that hold it, and its weight.

    In the order of the terms, in which rows are written fastest.
    """
    index: dict[str, Posting] = {}
    for chunk in chunks:
        for term, frequency in chunk_terms(chunk.indexed_text, chunk.language).items():
            if (posting := index.get(term)) is None:
                posting = index[term] = (term, [], [])
            posting[1].append(chunk.ordinal)
            posting[2].append(weight(frequency))
    return [index[term] for term in sorted(index)]


def _hash(texts: Sequence[str]) -> bytes:
    return hashlib.sha256("\0".join(texts).encode()).digest()
