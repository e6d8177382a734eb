"""Answer, citation and event rows."""

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID

import msgspec

from adapters.postgres.connection import Row
from adapters.postgres.rows import Store, hit_of, page_of
from domain.channels import ANSWER_APPENDED, ANSWER_STOPPED
from domain.conversation import (
    Answer,
    AnswerEvent,
    AnswerMode,
    AnswerStatus,
    Check,
    CheckKind,
    Citation,
    EventKind,
    Feedback,
    Mention,
    Rating,
)
from domain.errors import Problem
from domain.ids import AnswerId, NotebookId, SourceId, UserId
from domain.retrieval import Hit
from domain.stores import Page

T = TypeVar("T")
_ABANDONED = "from answers where status = 'streaming' and lease_until < now()"
_SEEN = (
    "exists (select from source_access x join answers a on a.user_id = x.user_id"
    " where a.id = {}.answer_id and x.source_id = {}) as is_seen"
)
"""True while who asked may see that source: a guest sees no more of what left a notebook."""
_PASSAGE_SEEN = _SEEN.format("p", "p.source_id")
_EVENT_SEEN = _SEEN.format("e", "cast(e.data ->> 'source_id' as uuid)")
_EVENTS = (
    f"select e.id, e.event, e.data, {_EVENT_SEEN}"
    " from answer_events e where e.answer_id = :id and e.id > :after"
)


def _json(value: Any) -> Any:  # noqa: ANN401 - JSON
    return json.loads(value) if isinstance(value, str) else value


def _answer(
    row: Row,
    citations: tuple[Citation, ...] = (),
    retrieved: tuple[Hit, ...] = (),
    feedback: Feedback | None = None,
) -> Answer:
    problem = _json(row.error)
    return Answer(
        id=row.id,
        notebook_id=row.notebook_id,
        user_id=row.user_id,
        question=row.question,
        source_ids=None if row.source_ids is None else tuple(row.source_ids),
        about=row.about,
        mode=AnswerMode(row.mode),
        status=AnswerStatus(row.status),
        refused=row.refused,
        text=row.text,
        error=Problem(**problem) if problem else None,
        created_at=row.created_at,
        citations=citations,
        retrieved=retrieved,
        checks=tuple(_check(check) for check in _json(row.checks)),
        feedback=feedback,
        stripped_markers=row.stripped_markers,
    )


def _event(row: Row) -> AnswerEvent:
    kind, data = EventKind(row.event), _json(row.data)
    if kind is EventKind.CITATION and not row.is_seen:
        mentions = [mention | {"quote": ""} for mention in data["mentions"]]
        data |= {"removed": True, "source_title": "", "mentions": mentions}
    return AnswerEvent(row.id, kind, data)


def _feedback(row: Row) -> Feedback:
    return Feedback(Rating(row.rating) if row.rating else None, row.comment)


def _check(check: dict[str, Any]) -> Check:
    return Check(check["start"], check["end"], CheckKind(check["kind"]), check["detail"])


def _citation(row: Row) -> Citation:
    return Citation(
        marker=row.marker,
        rank=row.rank,
        chunk_id=row.chunk_id,
        source_id=row.source_id,
        version_id=row.version_id,
        source_title=row.source_title if row.is_seen else "",
        passage=row.passage,
        page=row.page,
        similarity=row.similarity,
        mentions=tuple(
            Mention(**mention if row.is_seen else mention | {"quote": ""})
            for mention in _json(row.mentions)
        ),
        removed=row.removed,
    )


def _retrieved(row: Row) -> Hit:
    hit = hit_of(row, row.rank)
    return hit if row.is_seen else replace(hit, text="", source_title="")


def _by_answer(rows: Sequence[Row], make: Callable[[Row], T]) -> defaultdict[UUID, list[T]]:
    made = defaultdict(list)
    for row in rows:
        made[row.answer_id].append(make(row))
    return made


