"""Draining what is not all alike: of the tasks some fail and retry at once, some are children, some are awaited."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from officeplane.bench.figures import Figure
from officeplane.bench.installation import BULK, Installation, fill, no_op
from officeplane.bench.scenario import Scenario
from officeplane.bench.scenarios.drain import TASKS, Drained, drain
from officeplane.bench.servers import Servers
from officeplane.plane import Plane

FAILING: Final = 20
CHILDREN: Final = 50
CHILDREN_A_BATCH: Final = 5
AWAITED: Final = 50
"""Of a thousand tasks; as many more wait for these."""


@dataclass(frozen=True, slots=True)
class DrainedMixed:
    """How a mixed queue was emptied, and as many no-ops in the same run."""

    mixed: Drained
    plain: Drained

    def figures(self) -> Sequence[Figure]:
        return [
            *self.mixed.figures(),
            Figure("plain no-ops", self.plain.per_second, "tasks/s", "claim_and_complete"),
            Figure("times the plain ones", self.mixed.per_second / self.plain.per_second, "x"),
        ]


async def _measure(servers: Servers) -> DrainedMixed:
    tasks = servers.sized(TASKS) // BULK * BULK
    async with servers.installation() as installation:
        async with installation.plane() as plane:
            await installation.fill(plane, range(tasks))
        plain = await _drained(installation, tasks, handled=tasks)
    async with servers.installation() as installation:
        async with installation.plane() as plane:
            for first in range(0, tasks, BULK):
                await _fill_mixed(plane, first)
        batches = tasks // BULK * (CHILDREN // CHILDREN_A_BATCH)
        mixed = await _drained(installation, tasks + batches, handled=tasks)
    return DrainedMixed(mixed, plain)


async def _drained(installation: Installation, tasks: int, *, handled: int) -> Drained:
    await installation.tidy()
    return await drain(installation, tasks, handled=handled)


async def _fill_mixed(plane: Plane, first: int) -> None:
    """Submit the next thousand: what is odd stands at even distances among the rest."""
    awaited = await plane.submit_many([no_op(first + number) for number in range(AWAITED)])
    numbers = iter(range(first + AWAITED, first + BULK))
    odd: list[dict[str, Any]] = [{**no_op(next(numbers)), "depends_on": [task.id]} for task in awaited]
    odd += [no_op(next(numbers), stumbles=True) for _ in range(FAILING)]
    odd += [
        {"children": [no_op(next(numbers)) for _ in range(CHILDREN_A_BATCH)]}
        for _ in range(CHILDREN // CHILDREN_A_BATCH)
    ]
    plain = [no_op(number) for number in numbers]
    share = len(plain) // len(odd)
    mixed = [body for place, one in enumerate(odd) for body in (one, *plain[place * share : (place + 1) * share])]
    await fill(plane, mixed + plain[len(odd) * share :])


DRAIN_MIXED: Final = Scenario(
    "drain-mixed",
    f"drain of {TASKS:,} of which {FAILING / 10:g} % fail and retry at once, {CHILDREN / 10:g} % are children of "
    f"batches, {AWAITED / 10:g} % are awaited, one worker",
    _measure,
)
