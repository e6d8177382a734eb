"""Open a citation: the passage it was taken from, as it was read then."""

from collections.abc import Sequence
from dataclasses import dataclass

from domain.access import Role
from domain.account import User
from domain.conversation import AnswerStatus, Citation, Mention
from domain.errors import NotFound
from domain.ids import AnswerId, DocumentId, NotebookId
from domain.passage import Passage
from domain.source import Source
from domain.stores import Stores, UnitOfWork


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """What a reader sees behind a marker.

    Args:
        notebook_id: where what has the marker stands.
        source, passage: None once the source left the notebook or the library.
    """

    notebook_id: NotebookId
    citation: Citation
    mention: Mention
    source: Source | None
    passage: Passage | None


@dataclass(frozen=True, slots=True)
class ReadCitation:
    """Follow a marker to its passage, in the version of the source that was read for it."""

    uow: UnitOfWork

    async def __call__(
        self, user: User, answer_id: AnswerId, marker: int, mention: int
    ) -> CitedPassage:
        """The passage behind a marker; an answer that is being written may be asked, too.

        Args:
            mention: which place of the marker is meant, from 0; past the last one means the last.

        Raises:
            NotFound: the answer is not that user's, or has no such marker.
        """
        async with self.uow() as tx:
            answer = await tx.answers.get(answer_id, user.id)
            if answer is None:
                raise NotFound("There is no such answer.")
            citations: Sequence[Citation] = answer.citations
            if answer.status is AnswerStatus.STREAMING:
                citations = await tx.answers.recorded_citations(answer_id)
            return await _opened(tx, user, answer.notebook_id, citations, marker, mention)

    async def of_document(
        self, user: User, document_id: DocumentId, marker: int, mention: int
    ) -> CitedPassage:
        """Likewise, of a document's text.

        Raises:
            NotFound: that user may not see the document, or it has no such marker.
        """
        async with self.uow() as tx:
            document = await tx.documents.get(document_id, user.id, at_least=Role.READ)
            if document is None:
                raise NotFound("There is no such document.")
            where, citations = document.notebook_id, document.citations
            return await _opened(tx, user, where, citations, marker, mention)


async def _opened(
    tx: Stores,
    user: User,
    notebook_id: NotebookId,
    citations: Sequence[Citation],
    marker: int,
    mention: int,
) -> CitedPassage:
    citation = next((c for c in citations if c.marker == marker), None)
    if citation is None:
        raise NotFound("There is no such citation.")
    place = citation.mentions[min(max(mention, 0), len(citation.mentions) - 1)]
    source = None
    if not citation.removed:
        source = await tx.sources.get(citation.source_id, user.id, at_least=Role.READ)
    if source is None:
        return CitedPassage(notebook_id, citation, place, None, None)
    passage = await tx.sources.passage(citation.version_id, citation.passage)
    return CitedPassage(notebook_id, citation, place, source, passage)
