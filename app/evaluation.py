"""`beleg eval`: ask a notebook the questions of a file, and judge what comes back."""

import json
import os
import statistics
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from uuid import UUID

from app import bootstrap
from app.runs import Runs
from app.services import Services
from app.settings import read_settings
from domain import question_set
from domain.account import User
from domain.claims import statements
from domain.conversation import Answer, AnswerStatus, CheckKind, EventKind
from domain.errors import NotFound, Rejected
from domain.evaluation import ndcg_at, recall_at, reciprocal_rank
from domain.ids import NotebookId
from domain.language import detect_question
from domain.notebook import Notebook
from domain.question_set import Question
from domain.retrieval import Hit
from domain.source import Source, SourceStatus

_NDCG_K = 10
_NO_LIMIT = 1_000_000_000
_PAGE = 500
_COMPARED = (
    *("RETRIEVAL_MODE", "RETRIEVAL_K", "RETRIEVAL_CANDIDATES", "RETRIEVAL_DIVERSITY"),
    *("RETRIEVAL_GENERATED_SLOTS", "RRF_K", "SIMILARITY_FLOOR", "PRICES_FILE"),
    *("RERANK_MODEL", "RERANK_BASE_URL", "RERANK_TIMEOUT_S"),
    *("LLM_MODEL", "LLM_BASE_URL", "LLM_MAX_OUTPUT_TOKENS", "LLM_REASONING_EFFORT"),
)
"""Settings that a question feels; no keys, since the head of a column shows the values."""
_EVER = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
"""The notebook of a variant is new, so all of its calls are the evaluation's."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be evaluated.

    Args:
        notebook: its id or its title.
        email: whose notebook it is; None: the person at this machine, in local mode.
        answers: have the questions answered as well, which may cost money.
        compare: for each further variant, settings that differ from the environment's, `_COMPARED`.
    """

    questions: Path
    notebook: str
    email: str | None
    answers: bool
    compare: Sequence[Mapping[str, str]]


@dataclass(slots=True)
class Column:
    """What one variant of the settings made of the questions; each list has a value a question."""

    name: str
    k: int
    recall: list[float] = field(default_factory=list)
    reciprocal: list[float] = field(default_factory=list)
    ndcg: list[float] = field(default_factory=list)
    search_ms: list[float] = field(default_factory=list)
    answers: list["Judged"] = field(default_factory=list)
    cost: Decimal = Decimal(0)

    def rows(self) -> dict[str, float | None]:
        """Every figure by its name; None where there was nothing to judge."""
        shown: dict[str, float | None] = {
            "k": float(self.k),
            "recall@k": _mean(self.recall),
            "MRR": _mean(self.reciprocal),
            f"nDCG@{_NDCG_K}": _mean(self.ndcg),
            "search ms, median": _median(self.search_ms),
        }
        if self.answers:
            shown |= judgement(self.answers)
        return shown | {"cost USD": float(self.cost)}


@dataclass(frozen=True, slots=True)
class Judged:
    """One answer beside what was expected of it.

    Args:
        refused: None where the answer failed.
        claims, cited: sentences that make a claim, and those of them with a citation.
        mentions, exact: quotes, and those of them that stand in their passage where they should.
        stripped: markers that named no passage.
        flags: doubts of the support checks, those about missing citations apart.
        facts, found: expected facts, and those of them in the text or a quote.
    """

    answerable: bool
    refused: bool | None
    claims: int
    cited: int
    mentions: int
    exact: int
    stripped: int
    flags: int
    facts: int
    found: int
    first_ms: float | None
    whole_ms: float


def judgement(answers: Sequence[Judged]) -> dict[str, float | None]:
    """The figures of answers, by name; those that failed count as such alone."""
    ended = [a for a in answers if a.refused is not None]
    told = [a for a in ended if not a.refused]
    return {
        "answers that failed": float(len(answers) - len(ended)),
        "answered where the sources do": _mean([not a.refused for a in ended if a.answerable]),
        "refused where they do not": _mean([bool(a.refused) for a in ended if not a.answerable]),
        "facts found": _ratio(sum(a.found for a in ended), sum(a.facts for a in ended)),
        "markers valid": _ratio(
            sum(a.mentions for a in ended), sum(a.mentions + a.stripped for a in ended)
        ),
        "sentences with a citation": _ratio(
            sum(a.cited for a in told), sum(a.claims for a in told)
        ),
        "quotes exact": _ratio(sum(a.exact for a in told), sum(a.mentions for a in told)),
        "support flags an answer": _mean([a.flags for a in told]),
        "first piece ms, median": _median([a.first_ms for a in told if a.first_ms is not None]),
        "whole answer ms, median": _median([a.whole_ms for a in told]),
    }


