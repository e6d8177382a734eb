"""A question set: what `beleg eval` asks, and what a right reader would find. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from domain.errors import Rejected
from domain.ids import SourceId
from domain.retrieval import Hit
from domain.source import Source


class RelevantSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A source that answers a question, by id, title or file name; a page of it where one does."""

    source: str
    page: int | None = None


class AskedQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the file.

    Args:
        relevant: where the answer stands; empty: the sources do not answer it.
        facts: strings that a right answer or one of its quotes contains.
    """

    question: str
    relevant: tuple[RelevantSource | str, ...] = ()
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer stands: a source, or a page of it."""

    source_id: SourceId
    page: int | None

    def holds(self, hit: Hit) -> bool:
        """True where the hit was found there."""
        return hit.source_id == self.source_id and self.page in {None, hit.page}


@dataclass(frozen=True, slots=True)
class Question:
    """A question whose relevant places are known by id."""

    text: str
    relevant: tuple[Place, ...]
    facts: tuple[str, ...]


def parse(lines: Iterable[str]) -> list[AskedQuestion]:
    """The questions of a JSONL file; empty lines are skipped.

    Raises:
        Rejected: a line is no question; the message says which and why.
    """
    asked = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            question = msgspec.json.decode(line, type=AskedQuestion)
        except msgspec.DecodeError as error:
            raise Rejected(f"Line {number} of the question set: {error}.") from None
        if not question.question.strip():
            raise Rejected(f"Line {number} of the question set: the question is empty.")
        asked.append(question)
    if not asked:
        raise Rejected("The question set is empty.")
    return asked


def resolve(asked: Sequence[AskedQuestion], sources: Sequence[Source]) -> list[Question]:
    """The same questions, with each relevant source found among those of the notebook.

    Raises:
        Rejected: a source is not there, or two have its title; it has no such page.
    """
    names: dict[str, dict[SourceId, Source]] = {}
    for source in sources:
        for name in (str(source.id), source.title, source.name):
            names.setdefault(name, {})[source.id] = source
    return [
        Question(a.question, tuple(_place(relevant, names) for relevant in a.relevant), a.facts)
        for a in asked
    ]


def _place(relevant: RelevantSource | str, names: dict[str, dict[SourceId, Source]]) -> Place:
    named = RelevantSource(relevant) if isinstance(relevant, str) else relevant
    found = names.get(named.source, {})
    if not found:
        raise Rejected(f"The notebook has no ready source called {named.source!r}.")
    if len(found) > 1:
        raise Rejected(f"{len(found)} sources are called {named.source!r}: name it by its id.")
    source = next(iter(found.values()))
    if named.page is not None and not 1 <= named.page <= (source.pages or 0):
        has = f"has {source.pages} pages" if source.pages else "has no pages"
        raise Rejected(f"{named.source!r} {has}; the question set names page {named.page}.")
    return Place(source.id, named.page)


def ranked(question: Question, hits: Sequence[Hit]) -> list[Place]:
    """The hits in order, each as the relevant place that it reaches, else as its own."""
    return [
        next((p for p in question.relevant if p.holds(hit)), Place(hit.source_id, hit.page))
        for hit in hits
    ]
