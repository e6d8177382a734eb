import pytest

from app.chunkers import chosen_chunker
from app.settings import read_settings
from domain.errors import Rejected


def chosen(**environment: str) -> str:
    return chosen_chunker(read_settings(environment), (320, 40)).name


def test_the_window_suits_the_model_unless_it_is_set() -> None:
    assert chosen() == "token-window-320-40"
    assert chosen(CHUNK_TOKENS="100") == "token-window-100-40"
    assert chosen(CHUNK_OVERLAP_TOKENS="0") == "token-window-320-0"


def test_a_chunker_is_chosen_by_its_name() -> None:
    assert chosen(CHUNKER="recursive") == "recursive-400-40"
    assert chosen(CHUNKER="recursive", CHUNK_TOKENS="200") == "recursive-200-40"
    assert chosen(CHUNKER="character-window") == "character-window-1000-200"


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"CHUNKER": "semantic"}, "is one of"),
        ({"CHUNKER": "character-window", "CHUNK_TOKENS": "100"}, "unset them"),
        ({"CHUNKER": "recursive", "CHUNK_TOKENS": "60"}, "smaller than half"),
        ({"CHUNK_TOKENS": "40"}, "smaller than the window"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_name(environment: dict[str, str], said: str) -> None:
    with pytest.raises(Rejected, match=f"CHUNK.*{said}"):
        chosen(**environment)


def test_ears_need_a_model_and_a_price() -> None:
    assert read_settings({"INFERENCE_API_KEY": "k"}).stt is None
    named = read_settings({"INFERENCE_API_KEY": "k", "STT_MODEL": "whisper-1"}).stt
    assert named is not None
    assert named.model == "whisper-1"
    assert read_settings({"STT_MODEL": "whisper-base"}).stt is None
    with pytest.raises(Rejected, match="STT_MODEL is not set"):
        read_settings({"STT_BASE_URL": "http://127.0.0.1:9/v1"})
    with pytest.raises(Rejected, match="STT_MODEL names whisper-1"):
        read_settings({"STT_MODEL": "whisper-1"})
