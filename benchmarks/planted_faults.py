"""Faults planted in answers made from the open PDFs, and what the support checks make of them.

    python benchmarks/planted_faults.py [--answers 200] [--seed 0] [--show]

Every answer is three sentences of a PDF, German or English, each with its marker, written by the
product's own `AnswerWriter` over eight passages. Two of them are true: as they stand, or with
their numbers and dates written another way. One carries a fault of one of 20 kinds. The fault is
planted by the patterns below, which know nothing of the checks.

    recall      faults with a check on them; of its own kind, too
    precision   checks that stand on a fault, of all checks in answers with that kind of fault
    true        numbers, dates and names of the true sentences, and how many carry a check

Exits 1 where numbers, dates or names are flagged in under 95 % of the faults or in 2 % or more of
what is true; 2 where the data is absent.
"""

import argparse
import asyncio
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from adapters.extraction.pdf_process import PdfProcesses
from adapters.extraction.reader import FileReader
from benchmarks.faults import KINDS, Planted, reformatted
from domain import sentences
from domain.answer_writer import AnswerWriter
from domain.checks import checks_of
from domain.chunking import TokenWindowChunker
from domain.conversation import Answer, AnswerMode, AnswerStatus, Check
from domain.ids import AnswerId, ChunkId, NotebookId, SourceId, UserId, VersionId
from domain.pdf_capture import composed
from domain.retrieval import Hit
from domain.source import CaptureMode
from tests.conftest import SHARED_DATA

