"""What processes tell each other: the names of the channels; a message is an id."""

ANSWER_APPENDED = "answer_appended"
"""An answer has new events."""
ANSWER_STOPPED = "answer_stopped"
"""Somebody wants an answer to stop."""
SOURCE_CHANGED = "source_changed"
"""A source's status or progress changed, or it is gone."""

ALL = (ANSWER_APPENDED, ANSWER_STOPPED, SOURCE_CHANGED)
