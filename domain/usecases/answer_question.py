"""Retrieve, prompt, stream, cite, persist: the run behind one answer."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial

from domain import extractive, prompt, refusals
from domain.answer_writer import AnswerWriter
from domain.checks import checks_of
from domain.conversation import Answer, AnswerMode, AnswerStatus, Citation, EventKind, Message
from domain.digest import gist
from domain.embedding_set import EmbeddingSet
from domain.errors import (
    AnswerTooLong,
    BelegError,
    ModelError,
    Problem,
    Unavailable,
    is_unsent,
)
from domain.event_log import EventLog
from domain.gist import asked_of
from domain.ids import CallId, new_id
from domain.language import detect_question
from domain.ledger import NOT_SERVED, Intent, Settlement
from domain.live import LiveAnswer
from domain.metering import CALL_LEASE, MeteredEmbedder, Payer, bill, settlement_of, wait_s
from domain.notebook import Holding, languages_of, may_hold_answers
from domain.ports import ChatEnd, ChatModel, Clock, Embedded, Vectors
from domain.prices import PriceList
from domain.query import search_query, wanted
from domain.refusals import names_one
from domain.reranking import MeteredReranker
from domain.retrieval import Hit, RetrievalSettings, Scope, evenly
from domain.section import under
from domain.stores import UnitOfWork
from domain.usage import CallKind, CallStatus, TokenUsage, about_tokens, most_tokens


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """How answers are made.

    Args:
        max_output_tokens: what the model may write, reasoning included.
    """

    retrieval: RetrievalSettings
    max_output_tokens: int = 4096


@dataclass(slots=True)
class _Run:
    """What one run knows; grows step by step."""

    answer: Answer
    payer: Payer
    live: LiveAnswer
    log: EventLog
    language: str
    writer: AnswerWriter
    documents: Sequence[Holding]
    history: Sequence[Message]
    hits: list[Hit] = field(default_factory=list)
    is_kept: bool = False
    """Whether the hits are kept; no citation is shown before."""
    vector: Vectors | None = None
    wants_gist: bool = False
    """Whether it is asked what sources are about, where no model can say that."""
    messages: list[Message] = field(default_factory=list)
    refused: bool = False
    call: Intent | None = None
    """The chat call in flight; settled together with the answer."""
    is_sent: bool = False
    """False while that call has not left this process."""
    settlement: Settlement | None = None
    """How that call ended; None while it has not."""
    held: list[str | Citation] = field(default_factory=list)
    """What the writer made and is shown once the hits are kept; a stop may come meanwhile."""
    received: int = 0
    """Bytes of text that the model wrote."""

    def show(self, pieces: list[str | Citation]) -> None:
        """Send what the writer made on its way."""
        for piece in pieces:
            self.log.add(piece)

    def so_far(self) -> Settlement:
        """The bill of a chat call that was stopped: what was sent and what arrived, estimated."""
        if not self.is_sent:
            return NOT_SERVED
        sent = sum(about_tokens(message.content) for message in self.messages)
        return Settlement(CallStatus.CUT, TokenUsage(sent, -(-self.received // 4), estimated=True))


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """Write the answer to a recorded question. The run belongs to the server, not to a reader."""

    uow: UnitOfWork
    clock: Clock
    embedder: MeteredEmbedder
    embedding_set: EmbeddingSet
    chat: ChatModel | None
    """None: answers are quoted from the sources, and no model writes."""
    prices: PriceList
    settings: AnswerSettings
    reranker: MeteredReranker | None = None

    async def __call__(
        self,
        answer: Answer,
        opened: Intent | None,
        documents: Sequence[Holding],
        history: Sequence[Message],
        live: LiveAnswer,
    ) -> None:
        """Run to the end: complete, stopped or failed, but never lost.

        Args:
            answer: as recorded, streaming.
            opened: the intent of its question's embedding; None where there is nothing to search.
            documents: what its notebook holds that is ready.
            history: earlier messages, oldest first.
            live: where its events are shown; its `stop` ends the run.
        """
        run = _Run(
            answer=answer,
            payer=Payer(answer.user_id, notebook_id=answer.notebook_id, answer_id=answer.id),
            live=live,
            log=EventLog(answer.id, live, self.uow),
            language=detect_question(answer.question),
            writer=AnswerWriter([]),
            documents=documents,
            history=history,
        )
        flusher = asyncio.create_task(run.log.run())
        status = AnswerStatus.FAILED
        problem: Problem | None = _OUR_MISTAKE
        try:
            status, problem = await self._until_stopped(run, opened, flusher)
        except asyncio.CancelledError:
            status, problem = AnswerStatus.STOPPED, None
            raise
        finally:
            run.log.close()
            await asyncio.gather(flusher, return_exceptions=True)
            run.show([*run.held, *run.writer.finish()])
            await asyncio.shield(self._finish(run, status, problem))

    async def _until_stopped(
        self, run: _Run, opened: Intent | None, flusher: asyncio.Task[None]
    ) -> tuple[AnswerStatus, Problem | None]:
        """Write, until that is done, somebody stops it, or what it writes cannot be kept."""
        work = asyncio.create_task(self._write(run, opened))
        stop = asyncio.create_task(run.live.stop.wait())
        try:
            await asyncio.wait({work, stop, flusher}, return_when=asyncio.FIRST_COMPLETED)
            if flusher.done():
                flusher.result()
            if work.done():
                work.result()
                return AnswerStatus.COMPLETE, None
        except BelegError as error:
            return AnswerStatus.FAILED, error.problem
        finally:
            stop.cancel()
            if not work.done():
                work.cancel()
                with suppress(asyncio.CancelledError, BelegError):
                    await work
        return AnswerStatus.STOPPED, None

    async def _write(self, run: _Run, opened: Intent | None) -> None:
        answer, chat = run.answer, self.chat
        if answer.mode is AnswerMode.GENERAL:
            if chat is None:
                return self._refuse(run, refusals.general_needs_a_model(run.language))
            run.messages = prompt.general(answer.question, run.history)
            return await self._converse(run, chat)
        if opened is None:
            all_sources = answer.source_ids is None and answer.about is None
            say = refusals.notebook_is_empty if all_sources else refusals.nothing_selected
            return self._refuse(run, say(run.language))
        await self._retrieve(run, opened)
        if chat is None:
            return await self._quote(run)
        run.messages = prompt.grounded(answer.question, run.hits, run.documents, run.history)
        await self._converse(run, chat)
        titles = [document.title for document in run.documents]
        run.refused = not run.writer.citations and not names_one(run.writer.text, titles)
        return None

    def _refuse(self, run: _Run, sentence: str) -> None:
        """A fixed sentence, without a model call."""
        run.refused = True
        run.show(run.writer.feed(sentence))

    async def _retrieve(self, run: _Run, opened: Intent) -> None:
        """Embed the question, and search while that call is settled."""
        answer, reranker, settings = run.answer, self.reranker, self.settings.retrieval
        query = search_query(answer.question, run.language, languages_of(run.documents))
        scopes = self._scopes(run)

        async def search(embedded: Embedded) -> None:
            run.vector = embedded.vectors[0]
            async with self.uow(at_once=True) as tx:
                found = [
                    await tx.index.search(
                        *(scope, self.embedding_set.id, run.vector, query),
                        reranker.widened(settings) if reranker else settings,
                    )
                    for scope in scopes
                ]
            run.hits = evenly(found, settings.scoped_k)

        await self.embedder.embed(
            [wanted(answer.question)], "question", run.payer, opened=opened, beside=search
        )
        if reranker:
            k = settings.k if scopes[0].about is None else settings.scoped_k
            run.hits = await reranker.best(answer.question, run.hits, k, run.payer)
        run.writer = AnswerWriter(run.hits)

    def _scopes(self, run: _Run) -> list[Scope]:
        """Where is searched; for the gist of a few sources in each of them."""
        notebook, where, about = run.answer.notebook_id, run.answer.source_ids, run.answer.about
        if self.chat is None:
            chosen = [one for one in run.documents if may_hold_answers([one], where, about)]
            if asked := asked_of(run.answer.question, chosen):
                run.wants_gist = True
                if len(asked) <= _MOST_TOLD:
                    return [Scope(notebook, None, one) for one in asked]
        return [Scope(notebook, where, about)]

    async def _keep_retrieved(self, run: _Run) -> None:
        """Keep what the answer is made from, once."""
        if run.hits and not run.is_kept:
            async with self.uow(at_once=True) as tx:
                await tx.answers.keep_retrieved(run.answer.id, run.hits)
            run.is_kept = True

    async def _quote(self, run: _Run) -> None:
        """Answer with sentences of the sources, or refuse where none is near enough."""
        await self._keep_retrieved(run)
        question = run.answer.question
        tell = gist if run.wants_gist else partial(under, question)
        if told := await asyncio.to_thread(tell, run.hits):
            for rank, start, end in told:
                run.show(run.writer.quote(rank, start, end))
            return None
        evidence = [
            extractive.Evidence(h.rank, h.text, h.language, h.similarity, h.score, h.start)
            for h in run.hits
        ]
        candidates = extractive.candidates(question, run.language, evidence)
        chosen: list[extractive.Candidate] = []
        if candidates and run.vector is not None:
            sentences = await self.embedder.embed(
                [candidate.text for candidate in candidates], "passage", run.payer
            )
            chosen = extractive.choose(run.vector, sentences.vectors, candidates)
        if not chosen:
            return self._refuse(run, refusals.not_in_the_sources(run.language))
        for sentence in chosen:
            run.show(run.writer.quote(sentence.number, sentence.start, sentence.end))
        return None

    async def _converse(self, run: _Run, chat: ChatModel) -> None:
        """Stream the model's answer; try again only while nothing of it has arrived."""
        tries = 0
        while True:
            tries += 1
            call = await self._open_call(run, chat)
            try:
                return await self._stream(run, chat, call)
            except asyncio.CancelledError as error:
                run.is_sent = not is_unsent(error)
                raise
            except ModelError as error:
                # A call that came to its end was served, whatever is wrong with what it brought.
                run.settlement = run.settlement or settlement_of(error, call.bound)
                pause = None if run.received else wait_s(error, tries)
                if pause is None:
                    raise
            async with self.uow(at_once=True) as tx:
                await tx.ledger.settle(call, run.settlement)
            run.call = None
            await self.clock.sleep(pause)

    async def _open_call(self, run: _Run, chat: ChatModel) -> Intent:
        """Write the intent of the call that sends the prompt."""
        sent = sum(most_tokens(message.content) + 16 for message in run.messages)
        call = Intent(
            id=CallId(new_id()),
            user_id=run.payer.user_id,
            kind=CallKind.CHAT,
            model=chat.model,
            price=self.prices.of(chat.model),
            bound=TokenUsage(sent, self.settings.max_output_tokens, estimated=True),
            notebook_id=run.payer.notebook_id,
            answer_id=run.payer.answer_id,
        )
        run.call, run.settlement, run.is_sent = call, None, False
        async with self.uow(at_once=True) as tx:
            await tx.ledger.open(call, CALL_LEASE)
        return call

    async def _stream(self, run: _Run, chat: ChatModel, call: Intent) -> None:
        most = self.settings.max_output_tokens
        run.is_sent = True
        async with aclosing(chat.stream(run.messages, max_tokens=most)) as events:
            async for event in events:
                if isinstance(event, ChatEnd):
                    run.settlement = bill(CallStatus.SERVED, event.usage, call.bound)
                    if event.finish_reason == "length":
                        raise AnswerTooLong(f"The answer reached {most:,} tokens and breaks off.")
                else:
                    is_first = not run.received
                    if is_first and run.answer.mode is AnswerMode.GENERAL:
                        run.show(run.writer.feed(refusals.general_knowledge(run.language) + "\n\n"))
                    run.received += len(event.text.encode(errors="replace"))
                    pieces = run.writer.feed(event.text)
                    # The first words wait for nothing, a citation for what it points to.
                    if not is_first or any(isinstance(piece, Citation) for piece in pieces):
                        run.held = pieces
                        await self._keep_retrieved(run)
                        run.held = []
                    run.show(pieces)
                    await run.log.first_shown()

    async def _finish(self, run: _Run, status: AnswerStatus, problem: Problem | None) -> None:
        """Write text, citations, bill and last event in one transaction; then show the event."""
        answer = replace(
            run.answer,
            status=status,
            refused=run.refused and status is AnswerStatus.COMPLETE,
            text=run.writer.text,
            error=problem,
            citations=run.writer.citations,
            retrieved=tuple(run.hits),
            stripped_markers=run.writer.stripped_markers,
        )
        # Apart: other readers' pieces, and the last ones of this answer, do not wait for it.
        answer = replace(answer, checks=await asyncio.to_thread(checks_of, answer))
        kind = EventKind.ERROR if problem else EventKind.DONE
        run.log.add_last(kind, asdict(problem) if problem else {})
        is_written = False
        for _ in range(_FINISH_TRIES):
            try:
                async with self.uow() as tx:
                    # The answer before its calls: the reaper locks them in this order, too.
                    is_written = await run.log.write(tx)
                    if run.call:
                        await tx.ledger.settle(run.call, run.settlement or run.so_far())
                    if is_written:
                        if run.hits and not run.is_kept:
                            await tx.answers.keep_retrieved(answer.id, run.hits)
                        await tx.answers.finish(answer)
            except Unavailable:
                await self.clock.sleep(1.0)
            else:
                break
        if is_written:  # else another hand ended it: readers get its last event
            run.log.show()


_OUR_MISTAKE = Problem(
    "internal_error", "Answering failed because of a mistake in Beleg. It was logged; ask again."
)
_MOST_TOLD = 8
"""Sources that each have a sentence in the gist of them all; of more, the nearest do."""
_FINISH_TRIES = 60
"""Seconds that a finished answer waits for its database; then it is the reaper's."""
