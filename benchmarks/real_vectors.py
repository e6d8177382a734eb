"""Vectors of real sentences by the local model, made once and kept in the temporary folder."""

import gzip
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from adapters.inference.local import LOCAL_MODEL, LocalEmbedder
from domain.ports import Vectors
from tests.conftest import SHARED_DATA

RETRIEVAL = SHARED_DATA / "retrieval"
SENTENCES, ON_TOPIC, OFF_TOPIC = "sentences", "on their topics", "off their topics"
_COUNT, _QUESTIONS = 5_000, 100
_BATCH = 50


async def real_vectors() -> dict[str, Vectors]:
    """5,000 sentences of SciFact's abstracts, 100 of its claims, 100 questions of XQuAD."""
    kept = Path(tempfile.gettempdir()) / f"beleg-sentences-{LOCAL_MODEL}.npz"
    if not kept.exists():
        np.savez(kept, allow_pickle=False, **await _made())
    with np.load(kept) as found:
        return {name: found[name] for name in (SENTENCES, ON_TOPIC, OFF_TOPIC)}


async def _made() -> dict[str, Vectors]:
    if not RETRIEVAL.is_dir():
        sys.exit(f"There is no test data at {RETRIEVAL}.")
    with gzip.open(RETRIEVAL / "scifact" / "docs.jsonl.gz", "rt") as lines:
        sentences = [s.strip() for line in lines for s in json.loads(line)["sents"]]
    texts = list(dict.fromkeys(filter(None, sentences)))[:_COUNT]
    embedder = LocalEmbedder()
    try:
        made: list[Vectors] = []
        for first in range(0, len(texts), _BATCH):
            batch = texts[first : first + _BATCH]
            made.append((await embedder.embed(batch, role="passage")).vectors)
            print(f"  {first + len(batch):,} of {len(texts):,} sentences embedded", flush=True)
        asked = {
            ON_TOPIC: RETRIEVAL / "scifact" / "queries.dev.jsonl",
            OFF_TOPIC: RETRIEVAL / "xquad" / "queries.en.jsonl",
        }
        questions = {
            kind: (await embedder.embed(_queries(file), role="question")).vectors
            for kind, file in asked.items()
        }
    finally:
        await embedder.aclose()
    return {SENTENCES: np.concatenate(made), **questions}


def _queries(file: Path) -> list[str]:
    return [json.loads(line)["query"] for line in file.read_text().splitlines()][:_QUESTIONS]
