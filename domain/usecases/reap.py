"""Clean up after processes that died, and what nobody asks for any more."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from functools import partial

from domain.checks import checks_of
from domain.conversation import AnswerEvent, AnswerStatus, EventKind
from domain.errors import Problem
from domain.ids import AnswerId, SourceId
from domain.jobs import DELETE_ACCOUNT, EXPORT_ACCOUNT, INGEST_SOURCE, MAKE_DOCUMENT
from domain.stores import UnitOfWork

_DIED = Problem(
    "interrupted",
    "The server was interrupted while it wrote this answer. Ask again; what was said is kept.",
)


@dataclass(frozen=True, slots=True)
class Reap:
    """End what dead processes left open. Safe to run anywhere, any time, several at once."""

    uow: UnitOfWork

    async def __call__(self) -> None:
        """End what is open and has nobody left, and forget old idempotency keys.

        Answers without a writer fail with the text that was seen, calls without a caller become
        `unknown`, sources, documents, exports and accounts that leave get the job they lost.

        Raises:
            ExceptionGroup: what went wrong, once everything else is done.
        """
        await _each(
            (
                *(self._end_answers, self._abandon_calls, self._queue_sources),
                *(self._queue_documents, self._queue_accounts, self._forget_keys),
            )
        )

    async def _end_answers(self) -> None:
        async with self.uow() as tx:
            abandoned = await tx.answers.abandoned()
        await _each(partial(self._end_answer, answer_id) for answer_id in abandoned)

    async def _end_answer(self, answer_id: AnswerId) -> None:
        async with self.uow() as tx:
            answer = await tx.answers.take_abandoned(answer_id)
            if answer is None:
                return
            events = await tx.answers.events(answer.id, after=0)
            seen = "".join(e.data["text"] for e in events if e.kind is EventKind.DELTA)
            last = AnswerEvent(len(events) + 1, EventKind.ERROR, asdict(_DIED))
            await tx.ledger.abandon(answer_id=answer.id)
            await tx.answers.append(answer.id, [last], timedelta())
            ended = replace(
                answer,
                status=AnswerStatus.FAILED,
                error=_DIED,
                text=seen,
                citations=tuple(await tx.answers.recorded_citations(answer.id)),
            )
            # Apart, as where an answer ends by itself: nothing else waits for it.
            checks = await asyncio.to_thread(checks_of, ended)
            await tx.answers.finish(replace(ended, checks=checks))

    async def _abandon_calls(self) -> None:
        async with self.uow() as tx:
            await tx.ledger.abandon()

    async def _queue_sources(self) -> None:
        async with self.uow() as tx:
            for source_id, attempt in await tx.sources.stalled():
                await tx.jobs.enqueue(
                    INGEST_SOURCE, f"{SourceId(source_id)}:{attempt}", source_id=str(source_id)
                )

    async def _queue_documents(self) -> None:
        async with self.uow() as tx:
            for document_id, attempt in await tx.documents.stalled():
                await tx.jobs.enqueue(
                    MAKE_DOCUMENT, f"{document_id}:{attempt}", document_id=str(document_id)
                )

    async def _queue_accounts(self) -> None:
        async with self.uow() as tx:
            for user_id in await tx.accounts.leaving():
                await tx.jobs.enqueue(DELETE_ACCOUNT, str(user_id), user_id=str(user_id))
            for export in await tx.exports.stalled():
                await tx.jobs.enqueue(
                    EXPORT_ACCOUNT,
                    str(export.id),
                    user_id=str(export.user_id),
                    export_id=str(export.id),
                )

    async def _forget_keys(self) -> None:
        async with self.uow() as tx:
            await tx.idempotency.forget_old()


async def _each(steps: Iterable[Callable[[], Awaitable[None]]]) -> None:
    """Run every step, whatever becomes of the others.

    Raises:
        ExceptionGroup: what went wrong.
    """
    failed: list[Exception] = []
    for step in steps:
        try:
            await step()
        except ExceptionGroup as errors:  # of a step that had steps
            failed += errors.exceptions
        except Exception as error:  # noqa: BLE001 - raised below
            failed.append(error)
    if failed:
        raise ExceptionGroup("cleaning up failed", failed)
