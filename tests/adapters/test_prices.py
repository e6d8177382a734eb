from decimal import Decimal
from pathlib import Path

import pytest

from adapters.prices import PricesInvalid, load_prices
from domain.prices import NoPrice
from domain.usage import Price, TokenUsage


def test_the_shipped_list_knows_what_beleg_uses_by_default() -> None:
    prices = load_prices()
    assert prices.of("qwen3-embedding-4b").input_per_million == Decimal("0.05")
    assert prices.of("glm-5.3-flash").output_per_million == Decimal("0.35")
    assert prices.of("multilingual-e5-small") == Price(Decimal(0))
    assert prices.of_writing("tesseract") == Price(Decimal(0), Decimal(0))


def test_an_operators_file_adds_to_the_shipped_list_and_wins(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(
        '[models."glm-5.3-flash"]\ninput_per_million = "0.2"\n'
        '[models."my/model"]\ninput_per_million = 0.1\noutput_per_million = 1\n'
    )
    prices = load_prices(file)
    assert prices.of("glm-5.3-flash").input_per_million == Decimal("0.2")
    assert prices.of("glm-5.3-flash").output_per_million is None
    assert prices.of("my/model").input_per_million == Decimal("0.1")
    assert prices.of("my/model").output_per_million == 1
    assert prices.of("minimax-m3").input_per_million == Decimal("0.20")


def test_sound_is_priced_by_the_minute_or_the_second(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(
        '[models.ear]\nper_minute = "0.006"\n[models.other-ear]\nper_second = "0.0001"\n'
    )
    prices = load_prices(file)
    assert prices.of_sound("ear").per_minute == Decimal("0.006")
    assert prices.of_sound("other-ear").per_minute == Decimal("0.006")
    assert prices.of_sound("whisper-base").per_minute == 0
    for unpriced in ("brand-new", "glm-5.3-flash"):
        with pytest.raises(NoPrice, match=r"minute.*PRICES_FILE"):
            prices.of_sound(unpriced)


def test_speech_is_priced_by_the_character(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('[models.mouth]\ncharacters_per_million = "16"\n')
    prices = load_prices(file)
    assert prices.of_speech("mouth").cost(TokenUsage(0, characters=9_000)) == Decimal("0.144")
    assert prices.of_speech("local-voices").characters_per_million == 0
    for unpriced in ("brand-new", "glm-5.3-flash"):
        with pytest.raises(NoPrice, match=r"characters.*PRICES_FILE"):
            prices.of_speech(unpriced)


def test_a_model_that_writes_has_a_price_for_what_it_writes(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('[models.reads]\ninput_per_million = "0.05"\n')
    prices = load_prices(file)
    assert prices.of_writing("glm-5.3-flash") == prices.of("glm-5.3-flash")
    assert prices.of_reading("reads").cost(TokenUsage(1_000_000)) == Decimal("0.05")
    with pytest.raises(NoPrice, match=r'Add .* and output_per_million to \[models\."reads"\]'):
        prices.of_writing("reads")
    for other in ("whisper-1", "tts-1", "brand-new"):
        with pytest.raises(NoPrice, match=r"Add input_per_million to"):
            prices.of_reading(other)


def test_a_model_without_a_price_names_itself_and_the_setting() -> None:
    with pytest.raises(NoPrice, match=r"brand-new.*PRICES_FILE"):
        load_prices().of("brand-new")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[models.x]\ninput_per_million = "-1"', r"models\.x\.input_per_million .*'-1'"),
        ('[models.x]\ninput_per_million = "NaN"', r"models\.x\.input_per_million .*'NaN'"),
        ("[models.x]\ninput_per_million = nan", r"models\.x\.input_per_million"),
        ("[models.x]\ninput_per_million = inf", r"models\.x\.input_per_million"),
        ('[models.x]\ninput_per_million = "5 cents"', r"'5 cents'"),
        ("[models.x]\ninput_per_million = true", r"True"),
        ("[models.x]\ninput_per_million = []", r"\[\]"),
        ('[models.x]\noutput_per_million = "1"', r"models\.x lacks input_per_million"),
        ('[models.x]\ninput = "1"', r"models\.x has keys that mean nothing: input"),
        ("[prices]", r"has keys that mean nothing: prices"),
        ("models = 3", r"models must be a table"),
        ("[models]\nx = 3", r"models\.x must be a table"),
        ("[models", r"is not TOML"),
    ],
)
def test_a_broken_file_is_named_with_its_key(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(PricesInvalid, match=rf"mine\.toml.*{said}"):
        load_prices(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PricesInvalid, match=r"PRICES_FILE .*gone\.toml"):
        load_prices(tmp_path / "gone.toml")
