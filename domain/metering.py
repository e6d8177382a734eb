"""Model calls that are accounted for: intent before, settlement after, retries between."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from typing import Any, Literal, Protocol, TypeVar

from domain.errors import (
    ModelAnswerInvalid,
    ModelError,
    ModelUnavailable,
    Unavailable,
    is_unsent,
)
from domain.ids import AnswerId, CallId, DocumentId, NotebookId, SourceId, UserId, new_id
from domain.ledger import NOT_SERVED, Intent, Settlement
from domain.parallel import both
from domain.ports import Clock, Embedded, Embedder
from domain.prices import PriceList
from domain.stores import Stores, UnitOfWork
from domain.usage import CallKind, CallStatus, TokenUsage, most_tokens

CALL_LEASE = timedelta(seconds=20)
"""A pending call whose lease was not renewed for so long belongs to a dead process."""

_UNAVAILABLE_TRIES = 5
_INVALID_TRIES = 2
_WAIT_MAX_S = 30.0
_LONGEST_ERROR = 500
_IMPOSSIBLE = "The provider reported a usage that cannot be. It is billed at the most it may be."
_SETTLE_TRIES = 60
"""Seconds that a bill waits for its database; then its call stands as unknown, at its bound."""


@dataclass(frozen=True, slots=True)
class Payer:
    """Who pays for a call, and for what it is made."""

    user_id: UserId
    notebook_id: NotebookId | None = None
    source_id: SourceId | None = None
    answer_id: AnswerId | None = None
    document_id: DocumentId | None = None


def bill(status: CallStatus, usage: TokenUsage, bound: TokenUsage, error: str = "") -> Settlement:
    """What a call cost that used so much; its bound where none like it can have.

    Less than nothing would be paid out, and a number beyond reason takes all of a credit.
    """
    if usage.may_be_of(bound):
        return Settlement(status, usage, error)
    why = error if usage.estimated else _IMPOSSIBLE
    return Settlement(status, replace(bound, estimated=True), why)


def settlement_of(error: ModelError, bound: TokenUsage) -> Settlement:
    """How a call that went wrong is billed."""
    said = error.message[:_LONGEST_ERROR]
    not_served = replace(NOT_SERVED, error=said)
    if isinstance(error, ModelUnavailable):
        if not error.may_be_billed:
            return not_served
        # Sent, and no answer came: it may have read the input, it gave nothing back.
        return Settlement(CallStatus.CUT, replace(bound, output_tokens=0, estimated=True), said)
    if error.usage is None:
        return not_served
    served = isinstance(error, ModelAnswerInvalid)
    return bill(CallStatus.SERVED if served else CallStatus.CUT, error.usage, bound, said)


def wait_s(error: ModelError, tries: int) -> float | None:
    """Seconds to wait before the next try; None where there is no next one.

    Args:
        tries: calls made so far, this one included.
    """
    if isinstance(error, ModelAnswerInvalid):
        return 0.0 if tries < _INVALID_TRIES else None
    if not isinstance(error, ModelUnavailable) or tries >= _UNAVAILABLE_TRIES:
        return None
    backoff = min(0.25 * 2.0**tries, _WAIT_MAX_S)
    asked = error.retry_after_s
    if asked is None:
        return backoff
    return asked if asked <= _WAIT_MAX_S else None


class Used(Protocol):
    """The result of a call, which tells what the call used."""

    @property
    def usage(self) -> TokenUsage:
        """As the provider reported it, or an estimate."""
        ...


R = TypeVar("R", bound=Used)
Before = Callable[[Stores], Awaitable[None]]
After = Callable[[Stores, R], Awaitable[None]]
Beside = Callable[[R], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Call:
    """A model call to be made.

    Args:
        bound: the most it may use.
    """

    kind: CallKind
    model: str
    bound: TokenUsage
    payer: Payer


@dataclass(frozen=True, slots=True)
class Meter:
    """Makes model calls, each of which is a row of the ledger. A process has one."""

    prices: PriceList
    uow: UnitOfWork
    clock: Clock
    in_flight: set[CallId] = field(default_factory=set)

    def intent(self, call: Call) -> Intent:
        """The row of the call's next try.

        Raises:
            NoPrice: its model has none.
        """
        return Intent(
            id=CallId(new_id()),
            user_id=call.payer.user_id,
            kind=call.kind,
            model=call.model,
            price=self.prices.of(call.model),
            bound=call.bound,
            notebook_id=call.payer.notebook_id,
            source_id=call.payer.source_id,
            answer_id=call.payer.answer_id,
            document_id=call.payer.document_id,
        )

    async def run(
        self,
        call: Call,
        make: Callable[[], Awaitable[R]],
        *,
        opened: Intent | None = None,
        before: Before | None = None,
        after: After[R] | None = None,
        beside: Beside[R] | None = None,
        tries: int = _UNAVAILABLE_TRIES,
    ) -> R:
        """Make the call, retrying what is worth it; each try is a call of its own.

        Args:
            make: one request to the model; raises ModelError.
            opened: the intent of the first try, where the caller's transaction wrote it already.
            before: run in the transaction that opens a call; may raise to prevent it.
            after: run in the transaction that settles a served call: what it stores there is
                paid for once, however often the caller is killed. A commit whose answer is lost
                has it run again.
            beside: run at the same time as that transaction, and outside of it.
            tries: requests at most.

        Raises:
            OutOfCredit: before anything is spent.
            ModelError: the last try's.
        """
        for made in range(1, tries + 1):
            intent = opened if opened and made == 1 else await self._open(call, before)
            try:
                return await self._make(intent, make, after, beside)
            except ModelError as error:
                pause = wait_s(error, made)
                if pause is None or made == tries:
                    raise
                await self.clock.sleep(pause)
        raise ModelUnavailable

    async def renew(self) -> None:
        """Renew the leases of the calls in flight, to be done every few seconds.

        Raises:
            Unavailable: the database does not answer; try again before the leases end.
        """
        if self.in_flight:
            async with self.uow(at_once=True) as tx:
                await tx.ledger.renew(tuple(self.in_flight), CALL_LEASE)

    async def _make(
        self,
        intent: Intent,
        make: Callable[[], Awaitable[R]],
        after: After[R] | None,
        beside: Beside[R] | None,
    ) -> R:
        """Make one call and settle it, however it ends."""
        with self._flying(intent):
            try:
                result = await make()
            except ModelError as error:
                await _to_its_end(self._settle(intent, settlement_of(error, intent.bound)))
                raise
            except asyncio.CancelledError as error:
                cut = Settlement(CallStatus.CUT, intent.bound)
                await _to_its_end(self._settle(intent, NOT_SERVED if is_unsent(error) else cut))
                raise
            kept = _to_its_end(self._keep(intent, result, after))
            await (both(beside(result), kept) if beside else kept)
            return result

    @contextmanager
    def _flying(self, intent: Intent) -> Iterator[None]:
        """In flight within the block, and no longer: one that cannot be settled loses its lease."""
        self.in_flight.add(intent.id)
        try:
            yield
        finally:
            self.in_flight.discard(intent.id)

    async def _open(self, call: Call, before: Before | None) -> Intent:
        intent = self.intent(call)
        try:
            async with self.uow(at_once=before is None) as tx:
                if before:
                    await before(tx)
                await tx.ledger.open(intent, CALL_LEASE)
        except asyncio.CancelledError:  # after the commit, perhaps: nothing was sent all the same
            await _to_its_end(self._settle(intent, NOT_SERVED))
            raise
        return intent

    async def _keep(self, intent: Intent, result: R, after: After[R] | None) -> None:
        settlement = bill(CallStatus.SERVED, result.usage, intent.bound)
        try:
            await self._settle(intent, settlement, after and (lambda tx: after(tx, result)))
        except Unavailable:
            raise  # it was awaited long enough
        except Exception:
            # Served is served: the bill stands, whatever becomes of the result.
            await self._settle(intent, settlement)
            raise

    async def _settle(
        self,
        intent: Intent,
        settlement: Settlement,
        keep: Callable[[Stores], Awaitable[None]] | None = None,
    ) -> None:
        """Write the bill, and what it paid for: both are known here alone.

        A database that is away is awaited; where only its answer was lost, this runs twice.
        """
        for tries in count(1):
            try:
                async with self.uow(at_once=keep is None) as tx:
                    if keep:
                        await keep(tx)
                    # The account last, here and in `_open`: all calls of a person wait for its
                    # row, which is held from here to the commit, and none waits in a ring.
                    await tx.ledger.settle(intent, settlement)
            except Unavailable:
                if tries == _SETTLE_TRIES:
                    raise
                await self.clock.sleep(1.0)
            else:
                return


@dataclass(frozen=True, slots=True)
class MeteredEmbedder:
    """An embedder whose every call is a row of the ledger."""

    embedder: Embedder
    meter: Meter

    def intent(self, texts: Sequence[str], payer: Payer) -> Intent:
        """The call that `embed` would make."""
        return self.meter.intent(self._call(texts, payer))

    async def embed(
        self,
        texts: Sequence[str],
        role: Literal["question", "passage"],
        payer: Payer,
        *,
        opened: Intent | None = None,
        before: Before | None = None,
        after: After[Embedded] | None = None,
        beside: Beside[Embedded] | None = None,
    ) -> Embedded:
        """Embed by `Meter.run`; see there."""
        return await self.meter.run(
            self._call(texts, payer),
            lambda: self.embedder.embed(texts, role=role),
            opened=opened,
            before=before,
            after=after,
            beside=beside,
        )

    def _call(self, texts: Sequence[str], payer: Payer) -> Call:
        bound = TokenUsage(sum(most_tokens(text) + 8 for text in texts), 0, estimated=True)
        return Call(CallKind.EMBEDDING, self.embedder.model, bound, payer)


async def _to_its_end(settling: Coroutine[Any, Any, None]) -> None:
    """Run it whole, even where the caller is cancelled meanwhile: a bill is never dropped."""
    task = asyncio.ensure_future(settling)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})  # which goes on, where the caller is cancelled once more
        raise
