"""Claims of agents: who gets what, in which order, and why not."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from officeplane.domain.agent import AgentStatus, Directive, Skipped
from officeplane.domain.errors import AgentNotFoundError
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import TaskId
from officeplane.domain.outcome import Failed, Outcome, Succeeded
from officeplane.domain.principal import LOCAL
from officeplane.domain.space import Space
from officeplane.domain.task import ClaimedTask
from officeplane.domain.valve import Limits
from officeplane.services.settle.judgement import EndedAttempt
from tests.agents import WRITING, agents_tasks, an_agent, an_agents_task, declare, ids_of, take, taken
from tests.services.conftest import AnotherBench
from tests.workbench import Workbench


async def end(bench: Workbench, task: ClaimedTask, outcome: Outcome) -> None:
    """End an agent's attempt, as a verb of its holder does."""
    await bench.runtime.claims.start(task)
    await bench.runtime.settlements.settle([EndedAttempt(task, outcome)], counted_by="test")


async def fail(bench: Workbench, task: ClaimedTask) -> None:
    """End an agent's attempt badly, with a retry that is due at once."""
    await end(bench, task, Failed(Failure(FailureKind.ERROR, "it went wrong")))
    await bench.make_due()


async def skipped(bench: Workbench, name: str = "ann") -> Skipped:
    """Return why an agent has got nothing."""
    reasons, _ = await bench.runtime.claiming.skipped(bench.caller, (await taken(bench, name)).agent)
    return reasons


async def test_an_agent_claims_what_waits_for_it_and_starts_it_later(bench: Workbench) -> None:
    task = await an_agents_task(bench)
    await an_agent(bench)

    (claim,) = await take(bench)

    assert claim.task.id == task.id
    details = await bench.details(task.id)
    assert (details.task.state, details.task.worker_id, details.task.attempt) == ("CLAIMED", "agent:ann", 1)
    assert await take(bench) == []
    assert await bench.events(task) == ["task.queued", "task.claimed"]


async def test_a_claim_is_kept_beside_its_attempt(bench: Workbench) -> None:
    task = await an_agents_task(bench, models=["large", "small"])
    await an_agent(bench, models=("small", "large"))

    (claim,) = await take(bench)

    (kept,) = await bench.execute("SELECT * FROM agent_claims")
    assert (str(kept["claim_id"]), str(kept["task_id"]), kept["attempt"]) == (claim.id, task.id, 1)
    assert (kept["agent_id"], kept["space"], kept["model"], kept["ended_at"]) == ("ann", "default", "large", None)
    assert claim.model == "large"


async def test_a_claim_that_is_to_be_started_lasts_as_long_as_its_agent_said(bench: Workbench) -> None:
    await an_agents_task(bench)
    await an_agent(bench, start_seconds=7.0)

    (claim,) = await take(bench)

    left = claim.lease_until - await bench.clock()
    assert timedelta(seconds=0) < left <= timedelta(seconds=7)


@pytest.mark.parametrize(("timeout", "lease"), [(600, 90), (5, 5)])
async def test_what_runs_at_once_has_a_lease_that_ends_no_later_than_its_time(
    bench: Workbench, timeout: int, lease: int
) -> None:
    task = await an_agents_task(bench, timeout_seconds=timeout)
    await an_agent(bench)

    (claim,) = await take(bench, starts=True)

    assert await bench.state(task) == "RUNNING"
    left = claim.lease_until - await bench.clock()
    assert timedelta(seconds=lease - 4) < left <= timedelta(seconds=lease)


async def test_a_worker_never_takes_what_agents_do_nor_an_agent_what_workers_do(
    bench: Workbench, polling: Workbench
) -> None:
    of_agents = [*await agents_tasks(bench, 2), await an_agents_task(bench, document_id="d")]
    of_workers = [await bench.a_task(), await bench.a_task(document_id="e")]
    # Even if each knew the types of the other.
    worker = replace(bench.worker.desk._who, task_types=[WRITING, "noop"])  # pyright: ignore[reportPrivateUsage]
    everything = [task.id for task in [*of_agents, *of_workers]]

    hinted = await bench.runtime.claims.follow_hints(worker, everything)
    await an_agent(bench)
    await bench.execute("UPDATE agents SET task_types = '{writing,noop}'")
    of_agent = await take(bench, tasks=10)
    polled = await polling.worker.desk.claim_from_ledger(10)

    assert [task.id for task in hinted.claimed] == [of_workers[0].id]
    assert set(ids_of(of_agent)) == {task.id for task in of_agents}
    assert [task.id for task in polled] == [of_workers[1].id]


