import time
from itertools import product

import numpy as np

from domain.chunking import TokenWindowChunker
from domain.digest import digest
from domain.passage import Chunk, Passage
from domain.ports import Vectors

BRIDGE = (
    "The old bridge over the Mira was built in 1754 by the guild of masons. It carries two lanes of"
    " traffic and a narrow path for people on foot. The guild paid for the bridge with a toll on"
    " salt. The bridge was repaired three times, and each repair changed its arches. "
)
ASIDE = "Yesterday my neighbour lost her blue umbrella somewhere near the station. "


def chunked(text: str, language: str = "en") -> list[Chunk]:
    return TokenWindowChunker(60, 10).chunk([Passage(0, None, text, language)])


def vectors(chunks: list[Chunk], seed: int = 1) -> Vectors:
    found = np.random.default_rng(seed).normal(size=(len(chunks), 8)).astype(np.float32)
    unit: Vectors = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit


def test_a_digest_is_made_of_whole_sentences_in_their_order() -> None:
    chunks = chunked(BRIDGE + ASIDE + BRIDGE.replace("bridge", "viaduct"))
    told = digest(chunks, vectors(chunks))
    text = " ".join((BRIDGE + ASIDE + BRIDGE.replace("bridge", "viaduct")).split())
    places = [text.find(sentence.strip(".")) for sentence in told.split(". ")]
    assert places == sorted(places)
    assert min(places) >= 0


def test_it_has_about_120_words() -> None:
    words = ["".join(letters) for letters in product("bdfglmnr", "aeiou", "kpst", "aeo")]
    rows = np.random.default_rng(7).integers(0, len(words), size=(200, 12))
    sentences = [f"Then {' '.join(words[n] for n in row)} came." for row in rows]
    chunks = chunked(" ".join(sentences))
    assert 90 <= len(digest(chunks, vectors(chunks)).split()) <= 150


def test_it_does_not_repeat_itself() -> None:
    text = (
        BRIDGE * 1
        + ASIDE
        + " ".join(
            f"The guild of masons kept the bridge and its toll through the year {year}."
            for year in range(1760, 1790)
        )
    )
    chunks = chunked(text)
    told = digest(chunks, vectors(chunks))
    assert told.count("through the year") == 1


def test_there_is_none_where_there_are_no_sentences() -> None:
    table = "\n".join(f"| {n} | {n * n} |" for n in range(100))
    chunks = chunked(table)
    assert digest(chunks, vectors(chunks)) == ""
    assert digest([], np.empty((0, 0), np.float32)) == ""


def test_a_long_source_takes_little_time() -> None:
    chunks = chunked((BRIDGE + ASIDE) * 3_000)
    start = time.process_time()
    digest(chunks, vectors(chunks))
    assert time.process_time() - start < 3
