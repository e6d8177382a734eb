"""A short ledger campaign; `benchmarks/ledger_campaign.py` is the long one."""

from collections.abc import Callable

from tests.conftest import Product
from tests.product.campaign import TRIAL, Campaign, slow_provider


def test_every_call_is_booked_as_the_provider_saw_it_through_faults_stops_and_kills(
    product: Callable[..., Product],
) -> None:
    with slow_provider() as provider:
        beleg = product(INFERENCE_BASE_URL=provider.url, **TRIAL)
        watch, books = Campaign(provider, beleg, calls=50, kills=2).run()
    print(books.check())
    assert watch.wrong == []
    assert watch.reads > 100
    assert watch.held > 0
