"""See to it that everything runs: queues, failed jobs, providers, calls of unknown end, limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from domain.account import User
from domain.audit import Act
from domain.document import DocumentStatus
from domain.errors import Conflict, NotFound, Rejected
from domain.ids import CallId, DocumentId, ExportId, SourceId, UserId
from domain.jobs import EXPORT_ACCOUNT, INGEST_SOURCE, QUEUES
from domain.ledger import NOT_SERVED, Settlement
from domain.limits import LimitName, checked
from domain.making import queue_again
from domain.operations import FailedJob, ModelHealth, OpenCall, OwnedSource, QueueState
from domain.stores import Page, UnitOfWork
from domain.usage import CallStatus, TokenUsage

_MOST_USED = 10**9


@dataclass(frozen=True, slots=True)
class Operate:
    """What an admin looks at and puts right, across all accounts.

    Args:
        most_running: documents of a kind and notebook, as the settings say it.
    """

    uow: UnitOfWork
    most_running: int

    async def queues(self) -> list[QueueState]:
        """Every queue, idle ones too."""
        async with self.uow(at_once=True) as tx:
            found = {state.name: state for state in await tx.operations.queues()}
        names = [*QUEUES, *sorted(found.keys() - set(QUEUES))]
        return [found.get(name, QueueState(name, 0, 0, 0, None)) for name in names]

    async def failed(self, *, limit: int, after: UUID | None) -> Page[FailedJob]:
        """Work that failed for good, newest first."""
        async with self.uow(at_once=True) as tx:
            return await tx.operations.failed(limit=limit, after=after)

    async def health(self) -> list[ModelHealth]:
        """How each model served its last calls."""
        async with self.uow(at_once=True) as tx:
            return await tx.operations.health()

    async def sources(self, *, limit: int, after: UUID | None) -> Page[OwnedSource]:
        """Everybody's sources with titles and summaries, newest first; not what is in them."""
        async with self.uow(at_once=True) as tx:
            return await tx.operations.sources(limit=limit, after=after)

    async def open_calls(self, *, limit: int, after: UUID | None) -> Page[OpenCall]:
        """Calls that were in flight when their process died, newest first."""
        async with self.uow(at_once=True) as tx:
            return await tx.operations.open_calls(limit=limit, after=after)

    async def retry(self, admin: User, job_id: UUID) -> None:
        """Let failed work be tried again; its owner pays, as for their own retry.

        Raises:
            NotFound: nothing of that id has failed.
            OverQuota: as many documents of its notebook are being made as may be.
        """
        source_id, export_id = SourceId(job_id), ExportId(job_id)
        async with self.uow() as tx:
            attempt = await tx.sources.requeue(source_id)
            if attempt is not None:
                await tx.jobs.enqueue(
                    INGEST_SOURCE, f"{source_id}:{attempt}", source_id=str(source_id)
                )
            elif (
                made := await tx.documents.find(DocumentId(job_id))
            ) and made.status is DocumentStatus.FAILED:
                owner, most = await tx.accounts.get(made.owner_id), self.most_running
                most = owner.limit(LimitName.RUNNING_AUDIO, most) if owner else most
                await queue_again(tx, made, most_running=most)
            elif export := await tx.exports.again(export_id, timedelta(days=7)):
                await tx.jobs.enqueue(
                    EXPORT_ACCOUNT,
                    str(export.id),
                    user_id=str(export.user_id),
                    export_id=str(export.id),
                )
            else:
                raise NotFound("Nothing of that id has failed.")
            await tx.audit.add(Act.JOB_RETRIED, admin.id, job_id=str(job_id))

    async def settle(self, admin: User, call_id: CallId, used: TokenUsage | None) -> None:
        """Say how a call of unknown end ended, as the provider's own books tell.

        What was charged too much is credited.

        Args:
            used: None where the provider did not serve it.

        Raises:
            NotFound: there is no such call.
            Conflict: its end is known.
            Rejected: it cannot have used that.
        """
        if used and not all(
            0 <= n <= _MOST_USED
            for n in (used.input_tokens, used.output_tokens, used.seconds, used.characters)
        ):
            raise Rejected(f"Tokens, seconds and characters are 0 to {_MOST_USED:,}.")
        async with self.uow() as tx:
            found = await tx.ledger.find(call_id)
            if found is None:
                raise NotFound("There is no such call.")
            call, status = found
            if status is not CallStatus.UNKNOWN:
                raise Conflict(f"How this call ended is known: {status.value}.")
            settlement = Settlement(CallStatus.SERVED, used) if used else NOT_SERVED
            await tx.ledger.settle(call, settlement)
            await tx.audit.add(
                Act.CALL_SETTLED, admin.id, call_id=str(call_id), status=settlement.status.value
            )

    async def set_limits(
        self, admin: User, user_id: UserId, amounts: Mapping[LimitName, int | None]
    ) -> User:
        """Set limits for one person, in place of the settings; None takes one back.

        Raises:
            NotFound: there is no such account.
            Rejected: an amount is not one.
        """
        checked(amounts)
        async with self.uow() as tx:
            if await tx.accounts.get(user_id) is None:
                raise NotFound("There is no such account.")
            await tx.accounts.set_limits(user_id, amounts)
            said = {name.value: str(amount) for name, amount in amounts.items()}
            await tx.audit.add(Act.LIMITS_SET, admin.id, user_id, **said)
            user = await tx.accounts.get(user_id)
        assert user is not None  # noqa: S101 - found above, in the same transaction
        return user
