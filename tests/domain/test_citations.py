"""Every form of a marker, at every cut, in linear time."""

import itertools
import json
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.citations import WINDOW, Marker, MarkerStream, Text, parse
from domain.trailers import MAX_TRAILER

DATA = Path(os.environ.get("BELEG_TEST_DATA", "../shared/data")) / "citation"
PASSAGES = 5


def shown(pieces: Iterable[Text | Marker]) -> str:
    return "".join(p.text if isinstance(p, Text) else f"[{p.number}]" for p in pieces)


def cited(pieces: Iterable[Text | Marker]) -> list[int]:
    return list(dict.fromkeys(p.passage for p in pieces if isinstance(p, Marker)))


def streamed(parts: Iterable[str], passages: int = PASSAGES) -> tuple[str, list[int], list[int]]:
    """What is shown, the passage of every marker, and the numbers that named none."""
    stream = MarkerStream(passages)
    pieces = [piece for part in parts for piece in stream.feed(part)]
    pieces += stream.finish()
    assert stream.stripped == len(stream.invalid)
    return shown(pieces), [p.passage for p in pieces if isinstance(p, Marker)], stream.invalid


def assert_no_cut_matters(text: str, passages: int = PASSAGES) -> None:
    expected = streamed([text], passages)
    for cut in range(1, len(text)):
        assert streamed([text[:cut], text[cut:]], passages) == expected, (text[:cut], text[cut:])
    assert streamed(text, passages) == expected


def rows(name: str) -> list[dict[str, Any]]:
    path = DATA / name
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_shared_forms_are_read() -> None:
    if not DATA.is_dir():
        pytest.skip("needs the folder of shared test data (BELEG_TEST_DATA)")
    assert rows("marker_forms.jsonl")


@pytest.mark.parametrize("form", rows("marker_forms.jsonl"), ids=lambda form: form["id"])
def test_a_form_that_models_write_is_read_at_every_cut(form: dict[str, Any]) -> None:
    stream = MarkerStream(form["n_sources"])
    pieces = [*stream.feed(form["text"]), *stream.finish()]
    assert (cited(pieces), stream.invalid) == (form["cited"], form["invalid"])
    assert_no_cut_matters(form["text"], form["n_sources"])


CITING = {
    "It is so[1].": "It is so[1].",
    "It is so [1] [2].": "It is so [1] [2].",
    "It is so [1 , 2].": "It is so [1][2].",
    "It is so [1，2].": "It is so [1][2].",
    "It is so [1、2].": "It is so [1][2].",
    "It is so [1 and 2].": "It is so [1][2].",
    "It is so [1-3].": "It is so [1][2][3].",
    "It is so [1 bis 3].": "It is so [1][2][3].",
    "It is so [1]–[3].": "It is so [1][2][3].",
    "It is so [1, 3-5].": "It is so [1][2][3][4].",
    "It is so 【1】【2】.": "It is so [1][2].",
    "It is so 【1, 2】.": "It is so [1][2].",
    "It is so [1】.": "It is so [1].",
    "It is so ［１，２］.": "It is so [1][2].",
    "It is so [[1], [2]].": "It is so [[1], [2]].",
    "It is so [ID:1][ID: 2].": "It is so [1][2].",
    "It is so [Source 1, Source 2].": "It is so [1][2].",
    "It is so [Sources: 1, 2].": "It is so [1][2].",
    "It is so [Document 1, page 3].": "It is so [1].",
    "It is so [1, S. 12; 2, S. 5].": "It is so [1][2].",
    "It is so [1: report.pdf].": "It is so [1].",
    "It is so [1 – Bericht].": "It is so [1].",
    "It is so 【1†L1-L5】.": "It is so [1].",
    "It is so [cite: 1, 2].": "It is so [1][2].",
    "[cite_start]It is so [cite: 1].": "It is so [1].",
    "It is so (ID: 1).": "It is so [1].",
    "It is so (Quelle 1) und (Quelle 2).": "It is so [1] und [2].",
    "It is so (1).": "It is so [1].",
    "It is so (1)(2).": "It is so [1][2].",
    "It is so ref 1.": "It is so [1].",
    "It is so <sup>[1]</sup>.": "It is so [1].",
    "It is so <sup>1,2</sup>.": "It is so [1][2].",
    "It is so <sup>[1](https://a.example)</sup>.": "It is so [1].",
    "It is so¹.": "It is so[1].",
    "It is so.¹,²": "It is so.[1][2]",
    "It is so ¹².": "It is so [1][2].",
    "It is so ^[1].": "It is so [1].",
    "It is so ^1,2^.": "It is so [1][2].",
    "It is so {{1}} and {ref:2}.": "It is so [1] and [2].",
    'It is so <ref>1</ref> or <ref id="2"/>.': "It is so [1] or [2].",
    "It is so \\cite{1}.": "It is so [1].",
    "It is so \\[1, 2\\].": "It is so [1][2].",
    "It is so [1](https://a.example/x_(y)).": "It is so [1].",
    "A [link [1]](https://a.example).": "A [link [1]](https://a.example).",
    "**Bold [1]** and **bold**[1]": "**Bold [1]** and **bold**[1]",
    "| a [1] | b [2] |": "| a [1] | b [2] |",
    "## Heading [1]": "## Heading [1]",
    "[1] starts a line.": "[1] starts a line.",
    "“It opened in 1932.[1]” He said so.": "“It opened in 1932.[1]” He said so.",
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CITING.items())
def test_a_neighbour_of_those_forms_becomes_single_markers(text: str, expected: str) -> None:
    stream = MarkerStream(PASSAGES)
    assert shown([*stream.feed(text), *stream.finish()]) == expected
    assert stream.invalid == []
    assert_no_cut_matters(text)


