"""Edits of one document of which some are done before their turn."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from officeplane.domain.ids import DocumentId, TaskId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.outcome import Outcome
from officeplane.domain.task import ClaimedTask, Task
from tests import contents
from tests.services.editing import (
    an_edit,
    at_rest,
    carried_out,
    stayed,
)
from tests.support import eventually
from tests.workbench import Workbench

PLAN = DocumentId("plan")


class Leader(NamedTuple):
    """An edit that followed another and was carried out, behind which others were done."""

    task: ClaimedTask
    outcome: Outcome


async def chapters(bench: Workbench, *titles: object, **options: Any) -> list[Task]:
    """Submit edits that add a chapter each."""
    return [await an_edit(bench, payload={"title": str(title)}, **options) for title in titles]


async def followed(bench: Workbench, first: Task) -> ClaimedTask:
    """Carry out the first edit of a lane as a worker does that stays in it; return what is claimed behind it."""
    claimed = await bench.claim_next(first)
    (follower,) = (await stayed(bench, claimed, await carried_out(bench, claimed))).followers
    return follower


async def led(bench: Workbench, tasks: Sequence[Task]) -> Leader:
    """Have the first edit followed by the second, carry that out, and let the others be done before their turn."""
    follower = await followed(bench, tasks[0])
    assert follower.id == tasks[1].id
    outcome = await carried_out(bench, follower)
    await at_rest()
    return Leader(follower, outcome)


async def drive(bench: Workbench, claimed: Sequence[ClaimedTask]) -> None:
    """Carry out what is claimed and all that follows it, as a worker does until the lane has nothing for it."""
    while claimed:
        (one,) = claimed
        claimed = (await stayed(bench, one, await carried_out(bench, one))).followers


async def titles(bench: Workbench, revision: int | None = None) -> list[str]:
    """Return the chapters of the document, in their order."""
    return [str(chapter["text"]) for chapter in await contents.outline(bench.runtime, "plan", revision)]


async def is_completed(bench: Workbench, task: Task) -> bool:
    return await bench.state(task) is TaskState.COMPLETED


def ids(*tasks: Task) -> list[TaskId]:
    return [task.id for task in tasks]


def idle_child(bench: Workbench) -> int:
    """Return the one sandboxed child there is, which has nothing to do."""
    (child,) = bench.runtime.sandbox._idle  # pyright: ignore[reportPrivateUsage]
    return child.pid


def requests(bench: Workbench) -> dict[int, int]:
    """Return how many requests each idle child of the sandbox has had."""
    return {child.pid: child.requests for child in bench.runtime.sandbox._idle}  # pyright: ignore[reportPrivateUsage]


async def in_the_hands_of_a_child_that_sleeps(bench: Workbench) -> None:
    await eventually(
        lambda: not bench.runtime.sandbox._idle,  # pyright: ignore[reportPrivateUsage]
        what="the request in a child's hands",
    )
