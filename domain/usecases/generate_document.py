"""Sources -> a document and its file -> rows: what a worker does to make one."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO

from domain.capture import Superseded
from domain.document import Document, DocumentKind
from domain.errors import (
    BelegError,
    ModelAnswerInvalid,
    ModelUnavailable,
    Problem,
    Unavailable,
)
from domain.ids import DocumentId, SourceId, new_id
from domain.jobs import INGEST_SOURCE
from domain.making import Attempt, Made, Maker, NoUsableDraft
from domain.ports import BlobStore, Clock
from domain.source import CaptureMode, Source, SourceKind, SourceStatus
from domain.stores import UnitOfWork

_MAX_TRIES = 5
"""Runs of a document whose model does not answer, before it fails."""
_MAX_CRASHES = 25
"""Runs of a document in all: more, and making it is what ends the process."""
_ENDS_THE_PROCESS = Problem(
    "interrupted", "Making this was interrupted again and again. Press Retry to go on."
)
_OUR_MISTAKE = Problem(
    "internal_error", "Making this failed because of a mistake in Beleg. It was logged."
)


@dataclass(frozen=True, slots=True)
class GenerateDocument:
    """Make a queued document. Running it twice is harmless, and pays for nothing twice."""

    uow: UnitOfWork
    blobs: BlobStore
    clock: Clock
    makers: Mapping[DocumentKind, Maker]

    async def __call__(self, document_id: DocumentId) -> None:
        """Run one attempt; what earlier attempts paid for is used again.

        Raises:
            Unavailable, ModelUnavailable: worth another run later.
        """
        async with self.uow() as tx:
            claimed = await tx.documents.claim(document_id)
        if claimed is None:
            return
        document, tries = claimed
        async with self.uow() as tx:  # apart: rows and account are locked in one order only
            await tx.ledger.abandon(document_id=document.id)
        if tries > _MAX_CRASHES:
            await self._fail(document, _ENDS_THE_PROCESS)
            return
        await self._run(document, tries)

    async def _run(self, document: Document, tries: int) -> None:
        try:
            made = await self.makers[document.kind](Attempt(self.uow, document))
            await self._publish(document, made)
        except Superseded:
            return
        except NoUsableDraft as error:
            await self._fail(document, error.problem)
        except ModelAnswerInvalid as error:  # billed, and asked for once more: no more unasked
            said = f"{error.message} Press Retry to have it try again."
            await self._fail(document, Problem(error.code, said))
        except (Unavailable, ModelUnavailable) as error:
            if tries < _MAX_TRIES:
                raise
            await self._fail(document, Problem(error.code, f"{error.message} Then press Retry."))
        except BelegError as error:
            await self._fail(document, error.problem)
        except Exception:  # a mistake of ours: the worker logs it and runs the job again
            if tries >= _MAX_TRIES:
                await self._fail(document, _OUR_MISTAKE)
            raise

    async def _publish(self, document: Document, made: Made) -> None:
        """The file, then source and row at once; the source is read as every other one is."""
        attempt = Attempt(self.uow, document)
        # Its row alone is held: whoever deletes it waits, and then deletes the file, too; a storage
        # that is slow keeps no question in the notebook waiting.
        async with self.uow() as tx:
            await attempt.require(tx)
            await self.blobs.put(document.key, BytesIO(made.content))
        async with self.uow() as tx:
            await tx.documents.hold_notebook(document.notebook_id)
            await attempt.require(tx)
            now = await tx.documents.find(document.id)
            title = now.title if now else document.title
            content = f"# {title}\n\n{made.text}\n".encode()
            source = self._source(document, title, content)
            await tx.sources.hold_blob(source.owner_id, source.sha256)
            kept, _ = await tx.sources.add(source)
            await tx.notebooks.link(document.notebook_id, kept.id, most=None)
            await tx.documents.publish(
                document.id, seconds=made.seconds, size=len(made.content), source_id=kept.id
            )
            await tx.jobs.enqueue(INGEST_SOURCE, f"{kept.id}:0", source_id=str(kept.id))
            # Last, and before the commit: who deletes the document waits, and then deletes it.
            await self.blobs.put(kept.blob_key, BytesIO(content))

    def _source(self, document: Document, title: str, content: bytes) -> Source:
        # No file that a person adds has this hash: theirs and what was made stay apart.
        made_for = f"document\0{document.id}\0".encode()
        return Source(
            id=SourceId(new_id()),
            owner_id=document.owner_id,
            kind=SourceKind.GENERATED,
            title=title,
            name=f"{document.kind.value}.md",
            sha256=hashlib.sha256(made_for + content).digest(),
            capture_mode=CaptureMode.TEXT,
            media_type="text/markdown",
            bytes=len(content),
            status=SourceStatus.QUEUED,
            progress=None,
            error=None,
            attempt=0,
            version_id=None,
            language="",
            pages=None,
            words=None,
            chunk_count=0,
            skipped=(),
            created_at=self.clock.now(),
        )

    async def _fail(self, document: Document, problem: Problem) -> None:
        async with self.uow() as tx:
            await tx.documents.fail(document.id, document.attempt, problem)
