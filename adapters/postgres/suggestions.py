"""Rows of suggested questions, and how sources begin."""

import json
from collections.abc import Sequence

from adapters.postgres.rows import Store
from domain.ids import NotebookId
from domain.suggestions import Outline

_MOST_SOURCES = 8
_MOST_HEADINGS = 24
_OPENING_CHUNKS = 3
_STATE = """
select coalesce(md5(string_agg(cast(s.version_id as text), ',' order by s.version_id)), '') as state
from notebook_sources l join sources s on s.id = l.source_id
where l.notebook_id = :id and s.status = 'ready' and s.kind <> 'generated'
"""


class PostgresSuggestions(Store):
    """The `Suggestions` port."""

    async def outlines(self, notebook_id: NotebookId) -> tuple[list[Outline], str]:
        state = await self._one(_STATE, id=notebook_id)
        rows = await self._all(
            "select s.title, v.language, array(select heading from chunks c"
            " where c.version_id = v.id and c.heading <> '' group by heading"
            " order by min(ordinal) limit :headings) as headings,"
            " coalesce((select string_agg(c.text, e'\\n\\n' order by ordinal) from chunks c"
            " where c.version_id = v.id and c.ordinal < :opening), '') as opening"
            " from notebook_sources l join sources s on s.id = l.source_id"
            " join source_versions v on v.id = s.version_id"
            " where l.notebook_id = :id and s.status = 'ready' and s.kind <> 'generated'"
            " order by l.added_at, s.id limit :most",
            id=notebook_id,
            headings=_MOST_HEADINGS,
            opening=_OPENING_CHUNKS,
            most=_MOST_SOURCES,
        )
        found = [Outline(r.title, r.language, tuple(r.headings), r.opening) for r in rows]
        return found, state.state if state else ""

    async def written(self, notebook_id: NotebookId, language: str, state: str) -> list[str] | None:
        row = await self._one(
            "select questions from suggested_questions where notebook_id = :id"
            " and language = :language and state = :state",
            id=notebook_id,
            language=language,
            state=state,
        )
        if row is None:
            return None
        kept = json.loads(row.questions) if isinstance(row.questions, str) else row.questions
        return kept or []

    async def claim(self, notebook_id: NotebookId, language: str, state: str) -> bool:
        # Against a source that leaves at this moment: nothing is written from it then.
        await self._run("select 1 from notebooks where id = :id for update", id=notebook_id)
        return bool(
            await self._run(
                "insert into suggested_questions as q (notebook_id, language, state)"
                f" select :id, :language, :state where ({_STATE}) = :state"
                " on conflict (notebook_id, language) do update"
                " set state = excluded.state, questions = null where q.state <> excluded.state",
                id=notebook_id,
                language=language,
                state=state,
            )
        )

    async def keep(
        self, notebook_id: NotebookId, language: str, state: str, questions: Sequence[str]
    ) -> None:
        await self._run(
            "update suggested_questions set questions = cast(:questions as jsonb)"
            " where notebook_id = :id and language = :language and state = :state",
            questions=json.dumps(list(questions)),
            id=notebook_id,
            language=language,
            state=state,
        )

    async def release(self, notebook_id: NotebookId, language: str, state: str) -> None:
        await self._run(
            "delete from suggested_questions where notebook_id = :id and language = :language"
            " and state = :state and questions is null",
            id=notebook_id,
            language=language,
            state=state,
        )