async def test_the_most_urgent_comes_first_whatever_its_document(bench: Workbench) -> None:
    later = await an_agents_task(bench, document_id="a", priority=60)
    urgent = await an_agents_task(bench, document_id="b", priority=1)
    free = await an_agents_task(bench, priority=20)
    behind = await an_agents_task(bench, document_id="b", priority=30)
    await an_agent(bench)

    assert ids_of(await take(bench, tasks=2)) == [urgent.id, free.id]
    assert ids_of(await take(bench, tasks=2)) == [later.id]
    assert await bench.state(behind) == "QUEUED"


async def test_of_a_lane_only_the_head_is_given_even_if_a_worker_is_to_do_that(bench: Workbench) -> None:
    head = await bench.a_task(document_id="d")
    task = await an_agents_task(bench, document_id="d")
    await an_agent(bench)

    assert await take(bench) == []
    await bench.complete(await bench.claim_next(head))
    assert ids_of(await take(bench)) == [task.id]


async def test_no_more_is_given_than_an_agent_may_have_at_once(bench: Workbench) -> None:
    await agents_tasks(bench, 5)
    await an_agent(bench, max_concurrent_tasks=3)

    assert len(await take(bench, tasks=2)) == 2
    (third,) = await take(bench, tasks=2)
    assert await take(bench, tasks=2) == []
    await end(bench, third.task, Succeeded(None))
    assert len(await take(bench, tasks=2)) == 1


@pytest.mark.parametrize(
    ("asked", "can", "reason"),
    [
        ({"required_capabilities": ["english"]}, {}, Skipped(capability=True)),
        ({"required_capabilities": ["english", "french"]}, {"capabilities": ("french",)}, Skipped(capability=True)),
        ({"models": ["large"]}, {"models": ("small",)}, Skipped(model=True)),
        ({"models": ["large"]}, {}, Skipped(model=True)),
        ({"task_type": "painting"}, {}, Skipped()),
    ],
)
async def test_who_does_not_meet_a_demand_is_told_why(
    bench: Workbench, asked: dict[str, Any], can: dict[str, Any], reason: Skipped
) -> None:
    await an_agents_task(bench, **asked)
    await an_agent(bench, **can)

    assert await take(bench) == []
    assert await skipped(bench) == reason


async def test_who_can_more_than_is_asked_for_gets_it(bench: Workbench) -> None:
    task = await an_agents_task(bench, required_capabilities=["english"], models=["large"])
    await an_agent(bench, capabilities=("english", "french"), models=("small", "large"))

    assert ids_of(await take(bench)) == [task.id]


async def test_from_the_second_charged_failure_on_the_fallback_models_count(bench: Workbench) -> None:
    task = await an_agents_task(bench, models=["large"], fallback_models=["small"], max_retries=5)
    await an_agent(bench, "big", models=("large",))
    await an_agent(bench, "little", models=("small",))

    for _ in range(2):
        assert await take(bench, "little") == []
        assert (await skipped(bench, "little")).model
        (claim,) = await take(bench, "big")
        await fail(bench, claim.task)

    assert await take(bench, "big") == []
    assert (await skipped(bench, "big")).model
    (claim,) = await take(bench, "little")
    assert (claim.task.id, claim.model) == (task.id, "small")


async def test_what_an_agent_has_declined_it_is_not_offered_for_a_minute(bench: Workbench) -> None:
    declined, other = await agents_tasks(bench, 2)
    await an_agent(bench)
    await bench.execute("INSERT INTO agent_declines (task_id, agent_id) VALUES ($1, 'ann')", declined.id)

    assert ids_of(await take(bench, tasks=2)) == [other.id]
    assert await skipped(bench) == Skipped(excluded=True)
    await bench.execute("UPDATE agent_declines SET declined_at = declined_at - interval '60 seconds'")
    assert ids_of(await take(bench)) == [declined.id]


async def test_what_one_agent_has_declined_another_may_have(bench: Workbench) -> None:
    task = await an_agents_task(bench)
    await an_agent(bench)
    await bench.execute("INSERT INTO agent_declines (task_id, agent_id) VALUES ($1, 'bob')", task.id)

    assert ids_of(await take(bench)) == [task.id]


