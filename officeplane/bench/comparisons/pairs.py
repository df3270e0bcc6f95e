"""Pushes and blocking pops of single ids, by many callers side by side."""

from typing import Final

from officeplane.bench.comparisons import bare
from officeplane.bench.load import rate
from officeplane.bench.scenario import Comparison, Limit
from officeplane.bench.servers import Servers
from officeplane.dispatch.commands import packed

CALLERS: Final = 32

PAIRS: Final = Limit("pairs", f"LPUSH, then BRPOP, {CALLERS} callers", "pairs/s")


async def _measure(servers: Servers) -> list[float]:
    async with servers.installation() as installation, bare.lines(installation, CALLERS) as lines:

        async def pair(caller: int, number: int) -> None:
            name = bare.key(installation, str(caller))
            await bare.ask(lines[caller], [packed("LPUSH", name, str(number))])
            await bare.ask(lines[caller], [packed("BRPOP", name, "5")])

        return [await rate(servers.sized(20_000), CALLERS, pair)]


COMPARISON: Final = Comparison((PAIRS,), _measure)
