"""Claims and completions by id: by the hundred, and one after the other as a single lane must."""

from typing import Final

from officeplane.bench.comparisons import bare
from officeplane.bench.load import rate
from officeplane.bench.scenario import Comparison, Limit
from officeplane.bench.servers import Servers

GROUP: Final = 100
CLAIM: Final = (
    "UPDATE bare SET state = 'RUNNING', began_at = clock_timestamp() "
    "WHERE id = ANY($1::bigint[]) AND state = 'QUEUED' RETURNING id, payload"
)
COMPLETE: Final = (
    "UPDATE bare SET state = 'COMPLETED', ended_at = clock_timestamp() "
    "WHERE id = ANY($1::bigint[]) AND state = 'RUNNING' RETURNING id"
)

CLAIMS: Final = Limit("grouped_claims", f"UPDATE to claim {GROUP} rows", "rows/s")
COMPLETIONS: Final = Limit("grouped_completions", f"UPDATE to complete {GROUP} rows", "rows/s")
ONE_BY_ONE: Final = Limit("one_by_one", "claim one row, complete it, then the next", "rows/s")


async def _grouped(servers: Servers) -> list[float]:
    count = servers.sized(50_000)
    groups = list(bare.hundreds(count, GROUP))
    async with servers.installation() as installation, bare.connections(installation, 1) as (connection,):
        await bare.fill(connection, count)

        async def claim(_lane: int, number: int) -> None:
            await connection.fetch(CLAIM, groups[number])

        async def complete(_lane: int, number: int) -> None:
            await connection.fetch(COMPLETE, groups[number])

        return [GROUP * await rate(len(groups), 1, claim), GROUP * await rate(len(groups), 1, complete)]


async def _one_by_one(servers: Servers) -> list[float]:
    count = servers.sized(2_000)
    async with servers.installation() as installation, bare.connections(installation, 1) as (connection,):
        await bare.fill(connection, count)

        async def work(_lane: int, number: int) -> None:
            await connection.fetch(CLAIM, [number])
            await connection.fetch(COMPLETE, [number])

        return [await rate(count, 1, work)]


IN_GROUPS: Final = Comparison((CLAIMS, COMPLETIONS), _grouped)
SINGLY: Final = Comparison((ONE_BY_ONE,), _one_by_one)
