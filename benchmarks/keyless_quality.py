"""What a person without a key gets: ranks, answers and refusals on XQuAD, German and English.

    python benchmarks/keyless_quality.py [--questions 100] [--seed 0]

Each paragraph is a source of one notebook. Chunks, terms, vectors and sentences are the product's
own; the ranking is the search statement's formula, 0.7 z(cosine) + 0.3 coverage z(BM25), in memory.

    recall, MRR   all questions: the rank of their own paragraph
    answered      sampled questions that are not refused
    hit           sampled questions whose answer string is in a quoted sentence of its paragraph
    refused       sampled questions whose paragraphs were left out, all at once; then, one
                  at a time, whose article was

Vectors are kept in the temporary folder, so that only the first run takes minutes.
"""

import argparse
import asyncio
import hashlib
import json
import math
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from adapters.inference.local import LOCAL_MODEL, LocalEmbedder
from domain.chunking import TokenWindowChunker
from domain.extractive import Candidate, Evidence, candidates, choose
from domain.language import detect_question
from domain.passage import Chunk, Passage
from domain.ports import Vectors
from domain.terms import QueryTerm, chunk_terms, question_terms, weight
from tests.conftest import SHARED_DATA

XQUAD = SHARED_DATA / "retrieval" / "xquad"
PAIRS = (("en", "en"), ("de", "de"), ("de", "en"), ("en", "de"))
K, CANDIDATES = 8, 30
Role = Literal["question", "passage"]


class Vectoriser:
    """The product's embedder, with what it computed before kept in a file."""

    def __init__(self) -> None:
        self.embedder = LocalEmbedder()
        self.path = Path(tempfile.gettempdir()) / f"beleg-keyless-{LOCAL_MODEL}.npz"
        self.known: dict[str, Vectors] = {}
        if self.path.exists():
            with np.load(self.path) as kept:
                self.known = dict(zip(kept["keys"].tolist(), kept["vectors"], strict=True))

    async def __call__(self, texts: Sequence[str], role: Role) -> Vectors:
        """A row a text."""
        keys = [hashlib.sha256(f"{role}\0{text}".encode()).hexdigest() for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self.known}
        size = self.embedder.max_batch_items
        for first in range(0, len(new), size):
            batch = list(new.items())[first : first + size]
            embedded = await self.embedder.embed([text for _, text in batch], role=role)
            self.known |= zip((key for key, _ in batch), embedded.vectors, strict=True)
        return np.array([self.known[key] for key in keys], dtype=np.float32).reshape(-1, 384)

    async def close(self) -> None:
        """Keep the vectors and let go of the model."""
        np.savez(self.path, keys=list(self.known), vectors=np.array(list(self.known.values())))
        await self.embedder.aclose()


@dataclass
class Notebook:
    """The paragraphs of one language, indexed."""

    language: str
    chunks: list[Chunk]
    paragraphs: list[dict[str, str]]
    vectors: Vectors
    postings: dict[str, dict[int, float]] = field(default_factory=lambda: defaultdict(dict))

    def __post_init__(self) -> None:
        for row, chunk in enumerate(self.chunks):
            for term, count in chunk_terms(chunk.text, chunk.language).items():
                self.postings[term][row] = weight(count)

    def paragraph(self, row: int) -> dict[str, str]:
        """What chunk `row` is cut from."""
        return self.paragraphs[self.chunks[row].passage]

    def search(
        self, vector: Vectors, terms: Sequence[QueryTerm], rows: npt.NDArray[np.intp]
    ) -> list[tuple[int, float, float]]:
        """(row, cosine, score) of the best of `rows`, best first, as the search statement ranks."""
        cosine = self.vectors[rows] @ vector
        bm25, mass, asked = np.zeros(len(rows)), np.zeros(len(rows)), 0.0
        place = {int(row): index for index, row in enumerate(rows)}
        for term in terms:
            best = math.log(1 + (len(rows) + 0.5) / 0.5)
            idfs = []
            shares = dict.fromkeys(term.variants, 1.0) | dict.fromkeys(term.halves, 0.5)
            for variant, share in shares.items():
                held = {
                    place[r]: w for r, w in self.postings.get(variant, {}).items() if r in place
                }
                if not held:
                    continue
                rarity = math.log(1 + (len(rows) - len(held) + 0.5) / (len(held) + 0.5))
                idfs.append(share * rarity)
                at = list(held)
                bm25[at] += idfs[-1] * np.array(list(held.values()))
                mass[at] += idfs[-1]
            asked += max(idfs, default=best)
        coverage = min(1.0, mass[bm25.argmax()] / asked) if bm25.any() else 0.0
        score = 0.7 * _z(cosine) + 0.3 * coverage * _z(bm25)
        pool = {*np.argsort(-cosine)[:CANDIDATES], *np.argsort(-bm25)[:CANDIDATES]}
        kept = [i for i in pool if cosine[i] >= LocalEmbedder.similarity_floor or bm25[i] > 0]
        ranked = sorted(kept, key=lambda index: -score[index])
        return [(int(rows[i]), float(cosine[i]), float(score[i])) for i in ranked]


def _z(values: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float64]:
    spread = float(values.std()) or 1.0
    return np.asarray((values - values.mean()) / spread, dtype=np.float64)


def read(kind: str, language: str) -> list[dict[str, str]]:
    """The rows of one XQuAD file."""
    path = XQUAD / f"{kind}.{language}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


