"""Clean up after processes that died."""

from dataclasses import asdict, dataclass, replace
from datetime import timedelta

from domain.conversation import AnswerEvent, AnswerStatus, EventKind
from domain.errors import Problem
from domain.ids import SourceId
from domain.jobs import INGEST_SOURCE
from domain.ports import Clock
from domain.stores import UnitOfWork

_DIED = Problem(
    "interrupted",
    "The server was interrupted while it wrote this answer. Ask again; what was said is kept.",
)


@dataclass(frozen=True, slots=True)
class Reap:
    """End what dead processes left open. Safe to run anywhere, any time, several at once."""

    uow: UnitOfWork
    clock: Clock

    async def __call__(self) -> None:
        """End what is open and has nobody left.

        Answers without a writer fail with the text that was seen, calls without a caller become
        `unknown`, sources without a job get one.
        """
        await self._end_answers()
        async with self.uow() as tx:
            await tx.ledger.abandon()
        async with self.uow() as tx:
            for source_id, attempt in await tx.sources.stalled():
                await tx.jobs.enqueue(
                    INGEST_SOURCE, f"{SourceId(source_id)}:{attempt}", source_id=str(source_id)
                )

    async def _end_answers(self) -> None:
        async with self.uow() as tx:
            for answer in await tx.answers.abandoned():
                events = await tx.answers.events(answer.id, after=0)
                seen = "".join(e.data["text"] for e in events if e.kind is EventKind.DELTA)
                last = AnswerEvent(len(events) + 1, EventKind.ERROR, asdict(_DIED))
                await tx.ledger.abandon(answer_id=answer.id)
                await tx.answers.append(answer.id, [last], timedelta())
                await tx.answers.finish(
                    replace(
                        answer,
                        status=AnswerStatus.FAILED,
                        error=_DIED,
                        text=seen,
                        citations=tuple(await tx.answers.recorded_citations(answer.id)),
                    )
                )
