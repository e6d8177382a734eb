"""What asks for the text below a heading with a number gets that text."""

import time
from uuid import UUID

import pytest

from domain.ids import ChunkId, SourceId, VersionId
from domain.retrieval import Hit
from domain.section import under

LAW = """gelten auch für juristische Personen.
GG Art 5
(1) Jeder hat das Recht, seine Meinung frei zu äußern. Eine Zensur findet nicht statt.
(2) Diese Rechte finden ihre Schranken in den Gesetzen. Das regelt
Artikel 6 auch für alle, die es betrifft.
GG Art 6
(1) Ehe und Familie stehen unter Schutz.
(2) Pflege und Erziehung der Kinder sind das natürliche Recht der Eltern und"""
FIRST = [
    "(1) Jeder hat das Recht, seine Meinung frei zu äußern.",
    "Eine Zensur findet nicht statt.",
    "(2) Diese Rechte finden ihre Schranken in den Gesetzen.",
    "Das regelt\nArtikel 6 auch für alle, die es betrifft.",
]


def _hit(text: str, *, rank: int = 1, source: int = 1) -> Hit:
    return Hit(
        *(rank, ChunkId(UUID(int=rank)), SourceId(UUID(int=source)), VersionId(UUID(int=1))),
        *("Law", 0, 1, 700, "de", text, 0.8, 1.0),
    )


def _told(question: str, *hits: Hit) -> list[str]:
    texts = {hit.rank: hit.text for hit in hits}
    return [texts[rank][start:end] for rank, start, end in under(question, hits)]


@pytest.mark.parametrize(
    "question",
    [
        *("Was steht in Artikel 5?", "was sagt art. 5", "Was regelt Art. 5 GG?", "Artikel 5"),
        *("Wie lautet Artikel 5 des Grundgesetzes?", "Worum geht es in Artikel 5?"),
        *("What does Article 5 say?", "What is in article 5?", "What is Article 5 about?"),
    ],
)
def test_the_sentences_below_the_heading_are_told(question: str) -> None:
    assert _told(question, _hit("Von Artikel 5 Abs. 1 handelt dies.", rank=2), _hit(LAW)) == FIRST


def test_a_sentence_that_a_chunk_cuts_and_a_reference_at_the_start_of_a_line_are_not() -> None:
    assert _told("Was steht in Artikel 6?", _hit(LAW)) == [
        "(1) Ehe und Familie stehen unter Schutz."
    ]


def test_a_list_that_is_one_long_sentence_is_told_item_by_item() -> None:
    items = [f"{n}. die Verwaltung und der Betrieb der Anlagen im Ort {n};" for n in range(1, 30)]
    told = _told("Was steht in Art. 7?", _hit("Art. 7\n" + " ".join(items)))
    assert told == items[: len(told)]
    assert told


@pytest.mark.parametrize(
    "question",
    [
        "Was steht in Artikel 7?",
        "Was steht in Artikel 5 über die Zensur von Büchern und Filmen?",
        "Wer hat nach Artikel 5 das Recht, seine Meinung zu äußern?",
        "Was steht in Artikel 5 und Artikel 6?",
        "Was steht in diesem Gesetz?",
    ],
)
def test_what_asks_for_something_else_is_told_nothing(question: str) -> None:
    assert _told(question, _hit(LAW)) == []


def test_each_source_has_its_share() -> None:
    other = "Art. 5 Heizung\nSie geht im Herbst an. Im Frühling geht sie aus. Niemand muss bitten."
    hits = (_hit(LAW), _hit(f"{other} Aus ist aus.", rank=2, source=2))
    assert _told("Was steht in Art. 5?", *hits) == [
        *FIRST[:3],
        *("Sie geht im Herbst an.", "Im Frühling geht sie aus.", "Niemand muss bitten."),
    ]


def test_the_longest_question_for_a_section_takes_no_time() -> None:
    start = time.perf_counter()
    assert _told(f"Was steht in{' ' * 3000}Artikel{'? ' * 2000}5", _hit(LAW)) == []
    assert time.perf_counter() - start < 1