ENGLISH = (
    *("paper-rag-2005.11401", "paper-alce", "paper-pasa", "paper-tracemonkey", "redbook-18p"),
    *("freeculture-352p", "pdkids-55p"),
)
GERMAN = ("de-grundgesetz-50p", "de-geotopo-117p", "de-rechnung-miete", "de-rechnung-kfz")
PASSAGES, SENTENCES = 8, 3
LEAST_CAUGHT, MOST_WRONG = 0.95, 0.02
_NIL = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of a PDF, and the passage it stands in."""

    text: str
    language: str
    document: int
    chunk: int


class Library:
    """The open PDFs in windows, and their quotable sentences."""

    def __init__(self) -> None:
        self.chunks: list[list[tuple[int | None, int, str]]] = []
        self.languages: list[str] = []
        self.lines: list[Line] = []

    async def read(self) -> None:
        """Read every file and keep its windows."""
        reader = FileReader(PdfProcesses())

        async def on_page(_done: int, _total: int) -> None:
            pass

        for language, names in (("en", ENGLISH), ("de", GERMAN)):
            for name in names:
                content = (SHARED_DATA / "pdfs" / f"{name}.pdf").read_bytes()
                pdf = await reader.pdf_text(content, on_page=on_page)
                reading = composed(pdf, CaptureMode.TEXT, {}, sees=False)
                chunks = TokenWindowChunker().chunk(reading.passages)
                self.languages.append(language)
                self.chunks.append([(c.page, c.start, c.text) for c in chunks])
                for number, (_, _, text) in enumerate(self.chunks[-1]):
                    self.lines += self._lines(text, language, len(self.chunks) - 1, number)
        await reader.aclose()

    def _lines(self, text: str, language: str, document: int, chunk: int) -> Iterator[Line]:
        for start, end in sentences.split(text, language):
            said = " ".join(re.sub(r"(?<=[a-zäöüß])-\n(?=[a-zäöüß])", "", text[start:end]).split())
            words = re.findall(r"[^\W\d_]{2,}", said)
            whole = (
                re.match(r"[A-ZÄÖÜ(]", said) and said.endswith(".") and not re.search(r"\[\d", said)
            )
            if (
                whole
                and len(words) >= 8
                and 60 <= len(said) <= 400
                and len(words) * 4 < len(said) < len(words) * 9
            ):
                yield Line(said, language, document, chunk)

    def hits(self, document: int, wanted: Sequence[int], rng: random.Random) -> list[Hit]:
        """Eight passages of a document, the wanted ones among them."""
        chunks = self.chunks[document]
        others = [number for number in range(len(chunks)) if number not in wanted]
        picked = [*wanted, *rng.sample(others, min(len(others), PASSAGES - len(wanted)))]
        rng.shuffle(picked)
        return [
            Hit(rank, ChunkId(UUID(int=number)), SourceId(_NIL), VersionId(_NIL), "source", 0,
                chunks[number][0], chunks[number][1], self.languages[document],
                chunks[number][2], 0.8, 1.0)
            for rank, number in enumerate(picked, 1)
        ]  # fmt: skip


def written(texts: Sequence[str], chunks: Sequence[int], hits: Sequence[Hit]) -> Answer:
    """What the product makes of a model's text with a marker behind each sentence."""
    writer = AnswerWriter(hits)
    ranks = {hit.chunk_id.int: hit.rank for hit in hits}
    for text, chunk in zip(texts, chunks, strict=True):
        writer.feed(f"{text.rstrip('.')} [{ranks[chunk]}]. ")
    writer.finish()
    return Answer(
        AnswerId(_NIL), NotebookId(_NIL), UserId(_NIL), "?", None, None, AnswerMode.SOURCES,
        AnswerStatus.COMPLETE, refused=False, text=writer.text, error=None,
        created_at=datetime.now(UTC), citations=writer.citations, retrieved=tuple(hits),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """One answer, the span of its fault, and the spans of its true sentences."""

    kind: str
    answer: Answer
    fault: tuple[int, int]
    true: Sequence[tuple[int, int]]


def cases(library: Library, answers: int, rng: random.Random) -> Iterator[Case]:
    """As many of each kind, half of them German as far as the PDFs have such sentences."""
    by_document = defaultdict(list)
    for line in library.lines:
        by_document[line.document].append(line)
    each = -(-answers // len(KINDS))
    for kind, (_, plant) in KINDS.items():
        pools = {
            language: [
                line
                for line in library.lines
                if line.language == language
                and len({other.chunk for other in by_document[line.document]}) >= SENTENCES
            ]
            for language in ("en", "de")
        }
        made = Counter[str]()
        for pool in pools.values():
            rng.shuffle(pool)
        while sum(made.values()) < each and any(pools.values()):
            language = min((x for x in pools if pools[x]), key=lambda x: made[x])
            line = pools[language].pop()
            planted = plant(line.text, language, rng)
            if planted is None:
                continue
            made[language] += 1
            yield _case(library, kind, line, planted, by_document[line.document], rng)


def _case(
    library: Library,
    kind: str,
    line: Line,
    planted: Planted,
    pool: Sequence[Line],
    rng: random.Random,
) -> Case:
    others = rng.sample([x for x in pool if x.chunk != line.chunk], SENTENCES - 1)
    texts = [rng.choice((x.text, reformatted(x.text, x.language))) for x in others]
    place = rng.randrange(SENTENCES)
    texts.insert(place, planted[0])
    chunks = [x.chunk for x in others]
    chunks.insert(place, line.chunk)
    answer = written(texts, chunks, library.hits(line.document, list(dict.fromkeys(chunks)), rng))
    spans = [
        (at, at + len(text)) for text in texts if (at := answer.text.find(text.rstrip("."))) >= 0
    ]
    start = answer.text.index(texts[place].rstrip("."))
    fault = (start + planted[1][0], start + planted[1][1])
    return Case(kind, answer, fault, [span for span in spans if span[0] != start])


_THINGS = {
    "number": r"(?<![\w.])\d+(?:[.,]\d+)*(?!\w)",
    "date": r"(?<![\w.,])(?:1[5-9]|20)\d\d(?!\w)|\b\d{1,2}\.\d{1,2}\.\d{4}|\d{4}-\d\d-\d\d",
    "name": r"(?<=[a-zäöüß,] )[A-ZÄÖÜ]\w{2,}",
}


def _on(check: Check, span: tuple[int, int]) -> bool:
    return check.start < span[1] and span[0] < check.end


@dataclass(slots=True)
class Tally:
    """What was counted, by kind of fault and by kind of check."""

    faults: Counter[str] = field(default_factory=Counter)
    caught: Counter[str] = field(default_factory=Counter)
    own_kind: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    made: Counter[str] = field(default_factory=Counter)
    true: Counter[str] = field(default_factory=Counter)
    doubted: Counter[str] = field(default_factory=Counter)

    def count(self, case: Case, *, show: bool) -> None:
        """Add one answer."""
        checks = checks_of(case.answer)
        on = [check for check in checks if _on(check, case.fault)]
        self.faults[case.kind] += 1
        self.caught[case.kind] += bool(on)
        self.own_kind[case.kind] += any(check.kind == KINDS[case.kind][0] for check in on)
        self.right[case.kind] += len(on)
        self.made[case.kind] += len(checks)
        if show and not on:
            print(f"MISSED {case.kind}: {_shown(case.answer.text, case.fault)}")
        for span in case.true:
            wrong = [check for check in checks if _on(check, span)]
            self.true["sentence"] += 1
            self.doubted["sentence"] += bool(wrong)
            for thing, pattern in _THINGS.items():
                self.true[thing] += len(re.findall(pattern, case.answer.text[slice(*span)]))
                self.doubted[thing] += sum(check.kind == thing for check in wrong)
            for check in wrong if show else ():
                where = _shown(case.answer.text, (check.start, check.end))
                print(f"WRONG {check.kind}: {where} ({check.detail})")


def measure(found: Sequence[Case], *, show: bool) -> int:
    """Print the tables; the exit code."""
    tally = Tally()
    for case in found:
        tally.count(case, show=show)
    print(f"{'kind':18} {'answers':>7} {'recall':>7} {'own kind':>8} {'precision':>9}")
    for kind in KINDS:
        faults = tally.faults[kind] or 1
        recall, own = tally.caught[kind] / faults, tally.own_kind[kind] / faults
        precision = tally.right[kind] / (tally.made[kind] or 1)
        print(f"{kind:18} {faults:7} {recall:7.0%} {own:8.0%} {precision:9.0%}")
    print(f"\n{'group':10} {'faults':>6} {'flagged':>8} {'true ones':>9} {'flagged':>8}")
    missed = False
    for group in ("number", "date", "name", "negation"):
        kinds = [kind for kind, (own, _) in KINDS.items() if own == group]
        faults = sum(tally.faults[kind] for kind in kinds) or 1
        recall = sum(tally.caught[kind] for kind in kinds) / faults
        true = tally.true[group if group in _THINGS else "sentence"] or 1
        wrong = tally.doubted[group] / true
        print(f"{group:10} {faults:6} {recall:8.1%} {true:9} {wrong:8.2%}")
        missed |= group in _THINGS and (recall < LEAST_CAUGHT or wrong >= MOST_WRONG)
    print(f"\ntrue sentences with a check: {tally.doubted['sentence']} of {tally.true['sentence']}")
    return int(missed)


def _shown(text: str, span: tuple[int, int]) -> str:
    start, end = span
    return f"{text[max(0, start - 70) : start]}>>{text[start:end]}<<{text[end : end + 50]}"


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--answers", type=int, default=200)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--show", action="store_true")
    chosen = options.parse_args()
    if not SHARED_DATA.is_dir():
        print(f"the PDFs are not at {SHARED_DATA}")
        return 2
    library = Library()
    asyncio.run(library.read())
    found = list(cases(library, chosen.answers, random.Random(chosen.seed)))
    return measure(found, show=chosen.show)


if __name__ == "__main__":
    sys.exit(main())
