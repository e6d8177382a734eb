"""What becomes of a summary when the database goes away for a moment."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from domain.embedding_set import EmbeddingSet
from domain.errors import Unavailable
from domain.ids import SourceId, UserId, VersionId, new_id
from domain.metering import Meter
from domain.ports import ChatModel
from domain.stores import Stores, UnitOfWork
from domain.summary import Summary, ToSummarise
from domain.usecases.summarise_source import SummariseSource


class Away:
    """A database that is there, but not when the model's call is opened."""

    def __init__(self) -> None:
        self.kept: list[Summary] = []

    summaries = ledger = property(lambda self: self)
    model = "m"

    async def begin(self, _: VersionId) -> ToSummarise:
        return ToSummarise(SourceId(new_id()), UserId(new_id()), "Bridges", "It is red.", "en", 1)

    async def abandon(self, **_: object) -> None:
        pass

    async def keep(self, _: VersionId, summary: Summary) -> None:
        self.kept.append(summary)

    async def run(self, *_: object, **__: object) -> Any:  # noqa: ANN401 - a meter's
        raise Unavailable("The database does not answer.")

    @asynccontextmanager
    async def uow(self) -> AsyncIterator[Stores]:
        yield cast("Stores", self)


async def test_a_database_that_was_away_is_no_reason_to_have_no_summary() -> None:
    away = Away()
    summarise = SummariseSource(
        cast("UnitOfWork", away.uow),
        cast("Meter", away),
        EmbeddingSet(1, "m", 2, "c"),
        cast("ChatModel", away),
        100,
    )
    with pytest.raises(Unavailable):
        await summarise(VersionId(new_id()))
    assert away.kept == []
