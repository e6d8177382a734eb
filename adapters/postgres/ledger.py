"""Rows of model calls, and the credit they draw on."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from adapters.postgres.connection import Row
from adapters.postgres.rows import Store, page_of
from domain.errors import OutOfCredit
from domain.ids import AnswerId, CallId, DocumentId, SourceId, UserId
from domain.ledger import CallTotal, Intent, Settlement, UsageGroup, UsageRow
from domain.stores import Page
from domain.usage import CallKind, CallStatus, Price, TokenUsage

_GROUPS = {
    "day": "to_char(created_at at time zone 'UTC', 'YYYY-MM-DD')",
    "kind": "kind",
    "model": "model",
    "notebook": "cast(notebook_id as text)",
}

_SETTLED = """
update model_calls c set status = :status, input_tokens = :input_tokens,
    output_tokens = :output_tokens, seconds = nullif(cast(:seconds as numeric), 0),
    characters = nullif(cast(:characters as bigint), 0),
    estimated = :estimated, cost = :cost, error = :error, settled_at = now()
from (select id, status, cost from model_calls
    where id = :id and status in ('pending', 'unknown') for update) as open
where c.id = open.id
returning c.user_id, c.cost - open.cost as charge,
    case when open.status = 'pending' then c.reserved else 0 end as released
"""
"""An unknown call was charged at its bound already, and its reservation released."""

_CHARGED = """
update users u set reserved = u.reserved - released,
    -- Credit that other calls hold is not taken: an overrun is the operator's loss.
    credit = greatest(u.credit - charge, u.reserved - released)
