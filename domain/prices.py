"""What models cost. A model without a price is not called."""

from collections.abc import Mapping
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
        """The price of `model`.

        Raises:
            NoPrice: it has none; the message names the model and the setting to mend.
        """
        try:
            return self.prices[model]
        except KeyError:
            raise NoPrice(
                f"{model} has no price, so its calls could not be billed. "
                f'Add [models."{model}"] to the file that PRICES_FILE names.'
            ) from None

    def of_sound(self, model: str) -> Price:
        """The price of a model that hears.

        Raises:
            NoPrice: it has none by the minute; the message says where to put it.
        """
        price = self.prices.get(model)
        if price is None or price.per_minute is None:
            raise NoPrice(
                f"{model} has no price for a minute of sound, so its calls could not be billed. "
                f'Add per_minute to [models."{model}"] in the file that PRICES_FILE names.'
            )
        return price

    def of_speech(self, model: str) -> Price:
        """The price of a model that speaks.

        Raises:
            NoPrice: it has none by the character; the message says where to put it.
        """
        price = self.prices.get(model)
        if price is None or price.characters_per_million is None:
            raise NoPrice(
                f"{model} has no price for characters read aloud, so its calls could not be"
                f' billed. Add characters_per_million to [models."{model}"] in the file that'
                " PRICES_FILE names."
            )
        return price
