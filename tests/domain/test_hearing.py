from typing import Any

import pytest

from domain.errors import NotSetUp
from domain.hearing import Hearing

NOTHING: Any = None


async def test_without_ears_a_recording_says_what_to_set_and_nothing_is_touched() -> None:
    hearing = Hearing(NOTHING, NOTHING, NOTHING, None, NOTHING)
    with pytest.raises(NotSetUp, match=r"STT_MODEL.*beleg\[speech\].*Retry"):
        await hearing(NOTHING)
