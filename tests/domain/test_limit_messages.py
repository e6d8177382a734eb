"""What is said of something that is too large, too silent or blank."""

from decimal import Decimal

import pytest

from adapters.extraction.text import read_text
from domain.errors import TooLarge, Unreadable
from domain.limits import require_few_bytes
from domain.sound import MOST_SECONDS, Sound, require_hearable


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (20_000_001, "20.000001 MB; 20 MB is"),
        (20_040_000, "20.04 MB; 20 MB is"),
        (35_000_000, "35.0 MB; 20 MB is"),
    ],
)
def test_a_size_has_the_digits_that_show_it_is_too_much(size: int, said: str) -> None:
    require_few_bytes("a.txt", 20_000_000, 20_000_000)
    with pytest.raises(TooLarge, match=said):
        require_few_bytes("a.txt", size, 20_000_000)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ("0.4", "in 0.4 seconds,"),
        ("1", "in 1 second,"),
        ("59.99", "in 59.9 seconds,"),
        ("125", "in 2:05 minutes,"),
        ("3599.5", "in 1:00:00 hours,"),
        ("3725", "in 1:02:05 hours,"),
    ],
)
def test_silence_has_its_length_in_a_natural_unit(seconds: str, said: str) -> None:
    with pytest.raises(Unreadable, match=said):
        require_hearable(Sound("wav", Decimal(seconds), -90.0, 1000))


def test_a_recording_a_moment_too_long_looks_longer_than_the_limit() -> None:
    with pytest.raises(TooLarge, match="lasts 4:00:01 hours; 4:00:00 is"):
        require_hearable(Sound("wav", MOST_SECONDS + Decimal("0.5"), 0.0, 1000))


def test_white_space_is_called_so() -> None:
    with pytest.raises(Unreadable, match="holds only white space"):
        read_text(b" \n\t ", markdown=False)
