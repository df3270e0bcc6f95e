"""Health: what can be reached, within seconds whatever happens."""

from officeplane.services.observe.health import CHECK_SECONDS, Health
from tests.fault_proxy import FaultProxy
from tests.services.conftest import AnotherBench
from tests.support import stopwatch
from tests.workbench import Workbench


async def check(bench: Workbench) -> Health:
    with stopwatch() as seconds:
        health = await bench.runtime.health.check()
    assert seconds() < CHECK_SECONDS + 2
    return health


async def test_with_everything_at_hand_all_is_well(bench: Workbench) -> None:
    await bench.beat()

    assert await check(bench) == Health(status="ok", postgres=True, redis=True, dispatch="redis", workers=1)


async def test_workers_that_fell_silent_are_not_counted(bench: Workbench) -> None:
    await bench.beat()
    await bench.execute("UPDATE workers SET last_seen_at = now() - interval '31 seconds'")

    assert (await check(bench)).workers == 0


async def test_without_redis_work_is_polled_for(polling: Workbench) -> None:
    assert await check(polling) == Health(status="degraded", postgres=True, redis=False, dispatch="polling", workers=0)


async def test_redis_is_seen_to_go_and_to_come_back(
    another_bench: AnotherBench, redis_proxy: FaultProxy, redis_url: str
) -> None:
    async with another_bench(redis_url=redis_proxy.url(redis_url)) as bench:
        redis_proxy.hold()
        assert not (await check(bench)).redis

        await redis_proxy.heal()
        assert (await check(bench)).redis


async def test_postgres_is_seen_to_go_and_to_come_back(
    another_bench: AnotherBench, postgres_proxy: FaultProxy, database_url: str
) -> None:
    async with another_bench(database_url=postgres_proxy.url(database_url)) as bench:
        await postgres_proxy.refuse()
        gone = await check(bench)
        assert (gone.status, gone.postgres, gone.redis, gone.workers) == ("unavailable", False, True, 0)

        await postgres_proxy.heal()
        assert (await check(bench)).postgres


async def test_a_silent_postgres_is_not_waited_for_longer_than_a_moment(
    another_bench: AnotherBench, postgres_proxy: FaultProxy, database_url: str
) -> None:
    async with another_bench(database_url=postgres_proxy.url(database_url)) as bench:
        postgres_proxy.hold()

        assert (await check(bench)).status == "unavailable"

        await postgres_proxy.heal()
