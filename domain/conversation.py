"""Questions, answers, and the events an answer's stream is made of."""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """Who speaks in a prompt."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

    role: Role
    content: str
