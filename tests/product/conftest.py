"""One product for all trials that do not end it: two web processes and a worker."""

from collections.abc import Iterator

import pytest

from tests.conftest import Product, migrated_database
from tests.product.stage import ENVIRONMENT, Stage, in_parallel
from tests.provider import Provider

PATIENCE = {
    "EMBEDDING_TIMEOUT_S": "3",
    "LLM_FIRST_TOKEN_TIMEOUT_S": "4",
    "LLM_BETWEEN_TOKENS_TIMEOUT_S": "4",
}


@pytest.fixture(scope="session")
def running_stage(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with Provider() as provider, migrated_database(postgres) as database_url:
        product = Product(
            database_url,
            tmp_path_factory.mktemp("stage"),
            {"INFERENCE_BASE_URL": provider.url, **ENVIRONMENT, **PATIENCE},
        )
        try:
            product.worker()
            with in_parallel(2) as pool:
                webs = [address for _, address in pool.map(lambda _: product.web(), range(2))]
            yield Stage(provider, product, webs)
        finally:
            product.stop()


@pytest.fixture
def stage(running_stage: Stage) -> Iterator[Stage]:
    """The product, with a provider that answers well and an empty ledger."""
    worker = running_stage.product.children[0]
    assert worker.poll() is None, running_stage.product.log()[-4000:]
    running_stage.provider.reset()
    logged_before = len(running_stage.product.log())
    yield running_stage
    for client in running_stage.clients:
        client.close()
    running_stage.clients.clear()
    log = running_stage.product.log()[logged_before:]
    for mistake in ("unexpected_error", "run_failed", "reaping_failed", "mistake in Beleg"):
        assert mistake not in log, log[max(0, log.index(mistake) - 3000) :][:6000]