@pytest.mark.parametrize(
    ("status", "directive"), [(AgentStatus.PAUSED, Directive.PAUSE), (AgentStatus.DRAINING, Directive.DRAIN)]
)
async def test_who_is_paused_or_drains_is_told_so_and_given_nothing(
    bench: Workbench, status: AgentStatus, directive: Directive
) -> None:
    await an_agents_task(bench)
    await an_agent(bench)
    await bench.runtime.agents.set_status(LOCAL, "ann", status)

    found = await taken(bench)

    assert (found.claims, found.agent.directive) == ([], directive)
    await bench.runtime.agents.set_status(LOCAL, "ann", AgentStatus.ACTIVE)
    assert len(await take(bench)) == 1


async def test_a_paused_document_keeps_its_tasks(bench: Workbench) -> None:
    task = await an_agents_task(bench, document_id="d")
    await an_agent(bench)
    await bench.runtime.valves.pause_document(LOCAL, "d")

    assert await take(bench) == []
    assert await skipped(bench) == Skipped(paused=True)
    await bench.runtime.valves.resume_document(LOCAL, "d")
    assert ids_of(await take(bench)) == [task.id]


async def test_a_paused_type_keeps_its_tasks(bench: Workbench) -> None:
    task = await an_agents_task(bench)
    await an_agent(bench)
    await bench.runtime.valves.pause_type(LOCAL, WRITING)

    assert await take(bench) == []
    assert await skipped(bench) == Skipped(paused=True)
    await bench.runtime.valves.resume_type(LOCAL, WRITING)
    assert ids_of(await take(bench)) == [task.id]


async def test_of_a_type_that_is_slowed_down_is_told_when_it_goes_on(bench: Workbench) -> None:
    await an_agents_task(bench)
    await an_agent(bench)
    await bench.execute(
        "INSERT INTO valves (task_type, slow_until) VALUES ($1, now() + interval '40 seconds')", WRITING
    )

    found = await taken(bench)
    reasons, seconds = await bench.runtime.claiming.skipped(LOCAL, found.agent)

    assert (found.claims, reasons) == ([], Skipped())
    assert seconds is not None
    assert 30 < seconds <= 40


async def test_no_more_are_given_out_than_limits_allow_and_told_is_when_there_is_room(bench: Workbench) -> None:
    first, *_ = await agents_tasks(bench, 3)
    await an_agent(bench)
    await bench.runtime.valves.set_limits(LOCAL, WRITING, Limits(rate_per_second=0.1, concurrency=2))

    found = await taken(bench, tasks=3)
    reasons, seconds = await bench.runtime.claiming.skipped(LOCAL, found.agent)

    assert ids_of(found.claims) == [first.id]
    assert reasons == Skipped()
    assert seconds is not None
    assert 5 < seconds <= 10
    assert await take(bench) == []
    await bench.execute("UPDATE valves SET tokens_at = tokens_at - interval '1 minute'")
    assert len(await take(bench, tasks=3)) == 1
    await bench.execute("UPDATE valves SET tokens_at = tokens_at - interval '1 minute'")
    assert await take(bench, tasks=3) == []


async def test_limits_hold_for_all_agents_together(bench: Workbench) -> None:
    await agents_tasks(bench, 10)
    for name in "abcd":
        await an_agent(bench, name)
    await bench.runtime.valves.set_limits(LOCAL, WRITING, Limits(concurrency=3))

    given = await asyncio.gather(*(take(bench, name, tasks=2) for name in "abcd"))

    assert sum(map(len, given)) == 3


async def test_an_occupied_lane_is_left_alone_however_deep_it_is(bench: Workbench) -> None:
    await agents_tasks(bench, 300, document_id="deep", priority=0)
    await an_agent(bench)
    assert len(await take(bench)) == 1

    assert await take(bench, tasks=32) == []
    free = await an_agents_task(bench, priority=90)
    elsewhere = await an_agents_task(bench, document_id="shallow", priority=95)
    assert ids_of(await take(bench, tasks=32)) == [free.id, elsewhere.id]


async def test_many_occupied_lanes_do_not_hide_the_last_one_for_long(bench: Workbench) -> None:
    for n in range(150):
        await an_agents_task(bench, document_id=f"d{n:03}")
    await an_agent(bench, "busy")
    while await take(bench, "busy", tasks=32):
        pass
    await agents_tasks(bench, 300, document_id="d000", priority=0)
    task = await an_agents_task(bench, document_id="d999", priority=99)
    await an_agent(bench)

    # Each look goes on where the last one has ended.
    given = [claim.task.id for _ in range(4) for claim in await take(bench)]

    assert given == [task.id]


