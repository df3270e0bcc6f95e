"""What holders do with their claims: every verb in every state of a claim, and what it leaves behind."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Final

import pytest

from officeplane.domain.agent import AgentStatus, Directive
from officeplane.domain.agent_claim import (
    Answer,
    ClaimEndedError,
    ClaimNotFoundError,
    ClaimSettledError,
    InvalidResultError,
    Loss,
    ReportRequiredError,
    Verb,
)
from officeplane.domain.declared_type import DeclaredType
from officeplane.domain.document import Format
from officeplane.domain.failure import FailureKind
from officeplane.domain.ids import ClaimId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import LOCAL, Kind, Principal, Scope
from officeplane.domain.space import Space
from officeplane.domain.spending import Spending
from officeplane.domain.task import Task
from officeplane.store.claims import new_claim_id
from tests.holders import REPORT, Agent, a_holder, claim_row, work
from tests.workbench import Workbench

Verbs = Callable[[Agent, ClaimId], Awaitable[Answer]]
DO: Final[dict[Verb, Verbs]] = {
    Verb.START: lambda agent, claim_id: agent.start(claim_id),
    Verb.CHECKPOINT: lambda agent, claim_id: agent.checkpoint(claim_id, {"page": 1}, Spending(7)),
    Verb.COMPLETE: lambda agent, claim_id: agent.complete(claim_id, {"answer": 42}, Spending(7)),
    Verb.FAIL: lambda agent, claim_id: agent.fail(claim_id, spent=Spending(7)),
    Verb.RELEASE: lambda agent, claim_id: agent.release(claim_id),
}
ENDING: Final = (Verb.COMPLETE, Verb.FAIL, Verb.RELEASE)
LEADS_TO: Final = {
    Verb.START: TaskState.RUNNING,
    Verb.CHECKPOINT: TaskState.RUNNING,
    Verb.COMPLETE: TaskState.COMPLETED,
    Verb.FAIL: TaskState.RETRYING,
    Verb.RELEASE: TaskState.QUEUED,
}
BOOKS: Final = (Verb.CHECKPOINT, Verb.COMPLETE, Verb.FAIL)

every_verb = pytest.mark.parametrize("verb", list(Verb))


@pytest.fixture
async def agent(bench: Workbench) -> Agent:
    """An agent that is registered."""
    return await a_holder(bench)


async def booked(bench: Workbench, claim_id: ClaimId) -> int | None:
    cost: int | None = (await claim_row(bench, claim_id))["cost_micros"]
    return cost


async def lapse(bench: Workbench) -> None:
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()


@pytest.mark.parametrize("starts", [False, True], ids=["not started", "running"])
@every_verb
async def test_a_verb_of_the_holder_does_what_it_says(bench: Workbench, agent: Agent, verb: Verb, starts: bool) -> None:
    task = await work(bench)
    claim_id = await agent.claim(task, start=starts)

    answer = await DO[verb](agent, claim_id)

    assert answer.directive is Directive.CONTINUE
    assert await bench.state(task) is LEADS_TO[verb]
    assert answer.state == (LEADS_TO[verb] if verb in ENDING else None)
    assert (answer.lease_until is None) is (verb in ENDING)
    left = await claim_row(bench, claim_id)
    assert (left["ended_as"], left["verb"]) == ((LEADS_TO[verb], verb) if verb in ENDING else (None, None))
    assert left["cost_micros"] == (7 if verb in BOOKS else None)


@pytest.mark.parametrize("first", ENDING)
@every_verb
async def test_a_verb_on_a_claim_that_its_holder_has_ended_says_so_again_or_is_refused(
    bench: Workbench, agent: Agent, verb: Verb, first: Verb
) -> None:
    task = await work(bench)
    claim_id = await agent.claim(task)
    answered = await DO[first](agent, claim_id)
    events = await bench.events(task)

    if verb is first:
        assert await DO[verb](agent, claim_id) == answered
    else:
        with pytest.raises(ClaimSettledError) as refused:
            await DO[verb](agent, claim_id)
        assert refused.value.facts == {"verb": first, "state": LEADS_TO[first]}

    assert await bench.events(task) == events
    assert await booked(bench, claim_id) == (7 if verb in BOOKS or first in BOOKS else None)


async def test_the_first_answer_is_given_again_whatever_has_become_of_the_task(bench: Workbench, agent: Agent) -> None:
    task = await work(bench)
    claim_id = await agent.claim(task)
    answered = await agent.fail(claim_id, retry_after=0)
    await bench.make_due()
    again = await agent.claim(task, start=True)
    await agent.complete(again)

    assert await agent.fail(claim_id, retry_after=0) == answered
    assert answered.state is TaskState.RETRYING


@every_verb
async def test_a_verb_after_the_lease_ran_out_is_too_late_but_for_a_result(
    bench: Workbench, agent: Agent, verb: Verb
) -> None:
    task = await work(bench)
    claim_id = await agent.claim(task, start=True)
    await agent.beat(claim_id)
    await lapse(bench)

    if verb is Verb.COMPLETE:
        answer = await DO[verb](agent, claim_id)
        assert (answer.state, answer.late) == (TaskState.COMPLETED, True)
        assert await DO[verb](agent, claim_id) == answer
    else:
        with pytest.raises(ClaimEndedError) as refused:
            await DO[verb](agent, claim_id)
        assert refused.value.facts == {"reason": Loss.REAPED, "state": TaskState.RETRYING}
    assert await booked(bench, claim_id) == (7 if verb in BOOKS else None)


@every_verb
async def test_a_verb_on_a_claim_that_another_has_by_now_is_lost(bench: Workbench, agent: Agent, verb: Verb) -> None:
    task = await work(bench)
    claim_id = await agent.claim(task, start=True)
    await agent.beat(claim_id)
    await lapse(bench)
    other = await (await a_holder(bench, "writer")).claim(task, start=True)

    with pytest.raises(ClaimEndedError) as refused:
        await DO[verb](agent, claim_id)

    assert refused.value.facts == {"reason": Loss.REAPED, "state": TaskState.RUNNING}
    assert await booked(bench, claim_id) == (7 if verb in BOOKS else None)
    assert (await claim_row(bench, other))["ended_at"] is None
    (failure,) = (await bench.details(task.id)).failures
    assert failure.late_result == ({"answer": 42} if verb is Verb.COMPLETE else None)


@every_verb
async def test_a_verb_on_a_task_that_was_cancelled_says_so(bench: Workbench, agent: Agent, verb: Verb) -> None:
    task = await work(bench)
    claim_id = await agent.claim(task, start=True)

    await bench.runtime.cancellation.cancel(LOCAL, task.id, None)

    assert await bench.state(task) is TaskState.CANCELLED
    with pytest.raises(ClaimEndedError) as refused:
        await DO[verb](agent, claim_id)
    assert refused.value.facts == {"reason": Loss.CANCELLED, "state": TaskState.CANCELLED}
    assert await booked(bench, claim_id) == (7 if verb in BOOKS else None)


@every_verb
async def test_a_verb_on_a_task_that_took_too_long_says_so(bench: Workbench, agent: Agent, verb: Verb) -> None:
    task = await work(bench, timeout_seconds=5, max_retries=0)
    claim_id = await agent.claim(task, start=True)
    await agent.beat(claim_id)
    await bench.execute("UPDATE tasks SET started_at = started_at - interval '6 seconds'")
    await lapse(bench)

    assert await bench.state(task) is TaskState.TIMEOUT
    with pytest.raises(ClaimEndedError) as refused:
        await DO[verb](agent, claim_id)
    assert refused.value.facts == {"reason": Loss.TIMEOUT, "state": TaskState.TIMEOUT}


@every_verb
async def test_a_verb_on_a_task_of_a_deleted_document_says_so(bench: Workbench, agent: Agent, verb: Verb) -> None:
    await bench.runtime.documents.create(LOCAL, "plan", Format.DOCX, None, None)
    task = await work(bench, document_id="plan")
    claim_id = await agent.claim(task, start=True)
    await bench.runtime.documents.delete(LOCAL, "plan")

    with pytest.raises(ClaimEndedError) as refused:
        await DO[verb](agent, claim_id)
    assert refused.value.facts == {"reason": Loss.DELETED, "state": TaskState.CANCELLED}


@every_verb
async def test_a_claim_that_nobody_made_or_whose_task_is_gone_is_not_found(
    bench: Workbench, agent: Agent, verb: Verb
) -> None:
    task = await work(bench)
    claim_id = await agent.claim(task)
    await bench.execute("DELETE FROM tasks")

    for unknown in (claim_id, new_claim_id(), ClaimId("no id"), ClaimId("")):
        with pytest.raises(ClaimNotFoundError):
            await DO[verb](agent, unknown)


@pytest.mark.parametrize(
    "stranger",
    [
        Principal("another", Kind.KEY, frozenset(Scope), agents=("writer", "read")),
        Principal("elsewhere", Kind.KEY, frozenset(Scope), space=Space("acme")),
    ],
    ids=["another agent", "another space"],
)
async def test_a_claim_of_another_agent_is_not_found_and_nothing_is_booked(
    bench: Workbench, agent: Agent, stranger: Principal
) -> None:
    task = await work(bench)
    claim_id = await agent.claim(task)
    verbs = bench.runtime.claim_verbs

    with pytest.raises(ClaimNotFoundError):
        await verbs.start(stranger, claim_id)
    with pytest.raises(ClaimNotFoundError):
        await verbs.checkpoint(stranger, claim_id, "1", Spending(7))

    assert await bench.state(task) is TaskState.CLAIMED
    assert await booked(bench, claim_id) is None
    like_it = Principal("like it", Kind.KEY, frozenset(Scope), agents=("read*",))
    assert (await verbs.start(like_it, claim_id)).directive is Directive.CONTINUE


async def test_costs_and_tokens_are_totals_of_which_the_larger_counts(bench: Workbench) -> None:
    agent = await a_holder(bench, models=("large",))
    task = await work(bench, models=["large"])
    first = await agent.claim(task)
    await agent.checkpoint(first, 1, Spending(1_000_001, {"input": 10, "output": 5}))
    await agent.checkpoint(first, 2, Spending(1_000_000, {"input": 12}))
    await agent.fail(first, spent=Spending(None, {"reasoning": 3}), retry_after=0)
    with pytest.raises(ClaimSettledError):
        await agent.complete(first, spent=Spending(1_000_002))
    await bench.make_due()
    second = await agent.claim(task)
    await agent.complete(second, {"answer": 42}, Spending(1, {"input": 1}))

    shown = await bench.details(task.id)
    assert shown.by_agents is not None
    assert shown.by_agents.spent == Spending(1_000_003, {"input": 13, "output": 5, "reasoning": 3})
    assert (shown.by_agents.agent_id, shown.by_agents.model) == ("reader", "large")
    (failure,) = shown.failures
    assert (failure.cost_usd, failure.tokens) == (1.000002, {"input": 12, "output": 5, "reasoning": 3})
    assert (failure.agent_id, failure.worker_id) == ("reader", None)


async def test_what_nobody_has_priced_costs_nothing_that_is_known(bench: Workbench, agent: Agent) -> None:
    task = await work(bench)
    await agent.complete(await agent.claim(task))

    shown = (await bench.details(task.id)).by_agents
    assert shown is not None
    assert shown.spent == Spending(None, None)


async def test_a_dead_letter_has_what_its_attempts_have_cost(bench: Workbench, agent: Agent) -> None:
    task = await work(bench, max_retries=0)
    await agent.fail(await agent.claim(task), spent=Spending(250_000))

    (letter,) = await bench.execute("SELECT total_cost_usd FROM dead_letters")
    assert letter["total_cost_usd"] == 0.25


async def test_a_failure_that_another_attempt_would_not_mend_is_the_last(bench: Workbench, agent: Agent) -> None:
    task = await work(bench)

    answer = await agent.fail(await agent.claim(task), retryable=False)

    assert answer.state is TaskState.FAILED
    assert (await bench.details(task.id)).task.error == {"kind": "error", "message": "it went wrong"}


async def test_a_rate_limit_is_uncharged_waits_as_asked_and_slows_its_type_down(bench: Workbench, agent: Agent) -> None:
    task = await work(bench)

    answer = await agent.fail(await agent.claim(task), FailureKind.RATE_LIMITED, retry_after=40)

    assert answer.state is TaskState.RETRYING
    (row,) = await bench.execute(
        "SELECT attempts_charged, run_at - clock_timestamp() > interval '30 seconds' AS waits,"
        " (SELECT slow_until > clock_timestamp() + interval '10 seconds' FROM valves WHERE task_type = 'code') AS slow"
        " FROM tasks"
    )
    assert row == {"attempts_charged": 0, "waits": True, "slow": True}
    assert task.id


async def test_failures_in_a_row_open_the_breaker_of_their_type(bench: Workbench, agent: Agent) -> None:
    await bench.runtime.valves.set_breaker(LOCAL, "code", 3, None)
    for _ in range(3):
        await agent.fail(await agent.claim(await work(bench, max_retries=0)))

    (row,) = await bench.execute("SELECT breaker FROM valves WHERE task_type = 'code'")
    assert row["breaker"] == "open"


async def test_a_failure_may_ask_for_more_time_than_the_policy_gives(bench: Workbench, agent: Agent) -> None:
    await agent.fail(await agent.claim(await work(bench)), retry_after=1_000)

    (row,) = await bench.execute("SELECT run_at > clock_timestamp() + interval '900 seconds' AS waits FROM tasks")
    assert row["waits"]


async def test_what_is_released_until_later_waits_uncharged_with_its_checkpoint(bench: Workbench, agent: Agent) -> None:
    task = await work(bench)

    answer = await agent.release(await agent.claim(task), after_seconds=60, checkpoint={"page": 3})

    assert answer.state is TaskState.RETRYING
    (row,) = await bench.execute(
        "SELECT checkpoint::text AS checkpoint, attempts_charged, error, run_at > clock_timestamp() AS waits FROM tasks"
    )
    assert row == {"checkpoint": '{"page": 3}', "attempts_charged": 0, "error": None, "waits": True}
    assert (await bench.details(task.id)).failures == ()


async def test_a_task_that_is_declined_five_times_is_told_as_one_that_nobody_wants(
    bench: Workbench, agent: Agent
) -> None:
    other = await a_holder(bench, "writer")
    task = await work(bench)
    for turn in range(6):
        holder = agent if turn % 2 else other
        claim_id = await holder.claim(task)
        await holder.release(claim_id, "declined")
        await bench.execute("UPDATE agent_declines SET declined_at = declined_at - interval '61 seconds'")
        # Nobody declines twice because an answer got lost.
        await holder.release(claim_id, "declined")
        told = (await bench.events(task)).count("task.unclaimable")
        assert told == (1 if turn >= 4 else 0)

    rows = await bench.execute("SELECT agent_id, times FROM agent_declines ORDER BY agent_id")
    assert rows == [{"agent_id": "reader", "times": 3}, {"agent_id": "writer", "times": 3}]


async def test_a_result_that_does_not_fit_its_type_leaves_the_claim_as_it_is(bench: Workbench) -> None:
    schema = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
    await bench.runtime.task_types.declare(LOCAL, DeclaredType(name="add_up", title="Add up", result_schema=schema))
    agent = await a_holder(bench, task_types=("code", "add_up"))
    task = await bench.a_task("add_up")
    claim_id = await agent.claim(task)

    with pytest.raises(InvalidResultError) as refused:
        await agent.complete(claim_id, {"sum": "three"}, Spending(9))
    assert [error.field for error in refused.value.errors] == ["result.sum"]
    with pytest.raises(InvalidResultError):
        await agent.complete(claim_id)

    assert await bench.state(task) is TaskState.RUNNING
    assert await booked(bench, claim_id) == 9
    assert (await agent.complete(claim_id, {"sum": 3})).state is TaskState.COMPLETED


async def test_what_was_decided_has_to_be_told_where_that_is_asked_for_and_is_shown(
    bench: Workbench, agent: Agent
) -> None:
    task = await work(bench, require_decision_report=True)
    claim_id = await agent.claim(task)

    with pytest.raises(ReportRequiredError):
        await agent.complete(claim_id, 1, Spending(9))
    assert await bench.state(task) is TaskState.RUNNING
    assert await booked(bench, claim_id) == 9

    await agent.complete(claim_id, 1, report=REPORT)
    shown = (await bench.details(task.id)).by_agents
    assert shown is not None
    assert shown.decision_report == json.loads(REPORT)


async def test_a_draining_agent_is_told_to_end_what_it_has(bench: Workbench) -> None:
    agent = await a_holder(bench)
    claim_id = await agent.claim(await work(bench))
    await agent.set_status(AgentStatus.DRAINING)

    assert (await agent.start(claim_id)).directive is Directive.DRAIN


async def test_a_verb_extends_the_lease_but_not_beyond_the_time_of_its_attempt(bench: Workbench, agent: Agent) -> None:
    short, long = await work(bench, timeout_seconds=20), await work(bench, timeout_seconds=2000)

    for task, seconds in ((short, 20), (long, 90)):
        answer = await agent.start(await agent.claim(task))
        assert answer.lease_until is not None
        left = (answer.lease_until - await bench.clock()).total_seconds()
        assert seconds - 5 < left <= seconds


async def a_waiting_lane(bench: Workbench, agent: Agent) -> tuple[ClaimId, Task]:
    """Return a claim on the head of a lane in which a worker's task waits, of which nobody has heard."""
    first = await work(bench, document_id="plan")
    second = await bench.a_task(document_id="plan")
    claim_id = await agent.claim(first, start=True)
    await agent.beat(claim_id)
    await bench.hush()
    return claim_id, second


