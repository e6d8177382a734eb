"""Search a notebook without asking a model to answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.account import User
from domain.embedding_set import EmbeddingSet
from domain.errors import NotFound, Rejected
from domain.ids import NotebookId, SourceId
from domain.language import detect_question
from domain.metering import MeteredEmbedder, Payer
from domain.ports import Embedded
from domain.retrieval import Hit, RetrievalMode, RetrievalSettings, Scope
from domain.stores import Stores, UnitOfWork
from domain.terms import question_terms
from domain.text_gate import clean

_MAX_QUERY = 8000
_MAX_K = 100


@dataclass(frozen=True, slots=True)
class SearchNotebook:
    """The chunks that a question would be answered from."""

    uow: UnitOfWork
    embedder: MeteredEmbedder
    embedding_set: EmbeddingSet
    settings: RetrievalSettings

    async def __call__(
        self,
        user: User,
        notebook_id: NotebookId,
        query: str,
        *,
        k: int | None = None,
        source_ids: Sequence[SourceId] | None = None,
        mode: RetrievalMode | None = None,
    ) -> list[Hit]:
        """Best first. One embedding call, or none where there is nothing to search.

        Raises:
            NotFound, Rejected, OutOfCredit, ModelError.
        """
        text = clean(query).strip()
        async with self.uow() as tx:
            if await tx.notebooks.get(notebook_id, user.id) is None:
                raise NotFound("There is no such notebook.")
            if not text or len(text) > _MAX_QUERY:
                raise Rejected(f"A query has 1 to {_MAX_QUERY:,} characters.")
            if k is not None and not 1 <= k <= _MAX_K:
                raise Rejected(f"k is 1 to {_MAX_K}.")
            if not await tx.notebooks.has_ready(notebook_id, source_ids, None):
                return []
        settings = replace(self.settings, k=k or self.settings.k, mode=mode or self.settings.mode)
        hits: list[Hit] = []

        async def search(tx: Stores, embedded: Embedded) -> None:
            language = detect_question(text)
            languages = await tx.notebooks.languages(notebook_id)
            hits.extend(
                await tx.index.search(
                    Scope(notebook_id, source_ids),
                    self.embedding_set.id,
                    embedded.vectors[0],
                    question_terms(text, language, languages),
                    settings,
                )
            )

        payer = Payer(user.id, notebook_id=notebook_id)
        await self.embedder.embed([text], "question", payer, after=search)
        return hits
