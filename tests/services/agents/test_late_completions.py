"""Results that come after their lease: they count if that is no loss to anybody, and are kept if they do not."""

import pytest

from officeplane.domain.agent_claim import ClaimEndedError, Loss, ReportRequiredError
from officeplane.domain.ids import ClaimId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import LOCAL
from officeplane.domain.spending import Spending
from officeplane.domain.task import Task
from officeplane.store.tasks import TaskFilter
from tests.holders import REPORT, Agent, a_holder, claim_row, work
from tests.workbench import Workbench


@pytest.fixture
async def agent(bench: Workbench) -> Agent:
    """An agent that is registered."""
    return await a_holder(bench)


async def lapsed(bench: Workbench, agent: Agent, task: Task, *, begun: bool = True) -> ClaimId:
    """Let an agent claim a task, and be silent until somebody has noticed."""
    claim_id = await agent.claim(task, start=begun)
    if begun:
        await agent.beat(claim_id)
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()
    return claim_id


async def assert_lost(agent: Agent, claim_id: ClaimId, reason: Loss, state: TaskState) -> None:
    with pytest.raises(ClaimEndedError) as refused:
        await agent.complete(claim_id, {"answer": 42}, Spending(3))
    assert refused.value.facts == {"reason": reason, "state": state}


@pytest.mark.parametrize("begun", [False, True], ids=["QUEUED", "RETRYING"])
async def test_a_late_result_counts_while_nothing_has_begun_anew(bench: Workbench, agent: Agent, begun: bool) -> None:
    task = await work(bench)
    claim_id = await lapsed(bench, agent, task, begun=begun)

    answer = await agent.complete(claim_id, {"answer": 42}, Spending(3))

    shown = await bench.details(task.id)
    assert (answer.state, answer.late) == (TaskState.COMPLETED, True)
    assert (shown.task.state, shown.task.result, shown.task.attempt) == (TaskState.COMPLETED, {"answer": 42}, 1)
    left = await claim_row(bench, claim_id)
    assert (left["ended_as"], left["late"], left["cost_micros"]) == ("COMPLETED", True, 3)
    assert (await bench.events(task))[-2:] == ["task.running", "task.completed"]
    assert await agent.complete(claim_id, {"answer": 43}) == answer


async def test_a_late_result_lets_a_batch_go_on(bench: Workbench, agent: Agent) -> None:
    parent, first, second = await bench.a_batch(
        {"task_type": "code", "payload": {"goal": "One"}, "require_decision_report": False}, {"task_type": "noop"}
    )
    claim_id = await lapsed(bench, agent, first)

    await agent.complete(claim_id)

    assert await bench.states(parent, first, second) == ["RUNNING", "COMPLETED", "QUEUED"]


async def test_a_late_result_lets_what_depends_on_it_go_on(bench: Workbench, agent: Agent) -> None:
    task = await work(bench)
    follower = await bench.a_task(depends_on=[task.id])
    claim_id = await lapsed(bench, agent, task)

    await agent.complete(claim_id)

    assert await bench.state(follower) is TaskState.QUEUED


async def test_a_late_result_does_not_count_while_another_is_in_the_lane(bench: Workbench, agent: Agent) -> None:
    task = await work(bench, document_id="plan")
    claim_id = await lapsed(bench, agent, task)
    urgent = await bench.a_task(document_id="plan", priority=0)
    occupant = await bench.claim_next(urgent)

    await assert_lost(agent, claim_id, Loss.REAPED, TaskState.RETRYING)

    await bench.complete(occupant)
    # Its lane is free again, and nothing has begun anew.
    assert (await agent.complete(claim_id, {"answer": 44})).late
    assert (await bench.details(task.id)).task.result == {"answer": 44}


async def test_the_first_late_result_that_does_not_count_is_kept_with_its_attempt(
    bench: Workbench, agent: Agent
) -> None:
    task = await work(bench)
    claim_id = await lapsed(bench, agent, task)
    again = await agent.claim(task, start=True)

    await assert_lost(agent, claim_id, Loss.REAPED, TaskState.RUNNING)
    with pytest.raises(ClaimEndedError):
        await agent.complete(claim_id, {"answer": 43}, Spending(8))
    await agent.complete(again, {"answer": 1})

    shown = await bench.details(task.id)
    (failure,) = shown.failures
    assert (failure.late_result, failure.cost_usd) == ({"answer": 42}, 0.000008)
    assert shown.task.result == {"answer": 1}
    (listed,), _ = await bench.runtime.tasks.page(LOCAL, TaskFilter(), None, 10)
    assert (listed.failures[0].late_result, listed.failures[0].agent_id) == (None, "reader")


async def test_what_was_cancelled_and_is_tried_again_is_another_generations(bench: Workbench, agent: Agent) -> None:
    task = await work(bench)
    claim_id = await agent.claim(task, start=True)
    await bench.runtime.cancellation.cancel(LOCAL, task.id, None)
    await bench.runtime.reopening.retry(LOCAL, task.id)

    await assert_lost(agent, claim_id, Loss.CANCELLED, TaskState.QUEUED)


async def test_what_has_given_up_is_not_completed_late(bench: Workbench, agent: Agent) -> None:
    task = await work(bench, max_retries=0)
    claim_id = await lapsed(bench, agent, task)

    await assert_lost(agent, claim_id, Loss.REAPED, TaskState.FAILED)


async def test_a_late_result_has_to_be_whole_like_any_other(bench: Workbench, agent: Agent) -> None:
    task = await work(bench, require_decision_report=True)
    claim_id = await lapsed(bench, agent, task)

    with pytest.raises(ReportRequiredError):
        await agent.complete(claim_id, 1)
    assert await bench.state(task) is TaskState.RETRYING

    assert (await agent.complete(claim_id, 1, report=REPORT)).late


async def test_late_results_are_forgotten_after_a_week_and_what_they_cost_is_not(
    bench: Workbench, agent: Agent
) -> None:
    task = await work(bench)
    claim_id = await lapsed(bench, agent, task)
    await agent.claim(task)
    await assert_lost(agent, claim_id, Loss.REAPED, TaskState.CLAIMED)
    await bench.execute("INSERT INTO agent_claim_keys (agent_id, key, claim_ids) VALUES ('reader', 'once', '{}')")

    for days, is_kept in ((6, True), (1.1, False)):
        for table, column in (("agent_claims", "ended_at"), ("agent_claim_keys", "created_at")):
            await bench.execute(f"UPDATE {table} SET {column} = {column} - interval '{days} days'")  # noqa: S608
        await bench.worker.retention.prune()
        left = await claim_row(bench, claim_id)
        assert (left["late_result"] is not None, left["cost_micros"]) == (is_kept, 3)
        assert await bench.execute("SELECT FROM agent_claim_keys") == []
