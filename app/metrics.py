"""Prometheus metrics: requests of this process, model calls of all of them. No user's data."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence

from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from domain.ledger import CallTotal

_TOTALS_S = 30.0


class RequestMetrics(ASGIMiddleware):
    """Counts requests by route and status, and measures how long their first byte takes."""

    scopes = (ScopeType.HTTP,)

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "beleg_http_requests",
            "Requests answered",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "beleg_http_first_byte_seconds",
            "From a request to the first byte of its answer",
            ["method", "route"],
            registry=self.registry,
        )

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """Pass on; measure when the answer starts, for a stream may go on for minutes."""
        begun = time.perf_counter()
        method, route = str(scope.get("method")), scope["path_template"]

        async def measured(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._seconds.labels(method, route).observe(time.perf_counter() - begun)
                self._requests.labels(method, route, str(message["status"])).inc()
            await send(message)

        await next_app(scope, receive, measured)


class _ModelCalls(Collector):
    """The ledger's sums as counters."""

    def __init__(self, totals: Sequence[CallTotal]) -> None:
        self._totals = totals

    def collect(self) -> Iterator[CounterMetricFamily]:
        """A family for each thing that is counted."""
        labels = ["kind", "model", "status"]
        calls = CounterMetricFamily("beleg_model_calls", "Model calls", labels=labels)
        tokens = CounterMetricFamily(
            "beleg_model_tokens", "Tokens of model calls", labels=[*labels, "direction"]
        )
        cost = CounterMetricFamily("beleg_model_cost_usd", "USD of model calls", labels=labels)
        for total in self._totals:
            values = [total.kind.value, total.model, total.status.value]
            calls.add_metric(values, total.calls)
            tokens.add_metric([*values, "input"], total.input_tokens)
            tokens.add_metric([*values, "output"], total.output_tokens)
            cost.add_metric(values, float(total.cost))
        yield from (calls, tokens, cost)


class LedgerTotals:
    """The ledger's sums, added up anew after half a minute: that reads every call ever made."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._turn = asyncio.Lock()
        self._totals: Sequence[CallTotal] = ()
        self._stale_at = -math.inf

    async def read(
        self, add_up: Callable[[], Awaitable[Sequence[CallTotal]]]
    ) -> Sequence[CallTotal]:
        """What `add_up` gave at most half a minute ago."""
        async with self._turn:
            if self._now() >= self._stale_at:
                self._totals = await add_up()
                self._stale_at = self._now() + _TOTALS_S
        return self._totals


def exposition(requests: RequestMetrics, totals: Sequence[CallTotal]) -> bytes:
    """Everything in Prometheus' text format."""
    ledger = CollectorRegistry()
    ledger.register(_ModelCalls(totals))
    return generate_latest(requests.registry) + generate_latest(ledger)
