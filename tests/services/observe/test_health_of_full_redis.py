"""Health while Redis is full: it still reads, and takes nothing."""

from tests.support import eventually
from tests.workbench import Workbench


async def test_a_redis_that_answers_reads_and_refuses_every_push_is_not_called_up(bench: Workbench) -> None:
    before = await bench.redis("CONFIG", "GET", "maxmemory")
    assert isinstance(before, list)
    await bench.redis("CONFIG", "SET", "maxmemory", "1")
    try:
        full = await bench.runtime.health.check()
    finally:
        await bench.redis("CONFIG", "SET", "maxmemory", str(before[1]))

    assert (full.status, full.redis, full.dispatch) == ("degraded", False, "polling")

    async def is_well() -> bool:
        return (await bench.runtime.health.check()).status == "ok"

    await eventually(is_well)