AS_IT_STANDS = [
    "arr[1] and my_list[2] and x[0][1] and f()[1]",
    "[ ] [] [x] [...] [-1] [1.5] [1/3] [1:30] [1,000] [1a] [S1] [p. 3] [Smith 2020]",
    "In [2024] and [2019-2021].",
    "The value lies in [0, 1].",
    "x = [1, 5], im Intervall [1; 5], y ∈ [1,5]",
    "The half-open interval [1, 5) ends.",
    "5 m² und 10³ und x² und S^2 und E = mc^2",
    "x<sup>2</sup> and 10<sup>3</sup> and <sup> </sup>",
    "Step (1) comes first, (2) second.",
    "Article 5 (1). Absatz (2). Schritt (3).",
    "(1) Die Würde des Menschen ist unantastbar.",
    "&#91;1&#93; and [١]",
    "```python\nx = a[1]  # [2]\n```\n",
    "~~~\n[1]\n~~~",
    "> ```\n> [1]\n> ```\n",
    "- item\n  ```\n  [1] 【2】 ¹\n  ```\n",
    "````\n```\n[1]\n```\n````\n",
    "```\nnever closed [1]",
    "`a[1]` and ``b`[1]`` and `f(x) [2]`",
    "$x_{[1]}$ and $a[1] + b^1$ and $[1, 5]$",
    "$$\nx[1]\n$$",
    "\\(a[1]\\) and \\[ x[1] = 2 \\]",
    "\\begin{align}\n[1]\n\\end{align}",
    "<code>a[1]</code>",
    "https://a.example/?q={1}",
    "The <cite and <br> and < 5 and a <b> c",
]


@pytest.mark.parametrize("text", AS_IT_STANDS)
def test_what_is_no_marker_stays_byte_for_byte(text: str) -> None:
    assert streamed([text]) == (text, [], [])
    assert_no_cut_matters(text)


UNMATCHED = {
    "It costs $5 [1] and $6 [2].": "It costs $5 [1] and $6 [2].",
    "A `stray tick [1].\nNext [2].": "A `stray tick [1].\nNext [2].",
    "Not \\[ maths [1].\n\nNext [2].": "Not \\[ maths [1].\n\nNext [2].",
}


@pytest.mark.parametrize(("text", "expected"), UNMATCHED.items())
def test_code_and_maths_that_never_end_hide_no_marker(text: str, expected: str) -> None:
    assert streamed([text]) == (expected, [1, 2], [])
    assert_no_cut_matters(text)


CLEANED = {
    "It is so [9].": ("It is so.", [9]),
    "It is so [9], and [1].": ("It is so, and [1].", [9]),
    "It is [9] so.": ("It is so.", [9]),
    "It is so [9][1].": ("It is so [1].", [9]),
    "It is so [1, 9].": ("It is so [1].", [9]),
    "It is so [4-7].": ("It is so [1][2].", [7]),
    "It is so [0].": ("It is so.", [0]),
    "[9] starts a line.": ("starts a line.", [9]),
    "- [9] starts an item.": ("- starts an item.", [9]),
    "It is so [123456789012345678901234567890].": ("It is so.", [123456789012345678901234567890]),
    "It is so [1][1] [1].": ("It is so [1].", []),
}


