"""Record a question: every check before any spend, then the turn and its first call's intent."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from domain.access import Role
from domain.account import User
from domain.conversation import Answer, AnswerMode, AnswerStatus, Message
from domain.errors import NotFound, OverQuota, Rejected
from domain.event_log import LEASE
from domain.ids import AnswerId, DocumentId, NotebookId, SourceId, new_id
from domain.ledger import Intent
from domain.limits import LimitName
from domain.metering import CALL_LEASE, MeteredEmbedder, Payer
from domain.notebook import Holding, may_hold_answers
from domain.ports import Clock
from domain.stores import UnitOfWork
from domain.text_gate import clean

MAX_QUESTION_CHARACTERS = 8000


@dataclass(frozen=True, slots=True)
class Asked:
    """A recorded question.

    Args:
        answer: the answer that will be written; it streams from now on.
        opened: the intent of its question's embedding; None where nothing is embedded.
        documents: what its notebook holds that is ready.
        history: the last messages before it, oldest first.
        is_new: False where an idempotency key named an earlier question.
    """

    answer: Answer
    opened: Intent | None
    documents: tuple[Holding, ...]
    history: tuple[Message, ...]
    is_new: bool


@dataclass(frozen=True, slots=True)
class AskQuestion:
    """Record a question as a turn that is about to be answered."""

    uow: UnitOfWork
    clock: Clock
    embedder: MeteredEmbedder
    can_write: bool
    """False where no chat model is configured: answers are quoted from the sources."""
    writing_cost: Decimal
    """USD that writing one answer may cost at most; 0 where nothing is priced."""
    max_questions_per_notebook_day: int
    history_messages: int = 12
    """Earlier messages that go to the model."""

    async def __call__(
        self,
        user: User,
        notebook_id: NotebookId,
        question: str,
        *,
        source_ids: Sequence[SourceId] | None = None,
        about: SourceId | None = None,
        idempotency_key: str | None = None,
    ) -> Asked:
        """One transaction; nothing is spent in it.

        Args:
            about: this source is searched alone, whatever `source_ids` says; or the id of a
                document, which is asked about as a source, too.

        Raises:
            NotFound: the notebook is not that user's.
            Rejected: the question is empty or too long.
            OverQuota, OutOfCredit, Conflict.
        """
        asked_hash = hashlib.sha256(
            repr((notebook_id, question, source_ids, about)).encode("utf-8", "replace")
        ).digest()
        source_ids = source_ids if about is None else None
        async with self.uow() as tx:
            if idempotency_key:
                known = await tx.idempotency.recall(user.id, idempotency_key, asked_hash)
                if known is not None:
                    first = await tx.answers.get(AnswerId(UUID(known)), user.id)
                    if first is None:
                        raise NotFound("The answer to this request was deleted.")
                    return Asked(first, None, (), (), is_new=False)
            if about is not None and (
                made := await tx.documents.get(DocumentId(about), user.id, at_least=Role.READ)
            ):
                about = made.source_id or about
            answer = self._turn(user, notebook_id, question, source_ids, about)
            turn = await tx.turns.add(answer, LEASE, messages=self.history_messages)
            if turn is None:
                # Where a guest may only read, this says so.
                await tx.notebooks.get(notebook_id, user.id, at_least=Role.ASK)
                raise NotFound("There is no such notebook.")
            _require_text(answer.question)
            most = user.limit(LimitName.QUESTIONS, self.max_questions_per_notebook_day)
            if turn.asked > most:
                raise OverQuota(
                    f"Your {most} questions of today in this"
                    " notebook are used up. Ask again tomorrow (UTC), or in another notebook."
                )
            opened = None
            if answer.mode is AnswerMode.GENERAL:
                await tx.ledger.require(user.id, self.writing_cost)
            elif may_hold_answers(turn.holdings, source_ids, about):
                payer = Payer(user.id, notebook_id=notebook_id, answer_id=answer.id)
                opened = self.embedder.intent([answer.question], payer)
                await tx.ledger.open(opened, CALL_LEASE, besides=self.writing_cost)
            if idempotency_key:
                await tx.idempotency.remember(user.id, idempotency_key, asked_hash, str(answer.id))
        return Asked(answer, opened, turn.holdings, turn.history, is_new=True)

    def _turn(
        self,
        user: User,
        notebook_id: NotebookId,
        question: str,
        source_ids: Sequence[SourceId] | None,
        about: SourceId | None,
    ) -> Answer:
        mode = AnswerMode.SOURCES if self.can_write else AnswerMode.EXTRACTIVE
        if source_ids is not None and not source_ids:
            mode = AnswerMode.GENERAL
        return Answer(
            id=AnswerId(new_id()),
            notebook_id=notebook_id,
            user_id=user.id,
            question=clean(question).strip(),
            source_ids=None if source_ids is None else tuple(source_ids),
            about=about,
            mode=mode,
            status=AnswerStatus.STREAMING,
            refused=False,
            text="",
            error=None,
            created_at=self.clock.now(),
        )


def _require_text(question: str) -> None:
    if not question:
        raise Rejected("Write a question first.")
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise Rejected(
            f"This question has {len(question):,} characters;"
            f" {MAX_QUESTION_CHARACTERS:,} is the limit."
        )