async def index(language: str, embed: Vectoriser) -> Notebook:
    """All paragraphs of a language, chunked and embedded as the product would."""
    paragraphs = read("docs", language)
    chunker = TokenWindowChunker(LocalEmbedder.chunk_tokens, LocalEmbedder.chunk_overlap_tokens)
    chunks = chunker.chunk(
        [Passage(row, None, each["text"], language) for row, each in enumerate(paragraphs)]
    )
    vectors = await embed([chunk.indexed_text for chunk in chunks], "passage")
    return Notebook(language, chunks, paragraphs, vectors)


async def ranks(asked: str, notebook: Notebook, embed: Vectoriser) -> None:
    """Print where every question finds its own paragraph."""
    questions = read("queries", asked)
    vectors = await embed([question["query"] for question in questions], "question")
    rows = np.arange(len(notebook.chunks))
    found = []
    for question, vector in zip(questions, vectors, strict=True):
        terms = question_terms(question["query"], asked, [notebook.language])
        hits = [notebook.paragraph(row)["id"] for row, *_ in notebook.search(vector, terms, rows)]
        order = list(dict.fromkeys(hits))
        found.append(order.index(question["doc"]) + 1 if question["doc"] in order else math.inf)
    rank = np.array(found)
    print(
        f"{asked} -> {notebook.language}   recall@1 {(rank == 1).mean():.3f}"
        f"   recall@8 {(rank <= K).mean():.3f}   MRR {(1 / rank).mean():.3f}"
    )


async def answer(
    question: str, notebook: Notebook, rows: npt.NDArray[np.intp], embed: Vectoriser
) -> list[tuple[Candidate, str]]:
    """The quoted sentences, each with the id of its paragraph; none for a refusal."""
    language = detect_question(question)
    vector = (await embed([question], "question"))[0]
    terms = question_terms(question, language, [notebook.language])
    hits = notebook.search(vector, terms, rows)[:K]
    evidence = [
        Evidence(rank, chunk.text, chunk.language, cosine, score, chunk.start)
        for rank, (row, cosine, score) in enumerate(hits, 1)
        for chunk in [notebook.chunks[row]]
    ]
    found = candidates(question, language, evidence)
    vectors = await embed([each.text for each in found], "passage")
    chosen = choose(vector, vectors, found)
    return [(each, notebook.paragraph(hits[each.number - 1][0])["id"]) for each in chosen]


async def quality(
    asked: str, notebook: Notebook, embed: Vectoriser, sample: int, seed: int
) -> None:
    """Print how many sampled questions are answered, answered rightly, and refused."""
    questions = random.Random(seed).sample(read("queries", asked), sample)
    answers = {each["id"]: each["answer"] for each in read("queries", notebook.language)}
    everything = np.arange(len(notebook.chunks))
    answered = hits = 0
    for question in questions:
        quotes = await answer(question["query"], notebook, everything, embed)
        answered += bool(quotes)
        hits += any(
            paragraph == question["doc"] and answers[question["id"]] in quote.text
            for quote, paragraph in quotes
        )
    print(
        f"{asked} -> {notebook.language}   answered {answered}   hit {hits}   of {sample};"
        f"   {await refusals(notebook, embed, questions[: sample // 2])}"
    )


async def refusals(
    notebook: Notebook, embed: Vectoriser, questions: Sequence[dict[str, str]]
) -> str:
    """How many of the questions are refused once their paragraphs, or articles, are left out."""
    titles = {each["id"]: each["title"] for each in notebook.paragraphs}
    left_out = {question["doc"] for question in questions}
    own = [notebook.paragraph(row) for row in range(len(notebook.chunks))]
    rest = np.flatnonzero([paragraph["id"] not in left_out for paragraph in own])
    near = far = 0
    for question in questions:
        near += not await answer(question["query"], notebook, rest, embed)
        article = titles[question["doc"]]
        others = np.flatnonzero([paragraph["title"] != article for paragraph in own])
        far += not await answer(question["query"], notebook, others, embed)
    return f"refused {near} without the paragraphs, {far} without the article, of {len(questions)}"


async def speed(notebook: Notebook) -> None:
    """Print the seconds a question takes when none of its vectors is known."""
    questions = read("queries", notebook.language)[:200:10]
    passages, fresh = np.arange(len(notebook.chunks)), Vectoriser()
    fresh.known = {}
    await answer(questions[0]["query"], notebook, passages, fresh)
    taken = []
    for question in questions[1:]:
        fresh.known = {}
        start = time.perf_counter()
        await answer(question["query"], notebook, passages, fresh)
        taken.append(time.perf_counter() - start)
    await fresh.embedder.aclose()
    median, most = statistics.median(taken), max(taken)
    print(f"{notebook.language}   seconds a question: median {median:.2f}, most {most:.2f}")


async def main() -> None:
    parser = argparse.ArgumentParser(description="Keyless quality on XQuAD.")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    embed = Vectoriser()
    notebooks = {language: await index(language, embed) for language in ("en", "de")}
    for asked, language in PAIRS:
        await ranks(asked, notebooks[language], embed)
    for asked, language in PAIRS:
        await quality(asked, notebooks[language], embed, options.questions, options.seed)
    for notebook in notebooks.values():
        await speed(notebook)
    await embed.close()


if __name__ == "__main__":
    asyncio.run(main())
