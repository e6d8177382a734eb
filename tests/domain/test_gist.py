"""What asks for the gist of sources is told from what asks for something in them."""

import time
from uuid import UUID

import pytest

from domain.digest import gist
from domain.gist import asked_of
from domain.ids import ChunkId, SourceId, VersionId
from domain.notebook import Holding
from domain.retrieval import Hit, evenly

BRIDGES, LEASE = (SourceId(UUID(int=n)) for n in (1, 2))
DOCUMENTS = (
    Holding(BRIDGES, "pdf", "Bridges of the Mira.pdf", "en"),
    Holding(LEASE, "text", "Mietvertrag", "de"),
)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What is this about?", (BRIDGES, LEASE)),
        ("what are the documents about", (BRIDGES, LEASE)),
        ("What is “Bridges of the Mira.pdf” about?", (BRIDGES,)),
        ("What is Bridges of the Mira about?", (BRIDGES,)),
        ("What is “Bridges of…” about?", (BRIDGES,)),
        ("Please summarise all sources.", (BRIDGES, LEASE)),
        ("Give me an overview.", (BRIDGES, LEASE)),
        ("Worum geht es?", (BRIDGES, LEASE)),
        ("Worum geht es in „Mietvertrag“?", (LEASE,)),
        ("Worum geht's in diesen Dokumenten?", (BRIDGES, LEASE)),
        ("Fasse die Quellen kurz zusammen.", (BRIDGES, LEASE)),
        ("Fasse bitte „Mietvertrag“ zusammen", (LEASE,)),
        ("Gib mir einen Überblick über alle Quellen!", (BRIDGES, LEASE)),
        ("Was steht hier?", (BRIDGES, LEASE)),
        ("Was steht im Dokument?", (BRIDGES, LEASE)),
        ("Kannst du das kurz zusammenfassen?", (BRIDGES, LEASE)),
        ("What's this about?", (BRIDGES, LEASE)),
        ("Could you summarise it?", (BRIDGES, LEASE)),
        ("Was sind die wichtigsten Punkte in „Mietvertrag“?", (LEASE,)),
        ("What are the key points?", (BRIDGES, LEASE)),
        ("What is the film Alien about?", None),
        ("Was steht in Artikel 7?", None),
        ("Worum geht es in Artikel 7?", None),
        ("Summarise the second chapter", None),
        ("When was the bridge built?", None),
        ("Was ist der Überblick?", None),
    ],
)
def test_what_asks_for_a_gist(question: str, asked: tuple[SourceId, ...] | None) -> None:
    assert asked_of(question, DOCUMENTS) == asked


@pytest.mark.parametrize("piece", [" ", "? ", "all "])
def test_the_longest_question_for_a_gist_takes_no_time(piece: str) -> None:
    start = time.perf_counter()
    assert asked_of(f"Summarise a{piece * (7900 // len(piece))}b", DOCUMENTS) is None
    assert time.perf_counter() - start < 1


def test_nothing_has_no_gist() -> None:
    assert asked_of("What is this about?", []) is None


def _hit(rank: int, start: int, text: str, source: SourceId = BRIDGES) -> Hit:
    return Hit(
        *(rank, ChunkId(UUID(int=rank)), source, VersionId(UUID(int=1)), "Bridges", 0, 1, start),
        *("en", text, 0.8, 1.0),
    )


def test_a_gist_is_quoted_in_the_order_of_the_source() -> None:
    first = "The old bridge over the Mira was built in 1754 by the guild of masons."
    later = "Each repair of the arches was paid for with a toll on salt and timber."
    told = gist([_hit(1, 900, f"and lime. {later}"), _hit(2, 0, f"BRIDGES\n\n{first}")])
    assert told == [(2, 9, 9 + len(first)), (1, 10, 10 + len(later))]


def test_each_source_has_its_share_in_a_gist() -> None:
    text = (
        "The old bridge over the Mira was built in 1754 by masons. Salt from the coast paid a toll"
        " for every crossing here. Floods carried two of the wooden arches away last winter. A"
        " narrow path for people on foot follows the left bank. Trams have crossed it since 1911."
        " Nobody remembers why its lamps are painted in dark green."
    )
    hits = evenly([[_hit(1, 0, text), _hit(2, 900, text)], [_hit(1, 0, text, LEASE)]], 3)
    assert [(hit.rank, hit.source_id) for hit in hits] == [(1, BRIDGES), (2, LEASE)]
    assert [rank for rank, _, _ in gist(hits)] == [1] * 4 + [2] * 4
