"""The article of a web page against what people marked as it, on pages that nobody here wrote."""

import gzip
import json
import re
from collections import Counter
from pathlib import Path
from statistics import mean

import pytest

from adapters.extraction.documents import read_document

_LEAST_F1 = 0.95


def shingles(text: str) -> Counter[tuple[str, ...]]:
    """Every four words that follow each other."""
    words = re.findall(r"\w+", text)
    return Counter(tuple(words[i : i + 4]) for i in range(max(1, len(words) - 3)) if words)


def precision_and_recall(gold: str, read: str) -> tuple[float, float]:
    wanted, found = shingles(gold), shingles(read)
    common = sum((wanted & found).values())
    return common / max(sum(found.values()), 1), common / max(sum(wanted.values()), 1)


@pytest.mark.parametrize("kind", ["url", "html"])
def test_articles_are_found(shared_data: Path, kind: str) -> None:
    """The measure of scrapinghub's article-extraction benchmark, means over all pages."""
    scores = []
    for row in (shared_data / "web/gold.jsonl").read_text("utf-8").splitlines():
        page = json.loads(row)
        content = gzip.decompress((shared_data / f"web/pages/{page['id']}.html.gz").read_bytes())
        text = "\n".join(part.text for part in read_document(content, kind, "").parts)
        scores.append(precision_and_recall(page["text"], text))
    precision, recall = (mean(column) for column in zip(*scores, strict=True))
    f1 = 2 * precision * recall / (precision + recall)
    print(
        f"{kind}: {len(scores)} pages, F1 {f1:.3f}, precision {precision:.3f}, recall {recall:.3f}"
    )
    assert f1 >= _LEAST_F1
