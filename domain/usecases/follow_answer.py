"""Read answers: one, a page of them, or the events of one as they come."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from uuid import UUID

from domain.access import Role
from domain.account import User
from domain.channels import ANSWER_APPENDED
from domain.conversation import Answer, AnswerEvent, AnswerStatus, EventKind
from domain.errors import NotFound, Problem
from domain.ids import AnswerId, NotebookId
from domain.live import LiveAnswers
from domain.ports import Listener
from domain.stores import Page, UnitOfWork
from domain.usage import TokenUsage

_CALM_S = 0.1
"""Between two looks at the database: many readers share its few connections."""
_DELETED = Problem(NotFound.code, "This answer was deleted.")


@dataclass(frozen=True, slots=True)
class FollowAnswer:
    """Answers as their readers see them."""

    uow: UnitOfWork
    live: LiveAnswers
    listener: Listener
    ping_s: float = 15.0

    async def get(self, user: User, answer_id: AnswerId) -> Answer:
        """One answer.

        Raises:
            NotFound: it is not that user's, or its notebook no longer shared with them.
        """
        async with self.uow() as tx:
            answer = await tx.answers.get(answer_id, user.id)
        if answer is None:
            raise NotFound("There is no such answer.")
        return answer

    async def usage(
        self, answer_ids: Sequence[AnswerId]
    ) -> dict[AnswerId, tuple[TokenUsage, Decimal]]:
        """Tokens and USD of each answer's model calls."""
        async with self.uow() as tx:
            return await tx.ledger.of_answers(answer_ids)

    async def page(
        self, user: User, notebook_id: NotebookId, *, limit: int, after: UUID | None
    ) -> Page[Answer]:
        """What that user asked in a notebook, newest first."""
        async with self.uow() as tx:
            if await tx.notebooks.get(notebook_id, user.id, at_least=Role.READ) is None:
                raise NotFound("There is no such notebook.")
            return await tx.answers.page(notebook_id, user.id, limit=limit, after=after)

    async def clear(self, user: User, notebook_id: NotebookId) -> None:
        """Forget that user's finished questions and answers in a notebook."""
        async with self.uow() as tx:
            if await tx.notebooks.get(notebook_id, user.id, at_least=Role.READ) is None:
                raise NotFound("There is no such notebook.")
            await tx.answers.clear(notebook_id, user.id)

    async def stop(self, user: User, answer_id: AnswerId) -> None:
        """End a run, wherever it is; what it said is kept."""
        await self.get(user, answer_id)
        live = self.live.get(answer_id)
        if live:
            live.stop.set()
            return
        async with self.uow() as tx:
            await tx.answers.request_stop(answer_id)

    async def is_over(self, answer: Answer, after: int) -> bool:
        """True where no event with a greater id is there, or will come."""
        if answer.status is AnswerStatus.STREAMING:
            return False
        async with self.uow() as tx:
            return not await tx.answers.events(answer.id, after)

    async def events(self, answer_id: AnswerId, after: int) -> AsyncIterator[AnswerEvent | None]:
        """Events with a greater id, until the last; None now and then where none comes.

        The caller has checked that the reader may see the answer. Nothing is generated here: a
        reader who comes back gets what was written.
        """
        live = self.live.get(answer_id)
        if live:
            async for event in live.follow(after, self.ping_s):
                yield event
                if event:
                    after = event.id
                    if event.is_last:
                        return
            # The run ended without its last event, which somebody else wrote or will write.
        async for event in self._recorded(answer_id, after):
            yield event

    async def _recorded(self, answer_id: AnswerId, after: int) -> AsyncIterator[AnswerEvent | None]:
        """The same from the database, where another process writes them."""
        async with self.listener.waiting(ANSWER_APPENDED, str(answer_id)) as news:
            while True:
                news.clear()
                async with self.uow() as tx:
                    # Before the events: one that is no longer streaming has all of them.
                    status = await tx.answers.status(answer_id)
                    events = await tx.answers.events(answer_id, after)
                for event in events:
                    after = event.id
                    yield event
                if status is None:
                    yield AnswerEvent(after + 1, EventKind.ERROR, asdict(_DELETED))
                if status is not AnswerStatus.STREAMING:
                    return
                await asyncio.sleep(_CALM_S)
                try:
                    async with asyncio.timeout(self.ping_s):
                        await news.wait()
                except TimeoutError:
                    yield None
