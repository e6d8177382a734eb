import asyncio

from domain.live import LiveAnswer


async def test_a_reader_is_pinged_while_a_run_only_renews_its_lease() -> None:
    live = LiveAnswer()

    async def renew() -> None:
        while True:
            live.publish([])
            await asyncio.sleep(0.01)

    renewing = asyncio.create_task(renew())
    async with asyncio.timeout(2):
        assert await anext(live.follow(0, ping_s=0.05)) is None
    renewing.cancel()
