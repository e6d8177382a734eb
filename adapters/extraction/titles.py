"""Titles that files give themselves."""

import re

from domain.text_gate import clean

_LONGEST = 200
# What programs write into the title when nobody gave one.
_NO_TITLE = re.compile(
    r"untitled.*|unbenannt.*|unknown|none|null|blank|title|titel|document ?\d*|dokument ?\d*"
    r"|microsoft (?:word|powerpoint|excel) - .*|powerpoint[- ].*|pr[äe]sentation ?\d*|slide \d+"
    r"|folie \d+|adobe photoshop.*|scan(?:ned)?[ _-]?\w*|print|.*\.[a-z][a-z0-9]{1,4}|[\W\d_]*",
    re.IGNORECASE | re.DOTALL,
)


def usable_title(raw: str) -> str:
    """A title on one line, through the gate; "" where it is none worth the name."""
    title = " ".join(clean(raw).split())
    return "" if _NO_TITLE.fullmatch(title) else title[:_LONGEST]
