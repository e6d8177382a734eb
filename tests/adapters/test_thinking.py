import time

import pytest

from adapters.inference.thinking import LeadingThought


@pytest.mark.parametrize("size", range(1, 12))
@pytest.mark.parametrize(
    ("raw", "answer"),
    [
        ("<think>first</think>\n\nDie Antwort", "Die Antwort"),
        ("\n <think></think>Die <think>Antwort</think>", "Die <think>Antwort</think>"),
        ("<think>a</think><think>b</think> c", "c"),
        ("<think>a < b </thin> </think>c", "c"),
        ("<thin", "<thin"),
        ("<thinking> is a tag", "<thinking> is a tag"),
        ("  Die Antwort ", "Die Antwort "),
        ("<think>never closed", ""),
        ("<think>", ""),
        ("", ""),
    ],
)
def test_a_leading_thought_is_left_out_however_it_is_cut(raw: str, answer: str, size: int) -> None:
    thought = LeadingThought()
    said = [thought.without(raw[at : at + size]) for at in range(0, len(raw), size)]
    assert "".join(said) + thought.rest() == answer


def test_a_long_thought_is_read_in_linear_time() -> None:
    thought = LeadingThought()
    began = time.perf_counter()
    assert not any(thought.without(piece) for piece in ["<think>", *(["<x"] * 200_000), "</think>"])
    assert thought.without("Die Antwort") == "Die Antwort"
    assert time.perf_counter() - began < 2
