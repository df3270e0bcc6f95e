"""Pushes and blocking pops of single ids, by many callers side by side."""

from typing import Final

from officeplane.bench.ground import Ground
from officeplane.bench.limits import bare
from officeplane.bench.scenario import Limit

_LANES: Final = 32


async def _pairs(ground: Ground) -> float:
    async with ground.installation() as installation, bare.client(installation) as client:

        async def pair(lane: int, number: int) -> None:
            name = bare.key(installation, str(lane))
            await client.execute_command("LPUSH", name, number)
            await client.execute_command("BRPOP", name, 5)

        return await bare.rate(ground.sized(10_000), _LANES, pair)


PAIRS: Final = Limit("pairs", f"LPUSH, then BRPOP, {_LANES} callers", "pairs/s", _pairs)
