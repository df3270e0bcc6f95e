"""Inserts: one row a transaction by many connections, and a thousand rows a statement by one."""

from typing import Final

from officeplane.bench.ground import Ground
from officeplane.bench.limits import bare
from officeplane.bench.scenario import Limit

CONNECTIONS: Final = 32
_GROUP: Final = 1_000


async def _singly(ground: Ground) -> float:
    count = ground.sized(15_000)
    async with ground.installation() as installation, bare.connections(installation, CONNECTIONS) as opened:

        async def insert(lane: int, number: int) -> None:
            await opened[lane].execute("INSERT INTO bare (id, payload) VALUES ($1, $2)", number, bare.PAYLOAD)

        return await bare.rate(count, CONNECTIONS, insert)


async def _grouped(ground: Ground) -> float:
    groups = list(bare.hundreds(ground.sized(100_000), _GROUP))
    async with ground.installation() as installation, bare.connections(installation, 1) as (connection,):

        async def insert(_lane: int, number: int) -> None:
            await bare.insert(connection, groups[number])

        return _GROUP * await bare.rate(len(groups), 1, insert)


SINGLE: Final = Limit("single_inserts", f"INSERT of one row, {CONNECTIONS} connections", "rows/s", _singly)
GROUPED: Final = Limit("grouped_inserts", f"INSERT of {_GROUP:,} rows", "rows/s", _grouped)
