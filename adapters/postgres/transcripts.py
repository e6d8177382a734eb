"""Rows of transcripts that were paid for."""

from adapters.postgres.rows import Store
from domain.ids import SourceId
from domain.transcript import Transcript


class PostgresTranscripts(Store):
    """The `Transcripts` port."""

    async def paid(self, source_id: SourceId) -> dict[str, Transcript]:
        rows = await self._all(
            "select key, text, problem from paid_transcripts where source_id = :id", id=source_id
        )
        return {row.key: Transcript(row.text, problem=row.problem) for row in rows}

    async def keep(self, source_id: SourceId, key: str, transcript: Transcript) -> None:
        await self._run(
            # Nothing is kept for a source that is gone, or that another attempt made ready.
            "insert into paid_transcripts (source_id, key, text, problem)"
            " select id, :key, :text, :problem from sources"
            " where id = :source_id and status <> 'ready' for no key update"
            " on conflict do nothing",
            source_id=source_id,
            key=key,
            text=transcript.text,
            problem=transcript.problem,
        )

    async def forget(self, source_id: SourceId) -> None:
        await self._run("delete from paid_transcripts where source_id = :id", id=source_id)
