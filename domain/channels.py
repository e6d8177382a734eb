"""What processes tell each other: the names of the channels, and whose id a message is."""

ANSWER_APPENDED = "answer_appended"
"""An answer has new events; the answer's id."""
ANSWER_STOPPED = "answer_stopped"
"""Somebody wants an answer to stop; the answer's id."""
SOURCE_CHANGED = "source_changed"
"""A source's status or progress changed, or it is gone; its owner's id."""
DOCUMENT_CHANGED = "document_changed"
"""A document's status or progress changed, or it is gone; its notebook's id."""
ACCESS_CHANGED = "access_changed"
"""Somebody may see less than before; that person's id."""

ALL = (ANSWER_APPENDED, ANSWER_STOPPED, SOURCE_CHANGED, DOCUMENT_CHANGED, ACCESS_CHANGED)
