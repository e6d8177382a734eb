"""`beleg eval` itself over XQuAD and SciFact: the default mode, both of its sides, and BM25.

    python -m benchmarks.eval_ranking [--collections "XQuAD en" "XQuAD de" "XQuAD de→en" SciFact]

The collections of `benchmarks.ranking` are put into notebooks of one database, and the command is
run on each as a user would run it, without a key. BM25 ranks the same chunks. Exits 1 on a miss.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from adapters.inference.local import LOCAL_DIMENSION, LOCAL_MODEL, LocalEmbedder
from adapters.postgres.connection import open_pool
from adapters.postgres.unit_of_work import PostgresUnitOfWork
from benchmarks import ranking_texts, stage
from benchmarks.keyless_quality import Vectoriser
from benchmarks.ranking import LEAST_RECALL, Notebook, by_bm25, filled, judged
from benchmarks.xquad_search import KEYLESS
from domain.chunking import TokenWindowChunker
from domain.ids import SourceId

EMAIL = "bench@example.org"
COLLECTIONS = {
    "XQuAD en": lambda: ranking_texts.xquad("en", "en"),
    "XQuAD de": lambda: ranking_texts.xquad("de", "de"),
    "XQuAD de→en": lambda: ranking_texts.xquad("en", "de"),
    "SciFact": ranking_texts.scifact,
}
SIDES = ("vector", "keyword")


def question_file(notebook: Notebook, folder: Path) -> Path:
    """The questions as `beleg eval` takes them, each with its sources' ids."""
    ids: dict[str, SourceId] = {name: source for source, name in notebook.names.items()}
    path = folder / f"{notebook.id}.jsonl"
    lines = [
        {"question": asked.text, "relevant": sorted(str(ids[name]) for name, _ in asked.relevant)}
        for asked in notebook.collection.questions
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def evaluated(url: str, data: Path, notebook: Notebook) -> dict[str, Any]:
    """The columns that the command prints, by mode."""
    command = [sys.executable, "-P", "-m", "app.cli", "eval", str(question_file(notebook, data))]
    command += ["--notebook", str(notebook.id), "--account", EMAIL, "--json"]
    for side in SIDES:
        command += ["--compare", f"RETRIEVAL_MODE={side}"]
    environment = {**os.environ, **KEYLESS, **stage.LIMITS}
    environment |= {"DATABASE_URL": url, "BELEG_DATA": str(data)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return dict(zip(("weighted", *SIDES), json.loads(done.stdout), strict=True))


async def run(url: str, data: Path, names: Sequence[str]) -> bool:
    chunker = TokenWindowChunker(LocalEmbedder.chunk_tokens, LocalEmbedder.chunk_overlap_tokens)
    embed, holds = Vectoriser(), []
    async with open_pool(url, size=1) as pool:
        async with PostgresUnitOfWork(pool)() as tx:
            owner = (await tx.accounts.add(EMAIL, None, Decimal(0))).id
            active = await tx.index.activate(LOCAL_MODEL, LOCAL_DIMENSION, chunker.name)
        try:
            for name in names:
                notebook = await filled(pool, owner, active.id, COLLECTIONS[name](), embed)
                columns = await asyncio.to_thread(evaluated, url, data, notebook)
                bm25 = judged(notebook.collection.questions, by_bm25(notebook))
                holds.append(_verdict(name, columns, bm25.ndcg))
        finally:
            await embed.close()
    return all(holds)


def _verdict(name: str, columns: dict[str, Any], bm25: float) -> bool:
    print(f"\n{name}")
    for mode, got in columns.items():
        print(f"  {mode:10} recall@8 {got['recall@k']:.4f}  nDCG@10 {got['nDCG@10']:.4f}")
    print(f"  {'BM25':10} {' ' * 15}  nDCG@10 {bm25:.4f}")
    default = columns["weighted"]
    holds = []
    if name in LEAST_RECALL:
        least = LEAST_RECALL[name]
        holds.append(stage.verdict("recall@8", default["recall@k"], least, least=True))
    if name != "XQuAD de→en":
        others = {side: columns[side]["nDCG@10"] for side in SIDES} | {"BM25": bm25}
        for other, theirs in others.items():
            told = f"nDCG@10 of the default mode, over {other}"
            holds.append(stage.verdict(told, default["nDCG@10"], theirs, least=True))
    return all(holds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--collections", nargs="+", choices=COLLECTIONS, default=list(COLLECTIONS))
    asked = parser.parse_args()
    if not ranking_texts.RETRIEVAL.is_dir():
        sys.exit(f"There is no test data at {ranking_texts.RETRIEVAL}.")
    stage.heading("beleg eval")
    with stage.folder() as data, stage.database(data) as url:
        holds = asyncio.run(run(url, data, asked.collections))
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
