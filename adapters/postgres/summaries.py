"""Rows of summaries."""

from adapters.postgres.rows import Store
from domain.channels import SOURCE_CHANGED
from domain.ids import VersionId
from domain.summary import HEAD_CHARACTERS, Summary, ToSummarise, head_of

_MOST_PASSAGES = 100


class PostgresSummaries(Store):
    """The `Summaries` port."""

    async def begin(self, version_id: VersionId) -> ToSummarise | None:
        row = await self._one(
            "insert into source_summaries as m (version_id, tries)"
            " select version_id, 1 from sources where version_id = :id"
            " on conflict (version_id) do update set tries = m.tries + 1 where m.kind is null"
            " returning tries",
            id=version_id,
        )
        if row is None:
            return None
        source = await self._one(
            "select s.id, s.owner_id, s.title, v.language from sources s"
            " join source_versions v on v.id = s.version_id where v.id = :id",
            id=version_id,
        )
        if source is None:
            return None
        passages = await self._all(
            "select left(text, :most) as text from passages where version_id = :id"
            " order by ordinal limit :passages",
            id=version_id,
            most=HEAD_CHARACTERS,
            passages=_MOST_PASSAGES,
        )
        return ToSummarise(
            source_id=source.id,
            owner_id=source.owner_id,
            title=source.title,
            head=head_of([passage.text for passage in passages]),
            language=source.language,
            tries=row.tries,
        )

    async def is_wanted(self, version_id: VersionId) -> bool:
        row = await self._one(
            "select 1 from source_summaries m join sources s on s.version_id = m.version_id"
            " where m.version_id = :id and m.kind is null for no key update of m",
            id=version_id,
        )
        return row is not None

    async def keep(self, version_id: VersionId, summary: Summary) -> None:
        await self._run(
            "update source_summaries set kind = :kind, text = :text"
            " where version_id = :id and kind is null",
            id=version_id,
            kind=summary.kind.value,
            text=summary.text,
        )
        await self._run(
            "select pg_notify(:channel, cast(owner_id as text)) from sources"
            " where version_id = :id",
            channel=SOURCE_CHANGED,
            id=version_id,
        )
