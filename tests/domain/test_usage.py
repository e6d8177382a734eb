from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.prices import NoPrice, PriceList
from domain.usage import Price, TokenUsage, about_tokens, most_tokens

PRICE = Price(Decimal("0.05"), Decimal("0.35"))
TOKENS = st.integers(0, 10**9)
AMOUNTS = st.decimals(0, 1000, places=6)


def test_a_call_costs_its_tokens_by_the_million() -> None:
    assert PRICE.cost(TokenUsage(1_000_000, 2_000_000)) == Decimal("0.75")
    assert PRICE.cost(TokenUsage(0, 0)) == 0


def test_a_cost_is_rounded_up_to_a_billionth() -> None:
    assert Price(Decimal("0.0001")).cost(TokenUsage(1)) == Decimal("0.000000001")
    assert Price(Decimal("0.05")).cost(TokenUsage(1)) == Decimal("0.00000005")


@given(TOKENS, TOKENS, AMOUNTS, AMOUNTS)
def test_a_cost_is_never_below_the_exact_one_nor_a_billionth_above(
    sent: int, received: int, input_price: Decimal, output_price: Decimal
) -> None:
    cost = Price(input_price, output_price).cost(TokenUsage(sent, received))
    exact = (sent * input_price + received * output_price) / 1_000_000
    assert exact <= cost < exact + Decimal("0.000000001")


@given(TOKENS, TOKENS, TOKENS)
def test_a_call_costs_no_more_than_the_bound_that_was_reserved(
    sent: int, received: int, more: int
) -> None:
    reserved = PRICE.cost(TokenUsage(sent + more, received + more))
    assert PRICE.cost(TokenUsage(sent, received)) <= reserved


@given(st.text())
def test_an_estimate_stays_within_its_bound(text: str) -> None:
    assert about_tokens(text) <= most_tokens(text)
    assert (about_tokens(text) == 0) == (text == "")


def test_estimates_count_bytes_not_letters() -> None:
    assert about_tokens("abcd") == 1
    assert about_tokens("abcde") == 2
    assert about_tokens("日本") == 2
    assert most_tokens("äö") == 4


def test_a_price_list_names_what_it_lacks() -> None:
    prices = PriceList({"known": PRICE})
    assert prices.of("known") is PRICE
    with pytest.raises(NoPrice, match=r'unknown.*\[models\."unknown"\].*PRICES_FILE'):
        prices.of("unknown")


def test_seconds_of_sound_cost_their_share_of_a_minute() -> None:
    price = Price(Decimal(0), per_minute=Decimal("0.006"))
    assert price.cost(TokenUsage(0, seconds=Decimal(90))) == Decimal("0.009")
    assert price.cost(TokenUsage(0, seconds=Decimal("0.001"))) == Decimal("0.0000001")
    assert Price(Decimal(1)).cost(TokenUsage(0, seconds=Decimal(90))) == 0