async def test_what_waits_for_its_back_off_hides_nothing(bench: Workbench) -> None:
    await an_agent(bench)
    early = await agents_tasks(bench, 40, priority=0, max_retries=5, retry={"initial_seconds": 500})
    given = await take(bench, tasks=32) + await take(bench, tasks=32)
    assert len(given) == 40
    for claim in given:
        await end(bench, claim.task, Failed(Failure(FailureKind.ERROR, "it went wrong")))
    task = await an_agents_task(bench, priority=99)

    assert ids_of(await take(bench)) == [task.id]
    await bench.make_due()
    assert ids_of(await take(bench)) == [early[0].id]


async def test_a_key_that_is_narrowed_gets_what_it_sees_and_nothing_else(bench: Workbench) -> None:
    await an_agent(bench, task_types=(WRITING, "painting"))
    hidden = [
        await an_agents_task(bench),
        await an_agents_task(bench, document_id="b"),
        await an_agents_task(bench, task_type="painting", document_id="a"),
    ]
    seen = [await an_agents_task(bench, document_id="a"), await an_agents_task(bench, document_id="report-1")]
    narrowed = bench.called_by(replace(LOCAL, documents=("a", "report-*"), task_types=("writ*",)))

    # The head of that lane is not for it.
    assert ids_of(await take(narrowed, tasks=9)) == [seen[1].id]
    assert await skipped(narrowed) == Skipped(excluded=True)
    assert set(ids_of(await take(bench, tasks=9))) == {task.id for task in hidden}


async def test_a_key_that_is_for_other_agents_finds_no_such_agent(bench: Workbench) -> None:
    await an_agent(bench)
    await an_agents_task(bench)
    others = bench.called_by(replace(LOCAL, agents=("bob*",)))

    with pytest.raises(AgentNotFoundError):
        await take(others)
    with pytest.raises(AgentNotFoundError):
        await take(bench, "nobody")
    assert await bench.execute("SELECT FROM agent_claims") == []


async def test_an_agent_gets_nothing_of_another_space(bench: Workbench) -> None:
    await an_agents_task(bench)
    acme = bench.called_by(replace(LOCAL, space=Space("acme")))
    await an_agent(acme)
    with pytest.raises(AgentNotFoundError):
        await take(bench)

    assert await take(acme) == []
    assert await skipped(acme) == Skipped()
    task = await an_agents_task(acme, document_id="d")
    (claim,) = await take(acme)
    assert (claim.task.id, claim.task.document_id) == (task.id, "acme/d")
    (kept,) = await bench.execute("SELECT agent_id, space FROM agent_claims")
    assert kept == {"agent_id": "acme/ann", "space": "acme"}


async def test_two_processes_never_give_out_the_same_task(bench: Workbench, another_bench: AnotherBench) -> None:
    free = await agents_tasks(bench, 60)
    for n in range(20):
        await agents_tasks(bench, 3, document_id=f"d{n}")
    names = [f"agent-{n}" for n in range(8)]
    for name in names:
        await an_agent(bench, name)
    async with another_bench() as other:
        given: list[TaskId] = []

        async def work(plane: Workbench, name: str) -> None:
            while claims := await take(plane, name, tasks=3):
                given.extend(ids_of(claims))

        await asyncio.gather(*(work(plane, name) for name, plane in zip(names, [bench, other] * 4, strict=True)))

    assert len(given) == len(set(given))
    # Whoever was in the way at one moment is not at the next.
    for name in names:
        given += ids_of(await take(bench, name, tasks=32))
    assert len(given) == len(set(given)) == 80
    assert {task.id for task in free} <= set(given)
    (open_,) = await bench.execute("SELECT count(*) AS n FROM agent_claims WHERE ended_at IS NULL")
    assert open_["n"] == 80


async def test_who_is_second_in_a_lane_has_the_whole_done_again_without_it(bench: Workbench) -> None:
    head = await an_agents_task(bench, document_id="d")
    elsewhere = await an_agents_task(bench, priority=90)
    await an_agent(bench)
    async with bench.runtime.ledger.transaction() as connection:
        await connection.execute(
            "UPDATE tasks SET state = 'RUNNING', worker_id = 'w', claim_id = id, "
            "lease_until = now() + interval '1 hour' WHERE id = $1",
            head.id,
        )
        # Nobody sees yet that the lane is occupied, and its head is another by now.
        urgent = await an_agents_task(bench, document_id="d", priority=0)
        claiming = asyncio.ensure_future(take(bench))
        await bench.somebody_waits_for_a_lock()

    assert ids_of(await claiming) == [elsewhere.id]
    assert await bench.states(head, urgent) == ["RUNNING", "QUEUED"]


