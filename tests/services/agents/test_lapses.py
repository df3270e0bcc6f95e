"""Claims that agents let run out: what becomes of their tasks, and of agents that do nothing else."""

import json

import pytest

from officeplane.domain.agent import AgentStatus
from officeplane.domain.failure import FailureKind
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.task import Task
from tests.holders import Agent, a_holder, claim_row, work
from tests.services.conftest import AnotherBench
from tests.workbench import Workbench


@pytest.fixture
async def agent(bench: Workbench) -> Agent:
    """An agent that is registered."""
    return await a_holder(bench)


async def lapse(bench: Workbench) -> None:
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()


async def charged(bench: Workbench, task: Task) -> int:
    return (await bench.details(task.id)).task.attempts_charged


async def test_what_was_not_begun_in_time_is_handed_back_uncharged(bench: Workbench, agent: Agent) -> None:
    task = await work(bench)
    claim_id = await agent.claim(task)

    await lapse(bench)

    shown = await bench.details(task.id)
    assert (shown.task.state, shown.task.attempts_charged, shown.failures) == (TaskState.QUEUED, 0, ())
    assert (await claim_row(bench, claim_id))["ended_as"] == "QUEUED"


async def test_what_ran_at_once_is_uncharged_until_its_holder_was_heard_of(bench: Workbench, agent: Agent) -> None:
    task = await work(bench)
    await agent.claim(task, start=True)
    await lapse(bench)
    assert (await bench.state(task), await charged(bench, task)) == (TaskState.RETRYING, 0)

    await bench.make_due()
    await agent.beat(await agent.claim(task, start=True))
    await lapse(bench)
    assert (await bench.state(task), await charged(bench, task)) == (TaskState.RETRYING, 1)


async def test_each_claim_of_an_agent_lapses_by_itself_and_none_is_a_suspect(bench: Workbench, agent: Agent) -> None:
    first, second = await work(bench), await work(bench)
    held, lost = await agent.claim(first, start=True), await agent.claim(second, start=True)
    await agent.beat(held, lost)
    await bench.execute(
        "UPDATE tasks SET lease_until = clock_timestamp() - interval '1 millisecond' WHERE id = $1::uuid", second.id
    )

    assert await bench.worker.redelivery.reap() == 1

    assert await bench.states(first, second) == ["RUNNING", "RETRYING"]
    (row,) = await bench.execute("SELECT suspect, crashes FROM tasks WHERE id = $1::uuid", second.id)
    assert row == {"suspect": False, "crashes": 0}
    (failure,) = (await bench.details(second.id)).failures
    assert (failure.kind, failure.agent_id) == (FailureKind.CRASH, "reader")
    assert failure.message == "its agent stopped answering before the attempt ended"


async def test_an_attempt_that_takes_too_long_is_a_timeout_though_its_agent_beats(
    bench: Workbench, agent: Agent
) -> None:
    task = await work(bench, timeout_seconds=5)
    claim_id = await agent.claim(task, start=True)
    await bench.execute("UPDATE tasks SET started_at = started_at - interval '6 seconds'")
    await agent.beat(claim_id)

    assert await bench.worker.redelivery.reap() == 1

    (failure,) = (await bench.details(task.id)).failures
    assert (failure.kind, failure.message) == (FailureKind.TIMEOUT, "the attempt ran longer than 5 s")
    assert (await charged(bench, task), (await agent.row())["lapses_in_row"]) == (1, 0)


async def test_a_lapsed_claim_that_its_holder_renews_before_anybody_noticed_goes_on(
    bench: Workbench, agent: Agent
) -> None:
    task = await work(bench)
    claim_id = await agent.claim(task, start=True)
    await bench.let_leases_lapse()

    await agent.beat(claim_id)

    assert await bench.worker.redelivery.reap() == 0
    assert await bench.state(task) is TaskState.RUNNING