async def evaluate(asked: Asked, *, environment: Mapping[str, str] = os.environ) -> list[Column]:
    """Ask every question under each variant of the settings, in turn: a column a variant.

    Each variant asks a notebook of its own that links the same sources, and is removed at the
    end: nobody's chat and daily quota are touched, and its cost stands apart in the ledger.

    Raises:
        Rejected: the question set or a setting does not do; nothing was asked then.
        NotFound: there is no such account or notebook.
    """
    questions = question_set.parse(_lines(asked.questions))
    for name in (name for changed in asked.compare for name in changed):
        if name not in _COMPARED:
            raise Rejected(f"--compare takes {', '.join(_COMPARED)}; not {name!r}.")
    variants = [{}, *asked.compare]
    async with AsyncExitStack() as stack:
        opened = []
        for changed in variants:
            settings = replace(
                read_settings({**environment, **changed}),
                max_questions_per_notebook_day=_NO_LIMIT,
                max_sources_per_notebook=_NO_LIMIT,
            )
            opened.append(await stack.enter_async_context(bootstrap.services(settings)))
        user = await _user(opened[0], asked.email)
        notebook = await _notebook(opened[0], user, asked.notebook)
        sources = await _ready_sources(opened[0], user, notebook)
        resolved = question_set.resolve(questions, sources)
        runs = []
        for services, changed in zip(opened, variants, strict=True):
            name = " ".join(f"{key}={value}" for key, value in changed.items()) or "as set"
            copy = await stack.enter_async_context(_copy(services, user, notebook, sources))
            column = Column(name, services.settings.retrieval_k)
            runs.append(_Run(services, user, copy, column, with_answers=asked.answers))
        for question in resolved:
            for run in runs:
                await run.ask(question)
        for run in runs:
            await run.add_cost()
        return [run.column for run in runs]


@dataclass(slots=True)
class _Run:
    """The questions under one variant of the settings."""

    services: Services
    user: User
    notebook_id: NotebookId
    column: Column
    with_answers: bool

    async def ask(self, question: Question) -> None:
        k = self.services.settings.retrieval_k
        began = time.perf_counter()
        hits = await self._search(question, k)
        self.column.search_ms.append((time.perf_counter() - began) * 1000)
        if question.relevant:
            relevant = frozenset(question.relevant)
            found = question_set.ranked(question, hits)
            self.column.recall.append(recall_at(k, found, relevant))
            self.column.reciprocal.append(reciprocal_rank(found, relevant))
            # Which chunks a question gets depends on how many: more are not the same and then some.
            deep = hits if k >= _NDCG_K else await self._search(question, _NDCG_K)
            self.column.ndcg.append(ndcg_at(_NDCG_K, question_set.ranked(question, deep), relevant))
        if self.with_answers:
            self.column.answers.append(await self._answer(question))

    async def _search(self, question: Question, k: int) -> list[Hit]:
        return await self.services.search(self.user, self.notebook_id, question.text, k=k)

    async def _answer(self, question: Question) -> Judged:
        services = self.services
        began = time.perf_counter()
        first_ms = None
        asked = await services.ask(self.user, self.notebook_id, question.text)
        await Runs(services).start(asked)
        async for event in services.answers.events(asked.answer.id, after=0):
            if event and event.kind is EventKind.DELTA and first_ms is None:
                first_ms = (time.perf_counter() - began) * 1000
        whole_ms = (time.perf_counter() - began) * 1000
        answer = await services.answers.get(self.user, asked.answer.id)
        judged = await self._judged(question, answer, first_ms, whole_ms)
        # The next question is asked as if it were the first.
        await services.answers.clear(self.user, self.notebook_id)
        return judged

    async def _judged(
        self, question: Question, answer: Answer, first_ms: float | None, whole_ms: float
    ) -> Judged:
        whole = answer.status is AnswerStatus.COMPLETE
        places = sorted(
            (m.answer_start, m.answer_end) for c in answer.citations for m in c.mentions
        )
        said = statements(answer.text, places, detect_question(question.text))
        claims = [statement for statement in said if statement.is_claim]
        told = _folded([answer.text, *(m.quote for c in answer.citations for m in c.mentions)])
        return Judged(
            answerable=bool(question.relevant),
            refused=answer.refused if whole else None,
            claims=len(claims),
            cited=sum(bool(claim.places) for claim in claims),
            mentions=len(places),
            exact=await self._exact_quotes(answer),
            stripped=answer.stripped_markers,
            flags=sum(check.kind is not CheckKind.UNCITED for check in answer.checks),
            facts=len(question.facts),
            found=sum(_folded([fact]) in told for fact in question.facts),
            first_ms=first_ms,
            whole_ms=whole_ms,
        )

    async def _exact_quotes(self, answer: Answer) -> int:
        exact = 0
        for citation in answer.citations:
            for n in range(len(citation.mentions)):
                cited = await self.services.read_citation(self.user, answer.id, citation.marker, n)
                quote = cited.mention
                if cited.passage:
                    exact += cited.passage.text[quote.start : quote.end] == quote.quote
        return exact

    async def add_cost(self) -> None:
        """Take what the ledger says about this variant's own notebook."""
        groups = await self.services.usage.grouped(self.user, *_EVER, ["notebook"])
        own = ("notebook", str(self.notebook_id))
        self.column.cost = sum((g.cost for g in groups if own in g.key), Decimal(0))


