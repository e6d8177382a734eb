"""Making: what a document is made of by its kind, and what was paid for on the way."""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol, TypeVar

from domain.capture import Superseded
from domain.conversation import Message, Role
from domain.document import Document, DocumentProgress
from domain.errors import AnswerTooLong, Conflict, ModelAnswerInvalid, OverQuota
from domain.jobs import MAKE_DOCUMENT
from domain.metering import Call, Meter, Payer
from domain.ports import ChatEnd, ChatModel
from domain.stores import Stores, UnitOfWork
from domain.transcript import Transcript
from domain.usage import CallKind, TokenUsage, most_tokens

T = TypeVar("T")
_MOST_DRAFTS = 2
_AGAIN = "This cannot be used: {why} Write all of it again, by all the rules."


class Unusable(Exception):
    """What a model wrote is not what it was asked for; the message says why, in sentences."""


class NoUsableDraft(ModelAnswerInvalid):
    """The model wrote twice what cannot be used. Both calls stay billed; try again."""


async def queue_again(tx: Stores, document: Document, *, most_running: int) -> None:
    """Queue a document that failed once more; what was paid for is not paid for again.

    Args:
        most_running: how many of its kind and notebook may wait or be made.

    Raises:
        Conflict: it has not failed.
        OverQuota: others are being made.
    """
    await tx.documents.hold_notebook(document.notebook_id)
    running, _ = await tx.documents.counts(document.notebook_id, document.kind)
    if running >= most_running:
        raise OverQuota(
            "Another one is being made in this notebook. Wait until it is ready.",
            retry_after_s=60.0,
        )
    attempt = await tx.documents.requeue(document.id)
    if attempt is None:
        raise Conflict("Only a document that failed can be made again.")
    key = f"{document.id}:{attempt}"
    await tx.jobs.enqueue(MAKE_DOCUMENT, key, document_id=str(document.id))


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a document, as whoever makes it sees it."""

    uow: UnitOfWork
    document: Document

    @property
    def payer(self) -> Payer:
        """Who pays for its model calls."""
        document = self.document
        return Payer(document.owner_id, notebook_id=document.notebook_id, document_id=document.id)

    async def show(self, progress: DocumentProgress) -> None:
        """Publish how far it is.

        Raises:
            Superseded: another attempt took over, or it was deleted.
        """
        document = self.document
        async with self.uow() as tx:
            if not await tx.documents.show_progress(document.id, document.attempt, progress):
                raise Superseded

    async def require(self, tx: Stores) -> None:
        """Let go on, in the transaction that would do more.

        Raises:
            Superseded: as `show`.
        """
        if not await tx.documents.still_mine(self.document.id, self.document.attempt):
            raise Superseded


@dataclass(frozen=True, slots=True)
class Made:
    """What a document has become.

    Args:
        text: what it says, as it is asked about: Markdown without markers.
        content: its file.
        seconds: how long that plays; None where it makes no sound.
    """

    text: str
    content: bytes
    seconds: Decimal | None = None


class Maker(Protocol):
    """Makes documents of one kind."""

    async def __call__(self, attempt: Attempt) -> Made:
        """Make it, and keep its title and text (`Documents.keep_text`) on the way.

        What earlier attempts paid for is used again.

        Raises:
            Superseded: another attempt took over.
            ModelAnswerInvalid, ModelRefused, ModelCut, OutOfCredit, Conflict: it fails and says so.
            Unavailable, ModelUnavailable: worth another run later.
        """
        ...


@dataclass(frozen=True, slots=True)
class Drafting:
    """Has a model write something that can be read, at most twice, and pays for each once.

    Args:
        max_output_tokens: what the model may write, reasoning included.
    """

    uow: UnitOfWork
    meter: Meter
    chat: ChatModel
    max_output_tokens: int

    async def __call__(
        self, attempt: Attempt, asked: Sequence[Message], read: Callable[[str], T]
    ) -> T:
        """What the model wrote, as `read` reads it.

        Args:
            read: raises Unusable for a draft that is not what was asked for.

        Raises:
            NoUsableDraft: neither draft was; they are forgotten.
            Superseded, OutOfCredit, ModelError.
        """
        document_id = attempt.document.id
        async with self.uow() as tx:
            paid = await tx.documents.drafts(document_id)
        messages, why = list(asked), ""
        for _ in range(_MOST_DRAFTS):
            draft = paid.get(_hash(messages)) or await self._written(attempt, messages)
            try:
                return read(draft)
            except Unusable as error:
                why = str(error)
                again = Message(Role.USER, _AGAIN.format(why=why))
                messages += [Message(Role.ASSISTANT, draft), again]
        async with self.uow() as tx:
            await attempt.require(tx)
            await tx.documents.forget_drafts(document_id)
        raise NoUsableDraft(
            f"The model wrote twice what cannot be used: {why} Both calls stay billed. Press Retry"
            " to have it try again."
        )

    async def _written(self, attempt: Attempt, messages: Sequence[Message]) -> str:
        async def make() -> Transcript:
            text = ""
            async with aclosing(
                self.chat.stream(messages, max_tokens=self.max_output_tokens)
            ) as events:
                async for event in events:
                    if not isinstance(event, ChatEnd):
                        text += event.text
                    elif event.finish_reason == "length":
                        raise AnswerTooLong(
                            f"What the model wrote reached {self.max_output_tokens:,} tokens and"
                            " breaks off. Raise LLM_MAX_OUTPUT_TOKENS, or press Retry.",
                            usage=event.usage,
                        )
                    else:
                        return Transcript(text, event.usage)
            raise ModelAnswerInvalid

        async def keep(tx: Stores, written: Transcript) -> None:
            await tx.documents.keep_draft(attempt.document.id, _hash(messages), written.text)

        call = Call(CallKind.DOCUMENT, self.chat.model, self.bound(messages), attempt.payer)
        written = await self.meter.run(call, make, before=attempt.require, after=keep)
        return written.text

    def bound(self, messages: Sequence[Message]) -> TokenUsage:
        """The most that one call may use."""
        sent = sum(most_tokens(message.content) + 16 for message in messages)
        return TokenUsage(sent, self.max_output_tokens, estimated=True)


def _hash(messages: Sequence[Message]) -> bytes:
    said = "\0".join(part for message in messages for part in (message.role, message.content))
    return hashlib.sha256(said.encode("utf-8", "replace")).digest()
