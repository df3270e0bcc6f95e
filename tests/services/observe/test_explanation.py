"""Explanation: every reason why a task waits, by code, with its facts."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from officeplane.domain.blockage import Blockage
from officeplane.domain.document import Format
from officeplane.domain.errors import TaskNotFoundError
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import FINAL
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask, Task
from officeplane.services.observe.explanation import Explanation, Reason
from tests.workbench import Workbench

NOOP: Final[Mapping[str, Any]] = {"task_type": "noop"}
CHAPTER: Final[Mapping[str, Any]] = {"task_type": "add_chapter", "payload": {"title": "One"}}


async def explain(bench: Workbench, task: Task | ClaimedTask) -> Explanation:
    return await bench.runtime.explanations.explain(LOCAL, task.id)


async def the_reason(bench: Workbench, task: Task | ClaimedTask) -> Reason:
    """Return the one reason why a task does not run, with a worker at hand."""
    await bench.beat()
    explanation = await explain(bench, task)
    assert not explanation.runnable
    (reason,) = explanation.reasons
    return reason


async def test_a_task_that_may_run_is_next(bench: Workbench) -> None:
    await bench.beat()

    explanation = await explain(bench, await bench.a_task(document_id="d"))

    assert explanation.runnable
    assert [reason.code for reason in explanation.reasons] == ["next"]


async def test_a_task_that_is_not_there_cannot_be_explained(bench: Workbench) -> None:
    with pytest.raises(TaskNotFoundError):
        await bench.runtime.explanations.explain(LOCAL, TaskId("01890000-0000-7000-8000-000000000000"))


@pytest.mark.parametrize("state", FINAL)
async def test_a_final_task_has_ended(bench: Workbench, state: str) -> None:
    task = await bench.a_task(max_retries=0)
    await bench.end(task, state)

    assert await the_reason(bench, task) == Reason("final", f"It has ended {state}.")


async def test_a_running_task_runs(bench: Workbench) -> None:
    reason = await the_reason(bench, await bench.a_running_task())

    assert (reason.code, reason.facts["workerId"]) == ("running", bench.worker.worker_id)


async def test_a_running_task_says_when_its_worker_was_heard_last(bench: Workbench) -> None:
    running = await bench.a_running_task()
    await bench.beat()
    await bench.execute("UPDATE workers SET last_seen_at = now() - interval '3 seconds'")

    said = await bench.runtime.explanations.explain(LOCAL, running.id)
    await bench.runtime.cancellation.cancel(LOCAL, running.id, None)
    said_then = await bench.runtime.explanations.explain(LOCAL, running.id)

    for reason in (*said.reasons, *said_then.reasons):
        silent = reason.facts["silentSeconds"]
        assert isinstance(silent, float)
        assert 3 <= silent < 30
        assert f"last heard {silent:g} s ago" in reason.detail


async def test_a_running_task_says_that_its_worker_is_not_heard_of_any_more(bench: Workbench) -> None:
    running = await bench.a_running_task()

    (reason,) = (await bench.runtime.explanations.explain(LOCAL, running.id)).reasons

    assert reason.facts["silentSeconds"] is None
    assert "not heard of any more" in reason.detail


async def test_a_task_that_was_asked_to_stop_is_about_to_end(bench: Workbench) -> None:
    running = await bench.a_running_task()
    await bench.runtime.cancellation.cancel(LOCAL, running.id, None)

    reason = await the_reason(bench, running)

    assert (reason.code, reason.facts["workerId"]) == ("cancelling", bench.worker.worker_id)


async def test_a_task_in_a_worker_whose_loop_is_blocked_says_by_whom(bench: Workbench) -> None:
    running, beside = await bench.a_running_task(), await bench.a_task()
    await bench.beat(blocked=Blockage(9.0, "acme.py:7", running.id, "noop"))

    _, held_up = (await explain(bench, running)).reasons
    (waits,) = (await explain(bench, beside)).reasons

    for reason in (held_up, waits):
        assert (reason.code, reason.facts["taskId"], reason.facts["at"]) == ("worker_blocked", running.id, "acme.py:7")
        assert f"blocked for 9 s in task {running.id} (noop) at acme.py:7" in reason.detail


async def test_a_task_waits_for_no_blocked_worker_that_another_stands_in_for(bench: Workbench) -> None:
    task = await bench.a_task()
    await bench.beat(blocked=Blockage(9.0, "acme.py:7"))
    await bench.another_worker().beat()

    assert (await explain(bench, task)).runnable


async def test_a_batch_waits_for_its_children(bench: Workbench) -> None:
    parent, first, second = await bench.a_batch(NOOP, NOOP)
    assert await the_reason(bench, parent) == Reason(
        "children", "It begins with its first child.", {"nextChild": first.id}
    )

    await bench.complete(await bench.claim_next(first))

    assert (await the_reason(bench, parent)).code == "children"
    assert (await explain(bench, second)).runnable


async def test_a_batch_whose_children_ended_after_it_was_read_ends_with_them(bench: Workbench) -> None:
    parent, *_ = await bench.a_batch(NOOP, NOOP)
    # What is seen between the two reads: the batch as it was, the children as they are.
    await bench.execute("UPDATE tasks SET state = 'CANCELLED', finished_at = now() WHERE parent_id = $1", parent.id)

    assert await the_reason(bench, parent) == Reason("children", "It ends with its last child.")


async def test_an_atomic_batch_runs_itself_and_waits_like_any_task(bench: Workbench) -> None:
    await bench.runtime.documents.create(LOCAL, "plan", Format.DOCX, None, None)
    parent, child = await bench.a_batch(CHAPTER, document_id="plan", atomic=True)
    await bench.runtime.valves.pause_type(LOCAL, "batch_edit")
    paused = await the_reason(bench, parent)
    await bench.runtime.valves.resume_type(LOCAL, "batch_edit")
    assert (await explain(bench, parent)).runnable

    running = await bench.claim_next(parent)

    assert (paused.code, paused.facts) == ("paused", {"taskType": "batch_edit"})
    assert (await the_reason(bench, child)).code == "batch_turn"
    reason = await the_reason(bench, running)
    assert (reason.code, reason.facts["workerId"]) == ("running", bench.worker.worker_id)


async def test_a_scheduled_task_waits_for_its_time(bench: Workbench) -> None:
    reason = await the_reason(bench, await bench.a_task(run_at="2999-01-01T00:00:00Z", document_id="d"))

    assert (reason.code, reason.facts) == ("scheduled", {"runAt": "2999-01-01T00:00:00.000Z"})


async def test_a_failed_attempt_waits_for_its_retry(bench: Workbench) -> None:
    task = await bench.a_task(document_id="d")
    await bench.fail(await bench.claim_next(task))

    reason = await the_reason(bench, task)

    due = (await bench.details(task.id)).task.run_at
    assert reason.code == "retry_delay"
    assert reason.facts == {"retryAt": due.isoformat(timespec="milliseconds").replace("+00:00", "Z")}


async def test_a_retry_that_is_due_may_run(bench: Workbench) -> None:
    task = await bench.a_task()
    await bench.fail(await bench.claim_next(task))
    await bench.make_due()
    await bench.beat()

    assert (await explain(bench, task)).runnable


async def test_a_later_child_waits_for_the_earlier(bench: Workbench) -> None:
    _, first, second, third = await bench.a_batch(NOOP, NOOP, NOOP)

    for waiting in (second, third):
        reason = await the_reason(bench, waiting)
        assert (reason.code, reason.facts) == ("earlier_sibling", {"taskId": first.id, "state": "QUEUED"})


async def test_the_first_child_of_a_later_batch_waits_for_its_batchs_turn(bench: Workbench) -> None:
    _, _, inner, leaf = await bench.a_batch(NOOP, {"children": [NOOP]})

    reason = await the_reason(bench, leaf)

    assert (reason.code, reason.facts) == ("batch_turn", {"parentId": inner.id})


async def test_a_task_waits_for_whoever_is_in_its_document(bench: Workbench) -> None:
    occupant = await bench.a_running_task(document_id="d")

    reason = await the_reason(bench, await bench.a_task(document_id="d"))

    assert (reason.code, reason.facts) == (
        "lane_occupied",
        {"taskId": occupant.id, "workerId": bench.worker.worker_id},
    )


async def test_a_task_waits_behind_others_of_its_document(bench: Workbench) -> None:
    first, second, third = [await bench.a_task(document_id="d") for _ in range(3)]

    reason = await the_reason(bench, third)

    assert (reason.code, reason.facts) == ("lane_position", {"position": 3, "head": first.id})
    assert reason.detail == "2 tasks of document 'd' come before it."
    assert (await the_reason(bench, second)).detail == "One task of document 'd' comes before it."


async def test_a_task_waits_behind_a_retry_that_blocks_its_lane_but_not_behind_one_that_yields(
    bench: Workbench,
) -> None:
    blocking, yielding = await bench.a_task(document_id="d"), await bench.a_task(document_id="e", on_retry="yield")
    for head in (blocking, yielding):
        await bench.fail(await bench.claim_next(head))

    reason = await the_reason(bench, await bench.a_task(document_id="d"))

    assert (reason.code, reason.facts) == ("lane_position", {"position": 2, "head": blocking.id})
    assert (await explain(bench, await bench.a_task(document_id="e"))).runnable


async def test_an_agents_task_waits_for_an_agent_whatever_workers_do(bench: Workbench) -> None:
    asked = {"required_capabilities": ["git"], "models": ["large", "small"], "fallback_models": ["tiny"]}
    task = await bench.a_task("code", payload={"goal": "It works."}, **asked)

    explanation = await explain(bench, task)
    await bench.execute("UPDATE tasks SET attempt = 2, attempts_charged = 2")
    later = await explain(bench, task)

    assert (explanation.runnable, later.runnable) == (True, True)
    assert explanation.reasons == (
        Reason(
            "agent",
            "It waits for an agent that does 'code' and is capable of git, by large or small.",
            {"taskType": "code", "requiredCapabilities": ["git"], "models": ["large", "small"]},
        ),
    )
    assert later.reasons[0].detail == "It waits for an agent that does 'code' and is capable of git, by tiny."


async def test_an_agents_task_behind_another_waits_for_that_and_not_for_a_worker(bench: Workbench) -> None:
    await bench.a_task(document_id="d")
    task = await bench.a_task("orchestrate", payload={"goal": "It works."}, document_id="d")

    explanation = await explain(bench, task)

    assert not explanation.runnable
    assert [reason.code for reason in explanation.reasons] == ["lane_position"]


async def test_a_task_that_an_agent_has_is_with_it(bench: Workbench) -> None:
    task = await bench.a_task("code", payload={"goal": "It works."})
    await bench.execute(
        "UPDATE tasks SET state = 'RUNNING', attempt = 1, claim_id = id, worker_id = 'agent:a',"
        " started_at = now(), lease_until = now() + interval '1 minute'"
    )

    assert await the_reason(bench, task) == Reason("running", "An agent has it.")


async def test_without_a_worker_that_knows_its_type_a_task_waits(bench: Workbench) -> None:
    task = await bench.a_task()
    assert [reason.facts for reason in (await explain(bench, task)).reasons] == [{"workers": 0}]

    await bench.beat(task_types=["sleep"])

    (reason,) = (await explain(bench, task)).reasons
    assert (reason.code, reason.facts) == ("no_worker", {"workers": 1})


async def test_a_worker_that_fell_silent_does_not_count(bench: Workbench) -> None:
    await bench.beat()
    await bench.execute("UPDATE workers SET last_seen_at = now() - interval '31 seconds'")

    (reason,) = (await explain(bench, await bench.a_task())).reasons

    assert reason.code == "no_worker"


async def test_a_task_waits_while_every_slot_is_taken(bench: Workbench) -> None:
    await bench.beat(running=3, concurrency=3)
    await bench.another_worker().beat(running=0, task_types=["sleep"])

    (reason,) = (await explain(bench, await bench.a_task())).reasons

    assert (reason.code, reason.facts) == ("workers_busy", {"workers": 1})


async def test_every_obstacle_is_told(bench: Workbench) -> None:
    await bench.a_running_task(document_id="d")
    await bench.a_task(document_id="d")

    explanation = await explain(bench, await bench.a_task(document_id="d"))

    assert [reason.code for reason in explanation.reasons] == ["lane_occupied", "lane_position", "no_worker"]