class PostgresAnswers(Store):
    """The `Answers` port."""

    async def get(self, answer_id: AnswerId, user_id: UserId) -> Answer | None:
        row = await self._one(
            "select a.* from answers a join answer_access x on x.answer_id = a.id"
            " where a.id = :id and x.user_id = :user_id",
            id=answer_id,
            user_id=user_id,
        )
        return None if row is None else (await self._whole([row]))[0]

    async def status(self, answer_id: AnswerId) -> AnswerStatus | None:
        row = await self._one("select status from answers where id = :id", id=answer_id)
        return AnswerStatus(row.status) if row else None

    async def page(
        self, notebook_id: NotebookId, user_id: UserId, *, limit: int, after: UUID | None
    ) -> Page[Answer]:
        rows = await self._all(
            "select * from answers where notebook_id = :notebook_id and user_id = :user_id"
            " and (cast(:after as uuid) is null or id < :after) order by id desc limit :most",
            notebook_id=notebook_id,
            user_id=user_id,
            after=after,
            most=limit + 1,
        )
        whole = {answer.id: answer for answer in await self._whole(rows[:limit])}
        return page_of(rows, limit, lambda row: whole[row.id])

    async def clear(self, notebook_id: NotebookId, user_id: UserId) -> None:
        # Held first, as where the notebook or one of its sources is deleted.
        await self._run("select 1 from notebooks where id = :id for update", id=notebook_id)
        await self._run(
            "delete from answers where notebook_id = :id and user_id = :user_id"
            " and status <> 'streaming'",
            id=notebook_id,
            user_id=user_id,
        )

    async def keep_retrieved(self, answer_id: AnswerId, hits: Sequence[Hit]) -> None:
        await self._run(
            "insert into answer_passages select :id, * from unnest(cast(:ranks as int[]),"
            " cast(:chunk_ids as uuid[]), cast(:source_ids as uuid[]),"
            " cast(:version_ids as uuid[]), cast(:titles as text[]), cast(:passages as int[]),"
            " cast(:pages as int[]), cast(:starts as int[]), cast(:languages as text[]),"
            " cast(:texts as text[]), cast(:similarities as real[]), cast(:scores as float8[]))"
            " on conflict do nothing",
            id=answer_id,
            ranks=[hit.rank for hit in hits],
            chunk_ids=[hit.chunk_id for hit in hits],
            source_ids=[hit.source_id for hit in hits],
            version_ids=[hit.version_id for hit in hits],
            titles=[hit.source_title for hit in hits],
            passages=[hit.passage for hit in hits],
            pages=[hit.page for hit in hits],
            starts=[hit.start for hit in hits],
            languages=[hit.language for hit in hits],
            texts=[hit.text for hit in hits],
            similarities=[hit.similarity for hit in hits],
            scores=[hit.score for hit in hits],
        )

    async def append(
        self, answer_id: AnswerId, events: Sequence[AnswerEvent], lease: timedelta
    ) -> bool | None:
        row = await self._one(
            "with held as (update answers set lease_until = now() + cast(:lease as interval)"
            " where id = :id and status = 'streaming' returning id, stop_requested),"
            " written as (insert into answer_events (answer_id, id, event, data)"
            " select held.id, e.* from held, unnest(cast(:ids as int[]), cast(:events as text[]),"
            " cast(:data as jsonb[])) as e on conflict do nothing)"
            " select stop_requested, case when cardinality(cast(:ids as int[])) > 0"
            " then pg_notify(:channel, cast(id as text)) end from held",
            lease=lease,
            id=answer_id,
            ids=[event.id for event in events],
            events=[event.kind.value for event in events],
            data=[msgspec.json.encode(event.data).decode() for event in events],
            channel=ANSWER_APPENDED,
        )
        return bool(row.stop_requested) if row else None

    async def finish(self, answer: Answer) -> None:
        await self._run(
            "update answers set status = :status, refused = :refused, text = :text,"
            " error = cast(:error as jsonb), checks = cast(:checks as jsonb),"
            " stripped_markers = :stripped_markers, finished_at = now() where id = :id",
            status=answer.status.value,
            refused=answer.refused,
            text=answer.text,
            error=msgspec.json.encode(answer.error).decode() if answer.error else None,
            checks=msgspec.json.encode(answer.checks).decode(),
            stripped_markers=answer.stripped_markers,
            id=answer.id,
        )
        if answer.citations:
            await self._run(
                "insert into citations (answer_id, marker, rank, mentions) select :id, * from"
                " unnest(cast(:markers as int[]), cast(:ranks as int[]), cast(:data as jsonb[]))",
                id=answer.id,
                markers=[citation.marker for citation in answer.citations],
                ranks=[citation.rank for citation in answer.citations],
                data=[msgspec.json.encode(c.mentions).decode() for c in answer.citations],
            )
        for source_id in await self._removed_meanwhile(answer.id):
            await self.blank_quotes(source_id)

    async def _removed_meanwhile(self, answer_id: AnswerId) -> list[SourceId]:
        """Sources of an answer that were deleted while it was written; none goes until commit."""
        kept = await self._all(
            "select id from sources where id in"
            " (select source_id from answer_passages where answer_id = :id)"
            " order by id for key share",
            id=answer_id,
        )
        gone = await self._all(
            "select distinct source_id from answer_passages where answer_id = :id"
            " and source_id <> all (cast(:kept as uuid[]))",
            id=answer_id,
            kept=[row.id for row in kept],
        )
        return [row.source_id for row in gone]

    async def blank_quotes(self, source_id: SourceId) -> None:
        """Forget what answers quoted from a source, and its title, which may quote it too."""
        blank = "update answer_passages set text = '', source_title = '' where source_id = :id"
        await self._run(blank, id=source_id)
        await self._run(
            'update citations c set mentions = (select jsonb_agg(m || \'{"quote": ""}\')'
            " from jsonb_array_elements(c.mentions) m) from answer_passages p"
            " where p.answer_id = c.answer_id and p.rank = c.rank and p.source_id = :id",
            id=source_id,
        )
        await self._run(
            "update answer_events e set data = jsonb_set("
            'e.data || \'{"removed": true, "source_title": ""}\', \'{mentions}\','
            ' (select jsonb_agg(m || \'{"quote": ""}\')'
            " from jsonb_array_elements(e.data -> 'mentions') m))"
            " from answer_passages p where p.source_id = :id and e.answer_id = p.answer_id"
            " and e.event = 'citation' and e.data ->> 'source_id' = cast(:id as text)",
            id=source_id,
        )

    async def rate(self, answer_id: AnswerId, user_id: UserId, feedback: Feedback) -> None:
        await self._run(
            "insert into answer_feedback (answer_id, user_id, rating, comment)"
            " values (:id, :user_id, :rating, :comment) on conflict (answer_id, user_id) do update"
            " set rating = excluded.rating, comment = excluded.comment, updated_at = now()",
            id=answer_id,
            user_id=user_id,
            rating=feedback.rating.value if feedback.rating else None,
            comment=feedback.comment,
        )

    async def events(self, answer_id: AnswerId, after: int) -> list[AnswerEvent]:
        rows = await self._all(f"{_EVENTS} order by id", id=answer_id, after=after)
        return [_event(row) for row in rows]

    async def request_stop(self, answer_id: AnswerId) -> None:
        await self._run(
            "with asked as (update answers set stop_requested = true"
            " where id = :id and status = 'streaming' returning id)"
            " select pg_notify(:channel, cast(id as text)) from asked",
            id=answer_id,
            channel=ANSWER_STOPPED,
        )

    async def abandoned(self) -> list[AnswerId]:
        rows = await self._all(f"select id {_ABANDONED}")
        return [row.id for row in rows]

    async def take_abandoned(self, answer_id: AnswerId) -> Answer | None:
        rows = await self._all(
            f"select * {_ABANDONED} and id = :id for update skip locked", id=answer_id
        )
        return (await self._whole(rows))[0] if rows else None

    async def recorded_citations(self, answer_id: AnswerId) -> list[Citation]:
        rows = await self._all(
            f"{_EVENTS} and event = 'citation' order by id", id=answer_id, after=0
        )
        return [msgspec.convert(_event(row).data, Citation, strict=False) for row in rows]

    async def _whole(self, rows: Sequence[Row]) -> list[Answer]:
        """Answers with their citations, what was retrieved and feedback, in three statements."""
        ids = [row.id for row in rows]
        citations = await self._all(
            "select c.*, p.chunk_id, p.source_id, p.version_id, p.source_title, p.passage, p.page,"
            " p.similarity, not exists (select from notebook_sources l join answers a"
            " on a.notebook_id = l.notebook_id where a.id = c.answer_id"
            f" and l.source_id = p.source_id) as removed, {_PASSAGE_SEEN}"
            " from citations c join answer_passages p using (answer_id, rank)"
            " where c.answer_id = any(cast(:ids as uuid[])) order by c.marker",
            ids=ids,
        )
        hits = await self._all(
            f"select p.*, {_PASSAGE_SEEN} from answer_passages p"
            " where p.answer_id = any(cast(:ids as uuid[])) order by p.rank",
            ids=ids,
        )
        said = await self._all(
            "select f.* from answer_feedback f join answers a on a.id = f.answer_id"
            " and a.user_id = f.user_id where f.answer_id = any(cast(:ids as uuid[]))",
            ids=ids,
        )
        cited, retrieved = _by_answer(citations, _citation), _by_answer(hits, _retrieved)
        feedback = _by_answer(said, _feedback)
        return [
            _answer(
                row,
                tuple(cited[row.id]),
                tuple(retrieved[row.id]),
                next(iter(feedback[row.id]), None),
            )
            for row in rows
        ]
