"""Edits done ahead that something has come before: what was done of them is thrown away, and done anew in its turn."""

import os
import signal

from officeplane.domain.lifecycle import TaskState
from officeplane.domain.patch import TaskPatch
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import Task
from tests.sandbox.processes import gone
from tests.services.conftest import AnotherBench
from tests.services.documents.uploading import uploading
from tests.services.editing import (
    a_document,
    an_edit,
    carried_out,
    done_ahead,
    head,
    made,
    stayed,
)
from tests.services.edits.lookahead.leaders import (
    PLAN,
    chapters,
    drive,
    idle_child,
    ids,
    led,
    titles,
)
from tests.workbench import Workbench


async def test_an_edit_done_ahead_that_was_cancelled_is_no_revision_and_what_was_built_on_it_is_done_anew(
    bench: Workbench,
) -> None:
    tasks = await chapters(bench, *range(6))
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(*tasks[2:])
    await bench.runtime.cancellation.cancel(LOCAL, tasks[3].id, None)

    stay = await stayed(bench, *leader)

    assert stay.ended_ahead == ids(tasks[2])
    assert [follower.id for follower in stay.followers] == ids(tasks[4])
    assert await bench.states(*tasks) == ["COMPLETED"] * 3 + ["CANCELLED", "RUNNING", "QUEUED"]
    assert await head(bench) == 4
    assert await titles(bench) == ["0", "1", "2"]
    await drive(bench, stay.followers)
    assert await bench.states(*tasks) == ["COMPLETED"] * 3 + ["CANCELLED"] + ["COMPLETED"] * 2
    assert await titles(bench) == ["0", "1", "2", "4", "5"]
    assert [one.task_id for one in await bench.runtime.documents.history(LOCAL, "plan", None, 9)][:2] == ids(
        tasks[5], tasks[4]
    )


