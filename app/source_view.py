"""What the viewer shows of a source: which part of a text, and where the reader can go on."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import urlencode

from app.contexts import Quoted, Viewer
from domain.passage import Passage
from domain.ports import Box
from domain.source import Source, SourceKind

_WINDOW = 24_000
"""Characters of a passage that are shown at once; a page has far fewer, a long text more."""
_FULL_LINE = 45
"""Characters of a line that may go on in the next one."""
_ENDS = (".", ":", "!", "?", ";")
_LEAD = 6_000
"""Of them before a quote."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a reader wants to see of a source.

    Args:
        page: from 1; None where the source has no pages.
        start, end: code points of a quote in the passage; equal where there is none.
        at: where the shown part begins; None: where the quote is in it.
        path: the address of this view, without its query.
        fixed: query values that name it.
    """

    page: int | None
    start: int
    end: int
    at: int | None
    path: str
    fixed: tuple[tuple[str, str], ...] = ()
    marker: int | None = None
    title: str = ""

    @property
    def has_quote(self) -> bool:
        """True where there is something to mark."""
        return self.end > self.start

    def url(self, **more: object) -> str:
        """This view, with something changed."""
        query = urlencode([*self.fixed, *((key, str(value)) for key, value in more.items())])
        return f"{self.path}?{query}" if query else self.path


def viewer(
    source: Source,
    passage: Passage | None,
    asked: Asked,
    boxes: Sequence[Box] | None,
    view: str = "",
) -> Viewer:
    """The viewer's contents.

    Args:
        boxes: where the quote stands on the page's image; None where the text is shown.
        view: what the reader chose: "image", "text" or neither.
    """
    is_image = source.kind is SourceKind.IMAGE
    has_images = is_image or (source.kind is SourceKind.PDF and asked.page is not None)
    is_locked = has_images and view == "image" and boxes is None
    last = source.pages or 0
    mode = {} if boxes is None else {"view": "image"}

    def other(page: int) -> str:
        if asked.page is None or not 1 <= page <= last:
            return ""
        return f"/sources/{source.id}?{urlencode({'page': page, **mode})}"

    return Viewer(
        title=asked.title or source.title,
        source=source,
        page=asked.page,
        pages=source.pages,
        label="" if passage is None else passage.label,
        text=None if passage is None else _quoted(_shown(passage, source.kind), asked),
        boxes=boxes,
        is_locked=is_locked,
        has_quote=asked.has_quote,
        marker=asked.marker,
        url=asked.url(**mode),
        text_url=asked.url(view="text") if is_image else asked.url(),
        image_url=asked.url(view="image") if has_images and not is_locked else "",
        previous_url=other((asked.page or 0) - 1),
        next_url=other((asked.page or 0) + 1),
    )


def _shown(passage: Passage, kind: SourceKind) -> str:
    """The text as it is shown: lines of a PDF that plainly go on do so. As long as the original."""
    if kind is not SourceKind.PDF:
        return passage.text
    lines = passage.text.split("\n")
    parts = [lines[0]]
    for line, following in pairwise(lines):
        goes_on = len(line) >= _FULL_LINE and not line.rstrip().endswith(_ENDS)
        parts.append(" " if goes_on and following[:1].isalpha() else "\n")
        parts.append(following)
    return "".join(parts)


def _quoted(text: str, asked: Asked) -> Quoted:
    """The part of a text that is shown, split around the quote."""
    first = asked.at if asked.at is not None else asked.start - _LEAD
    if len(text) <= _WINDOW:
        first = 0
    first = min(max(first, 0), len(text))
    last = min(first + _WINDOW, len(text))
    start = min(max(asked.start, first), last)
    end = min(max(asked.end, start), last)
    return Quoted(
        before=text[first:start],
        quote=text[start:end],
        after=text[end:last],
        earlier_url=asked.url(at=max(first - _WINDOW, 0)) if first else "",
        later_url=asked.url(at=last) if last < len(text) else "",
    )
