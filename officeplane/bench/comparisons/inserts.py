"""Inserts: one row a transaction by many connections, and a thousand rows a statement by one."""

from typing import Final

from officeplane.bench.comparisons import bare
from officeplane.bench.load import rate
from officeplane.bench.scenario import Comparison, Limit
from officeplane.bench.servers import Servers

CONNECTIONS: Final = 32
GROUP: Final = 1_000

SINGLE: Final = Limit("single_inserts", f"INSERT of one row, {CONNECTIONS} connections", "rows/s")
GROUPED: Final = Limit("grouped_inserts", f"INSERT of {GROUP:,} rows", "rows/s")


async def _singly(servers: Servers) -> list[float]:
    count = servers.sized(15_000)
    async with servers.installation() as installation, bare.connections(installation, CONNECTIONS) as opened:

        async def insert(lane: int, number: int) -> None:
            await opened[lane].execute("INSERT INTO bare (id, payload) VALUES ($1, $2)", number, bare.PAYLOAD)

        return [await rate(count, CONNECTIONS, insert)]


async def _grouped(servers: Servers) -> list[float]:
    groups = list(bare.hundreds(servers.sized(100_000), GROUP))
    async with servers.installation() as installation, bare.connections(installation, 1) as (connection,):

        async def insert(_lane: int, number: int) -> None:
            await bare.insert(connection, groups[number])

        return [GROUP * await rate(len(groups), 1, insert)]


SINGLY: Final = Comparison((SINGLE,), _singly)
IN_GROUPS: Final = Comparison((GROUPED,), _grouped)