async def test_a_request_that_is_sent_again_gets_the_same_claims_again_as_long_as_they_are_open(
    bench: Workbench,
) -> None:
    await agents_tasks(bench, 3)
    await an_agent(bench)
    first = await taken(bench, tasks=2, key="k")

    again = await taken(bench, tasks=2, key="k")

    assert (first.is_replay, again.is_replay) == (False, True)
    assert [claim.id for claim in again.claims] == [claim.id for claim in first.claims]
    await end(bench, first.claims[0].task, Succeeded(None))
    assert [claim.id for claim in await take(bench, tasks=2, key="k")] == [first.claims[1].id]
    await end(bench, first.claims[1].task, Succeeded(None))
    assert await take(bench, tasks=2, key="k") == []
    assert len(await take(bench, tasks=2, key="another")) == 1


async def test_the_same_request_at_the_same_time_claims_once(bench: Workbench) -> None:
    await agents_tasks(bench, 8)
    await an_agent(bench)

    given = await asyncio.gather(*(take(bench, tasks=2, key="k") for _ in range(4)))

    assert len({tuple(claim.id for claim in claims) for claims in given}) == 1
    (held,) = await bench.execute("SELECT count(*) AS n FROM agent_claims")
    assert held["n"] == 2


async def test_an_answer_that_was_lost_with_its_process_is_had_from_another(
    bench: Workbench, another_bench: AnotherBench
) -> None:
    await agents_tasks(bench, 3)
    await an_agent(bench)
    async with another_bench() as dying:
        lost = await take(dying, tasks=2, key="k", starts=True)

    assert [claim.id for claim in await take(bench, tasks=2, key="k", starts=True)] == [claim.id for claim in lost]
    assert [claim.id for claim in await bench.runtime.claiming.held(LOCAL, "ann")] == [claim.id for claim in lost]


async def test_an_empty_answer_is_not_kept(bench: Workbench) -> None:
    await an_agent(bench)
    assert await take(bench, key="k") == []
    task = await an_agents_task(bench)

    assert ids_of(await take(bench, key="k")) == [task.id]


async def test_what_a_payload_refers_to_comes_with_the_claim(bench: Workbench) -> None:
    await declare(bench, WRITING)
    await an_agent(bench)
    await bench.a_batch(
        {"task_type": WRITING, "key": "first"},
        {"task_type": WRITING, "payload": {"about": {"$ref": "first.subject"}}},
    )
    (claim,) = await take(bench)
    await end(bench, claim.task, Succeeded('{"subject": "tea"}'))

    (claim,) = await take(bench)

    assert claim.task.payload_json == '{"about": "tea"}'


async def test_a_task_whose_reference_leads_nowhere_fails_and_is_not_given(bench: Workbench) -> None:
    await declare(bench, WRITING)
    await an_agent(bench)
    _, _, second = await bench.a_batch(
        {"task_type": WRITING, "key": "first"},
        {"task_type": WRITING, "payload": {"about": {"$ref": "first.subject"}}},
    )
    (claim,) = await take(bench)
    await end(bench, claim.task, Succeeded('{"other": "tea"}'))

    assert await take(bench) == []

    details = await bench.details(second.id)
    assert (details.task.state, details.failures[0].kind) == ("FAILED", "permanent")


async def test_what_an_agent_holds_can_be_asked_for(bench: Workbench) -> None:
    await agents_tasks(bench, 3)
    await an_agent(bench)
    given = await take(bench, tasks=2)
    await an_agent(bench, "bob")

    held = await bench.runtime.claiming.held(LOCAL, "ann")

    assert [(claim.id, claim.task.id, claim.model) for claim in held] == [
        (claim.id, claim.task.id, claim.model) for claim in given
    ]
    assert await bench.runtime.claiming.held(LOCAL, "bob") == []
    with pytest.raises(AgentNotFoundError):
        await bench.runtime.claiming.held(LOCAL, "nobody")


async def test_claims_are_deeds_of_whoever_called(bench: Workbench) -> None:
    task = await an_agents_task(bench)
    await an_agent(bench)
    await take(bench)
    await take(bench)

    rows = await bench.execute("SELECT caller, target, task_ids FROM audit WHERE action = 'tasks.claim'")

    assert [(row["caller"], row["target"], [str(one) for one in row["task_ids"]]) for row in rows] == [
        ("local", "ann", [task.id])
    ]
