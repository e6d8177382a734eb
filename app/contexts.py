"""What each template is given: one frozen dataclass a template."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol
from uuid import UUID

from markupsafe import Markup

from app.shelf import Shelf
from app.texts import Words
from app.uploads import Limits
from domain.access import Role
from domain.account import User
from domain.conversation import Answer, Citation
from domain.library import Shelved, Wanted
from domain.notebook import Notebook
from domain.ports import Box
from domain.source import Source
from domain.suggestions import Suggestions


@dataclass(frozen=True, slots=True)
class Frame:
    """What every template may need."""

    words: Words
    nonce: str
    csrf: str
    """The value of forms' `csrf` field and of the X-CSRF-Token header."""
    user: User | None
    can_sign_out: bool
    """False for the person at the machine, who would be signed in again at once."""
    can_write: bool
    """False where no chat model is configured."""
    notices: Sequence[str]
    htmx_base_url: str
    """A folder with the htmx files; "" for the CDN."""
    here: str
    """This page's path with its query."""


class Context(Protocol):
    """A template with what it needs."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    template: ClassVar[str]

    @property
    def frame(self) -> Frame:
        """What every template may need."""
        ...


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """Something went wrong, as a page."""

    template: ClassVar[str] = "layout/error.html"
    frame: Frame
    status: int
    detail: str


@dataclass(frozen=True, slots=True)
class Problems:
    """What went wrong, as a fragment."""

    template: ClassVar[str] = "layout/_problems.html"
    frame: Frame
    problems: Sequence[str]


@dataclass(frozen=True, slots=True)
class NotebooksPage:
    """Every notebook of the reader."""

    template: ClassVar[str] = "notebooks/list.html"
    frame: Frame
    notebooks: Sequence[Notebook]
    next_cursor: UUID | None


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and its answer, ready to be shown.

    Args:
        html: the finished answer with its citations as links.
        cited: ranks of the hits that it cites.
    """

    answer: Answer
    html: Markup
    cited: frozenset[int]


@dataclass(frozen=True, slots=True)
class TurnFragment:
    """One turn."""

    template: ClassVar[str] = "questions/_turn.html"
    frame: Frame
    turn: Turn


@dataclass(frozen=True, slots=True)
class TurnsFragment:
    """Earlier turns, oldest first, and where those before them begin."""

    template: ClassVar[str] = "questions/_turns.html"
    frame: Frame
    notebook: Notebook
    turns: Sequence[Turn]
    before: UUID | None


@dataclass(frozen=True, slots=True)
class AskedFragment:
    """A new turn, and an empty box for the next question."""

    template: ClassVar[str] = "questions/_asked.html"
    frame: Frame
    notebook: Notebook
    turn: Turn
    key: UUID
    about: Source | None


@dataclass(frozen=True, slots=True)
class PickerFragment:
    """What of the library a notebook does not have.

    Args:
        words: what was searched for.
        is_all: False where there is more.
    """

    template: ClassVar[str] = "library/_picker.html"
    frame: Frame
    notebook: Notebook
    entries: Sequence[Shelved]
    words: str
    is_all: bool


@dataclass(frozen=True, slots=True)
class PickerPage(PickerFragment):
    """Likewise, as a page."""

    template: ClassVar[str] = "library/picker.html"


@dataclass(frozen=True, slots=True)
class LibraryRow:
    """One entry of the library.

    Args:
        notebooks: the reader's own.
    """

    template: ClassVar[str] = "library/_row.html"
    frame: Frame
    entry: Shelved
    notebooks: Sequence[Notebook]


@dataclass(frozen=True, slots=True)
class LibraryPage:
    """Everything a person ever added, newest first.

    Args:
        next_url: where older entries are; "" for none.
    """

    template: ClassVar[str] = "library/library.html"
    frame: Frame
    entries: Sequence[Shelved]
    notebooks: Sequence[Notebook]
    wanted: Wanted
    next_url: str


@dataclass(frozen=True, slots=True)
class ComposerFragment:
    """The box for a question.

    Args:
        about: the source it is about alone; None for all.
    """

    template: ClassVar[str] = "questions/_composer.html"
    frame: Frame
    notebook: Notebook
    key: UUID
    about: Source | None


@dataclass(frozen=True, slots=True)
class SuggestionsFragment:
    """Questions to begin with, as buttons."""

    template: ClassVar[str] = "questions/_suggestions.html"
    frame: Frame
    notebook_id: UUID
    suggestions: Suggestions


@dataclass(frozen=True, slots=True)
class FeedbackFragment:
    """What somebody thinks of an answer, as buttons.

    Args:
        said: True right after they said it.
    """

    template: ClassVar[str] = "questions/_feedback.html"
    frame: Frame
    answer: Answer
    said: bool


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One source in its notebook's list."""

    template: ClassVar[str] = "sources/_row.html"
    frame: Frame
    notebook_id: UUID
    source: Source
    role: Role


@dataclass(frozen=True, slots=True)
class SourceList:
    """A notebook's sources, and what could not be added to them."""

    template: ClassVar[str] = "sources/_list.html"
    frame: Frame
    notebook_id: UUID
    sources: Sequence[Source]
    problems: Sequence[str]
    role: Role


@dataclass(frozen=True, slots=True)
class NotebookPage:
    """A notebook: its sources, its chat, its studio, and the viewer.

    Args:
        role: what the reader may do here.
        state: fingerprint of the sources as shown.
        key: makes the next question once, however often it is sent.
        about: the source that the next question is about alone; None for all.
    """

    template: ClassVar[str] = "notebooks/notebook.html"
    frame: Frame
    notebook: Notebook
    notebook_id: UUID
    role: Role
    sources: Sequence[Source]
    state: str
    turns: Sequence[Turn]
    before: UUID | None
    key: UUID
    about: Source | None
    limits: Limits
    shelf: Shelf


@dataclass(frozen=True, slots=True)
class Quoted:
    """A stretch of a passage with a quote in it, and where the rest of the passage is."""

    before: str
    quote: str
    after: str
    earlier_url: str
    later_url: str


@dataclass(frozen=True, slots=True)
class Viewer:
    """A page of a source.

    Args:
        text: None where nothing was read.
        boxes: where the quote stands on the page's image; None where the text is shown.
        is_locked: the image was wanted, but the password of its PDF was not kept.
    """

    title: str
    source: Source
    page: int | None
    pages: int | None
    label: str
    text: Quoted | None
    boxes: Sequence[Box] | None
    is_locked: bool
    has_quote: bool
    marker: int | None
    url: str
    text_url: str
    image_url: str
    previous_url: str
    next_url: str


@dataclass(frozen=True, slots=True)
class ViewerFragment:
    """A page of a source, in the viewer's pane."""

    template: ClassVar[str] = "sources/_viewer.html"
    frame: Frame
    viewer: Viewer
    is_page: bool = False


@dataclass(frozen=True, slots=True)
class ViewerPage:
    """A page of a source, as a page."""

    template: ClassVar[str] = "sources/viewer.html"
    frame: Frame
    viewer: Viewer
    notebook_id: UUID | None
    is_page: bool = True


@dataclass(frozen=True, slots=True)
class RemovedFragment:
    """A citation whose source is gone, in the viewer's pane."""

    template: ClassVar[str] = "sources/_removed.html"
    frame: Frame
    citation: Citation
    quote: str


@dataclass(frozen=True, slots=True)
class RemovedPage:
    """A citation whose source is gone, as a page."""

    template: ClassVar[str] = "sources/removed.html"
    frame: Frame
    citation: Citation
    quote: str
    notebook_id: UUID
