"""XQuAD through the real API, without a key: what `/search` finds, what answers quote and refuse.

    python benchmarks/xquad_search.py [--questions 200] [--answers 100] [--left-out 50] [--seed 0]

A language's 240 paragraphs are text sources of one notebook; local embeddings, real processes.
`--questions 0` asks every question. Of the answers, the share that has the answer's string inside
a cited quote counts; questions about paragraphs that a second notebook leaves out must be refused.
Needs the shared test data, and minutes of CPU for the embeddings. Exits 1 on a miss.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import httpx

from benchmarks import stage
from tests.conftest import SHARED_DATA

XQUAD = SHARED_DATA / "retrieval" / "xquad"
K = 8
LEAST_RECALL, LEAST_ANSWERED, LEAST_REFUSED = 0.95, 0.80, 0.90
_KEYS = ("INFERENCE", "LLM", "EMBEDDING")
KEYLESS = {f"{kind}_{part}": "" for kind in _KEYS for part in ("API_KEY", "BASE_URL", "MODEL")}
Row = dict[str, Any]


def rows(name: str) -> list[Row]:
    return [json.loads(line) for line in (XQUAD / f"{name}.jsonl").read_text().splitlines()]


def sampled(questions: Sequence[Row], count: int, seed: int) -> list[Row]:
    """So many of them, the same ones for a seed; all for 0."""
    if not count or count >= len(questions):
        return list(questions)
    return random.Random(seed).sample(questions, count)


def add_paragraphs(
    client: httpx.Client, notebook: str, paragraphs: Sequence[Row]
) -> dict[str, str]:
    """Make each paragraph a source, wait until all are ready: the paragraph of each source."""
    sources = {}
    for row in paragraphs:
        body = {"title": row["id"], "text": row["text"]}
        added = client.post(f"/notebooks/{notebook}/sources", json=body)
        added.raise_for_status()
        sources[str(added.json()["id"])] = str(row["id"])
    started = time.monotonic()
    while True:
        ready = client.get(f"/notebooks/{notebook}").json()["ready_count"]
        passed = time.monotonic() - started
        print(f"  {ready} of {len(sources)} paragraphs ready after {passed:.0f} s", flush=True)
        if ready == len(sources):
            return sources
        if passed > 1800:
            sys.exit("Half an hour, and they are not all ready.")
        time.sleep(10)


def ranks(
    client: httpx.Client, notebook: str, sources: dict[str, str], questions: Sequence[Row]
) -> list[int | None]:
    """At which place `/search` finds each question's own paragraph; None beyond the eighth."""
    found: list[int | None] = []
    for question in questions:
        body = {"query": question["query"], "k": K}
        answer = client.post(f"/notebooks/{notebook}/search", json=body)
        answer.raise_for_status()
        docs = [sources[hit["source_id"]] for hit in answer.json()["results"]]
        found.append(docs.index(question["doc"]) + 1 if question["doc"] in docs else None)
    return found


def ask(client: httpx.Client, notebook: str, question: Row) -> Row:
    route = f"/notebooks/{notebook}/questions?wait=1"
    answer = client.post(route, json={"question": question["query"]})
    answer.raise_for_status()
    return dict(answer.json())


def quotes(answer: Row) -> list[str]:
    """Every quote of an answer."""
    return [mention["quote"] for cited in answer["citations"] for mention in cited["mentions"]]


def measure(client: httpx.Client, language: str, asked: argparse.Namespace) -> bool:
    paragraphs, questions = rows(f"docs.{language}"), rows(f"queries.{language}")
    print(f"\n{language}: {len(paragraphs)} paragraphs, {len(questions)} questions")
    whole = client.post("/notebooks", json={"title": "All"}).json()["id"]
    sources = add_paragraphs(client, whole, paragraphs)
    found = ranks(client, whole, sources, sampled(questions, asked.questions, asked.seed))
    reciprocal = sum(1 / place for place in found if place) / len(found)
    first = sum(place == 1 for place in found) / len(found)
    print(f"  {len(found)} searches: recall@1 {first:.3f}, MRR {reciprocal:.3f}")
    recall = sum(place is not None for place in found) / len(found)
    holds = [stage.verdict(f"recall@8 {language}", recall, LEAST_RECALL, least=True)]
    if asked.answers:
        answers = sampled(questions, asked.answers, asked.seed)
        told = sum(
            any(q["answer"] in quote for quote in quotes(ask(client, whole, q))) for q in answers
        )
        holds.append(
            stage.verdict(
                f"answer quoted {language}", told / len(answers), LEAST_ANSWERED, least=True
            )
        )
    if asked.left_out:
        foreign = sampled(questions, asked.left_out, asked.seed + 1)
        gone = {question["doc"] for question in foreign}
        rest = client.post("/notebooks", json={"title": "Rest"}).json()["id"]
        for source, paragraph in sources.items():
            if paragraph not in gone:
                route = f"/notebooks/{rest}/sources"
                client.post(route, json={"source_id": source}).raise_for_status()
        refused = sum(ask(client, rest, question)["refused"] for question in foreign) / len(foreign)
        holds.append(stage.verdict(f"refused {language}", refused, LEAST_REFUSED, least=True))
    return all(holds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--languages", nargs="+", default=["de", "en"])
    parser.add_argument("--questions", type=int, default=200, help="searches; 0: all")
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--left-out", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    if not XQUAD.is_dir():
        sys.exit(f"There is no test data at {XQUAD}.")
    stage.heading("XQuAD through the API, without a key")
    with (
        stage.folder() as data,
        stage.database(data) as url,
        stage.product(url, data, **stage.LIMITS, **KEYLESS) as beleg,
    ):
        _, address = beleg.web()
        beleg.worker()
        with closing(stage.account(address)) as client:
            holds = [measure(client, language, asked) for language in asked.languages]
    sys.exit(0 if all(holds) else 1)


if __name__ == "__main__":
    main()
