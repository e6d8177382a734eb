"""Prices in TOML: the shipped list, and the operator's file over it."""

import tomllib
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from importlib import resources
from pathlib import Path

from domain.errors import Rejected
from domain.prices import PriceList
from domain.usage import Price

_FIELDS = {"input_per_million", "output_per_million"} | {
    *("per_minute", "per_second", "characters_per_million")
}
_ENOUGH = {"input_per_million", "per_minute", "characters_per_million"}
_SECONDS_A_MINUTE = 60


class PricesInvalid(Rejected):
    """A price file cannot be used; the message names the file and the key."""


def load_prices(file: Path | None = None) -> PriceList:
    """The shipped prices, and over them, model by model, those of `file` (PRICES_FILE).

    Raises:
        PricesInvalid: the file is missing, is not TOML, has a key that means nothing, or a price
            that is no number from 0 up.
    """
    shipped = resources.files("adapters").joinpath("prices.toml").read_text("utf-8")
    prices = _parsed(shipped, "the shipped prices.toml")
    if file is not None:
        try:
            text = file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise PricesInvalid(f"PRICES_FILE {file} cannot be read: {error}") from error
        prices |= _parsed(text, str(file))
    return PriceList(prices)


def _parsed(text: str, name: str) -> dict[str, Price]:
    try:
        content = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise PricesInvalid(f"{name} is not TOML: {error}") from error
    _check_keys(content, {"models"}, name)
    models = _table(content.get("models", {}), f"{name}: models")
    return {model: _price(table, f"{name}: models.{model}") for model, table in models.items()}


def _price(value: object, where: str) -> Price:
    table = _table(value, where)
    _check_keys(table, _FIELDS, where)
    amounts = {name: _amount(amount, f"{where}.{name}") for name, amount in table.items()}
    if "per_second" in amounts:
        amounts["per_minute"] = amounts.pop("per_second") * _SECONDS_A_MINUTE
    if not amounts.keys() & _ENOUGH:
        raise PricesInvalid(
            f"{where} lacks input_per_million, or per_minute for a model that hears,"
            " or characters_per_million for one that speaks"
        )
    return Price(**amounts)


def _amount(value: object, where: str) -> Decimal:
    """Strings and TOML numbers alike, exactly."""
    if isinstance(value, str | int | Decimal) and not isinstance(value, bool):
        try:
            amount = Decimal(value)
        except InvalidOperation:
            amount = Decimal("NaN")
        if amount.is_finite() and amount >= 0:
            return amount
    raise PricesInvalid(f'{where} must be an amount in USD, like "0.05", not {value!r}')


def _table(value: object, where: str) -> Mapping[str, object]:
    if isinstance(value, dict):
        return value
    raise PricesInvalid(f"{where} must be a table, not {value!r}")


def _check_keys(table: Mapping[str, object], known: set[str], where: str) -> None:
    if unknown := sorted(table.keys() - known):
        raise PricesInvalid(f"{where} has keys that mean nothing: {', '.join(unknown)}")
