"""Say what somebody thinks of an answer."""

from dataclasses import dataclass

from domain.account import User
from domain.conversation import Feedback
from domain.errors import NotFound, Rejected
from domain.ids import AnswerId
from domain.stores import UnitOfWork
from domain.text_gate import clean

MAX_COMMENT_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class RateAnswer:
    """Keep a person's last word on an answer; saying nothing takes it back."""

    uow: UnitOfWork

    async def __call__(self, user: User, answer_id: AnswerId, feedback: Feedback) -> None:
        """Keep it in place of what that person said before.

        Raises:
            NotFound: the answer is not that user's.
            Rejected: the comment is too long.
        """
        comment = clean(feedback.comment).strip()
        if len(comment) > MAX_COMMENT_CHARACTERS:
            raise Rejected(
                f"This comment has {len(comment):,} characters;"
                f" {MAX_COMMENT_CHARACTERS:,} is the limit."
            )
        async with self.uow() as tx:
            if await tx.answers.get(answer_id, user.id) is None:
                raise NotFound("There is no such answer.")
            await tx.answers.rate(answer_id, user.id, Feedback(feedback.rating, comment))
