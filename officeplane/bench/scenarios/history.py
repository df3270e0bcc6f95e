"""A history: whether a million finished tasks slow down those who add to the table, or those who take from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.bench.figures import Figure, percentile
from officeplane.bench.handlers import NOOP
from officeplane.bench.installation import Installation
from officeplane.bench.scenario import Scenario
from officeplane.bench.scenarios.drain import TASKS, drain
from officeplane.bench.scenarios.post import post
from officeplane.bench.servers import Servers

_FINISHED: Final = 1_000_000
_POSTS: Final = 3_000

# As if they had been submitted, run once and completed, one a second, half of them on documents.
_FINISH: Final = """
INSERT INTO tasks (id, task_type, document_id, payload, state, priority, rank, runnable, yields, blockers, run_at,
                   max_retries, timeout_seconds, attempt, worker_id, started_at, finished_at, created_at, queued_at,
                   rung_at, rung_tier, result)
SELECT (lpad(to_hex((1000 * extract(epoch FROM moment))::bigint), 12, '0') || '7'
        || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid,
       $2, CASE WHEN n % 2 = 0 THEN 'old' || n % 100000 END, '{"number": 0}', 'COMPLETED', 50,
       50 + 0.1 * extract(epoch FROM moment) / 60, true, false, 0, moment,
       3, 600, 1, 'worker-of-old', moment, moment, moment, moment,
       moment, 2, '{"number": 0}'
  FROM (SELECT n, clock_timestamp() - make_interval(secs => $1::integer - n) AS moment
          FROM generate_series(1, $1::integer) AS n) past
"""


@dataclass(frozen=True, slots=True)
class History:
    """The same things in a table without and with a past."""

    finished: int
    post_p99_ms_when_new: float
    post_p99_ms: float
    drained_per_second_when_new: float
    drained_per_second: float

    def figures(self) -> Sequence[Figure]:
        return [
            Figure("POST p99, to that of a new table", self.post_p99_ms / self.post_p99_ms_when_new, "x"),
            Figure("drain", self.drained_per_second, "tasks/s", "claim_and_complete"),
            Figure("drain, to that of a new table", self.drained_per_second / self.drained_per_second_when_new, "x"),
        ]


async def _measure(servers: Servers) -> History:
    finished = servers.sized(_FINISHED)
    async with servers.installation() as installation:
        p99_when_new, rate_when_new = await _measured(servers, installation)
    async with servers.installation() as installation:
        await installation.ledger.execute(_FINISH, finished, NOOP)
        p99, rate = await _measured(servers, installation)
    return History(finished, p99_when_new, p99, rate_when_new, rate)


async def _measured(servers: Servers, installation: Installation) -> tuple[float, float]:
    tasks, posts = servers.sized(TASKS), servers.sized(_POSTS)
    await installation.tidy()
    async with installation.server() as port:
        await post(port, posts)  # connections are made and code is warmed up
        _, took = await post(port, posts)
    async with installation.plane() as plane:
        await installation.fill(plane, range(tasks))
    await installation.tidy()
    drained = await drain(installation, tasks + 2 * posts)
    return percentile(took, 0.99), drained.per_second


HISTORY: Final = Scenario("history", f"{_FINISHED:,} finished tasks in the table", _measure)