@pytest.mark.parametrize("verb", [Verb.COMPLETE, Verb.FAIL])
async def test_what_waits_in_the_lane_is_rung_when_an_agent_leaves_it(
    bench: Workbench, agent: Agent, verb: Verb
) -> None:
    claim_id, second = await a_waiting_lane(bench, agent)

    if verb is Verb.COMPLETE:
        await agent.complete(claim_id)
    else:
        await agent.fail(claim_id, FailureKind.PERMANENT)

    assert second.id in await bench.rung()


async def test_what_waits_in_the_lane_is_rung_when_an_agents_task_is_cancelled(bench: Workbench, agent: Agent) -> None:
    claim_id, second = await a_waiting_lane(bench, agent)
    (row,) = await bench.execute("SELECT task_id::text FROM agent_claims WHERE claim_id = $1::uuid", claim_id)

    await bench.runtime.cancellation.cancel(LOCAL, row["task_id"], None)

    assert second.id in await bench.rung()
    assert (await bench.claim_next(second)).id == second.id


@every_verb
async def test_a_verb_that_waited_for_a_row_that_has_moved_is_not_lost(
    bench: Workbench, agent: Agent, verb: Verb
) -> None:
    task = await work(bench)
    claim_id = await agent.claim(task)
    async with bench.runtime.ledger.transaction() as connection:
        await connection.execute("UPDATE tasks SET rung_at = rung_at")
        waiting = asyncio.ensure_future(DO[verb](agent, claim_id))
        await bench.somebody_waits_for_a_lock()

    await waiting

    assert await bench.state(task) is LEADS_TO[verb]