@asynccontextmanager
async def _copy(
    services: Services, user: User, notebook: Notebook, sources: Sequence[Source]
) -> AsyncIterator[NotebookId]:
    """A notebook with the same sources, for as long as the questions take."""
    copy = await services.notebooks.create(user, f"Evaluation of {notebook.title}"[:300])
    try:
        for source in sources:
            await services.add_source.link(user, copy.id, source.id)
        yield copy.id
    finally:
        await services.notebooks.delete(user, copy.id)


async def _user(services: Services, email: str | None) -> User:
    if email:
        return await services.accounts.by_address(email)
    if not services.settings.beleg_local:
        raise Rejected("Say whose notebook it is: --account EMAIL.")
    return await services.accounts.local_user()


async def _notebook(services: Services, user: User, named: str) -> Notebook:
    found, after = [], None
    while True:
        page = await services.notebooks.page(user, limit=_PAGE, after=after)
        found += [n for n in page.items if named in {str(n.id), n.title}]
        after = page.next_cursor
        if after is None:
            break
    if not found:
        raise NotFound(f"{user.email} has no notebook {named!r}.")
    if len(found) > 1:
        raise Rejected(f"{len(found)} notebooks are called {named!r}: name it by its id.")
    return found[0]


async def _ready_sources(services: Services, user: User, notebook: Notebook) -> list[Source]:
    ready: list[Source] = []
    after: UUID | None = None
    while True:
        page = await services.sources.in_notebook(user, notebook.id, limit=_PAGE, after=after)
        ready += [s for s in page.items if s.status is SourceStatus.READY]
        after = page.next_cursor
        if after is None:
            return ready


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").split("\n")  # JSON may hold other line ends
    except (OSError, UnicodeDecodeError) as error:
        raise Rejected(f"The question set {path} cannot be read: {error}.") from None


def table(columns: Sequence[Column]) -> str:
    """The figures of every variant, a line a figure."""
    sides = [column.rows() for column in columns]
    wide = max(map(len, sides[0]))
    widths = [max(len(column.name), 8) for column in columns]
    lines = [" " * wide + "".join(f"  {c.name:>{w}}" for c, w in zip(columns, widths, strict=True))]
    for name in sides[0]:
        shown = (_shown(name, side[name]) for side in sides)
        cells = (f"  {text:>{w}}" for text, w in zip(shown, widths, strict=True))
        lines.append(f"{name:<{wide}}" + "".join(cells))
    return "\n".join(lines)


def as_json(columns: Sequence[Column]) -> str:
    """The same for programs: a list with an object a variant."""
    return json.dumps([{"settings": c.name, **c.rows()} for c in columns], indent=1)


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    if name.endswith("median"):
        return f"{value:.1f}"
    if name == "cost USD":
        return f"{value:.6f}"
    return f"{value:.0f}" if name in {"k", "answers that failed"} else f"{value:.3f}"


def _folded(texts: Sequence[str]) -> str:
    return " ".join(" ".join(texts).split()).casefold()


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