@pytest.mark.parametrize(("text", "expected"), CLEANED.items())
def test_numbers_that_name_no_passage_go_with_their_space(
    text: str, expected: tuple[str, list[int]]
) -> None:
    text_shown, _, invalid = streamed([text])
    assert (text_shown, invalid) == expected
    assert_no_cut_matters(text)


def test_without_passages_nothing_is_a_marker() -> None:
    assert streamed(["It is so [1]."], passages=0) == ("It is so.", [], [1])


def test_markers_are_numbered_by_their_first_appearance() -> None:
    pieces = parse("A [4]. B [2]. C [4][1].", PASSAGES)
    assert shown(pieces) == "A [1]. B [2]. C [1][3]."
    assert cited(pieces) == [4, 2, 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>plan [9]</think>Answer [1].", "Answer [1]."),
        ("<think>plan</think>\n\nAnswer [1].", "Answer [1]."),
        ("\n<thinking>plan</thinking> Answer", "Answer"),
        ("<think>never closed [1]", ""),
        ("</think>Answer [1].", "Answer [1]."),
    ],
)
def test_thoughts_never_reach_the_answer(text: str, expected: str) -> None:
    assert streamed([text])[0] == expected
    assert_no_cut_matters(text)


TRAILERS = [
    "\n\nSources: [1], [2]",
    "\n\n**Sources:** [1] [2]\n",
    "\n\nSources:\n[1] report.pdf\n[2] other.pdf",
    "\n\n**Quellen**\n\n- [1] Bericht, S. 3\n- [2] https://a.example",
    "\n\n## References\n1. https://made-up.example\n2. Smith",
    "\n\n---\n\n### Quellenverzeichnis:\n\n* Bericht\n",
    "\n\n## References",
]


@pytest.mark.parametrize("trailer", TRAILERS)
def test_a_list_of_references_at_the_end_is_cut(trailer: str) -> None:
    assert streamed(["It is so [1]." + trailer]) == ("It is so [1].", [1], [])
    assert_no_cut_matters("It is so [1]." + trailer)


NO_TRAILERS = [
    "\nSources of this data are validated [1].",
    "\n\nSources: the bridge is mentioned in [1].",
    "\n\nSources:\n- [1] a report\n\nIt is old.",
    "\n\n## Sources\n\nThe report [1] says so.",
    "\nQuellenlage: dünn [1].",
    "\n\n- One\n- Two\n\n---\n\n**Bold** end [1]",
]


@pytest.mark.parametrize("text", NO_TRAILERS)
def test_prose_that_begins_like_one_is_kept(text: str) -> None:
    assert streamed(["It is so [1]." + text])[0] == "It is so [1]." + text
    assert_no_cut_matters("It is so [1]." + text)


@pytest.mark.parametrize(
    "text",
    [
        'It is so [1].\n\n[1]: https://evil.example\n[2]: <https://evil.example> "title"',
        "It is so [1].\n\n[1]:\nhttps://evil.example",
        "It is so [^1].\n\n[^1]: Report, page 3",
    ],
)
def test_definitions_never_become_links(text: str) -> None:
    text_shown, passages, _ = streamed([text])
    assert text_shown.strip() == "It is so [1]."
    assert passages == [1]
    assert_no_cut_matters(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("„Routern,[2] und Computern.[3]“ [1]", "„Routern, und Computern.“ [1]"),
        (
            "Es läuft auf Routern,[2] und Computern.[3] [1]",
            "Es läuft auf Routern, und Computern. [1]",
        ),
        ("“Routers[2] and more[3] so”, he says [1].", "“Routers and more so”, he says [1]."),
    ],
)
def test_footnotes_of_a_quoted_source_are_left_out(text: str, expected: str) -> None:
    assert streamed([text]) == (expected, [1], [])
    assert_no_cut_matters(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is so [1", "It is so"),
        ("It is so [", "It is so"),
        ("It is so [1, 2", "It is so"),
        ("It is so 【1†sour", "It is so"),
        ("It is so <sup>1", "It is so"),
        ("It is so [So", "It is so [So"),
        ("It is so (1", "It is so (1"),
    ],
)
def test_an_unfinished_marker_at_the_end_is_no_citation(text: str, expected: str) -> None:
    assert streamed([text]) == (expected, [], [])
    assert_no_cut_matters(text)


