"""What models cost. A model without a price is not called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.errors import Rejected
from domain.usage import Price


class NoPrice(Rejected):
    """A configured model is not in the price list; nothing may start with it."""


@dataclass(frozen=True, slots=True)
class PriceList:
    """Prices by the model's name, exactly as it is sent to its endpoint."""

    prices: Mapping[str, Price]

    def of(self, model: str) -> Price:
        """The price of `model`, whatever it is paid by.

        Raises:
            NoPrice: it has none; the message names the model and the setting to mend.
        """
        return self._of(model, "", ())

    def of_reading(self, model: str) -> Price:
        """The price of a model that reads and writes nothing: it embeds or reranks.

        Raises:
            NoPrice: it has none by the token; the message says where to put it, here and below.
        """
        return self._of(model, " for tokens", ["input_per_million"])

    def of_writing(self, model: str) -> Price:
        """The price of a model that reads and writes: texts, or transcripts of pictures."""
        return self._of(model, " for tokens", ["input_per_million", "output_per_million"])

    def of_sound(self, model: str) -> Price:
        """The price of a model that hears."""
        return self._of(model, " for a minute of sound", ["per_minute"])

    def of_speech(self, model: str) -> Price:
        """The price of a model that speaks."""
        return self._of(model, " for characters read aloud", ["characters_per_million"])

    def _of(self, model: str, what: str, fields: Sequence[str]) -> Price:
        price = self.prices.get(model)
        if price and all(getattr(price, name) is not None for name in fields):
            return price
        table = f'[models."{model}"]'
        add = f"{' and '.join(fields)} to {table} in" if fields else f"{table} to"
        raise NoPrice(
            f"{model} has no price{what}, so its calls could not be billed."
            f" Add {add} the file that PRICES_FILE names."
        )
