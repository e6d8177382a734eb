"""What may be added, as the page says it before anything is sent."""

from dataclasses import dataclass

from app.settings import Settings
from domain.account import User
from domain.limits import LimitName

ACCEPTED = (
    ".pdf,.txt,.text,.md,.markdown,.log,.rst,.tex,.docx,.pptx,.xlsx,.csv,.tsv,.epub,.html,.htm,"
    ".xhtml,.png,.jpg,.jpeg,.webp,.gif,.heic,.heif,.mp3,.wav,.m4a,.mp4,.aac,.ogg,.oga,.opus,.flac,"
    ".webm,text/*,image/*,audio/*"
)
"""For a file dialog, which hides other files until one asks for them; bytes decide in the end."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes of a file and of a recording, and sources of a notebook."""

    max_file_bytes: int
    max_audio_bytes: int
    max_sources: int

    @classmethod
    def of(cls, settings: Settings, user: User) -> "Limits":
        """Those in force for somebody."""
        return cls(
            user.limit(LimitName.FILE_BYTES, settings.max_file_bytes),
            user.limit(LimitName.AUDIO_BYTES, settings.max_audio_bytes),
            user.limit(LimitName.SOURCES, settings.max_sources_per_notebook),
        )