async def test_edits_done_ahead_of_one_that_was_cancelled_while_it_ran_are_done_anew(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    await bench.runtime.cancellation.cancel(LOCAL, leader.task.id, None)

    stay = await stayed(bench, *leader)

    assert stay.ended_ahead == []
    assert await bench.state(tasks[1]) is TaskState.CANCELLED
    assert await head(bench) == 2
    # Nobody but the ledger knows what the document is at.
    child = idle_child(bench)
    os.kill(child, signal.SIGKILL)
    await gone(child)
    await drive(bench, stay.followers)
    assert await bench.states(*tasks) == ["COMPLETED", "CANCELLED", "COMPLETED", "COMPLETED"]
    assert await titles(bench) == ["0", "2", "3"]


async def test_what_is_more_urgent_comes_before_what_was_done_ahead(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    (urgent,) = await chapters(bench, "urgent", priority="CRITICAL")

    stay = await stayed(bench, *leader)

    assert stay.ended_ahead == []
    assert [follower.id for follower in stay.followers] == [urgent.id]
    await drive(bench, stay.followers)
    assert await titles(bench) == ["0", "1", "urgent", "2", "3"]
    assert await bench.states(*tasks, urgent) == ["COMPLETED"] * 5


async def test_an_edit_done_ahead_that_was_changed_has_its_own_turn(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(5))
    leader = await led(bench, tasks)
    await bench.runtime.patches.patch(LOCAL, tasks[3].id, TaskPatch.model_validate({"title": "Another"}))

    stay = await stayed(bench, *leader)

    assert stay.ended_ahead == ids(tasks[2])
    assert [follower.id for follower in stay.followers] == ids(tasks[3])
    await drive(bench, stay.followers)
    assert (await bench.details(tasks[3].id)).task.title == "Another"
    assert await titles(bench) == ["0", "1", "2", "3", "4"]


async def test_an_edit_done_ahead_that_was_made_less_urgent_is_overtaken(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(5))
    leader = await led(bench, tasks)
    await bench.runtime.patches.patch(LOCAL, tasks[2].id, TaskPatch.model_validate({"priority": "LOW"}))

    stay = await stayed(bench, *leader)

    assert stay.ended_ahead == []
    assert [follower.id for follower in stay.followers] == ids(tasks[3])
    await drive(bench, stay.followers)
    assert await titles(bench) == ["0", "1", "3", "4", "2"]


async def test_an_edit_done_ahead_that_somebody_is_about_to_change_is_not_waited_for(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(5))
    leader = await led(bench, tasks)
    async with bench.runtime.ledger.transaction() as somebody:
        await somebody.execute("SELECT FROM tasks WHERE id = $1::uuid FOR NO KEY UPDATE", tasks[3].id)

        stay = await stayed(bench, *leader)

    assert (stay.ended_ahead, stay.followers) == (ids(tasks[2]), [])
    await drive(bench, await bench.claim(tasks[3]))
    assert await titles(bench) == ["0", "1", "2", "3", "4"]


async def test_a_leader_that_was_lost_takes_nobody_along(bench: Workbench, another_bench: AnotherBench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(*tasks[2:])
    async with another_bench() as other:
        await bench.let_leases_lapse()
        assert await other.worker.redelivery.reap() == 1

    stay = await stayed(bench, *leader)

    # Its own retry is all that comes of it.
    assert (stay.ended_ahead, [follower.id for follower in stay.followers]) == ([], ids(tasks[1]))
    assert await bench.states(*tasks) == ["COMPLETED", "RUNNING", "QUEUED", "QUEUED"]
    assert await head(bench) == 2
    assert await bench.counters() == {
        ("add_chapter", "completed", ""): 1,
        ("add_chapter", "retrying", "crash"): 1,
        ("add_chapter", "fenced", ""): 1,
    }


async def a_lost_leader(bench: Workbench, another_bench: AnotherBench) -> list[Task]:
    """Return edits of which others were done behind the second, which is lost for good and settled by nobody."""
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(*tasks[2:])
    await bench.runtime.cancellation.cancel(LOCAL, leader.task.id, None)
    async with another_bench() as other:
        await bench.let_leases_lapse()
        assert await other.worker.redelivery.reap() == 1
    await bench.worker.desk.leave_lanes([PLAN])
    assert await bench.states(*tasks) == ["COMPLETED", "CANCELLED", "QUEUED", "QUEUED"]
    return tasks


async def test_what_was_done_behind_a_lost_edit_is_done_anew(bench: Workbench, another_bench: AnotherBench) -> None:
    tasks = await a_lost_leader(bench, another_bench)
    claimed = await bench.claim_next(tasks[2])

    outcome = await carried_out(bench, claimed)

    assert made(outcome).revision.base == 2
    await drive(bench, (await stayed(bench, claimed, outcome)).followers)
    assert await titles(bench) == ["0", "2", "3"]


async def test_what_was_done_behind_a_lost_edit_is_not_done_ahead_with_another(
    bench: Workbench, another_bench: AnotherBench
) -> None:
    tasks = await a_lost_leader(bench, another_bench)
    (urgent,) = await chapters(bench, "urgent", priority="CRITICAL")
    claimed = await bench.claim_next(urgent)

    # It makes a revision of the same number as the lost one's would have been.
    stay = await stayed(bench, claimed, await carried_out(bench, claimed))

    assert stay.ended_ahead == []
    assert [follower.id for follower in stay.followers] == ids(tasks[2])
    await drive(bench, stay.followers)
    assert await titles(bench) == ["0", "urgent", "2", "3"]


async def test_a_leader_whose_document_has_moved_takes_nobody_along(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    await bench.execute(
        "INSERT INTO revisions (document_id, revision, base, sha256, size, recipe) "
        "SELECT document_id, 3, 2, sha256, size, recipe FROM revisions WHERE revision = 2"
    )
    await bench.execute("UPDATE documents SET head = 3")

    stay = await stayed(bench, *leader)

    assert (stay.ended_ahead, [follower.id for follower in stay.followers]) == ([], ids(tasks[1]))
    assert await bench.states(*tasks) == ["COMPLETED", "RUNNING", "QUEUED", "QUEUED"]
    await drive(bench, stay.followers)
    assert await titles(bench) == ["0", "1", "2", "3"]
    assert await head(bench) == 6


async def test_the_deletion_of_their_document_throws_edits_done_ahead_away(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(*tasks[2:])
    await bench.runtime.documents.delete(LOCAL, "plan")

    stay = await stayed(bench, *leader)

    assert (stay.ended_ahead, stay.followers) == ([], [])
    assert await bench.states(*tasks) == ["COMPLETED"] + ["CANCELLED"] * 3
    assert await bench.execute("SELECT FROM revisions") == []


async def test_edits_done_ahead_of_a_document_that_is_gone_before_they_were_cancelled_are_thrown_away(
    bench: Workbench,
) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    await bench.execute("UPDATE documents SET deleted_at = now()")

    stay = await stayed(bench, *leader)

    assert stay.ended_ahead == []
    assert len(await bench.execute("SELECT FROM revisions")) == 2


async def test_a_document_that_came_back_has_nothing_of_what_was_done_before(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    await bench.runtime.documents.delete(LOCAL, "plan")
    await stayed(bench, *leader)
    await bench.worker.desk.leave_lanes([PLAN])
    await a_document(bench)

    new = await chapters(bench, *"abc")
    await drive(bench, await bench.claim(new[0]))

    assert await titles(bench) == ["a", "b", "c"]


async def test_a_revert_in_between_throws_edits_done_ahead_away(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    revert = await an_edit(bench, "revert", payload={"toRevision": 2}, priority="CRITICAL")

    stay = await stayed(bench, *leader)

    assert stay.ended_ahead == []
    assert [follower.id for follower in stay.followers] == [revert.id]
    await drive(bench, stay.followers)
    assert await titles(bench) == ["0", "2", "3"]


async def test_an_upload_in_between_throws_edits_done_ahead_away(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(*tasks[2:])
    async with uploading(bench) as (_, upload):
        await bench.runtime.patches.patch(LOCAL, upload.id, TaskPatch.model_validate({"priority": "CRITICAL"}))

        stay = await stayed(bench, *leader)

        assert stay.ended_ahead == []
        assert [follower.id for follower in stay.followers] == [upload.id]
        await drive(bench, stay.followers)
    assert (await titles(bench))[-2:] == ["2", "3"]
    assert not {"0", "1"} & set(await titles(bench))
