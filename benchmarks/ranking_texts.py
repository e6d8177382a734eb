"""What rankings are measured on: XQuAD, SciFact and three papers, as sources and questions."""

import gzip
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from adapters.extraction.pdf_process import PdfProcesses
from adapters.extraction.reader import FileReader
from benchmarks.stage import PDFS
from domain import question_set
from domain.passage import Passage
from domain.question_set import RelevantSource
from tests.conftest import SHARED_DATA

RETRIEVAL = SHARED_DATA / "retrieval"
QUESTIONS = Path(__file__).parent / "questions"
PAPERS = ("paper-rag-2005.11401.pdf", "paper-alce.pdf", "paper-pasa.pdf")
_SUBSET, _SEED = 1_000, 0
Place = tuple[str, int | None]
"""A source's name, and a page where it has pages."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and where its answer stands."""

    text: str
    relevant: frozenset[Place]


@dataclass(frozen=True, slots=True)
class Collection:
    """Sources of one language by name, and questions about them."""

    name: str
    language: str
    sources: Mapping[str, tuple[Passage, ...]]
    questions: tuple[Asked, ...]


def xquad(texts: str, asked: str) -> Collection:
    """The 240 paragraphs in one language, asked in another or the same."""
    sources = {
        row["id"]: (Passage(0, None, row["text"], texts),)
        for row in _rows(RETRIEVAL / "xquad" / f"docs.{texts}.jsonl")
    }
    questions = tuple(
        Asked(row["query"], frozenset({(row["doc"], None)}))
        for row in _rows(RETRIEVAL / "xquad" / f"queries.{asked}.jsonl")
    )
    name = f"XQuAD {texts}" if asked == texts else f"XQuAD {asked}→{texts}"
    return Collection(name, texts, sources, questions)


def scifact() -> Collection:
    """All abstracts that an open claim of the development set cites, and others to make 1,000."""
    with gzip.open(RETRIEVAL / "scifact" / "docs.jsonl.gz", "rt") as lines:
        documents = {row["id"]: row for row in map(json.loads, lines)}
    claims = _rows(RETRIEVAL / "scifact" / "queries.dev.jsonl")
    cited = sorted({one for row in claims for one in row["cited"] if one in documents})
    others = random.Random(_SEED).sample(sorted(set(documents) - set(cited)), _SUBSET - len(cited))
    sources = {
        one: (Passage(0, None, _abstract(documents[one]), "en"),) for one in [*cited, *others]
    }
    questions = tuple(
        Asked(row["query"], frozenset((one, None) for one in row["cited"])) for row in claims
    )
    return Collection("SciFact", "en", sources, questions)


async def papers(kind: str) -> Collection:
    """Three papers as the product reads them; `kind` names a file of questions, by page or not."""
    reader = FileReader(PdfProcesses(size=1))

    async def on_page(_done: int, _total: int) -> None:
        pass

    sources = {}
    for name in PAPERS:
        pdf = await reader.pdf_text((PDFS / name).read_bytes(), on_page=on_page)
        sources[name] = tuple(
            Passage(n, page.page, page.text, "en") for n, page in enumerate(pdf.pages)
        )
    await reader.aclose()
    lines = (QUESTIONS / f"papers-{kind}.jsonl").read_text().splitlines()
    questions = tuple(
        Asked(asked.question, frozenset(map(_place, asked.relevant)))
        for asked in question_set.parse(lines)
    )
    return Collection(f"three papers, {kind}", "en", sources, questions)


def _place(relevant: RelevantSource | str) -> Place:
    if isinstance(relevant, str):
        return relevant, None
    return relevant.source, relevant.page


def _abstract(row: dict[str, str | Sequence[str]]) -> str:
    return f"{row['title']}\n\n" + " ".join(sentence.strip() for sentence in row["sents"])


def _rows(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text().splitlines()]