async def an_attempt(bench: Workbench, agent: Agent, task: Task, how: str) -> TaskState:
    await bench.make_due()
    # A rate limit slows its type down.
    await bench.execute("DELETE FROM valves")
    claim_id = await agent.claim(task, start=True)
    if how == "lapses":
        await agent.beat(claim_id)
        await lapse(bench)
    else:
        await agent.fail(claim_id, FailureKind(how))
    return await bench.state(task)


@pytest.mark.parametrize("how", ["lapses", "error", "timeout"])
async def test_what_two_agents_have_failed_at_in_three_attempts_is_a_poison_pill(
    bench: Workbench, agent: Agent, how: str
) -> None:
    other = await a_holder(bench, "writer")
    task = await work(bench, max_retries=10)

    states = [await an_attempt(bench, one, task, how) for one in (agent, agent, other)]

    assert states == [TaskState.RETRYING, TaskState.RETRYING, TaskState.FAILED]
    shown = (await bench.details(task.id)).task
    assert shown.poison_pill
    assert "2 agents failed at it in 3 attempts" in str(shown.error)


async def test_one_agent_alone_poisons_nothing(bench: Workbench, agent: Agent) -> None:
    task = await work(bench, max_retries=10)

    states = [await an_attempt(bench, agent, task, "lapses") for _ in range(5)]

    assert states == [TaskState.RETRYING] * 5


async def test_what_was_not_charged_does_not_count_as_failed(bench: Workbench, agent: Agent) -> None:
    other = await a_holder(bench, "writer")
    task = await work(bench, max_retries=10)

    for one, how in ((other, "rate_limited"), (agent, "error"), (agent, "error"), (agent, "error")):
        assert await an_attempt(bench, one, task, how) is TaskState.RETRYING
    assert await an_attempt(bench, other, task, "error") is TaskState.FAILED


async def test_a_retry_by_hand_forgets_who_has_failed(bench: Workbench, agent: Agent) -> None:
    other = await a_holder(bench, "writer")
    task = await work(bench, max_retries=10)
    for one in (agent, agent, other):
        await an_attempt(bench, one, task, "error")
    await bench.runtime.reopening.retry(bench.caller, task.id)

    states = [await an_attempt(bench, agent, task, "error") for _ in range(3)]

    assert states == [TaskState.RETRYING] * 3
    assert not (await bench.details(task.id)).task.poison_pill


async def test_an_agent_whose_last_ten_claims_ran_out_is_paused_and_somebody_is_told(
    bench: Workbench, another_bench: AnotherBench, agent: Agent
) -> None:
    task = await work(bench, max_retries=20)
    async with another_bench(alert_url="http://127.0.0.1:9/alerts") as alerting:
        for turn in range(10):
            assert (await agent.row())["status"] == "active", turn
            await bench.make_due()
            await agent.claim(task)
            await bench.let_leases_lapse()
            await alerting.worker.redelivery.reap()

    row = await agent.row()
    assert (row["status"], row["held_by"], row["lapses_in_row"]) == ("paused", "system", 0)
    assert (await bench.events(task)).count("agent.paused") == 1
    (delivery,) = await bench.execute("SELECT body::text AS body FROM deliveries")
    assert json.loads(delivery["body"]) == {"agentId": "reader", "reason": "agent_paused"}


async def test_a_claim_that_its_holder_ends_breaks_the_row(bench: Workbench, agent: Agent) -> None:
    await bench.execute("UPDATE agents SET lapses_in_row = 9")

    await agent.complete(await agent.claim(await work(bench)))
    assert (await agent.row())["lapses_in_row"] == 0

    await agent.claim(await work(bench))
    await lapse(bench)
    row = await agent.row()
    assert (row["status"], row["lapses_in_row"]) == ("active", 1)


async def test_an_agent_that_is_paused_already_is_not_paused_again(bench: Workbench) -> None:
    agent = await a_holder(bench)
    task = await work(bench)
    await agent.claim(task)
    await agent.set_status(AgentStatus.PAUSED)
    await bench.execute("UPDATE agents SET lapses_in_row = 9")

    await lapse(bench)

    row = await agent.row()
    assert (row["status"], row["held_by"]) == ("paused", "person")
    assert "agent.paused" not in await bench.events(task)
