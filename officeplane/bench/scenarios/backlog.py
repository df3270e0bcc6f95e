"""A backlog: whether a hundred thousand waiting tasks slow down those who add to them, or those who take from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.bench.figures import Figure, percentile
from officeplane.bench.scenario import Scenario
from officeplane.bench.scenarios.drain import TASKS, drain
from officeplane.bench.scenarios.post import post
from officeplane.bench.servers import Servers

_DEPTH: Final = 100_000
_POSTS: Final = 3_000


@dataclass(frozen=True, slots=True)
class Backlog:
    """The same things with little and with much that waits."""

    depth: int
    post_p99_ms_when_empty: float
    post_p99_ms: float
    short_queue: int
    drained_per_second_when_short: float
    drained_per_second: float
    completed: int

    def figures(self) -> Sequence[Figure]:
        return [
            Figure("POST p99, to that when empty", self.post_p99_ms / self.post_p99_ms_when_empty, "x"),
            Figure("drain", self.drained_per_second, "tasks/s", "claim_and_complete"),
            Figure(
                "drain, to that of a short queue", self.drained_per_second / self.drained_per_second_when_short, "x"
            ),
        ]


async def _measure(servers: Servers) -> Backlog:
    short, depth, posts = servers.sized(TASKS), servers.sized(_DEPTH), servers.sized(_POSTS)
    async with servers.installation() as installation, installation.plane() as plane:
        await installation.fill(plane, range(short))
        await installation.tidy()
        when_short = await drain(installation, short)
    async with servers.installation() as installation:
        async with installation.server() as port:
            await post(port, posts)  # connections are made and code is warmed up
            _, when_empty = await post(port, posts)
            async with installation.plane() as plane:
                await installation.fill(plane, range(depth))
            await installation.tidy()
            _, when_full = await post(port, posts)
        drained = await drain(installation, depth + 3 * posts)
    return Backlog(
        depth=depth,
        post_p99_ms_when_empty=percentile(when_empty, 0.99),
        post_p99_ms=percentile(when_full, 0.99),
        short_queue=short,
        drained_per_second_when_short=when_short.per_second,
        drained_per_second=drained.per_second,
        completed=drained.completed,
    )


BACKLOG: Final = Scenario("backlog", f"{_DEPTH:,} tasks wait", _measure)
