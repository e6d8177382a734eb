"""Markdown headings: which lines are, where they begin, what they stand under."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.headings import headings

DOCUMENT = """---
title: Not a heading
---
Intro
# One #
text
## Two *strong* [link](http://x/y) `code`
```
# inside code
```
Three
spans lines
===========
### Three a
~~~python
## also code
```
~~~
    # indented code
- item
---
<!--
# in a comment
-->
#hashtag
## Three b
"""


def test_a_document() -> None:
    found = [(DOCUMENT[h.start :].splitlines()[0], h.path) for h in headings(DOCUMENT)]
    assert found == [
        ("# One #", ("One",)),
        ("## Two *strong* [link](http://x/y) `code`", ("One", "Two strong link code")),
        ("Three", ("Three spans lines",)),
        ("### Three a", ("Three spans lines", "Three a")),
        ("## Three b", ("Three spans lines", "Three b")),
    ]


@pytest.mark.parametrize(
    "text", ["", "# ", "text\n\n---\n", "| a | b |\n|---|---|\n", "> quote\n---\n", "####### seven"]
)
def test_what_is_none(text: str) -> None:
    assert headings(text) == ()


@given(st.text(alphabet="#=-`~ ab\n<!>[]()*_", max_size=80))
def test_starts_ascend_and_lie_inside(text: str) -> None:
    starts = [heading.start for heading in headings(text)]
    assert starts == sorted(set(starts))
    assert all(0 <= start < len(text) for start in starts)


@pytest.mark.parametrize(
    "piece", ["#", "# a\n", "[", "*a", "a\n", "`" * 3 + "\n", "# " + "# " * 50]
)
def test_time_is_linear(piece: str) -> None:
    started = time.perf_counter()
    headings(piece * (500_000 // len(piece)))
    assert time.perf_counter() - started < 5
