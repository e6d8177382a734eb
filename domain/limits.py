"""What one person may use; the settings say it where the admin has set nothing for them."""

from collections.abc import Mapping
from enum import StrEnum

from domain.errors import Rejected, TooLarge

_MOST = 10**12


class LimitName(StrEnum):
    """Limits that may be set for one person."""

    QUESTIONS = "max_questions_per_notebook_day"
    FILE_BYTES = "max_file_bytes"
    AUDIO_BYTES = "max_audio_bytes"
    WORDS = "max_words_per_source"
    SOURCES = "max_sources_per_notebook"
    RUNNING_AUDIO = "max_running_audio_overviews_per_notebook"
    AUDIO = "max_audio_overviews_per_notebook"
    AUDIO_OF_DAY = "max_audio_overviews_per_day"


def require_few_bytes(what: str, size: int, most: int) -> None:
    """Keep `what` within its limit.

    Raises:
        TooLarge: it has more bytes; the message has enough digits to show it.
    """
    if size > most:
        digits = next(n for n in range(1, 7) if round(size / 1e6, n) > most / 1e6)
        raise TooLarge(f"{what} has {size / 1e6:.{digits}f} MB; {most / 1e6:,g} MB is the limit.")


def checked(amounts: Mapping[LimitName, int | None]) -> Mapping[LimitName, int | None]:
    """Let pass what may be limits.

    Raises:
        Rejected: one is less than 0 or absurdly large.
    """
    for name, amount in amounts.items():
        if amount is not None and not 0 <= amount <= _MOST:
            raise Rejected(f"{name.value} is 0 to {_MOST:,}, or null for the setting.")
    return amounts
