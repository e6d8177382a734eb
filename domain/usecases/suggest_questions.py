"""Suggest first questions for a notebook: free ones, or such that a model wrote once."""

from contextlib import aclosing
from dataclasses import dataclass

from domain.access import Role
from domain.account import User
from domain.errors import AnswerTooLong, ModelAnswerInvalid, ModelError, NotFound
from domain.ids import NotebookId
from domain.metering import Call, Meter, Payer
from domain.ports import ChatEnd, ChatModel
from domain.stores import Stores, UnitOfWork
from domain.suggestion_prompt import messages, questions
from domain.suggestions import Outline, Suggestions, language_of, suggested
from domain.transcript import Transcript
from domain.usage import CallKind, TokenUsage, most_tokens


class _Asked(Exception):
    """A model was asked already about these sources."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A notebook's sources, and what was written about them before.

    Args:
        state: a fingerprint of the ready sources; another one with every change.
        written: None where no model was asked about this state; empty where nothing came of it.
    """

    outlines: list[Outline]
    state: str
    language: str
    written: list[str] | None


@dataclass(frozen=True, slots=True)
class SuggestQuestions:
    """Questions to begin with.

    A model is asked at most once for each state of the sources, only where somebody wants it, and
    never again for that state if that call was lost: nothing is paid for twice.
    """

    uow: UnitOfWork
    meter: Meter
    chat: ChatModel | None
    max_output_tokens: int

    async def __call__(self, user: User, notebook_id: NotebookId, language: str) -> Suggestions:
        """What costs nothing: what was written before, or what the sources' own words give.

        Args:
            language: of the questions, where the sources are in neither German nor English.

        Raises:
            NotFound: the notebook is not that user's to read.
        """
        return self._shown(await self._known(user, notebook_id, language, Role.READ))

    async def write(self, user: User, notebook_id: NotebookId, language: str) -> Suggestions:
        """Have a model write them, unless it did; one call, paid for by `user`.

        The free ones, where nothing of use came of it.

        Raises:
            NotFound, OutOfCredit.
            ModelError: it was not served, and costs nothing.
        """
        known = await self._known(user, notebook_id, language, Role.ASK)
        if self.chat is None or known.written is not None or not known.outlines:
            return self._shown(known)
        try:
            await self._write(user, notebook_id, known, self.chat)
        except _Asked:
            pass
        except ModelError as error:
            await self._forget(notebook_id, known, error)
            if error.usage is None:
                raise
        return await self(user, notebook_id, language)

    async def _known(
        self, user: User, notebook_id: NotebookId, language: str, at_least: Role
    ) -> _Known:
        async with self.uow() as tx:
            if await tx.notebooks.get(notebook_id, user.id, at_least=at_least) is None:
                raise NotFound("There is no such notebook.")
            outlines, state = await tx.suggestions.outlines(notebook_id)
            chosen = language_of(outlines, language)
            written = await tx.suggestions.written(notebook_id, chosen, state)
        return _Known(outlines, state, chosen, written)

    def _shown(self, known: _Known) -> Suggestions:
        if known.written:
            return Suggestions(known.written, is_written=True, can_be_written=False)
        can = self.chat is not None and known.written is None and bool(known.outlines)
        own = suggested(known.outlines, known.language, quotes=self.chat is None)
        return Suggestions(own, is_written=False, can_be_written=can)

    async def _write(
        self, user: User, notebook_id: NotebookId, known: _Known, chat: ChatModel
    ) -> None:
        sent = messages(known.outlines, known.language)
        bound = TokenUsage(
            sum(most_tokens(message.content) + 16 for message in sent),
            self.max_output_tokens,
            estimated=True,
        )

        async def claim(tx: Stores) -> None:
            if not await tx.suggestions.claim(notebook_id, known.language, known.state):
                raise _Asked

        async def make() -> Transcript:
            text = ""
            async with aclosing(chat.stream(sent, max_tokens=self.max_output_tokens)) as events:
                async for event in events:
                    if not isinstance(event, ChatEnd):
                        text += event.text
                        continue
                    if event.finish_reason == "length":
                        raise AnswerTooLong("The suggestions break off.", usage=event.usage)
                    if not questions(text):
                        raise ModelAnswerInvalid("It suggested nothing.", usage=event.usage)
                    return Transcript(text, event.usage)
            raise ModelAnswerInvalid("It suggested nothing.")

        async def keep(tx: Stores, made: Transcript) -> None:
            await tx.suggestions.keep(
                notebook_id, known.language, known.state, questions(made.text)
            )

        call = Call(CallKind.GUIDE, chat.model, bound, Payer(user.id, notebook_id=notebook_id))
        await self.meter.run(call, make, before=claim, after=keep, tries=1)

    async def _forget(self, notebook_id: NotebookId, known: _Known, error: ModelError) -> None:
        """Let it be tried again where nothing was paid for; else there is nothing better."""
        async with self.uow() as tx:
            if error.usage is None:
                await tx.suggestions.release(notebook_id, known.language, known.state)
            else:
                await tx.suggestions.keep(notebook_id, known.language, known.state, [])
