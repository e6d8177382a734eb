"""An optional last look at what a search found, by a model made for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from domain.errors import ModelError, OutOfCredit
from domain.metering import Call, Meter, Payer
from domain.ports import Reranker
from domain.retrieval import Hit, RetrievalSettings
from domain.usage import CallKind, TokenUsage, most_tokens

_TOKENS_A_PAIR = 16
"""What a reranker may put around each pair of question and passage."""


@dataclass(frozen=True, slots=True)
class MeteredReranker:
    """A reranker whose every call is a row of the ledger, and whose failure loses no answer."""

    reranker: Reranker
    meter: Meter
    report: Callable[[Exception], None]
    """Told of each call that failed, since the search goes on without it."""

    def widened(self, settings: RetrievalSettings) -> RetrievalSettings:
        """What to search with, so that there is something to choose from."""
        most = settings.candidates
        return replace(settings, k=max(settings.k, most), scoped_k=max(settings.scoped_k, most))

    async def best(self, question: str, hits: Sequence[Hit], k: int, payer: Payer) -> list[Hit]:
        """The k best, in the reranker's order and with its scores.

        One call without a second try, or none for fewer than two hits. Where it fails or is not
        covered by credit, they are the first k in the order they came in.
        """
        texts = [hit.text for hit in hits]
        if len(texts) <= 1:
            return list(hits[:k])
        try:
            ranked = await self.meter.run(
                Call(CallKind.RERANK, self.reranker.model, _bound(question, texts), payer),
                lambda: self.reranker.rerank(question, texts),
                tries=1,
            )
        except (ModelError, OutOfCredit) as error:
            self.report(error)
            return list(hits[:k])
        order = sorted(range(len(hits)), key=lambda n: (-ranked.scores[n], n))[:k]
        return [
            replace(hits[n], rank=rank, score=ranked.scores[n]) for rank, n in enumerate(order, 1)
        ]


def _bound(question: str, texts: Sequence[str]) -> TokenUsage:
    asked = most_tokens(question) + _TOKENS_A_PAIR
    return TokenUsage(sum(asked + most_tokens(text) for text in texts), estimated=True)
