"""A worker's settler alone: tests hand it what has ended, and see what it was through with and what followed."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from officeplane.domain.ids import TaskId
from officeplane.domain.task import ClaimedTask
from tests.support import eventually
from tests.workbench import Workbench
from workers.settler import Settler


class Finished:
    """What the settler said it was through with, and what followed."""

    def __init__(self) -> None:
        self.tasks: list[TaskId] = []
        self.followed_by: list[ClaimedTask] = []

    def __call__(self, tasks: Sequence[ClaimedTask], followed_by: Sequence[ClaimedTask]) -> None:
        self.tasks += [task.id for task in tasks]
        self.followed_by += followed_by

    async def all(self, *tasks: ClaimedTask) -> None:
        """Return once these are finished."""
        await eventually(lambda: set(self.tasks) >= {task.id for task in tasks}, what="the end of these tasks")


@asynccontextmanager
async def a_settler(
    bench: Workbench, finished: Finished, *, lease_seconds: float = 30, at_once: int = 2
) -> AsyncGenerator[Settler, None]:
    """Run a settler of this workbench's worker."""
    worker = bench.worker
    settler = Settler(
        bench.runtime.settlements,
        worker.desk,
        counted_by=[worker.counted_by(part) for part in range(at_once)],
        counted_together_by=worker.counted_by(at_once),
        lease_seconds=lease_seconds,
        finished=finished,
    )
    running = asyncio.create_task(settler.run())
    try:
        yield settler
    finally:
        running.cancel()
        await asyncio.wait({running})