from settled where u.id = settled.user_id
"""


def usage_row(row: Row) -> UsageRow:
    """A call from its columns."""
    return UsageRow(
        id=row.id,
        kind=CallKind(row.kind),
        model=row.model,
        status=CallStatus(row.status),
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        seconds=row.seconds,
        characters=row.characters,
        estimated=row.estimated,
        input_price=row.input_price,
        output_price=row.output_price,
        minute_price=row.minute_price,
        character_price=row.character_price,
        cost=row.cost,
        created_at=row.created_at,
        notebook_id=row.notebook_id,
        source_id=row.source_id,
        answer_id=row.answer_id,
        document_id=row.document_id,
    )


def _uncovered(amount: Decimal) -> OutOfCredit:
    return OutOfCredit(
        f"This may cost up to {amount.normalize():f} USD, more than your credit covers."
        " Ask the admin for more."
    )


class PostgresLedger(Store):
    """The `Ledger` port."""

    async def require(self, user_id: UserId, amount: Decimal) -> None:
        if not amount:
            return
        row = await self._one(
            "select 1 from users where id = :id and credit - reserved >= :amount",
            id=user_id,
            amount=amount,
        )
        if row is None:
            raise _uncovered(amount)

    async def open(
        self, intent: Intent, lease: timedelta, *, besides: Decimal = Decimal(0)
    ) -> None:
        reserved = intent.price.cost(intent.bound)
        needed = reserved + besides
        covered = "id = :user_id and deleting_at is null"
        if needed:
            covered += " and credit - reserved >= :needed"
        payer = f"select id from users where {covered}"
        if reserved:
            payer = f"update users set reserved = reserved + :reserved where {covered} returning id"
        opened = await self._run(
            f"with payer as ({payer})"
            " insert into model_calls (id, user_id, kind, model, status, notebook_id, source_id,"
            " answer_id, document_id, input_tokens, output_tokens, seconds, characters, estimated,"
            " input_price, output_price, minute_price, character_price, reserved, cost,"
            " lease_until, created_at)"
            " select :id, payer.id, :kind, :model,"
            " 'pending', :notebook_id, :source_id, :answer_id, :document_id,"
            " :input_tokens, :output_tokens,"
            " nullif(cast(:seconds as numeric), 0), nullif(cast(:characters as bigint), 0), true,"
            " :input_price, :output_price, :minute_price, :character_price, :reserved, 0,"
            " now() + cast(:lease as interval), now() from payer",
            id=intent.id,
            user_id=intent.user_id,
            kind=intent.kind.value,
            model=intent.model,
            notebook_id=intent.notebook_id,
            source_id=intent.source_id,
            answer_id=intent.answer_id,
            document_id=intent.document_id,
            input_tokens=intent.bound.input_tokens,
            output_tokens=intent.bound.output_tokens,
            input_price=intent.price.input_per_million or 0,
            output_price=intent.price.output_per_million or 0,
            minute_price=intent.price.per_minute or 0,
            character_price=intent.price.characters_per_million or 0,
            seconds=intent.bound.seconds,
            characters=intent.bound.characters,
            reserved=reserved,
            needed=needed,
            lease=lease,
        )
        if not opened:
            raise _uncovered(needed)

    async def settle(self, call: Intent, settlement: Settlement) -> None:
        failed = settlement.status is CallStatus.FAILED
        await self._run(
            f"with settled as ({_SETTLED}) {_CHARGED}" if call.price.cost(call.bound) else _SETTLED,
            status=settlement.status.value,
            input_tokens=settlement.usage.input_tokens,
            output_tokens=settlement.usage.output_tokens,
            seconds=settlement.usage.seconds,
            characters=settlement.usage.characters,
            estimated=settlement.usage.estimated,
            error=settlement.error or None,
            cost=Decimal(0) if failed else call.price.cost(settlement.usage),
            id=call.id,
        )

    async def renew(self, calls: Sequence[CallId], lease: timedelta) -> None:
        # What is locked is being settled; waiting for it could close a ring of waiting.
        await self._run(
            "update model_calls set lease_until = now() + cast(:lease as interval) where id in"
            " (select id from model_calls where id = any(:calls) and status = 'pending'"
            " for update skip locked)",
            calls=calls,
            lease=lease,
        )

    async def abandon(
        self,
        *,
        source_id: SourceId | None = None,
        answer_id: AnswerId | None = None,
        document_id: DocumentId | None = None,
        kind: CallKind | None = None,
    ) -> None:
        await self._run(
            "with dead as (update model_calls set status = 'unknown', cost = reserved,"
            " settled_at = now() where status = 'pending' and case"
            " when cast(:source_id as uuid) is not null then source_id = :source_id"
            " when cast(:answer_id as uuid) is not null then answer_id = :answer_id"
            " when cast(:document_id as uuid) is not null then document_id = :document_id"
            " else lease_until < now() and not exists"
            " (select from answers a where a.id = model_calls.answer_id"
            " and a.status = 'streaming') end"
            " and (cast(:kind as text) is null or kind = :kind) returning user_id, reserved),"
            " owed as (select user_id, sum(reserved) as amount from dead group by user_id)"
            " update users u set reserved = u.reserved - owed.amount,"
            " credit = greatest(u.credit - owed.amount, 0) from owed"
            " where u.id = owed.user_id and owed.amount > 0",
            source_id=source_id,
            answer_id=answer_id,
            document_id=document_id,
            kind=kind and kind.value,
        )

    async def find(self, call_id: CallId) -> tuple[Intent, CallStatus] | None:
        # Held until commit: of two who settle it the second one sees that it is settled.
        row = await self._one("select * from model_calls where id = :id for update", id=call_id)
        if row is None:
            return None
        intent = Intent(
            id=row.id,
            user_id=row.user_id,
            kind=CallKind(row.kind),
            model=row.model,
            price=Price(
                *(row.input_price, row.output_price, row.minute_price, row.character_price)
            ),
            bound=TokenUsage(
                *(row.input_tokens, row.output_tokens, row.estimated),
                *(row.seconds or Decimal(0), row.characters or 0),
            ),
            notebook_id=row.notebook_id,
            source_id=row.source_id,
            answer_id=row.answer_id,
            document_id=row.document_id,
        )
        return intent, CallStatus(row.status)

    async def forget(self, user_id: UserId) -> None:
        await self._run(
            "update model_calls set user_id = null, notebook_id = null, source_id = null,"
            " answer_id = null, document_id = null, error = null where user_id = :id",
            id=user_id,
        )

    async def rows(
        self, user_id: UserId, *, start: datetime, end: datetime, limit: int, after: UUID | None
    ) -> Page[UsageRow]:
        rows = await self._all(
            "select * from model_calls where user_id = :user_id and created_at >= :start"
            " and created_at < :end and (cast(:after as uuid) is null or id > :after)"
            " order by id limit :most",
            user_id=user_id,
            start=start,
            end=end,
            after=after,
            most=limit + 1,
        )
        return page_of(rows, limit, usage_row)

    async def grouped(
        self, user_id: UserId, *, start: datetime, end: datetime, by: Sequence[str]
    ) -> list[UsageGroup]:
        columns = [f"{_GROUPS[name]} as key_{name}" for name in by]
        keys = ", ".join(f"key_{name}" for name in by)
        rows = await self._all(
            f"select {', '.join(columns)}, count(*) as calls, sum(input_tokens) as input_tokens,"
            " sum(output_tokens) as output_tokens, sum(cost) as cost from model_calls"
            " where user_id = :user_id and created_at >= :start and created_at < :end"
            f" and status <> 'pending' group by {keys} order by {keys}",
            user_id=user_id,
            start=start,
            end=end,
        )
        return [
            UsageGroup(
                key=tuple((name, getattr(row, f"key_{name}")) for name in by),
                calls=row.calls,
                input_tokens=int(row.input_tokens),
                output_tokens=int(row.output_tokens),
                cost=row.cost,
            )
            for row in rows
        ]

    async def totals(self) -> list[CallTotal]:
        rows = await self._all(
            "select kind, model, status, count(*) as calls, sum(input_tokens) as input_tokens,"
            " sum(output_tokens) as output_tokens, sum(cost) as cost from model_calls"
            " group by kind, model, status order by kind, model, status"
        )
        return [
            CallTotal(
                kind=CallKind(row.kind),
                model=row.model,
                status=CallStatus(row.status),
                calls=row.calls,
                input_tokens=int(row.input_tokens),
                output_tokens=int(row.output_tokens),
                cost=row.cost,
            )
            for row in rows
        ]

    async def of_answers(
        self, answer_ids: Sequence[AnswerId]
    ) -> dict[AnswerId, tuple[TokenUsage, Decimal]]:
        rows = await self._all(
            "select asked, coalesce(sum(input_tokens), 0) as input_tokens,"
            " coalesce(sum(output_tokens), 0) as output_tokens,"
            " coalesce(bool_or(estimated), false) as estimated, coalesce(sum(cost), 0) as cost"
            " from unnest(cast(:ids as uuid[])) as asked left join model_calls"
            " on answer_id = asked and status <> 'pending' group by asked",
            ids=list(answer_ids),
        )
        return {
            row.asked: (
                TokenUsage(int(row.input_tokens), int(row.output_tokens), row.estimated),
                row.cost,
            )
            for row in rows
        }
