"""Summarise a source that is ready: one paid call, or its own sentences."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass

from domain.digest import digest
from domain.embedding_set import EmbeddingSet
from domain.errors import AnswerTooLong, BelegError, ModelUnavailable, Unavailable
from domain.ids import VersionId
from domain.metering import Call, Meter, Payer
from domain.ports import ChatEnd, ChatModel
from domain.stores import Stores, UnitOfWork
from domain.summary import Summary, SummaryKind, ToSummarise
from domain.summary_prompt import messages, one_paragraph
from domain.transcript import Transcript
from domain.usage import CallKind, TokenUsage, most_tokens

_MOST_TRIES = 5
"""Runs of a summary, those ended by a kill included: none is worth more."""
_NO_SENTENCES = "There are no whole sentences in this source to summarise it by."
_GAVE_UP = "Summarising this source was interrupted again and again."


class _NotWanted(BelegError):
    """Another run made the summary, or the source went or was read anew: this one ends quietly."""


@dataclass(frozen=True, slots=True)
class SummariseSource:
    """Give a version of a source its summary; a second run finds it there.

    Args:
        chat: None: sentences of the source are put together.
        max_output_tokens: what the model may write, thinking included.
    """

    uow: UnitOfWork
    meter: Meter
    embedding_set: EmbeddingSet
    chat: ChatModel | None
    max_output_tokens: int

    async def __call__(self, version_id: VersionId) -> None:
        """Run once. Whatever goes wrong, the source stays ready, and says why it has no summary.

        Raises:
            ModelUnavailable, Unavailable: worth another run later.
        """
        async with self.uow() as tx:
            task = await tx.summaries.begin(version_id)
        if task is None:
            return
        async with self.uow() as tx:  # apart: rows and account are locked in one order only
            await tx.ledger.abandon(source_id=task.source_id, kind=CallKind.SUMMARY)
        try:
            if task.tries > _MOST_TRIES:
                await self._keep(version_id, Summary(SummaryKind.NONE, _GAVE_UP))
            elif self.chat is None:
                await self._quote(version_id)
            else:
                await self._write(version_id, task, self.chat)
        except _NotWanted:
            return
        except Unavailable:  # the database was: that is no reason to have no summary
            raise
        except ModelUnavailable as error:
            if task.tries < _MOST_TRIES:
                raise
            await self._keep(version_id, Summary(SummaryKind.NONE, error.message))
        except BelegError as error:
            await self._keep(version_id, Summary(SummaryKind.NONE, error.message))

    async def _quote(self, version_id: VersionId) -> None:
        async with self.uow() as tx:
            chunks, vectors = await tx.index.vectors(version_id, self.embedding_set.id)
        text = await asyncio.to_thread(digest, chunks, vectors)
        kind = SummaryKind.QUOTED if text else SummaryKind.NONE
        await self._keep(version_id, Summary(kind, text or _NO_SENTENCES))

    async def _write(self, version_id: VersionId, task: ToSummarise, chat: ChatModel) -> None:
        sent = messages(task)
        bound = TokenUsage(
            sum(most_tokens(message.content) + 16 for message in sent),
            self.max_output_tokens,
            estimated=True,
        )
        payer = Payer(task.owner_id, source_id=task.source_id)

        async def require(tx: Stores) -> None:
            if not await tx.summaries.is_wanted(version_id):
                raise _NotWanted

        async def make() -> Transcript:
            text = ""
            async with aclosing(chat.stream(sent, max_tokens=self.max_output_tokens)) as events:
                async for event in events:
                    if not isinstance(event, ChatEnd):
                        text += event.text
                    elif event.finish_reason == "length":
                        raise AnswerTooLong(
                            f"The summary reached {self.max_output_tokens:,} tokens and breaks"
                            " off.",
                            usage=event.usage,
                        )
                    else:
                        return Transcript(one_paragraph(text), event.usage)
            raise ModelUnavailable

        async def keep(tx: Stores, written: Transcript) -> None:
            await tx.summaries.keep(version_id, Summary(SummaryKind.WRITTEN, written.text))

        call = Call(CallKind.SUMMARY, chat.model, bound, payer)
        await self.meter.run(call, make, before=require, after=keep)

    async def _keep(self, version_id: VersionId, summary: Summary) -> None:
        async with self.uow() as tx:
            await tx.summaries.keep(version_id, summary)
