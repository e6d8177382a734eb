"""Questions as they are asked: counted, kept, and what they find, in one trip."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from adapters.postgres.rows import Store
from domain.conversation import Answer, Message, Role
from domain.ids import SourceId
from domain.notebook import Holding
from domain.stores import Turn

_COUNTED = (
    "update {} set asked_on = :day, asked = case when asked_on = :day then asked + 1 else 1 end"
)
_ADD = f"""
with own as (
    {_COUNTED.format("notebooks")}
    where id = :notebook_id and owner_id = :user_id
    returning asked
),
guest as (
    {_COUNTED.format("notebook_shares")}
    where notebook_id = :notebook_id and user_id = :user_id and role = 'ask'
        and not exists (select from own)
    returning asked
),
counted as (select asked from own union all select asked from guest),
added as (
    insert into answers (id, notebook_id, user_id, question, source_ids, about, mode,
        status, lease_until, created_at)
    select :id, :notebook_id, :user_id, :question, cast(:source_ids as uuid[]), :about, :mode,
        :status, now() + cast(:lease as interval), :created_at
    from counted
)
select asked,
    (select jsonb_agg(jsonb_build_array(s.id, coalesce(d.kind, s.kind), s.title, v.language)
            order by l.added_at, s.id)
        from notebook_sources l join sources s on s.id = l.source_id
            join source_versions v on v.id = s.version_id
            left join documents d on d.source_id = s.id
        where l.notebook_id = :notebook_id) as holdings,
    (select jsonb_agg(jsonb_build_array(question, text, mentions) order by id) from (
        select id, question, text, (select jsonb_agg(m) from citations c,
            jsonb_array_elements(c.mentions) m where c.answer_id = earlier.id) as mentions
        from answers earlier
        where notebook_id = :notebook_id and user_id = :user_id and id < :id and text <> ''
        order by id desc limit :turns) as turn) as history
from counted
"""


class PostgresTurns(Store):
    """The `Turns` port."""

    async def add(self, answer: Answer, lease: timedelta, *, messages: int) -> Turn | None:
        row = await self._one(
            _ADD,
            id=answer.id,
            notebook_id=answer.notebook_id,
            user_id=answer.user_id,
            question=answer.question,
            source_ids=None if answer.source_ids is None else list(answer.source_ids),
            about=answer.about,
            mode=answer.mode.value,
            status=answer.status.value,
            lease=lease,
            created_at=answer.created_at,
            day=answer.created_at.date(),
            turns=messages // 2,
        )
        if row is None:
            return None
        holdings = msgspec.json.decode(
            row.holdings or "[]", type=list[tuple[SourceId, str, str, str]]
        )
        turns = msgspec.json.decode(row.history or "[]")
        return Turn(
            row.asked,
            tuple(Holding(*holding) for holding in holdings),
            tuple(message for turn in turns for message in _messages(*turn)),
        )


def _messages(
    question: str, text: str, mentions: Sequence[dict[str, Any]] | None
) -> Iterator[Message]:
    """A turn as a model may read it: the answer without its numbers, which named other passages."""
    yield Message(Role.USER, question)
    for mention in sorted(mentions or (), key=lambda m: -int(m["answer_start"])):
        text = text[: mention["answer_start"]].rstrip(" ") + text[mention["answer_end"] :]
    yield Message(Role.ASSISTANT, text)
