"""What the templates of the studio are given."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from markupsafe import Markup

from app.contexts import Frame
from app.shelf import Offer
from domain.access import Role
from domain.document import Document


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """One document in its notebook's list."""

    template: ClassVar[str] = "studio/_row.html"
    frame: Frame
    notebook_id: UUID
    document: Document
    role: Role


@dataclass(frozen=True, slots=True)
class OfferFragment:
    """What making one costs, and how many are left."""

    template: ClassVar[str] = "studio/_offer.html"
    frame: Frame
    offer: Offer


@dataclass(frozen=True, slots=True)
class MadeFragment:
    """A document that was just queued, and the form ready for another one."""

    template: ClassVar[str] = "studio/_made.html"
    frame: Frame
    notebook_id: UUID
    document: Document
    offer: Offer
    key: UUID
    role: Role = Role.OWNER


@dataclass(frozen=True, slots=True)
class StudioProblem:
    """Why nothing was made, at the form, which may then be sent anew."""

    template: ClassVar[str] = "studio/_problem.html"
    frame: Frame
    problem: str
    key: UUID


@dataclass(frozen=True, slots=True)
class Said:
    """A paragraph of a transcript.

    Args:
        speaker: who says it, where there are two.
    """

    speaker: str
    html: Markup


@dataclass(frozen=True, slots=True)
class TranscriptFragment:
    """What is said in a recording, with its markers as links."""

    template: ClassVar[str] = "studio/_transcript.html"
    frame: Frame
    document: Document
    paragraphs: Sequence[Said]


@dataclass(frozen=True, slots=True)
class TranscriptPage(TranscriptFragment):
    """Likewise, as a page with its player."""

    template: ClassVar[str] = "studio/transcript.html"
