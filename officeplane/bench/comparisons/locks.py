"""Lock cycles: SET NX PX, then compare and delete by script, a hundred of each to a round trip."""

from typing import Final

from officeplane.bench.comparisons import bare
from officeplane.bench.load import rate
from officeplane.bench.scenario import Comparison, Limit
from officeplane.bench.servers import Servers
from officeplane.dispatch.commands import packed

GROUP: Final = 100
_RELEASE: Final = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
_TTL_MILLISECONDS: Final = "60000"

CYCLES: Final = Limit("lock_cycles", f"take and give back a lock, {GROUP} a round trip", "cycles/s")


async def _measure(servers: Servers) -> list[float]:
    groups = list(bare.hundreds(servers.sized(50_000), GROUP))
    async with servers.installation() as installation, bare.lines(installation, 1) as (line,):
        (digest,) = await bare.ask(line, [packed("SCRIPT", "LOAD", _RELEASE)])

        async def cycle(_lane: int, number: int) -> None:
            names = [bare.key(installation, f"lock-{lock}") for lock in groups[number]]
            await bare.ask(line, [packed("SET", name, "mine", "NX", "PX", _TTL_MILLISECONDS) for name in names])
            await bare.ask(line, [packed("EVALSHA", str(digest), "1", name, "mine") for name in names])

        return [GROUP * await rate(len(groups), 1, cycle)]


COMPARISON: Final = Comparison((CYCLES,), _measure)
