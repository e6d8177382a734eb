import asyncio
from collections.abc import Sequence

from app.metrics import LedgerTotals
from domain.ledger import CallTotal


class Sums:
    def __init__(self) -> None:
        self.reads = 0

    async def __call__(self) -> Sequence[CallTotal]:
        self.reads += 1
        await asyncio.sleep(0)
        return ()


async def test_the_ledger_is_added_up_once_in_half_a_minute_however_many_ask() -> None:
    now, sums = [0.0], Sums()
    totals = LedgerTotals(lambda: now[0])
    await asyncio.gather(*(totals.read(sums) for _ in range(5)))
    assert sums.reads == 1
    now[0] = 29.0
    await totals.read(sums)
    assert sums.reads == 1
    now[0] = 30.0
    await totals.read(sums)
    assert sums.reads == 2
