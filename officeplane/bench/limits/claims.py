"""Claims and completions by id: by the hundred, and one after the other as a single lane must."""

from typing import Final

from officeplane.bench.ground import Ground
from officeplane.bench.limits import bare
from officeplane.bench.scenario import Limit

CLAIM: Final = (
    "UPDATE bare SET state = 'RUNNING', began_at = clock_timestamp() "
    "WHERE id = ANY($1::bigint[]) AND state = 'QUEUED' RETURNING id, payload"
)
COMPLETE: Final = (
    "UPDATE bare SET state = 'COMPLETED', ended_at = clock_timestamp() "
    "WHERE id = ANY($1::bigint[]) AND state = 'RUNNING' RETURNING id"
)


async def _claims(ground: Ground) -> float:
    return await _updates(ground, CLAIM)


async def _completions(ground: Ground) -> float:
    return await _updates(ground, COMPLETE, after=CLAIM)


async def _updates(ground: Ground, sql: str, after: str | None = None) -> float:
    count = ground.sized(50_000)
    groups = list(bare.hundreds(count))
    async with ground.installation() as installation, bare.connections(installation, 1) as (connection,):
        await bare.fill(connection, count)
        if after is not None:
            for group in groups:
                await connection.fetch(after, group)

        async def update(_lane: int, number: int) -> None:
            await connection.fetch(sql, groups[number])

        return count / len(groups) * await bare.rate(len(groups), 1, update)


async def _one_by_one(ground: Ground) -> float:
    count = ground.sized(2_000)
    async with ground.installation() as installation, bare.connections(installation, 1) as (connection,):
        await bare.fill(connection, count)

        async def work(_lane: int, number: int) -> None:
            await connection.fetch(CLAIM, [number])
            await connection.fetch(COMPLETE, [number])

        return await bare.rate(count, 1, work)


CLAIMS: Final = Limit("grouped_claims", "UPDATE to claim 100 rows", "rows/s", _claims)
COMPLETIONS: Final = Limit("grouped_completions", "UPDATE to complete 100 rows", "rows/s", _completions)
ONE_BY_ONE: Final = Limit("one_by_one", "claim one row, complete it, then the next", "rows/s", _one_by_one)