@pytest.mark.parametrize("row", rows("stream_splits.jsonl"), ids=lambda row: row["id"])
def test_real_splits_show_no_raw_marker_and_hold_little_back(row: dict[str, Any]) -> None:
    for parts in row["splits"]:
        stream = MarkerStream(PASSAGES)
        given, said = 0, ""
        for part in parts:
            given += len(part)
            said += shown(stream.feed(part))
            assert "【" not in said
            assert "†" not in said
        said += shown(stream.finish())
        assert "[9]" not in said
        if row["id"] == "ss04":
            assert said == "".join(parts)


def test_plain_prose_flows_at_once() -> None:
    stream = MarkerStream(PASSAGES)
    text = "Die Brücke wurde 1932 gebaut, sagt Anna. Sie ist rot (und alt).\n\nSo ist es."
    waiting = 0
    for character in text:
        waiting += len(character) - len(shown(stream.feed(character)))
        assert waiting <= 4


def test_a_marker_comes_with_the_first_character_behind_it() -> None:
    stream = MarkerStream(PASSAGES)
    assert shown(stream.feed("It is so [1]")) == "It is so"
    assert stream.feed(".") == [Text(" "), Marker(1, 1), Text(".")]


ATOMS = [
    "a", " ", "so", "1", "2", "9", ",", ".", "-", ":", ";", "\n", "[", "]", "(", ")", "【", "】",
    "†", "［", "］", "`", "```", "~~~", "$", "\\", "\\[", "\\]", "<", ">", "<sup>", "</sup>",
    "<cite>", "</cite>", "<think>", "</think>", "^", "¹", "²", "{", "}", "{{", "}}", "ref ",
    "Source ", "cite", ":cite[", "Sources", "## References", "https://a", "„", "“", "”", "*",
    "|", "#", "_", "S. 3", '"', "x", "[1]", " [2]", "!", "\ue200", "\ue201", "bis", "interval ",
    "![",
]  # fmt: skip


@given(st.lists(st.sampled_from(ATOMS), max_size=25), st.data())
def test_the_result_does_not_depend_on_the_cuts(atoms: list[str], data: st.DataObject) -> None:
    text = "".join(atoms)
    expected = streamed([text])
    assert streamed(text) == expected
    assert expected[0] == shown(parse(text, PASSAGES))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    parts = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
    assert streamed(parts) == expected


@given(st.text(max_size=60))
def test_any_text_is_taken(text: str) -> None:
    assert streamed(text) == streamed([text])


@given(st.lists(st.sampled_from(ATOMS), max_size=25))
def test_numbers_are_dense(atoms: list[str]) -> None:
    markers = [p for p in parse("".join(atoms), PASSAGES) if isinstance(p, Marker)]
    first_seen = list(dict.fromkeys(m.number for m in markers))
    assert first_seen == list(range(1, len(first_seen) + 1))
    assert all(1 <= m.passage <= PASSAGES for m in markers)


HOSTILE = [
    "[", "[[1", "【", "<sup>", "`", "$", "<think>", "[1", "[1, ", "[1: x ", "(1 ", "\n", "- \n",
    "#\n", "\n## References\n1. x\n", "\nSources: [1]\n", "{{", "^1", "ref ", ":cite[", "\\[",
    "\\(", "~~~\n", "[1](", "[1](a", "[1]:", "[^1]: x", "„[1]", "¹,", "\ue200", "[9] ", "`[",
    "$[1]", "<code>[1]", ",[1] ",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_takes_linear_time_and_holds_little_back(unit: str) -> None:
    def seconds(length: int) -> float:
        text = (unit * length)[:length]
        started = time.process_time()
        parse(text, PASSAGES)
        return time.process_time() - started

    seconds(2_000)
    assert seconds(80_000) < 12 * seconds(20_000) + 0.2
    held = most_held_back((unit * 6_000)[:6_000])
    assert held <= WINDOW


def test_a_list_of_references_is_held_back_within_its_bound() -> None:
    text = "So.\n\n## References\n" + "1. x\n" * 2_000
    assert most_held_back(text) <= MAX_TRAILER
    assert streamed([text])[0] == text


def most_held_back(text: str | Sequence[str]) -> int:
    """The largest number of code points that were taken and not yet read, char by char."""
    stream = MarkerStream(PASSAGES)
    most = 0
    for character in text:
        stream.feed(character)
        most = max(most, stream.held_back)
    return most
