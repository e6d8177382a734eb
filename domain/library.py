"""The library: everything a person added, and in which of their notebooks it stands."""

from dataclasses import dataclass

from domain.ids import NotebookId
from domain.source import Source, SourceKind, SourceStatus


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person looks for; all of it holds.

    Args:
        words: stand in the title, the name or the address; "" for any.
        outside: a notebook that does not have it.
    """

    words: str = ""
    kind: SourceKind | None = None
    status: SourceStatus | None = None
    outside: NotebookId | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A notebook that has a source."""

    notebook_id: NotebookId
    title: str


@dataclass(frozen=True, slots=True)
class Shelved:
    """An entry of the library and the notebooks that have it, oldest first."""

    source: Source
    places: tuple[Place, ...]
