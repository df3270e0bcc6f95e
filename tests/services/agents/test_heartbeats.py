"""Heartbeats: one for all the claims that it names, and news for whoever waits with one."""

import asyncio
from datetime import timedelta

import pytest

from officeplane.domain.agent import AgentStatus, Directive
from officeplane.domain.errors import AgentNotFoundError
from officeplane.domain.ids import ClaimId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import LOCAL, Kind, Principal, Scope
from officeplane.domain.space import Space
from officeplane.domain.spending import Spending
from officeplane.services.agents.heartbeats import Heard
from officeplane.store.claims import new_claim_id
from tests.holders import Agent, a_holder, claim_row, work
from tests.workbench import Workbench


@pytest.fixture
async def agent(bench: Workbench) -> Agent:
    """An agent that is registered."""
    return await a_holder(bench)


def told(heard: Heard) -> list[bool | None]:
    """Whether each claim goes on; None: there is no such."""
    return [None if claim is None else claim.is_open for _, claim in heard.claims]


async def silence(bench: Workbench) -> None:
    """Let some time pass since the last beat, and most of every lease."""
    await bench.execute("UPDATE agent_claims SET beaten_at = beaten_at - interval '5 seconds'")
    await bench.execute(
        "UPDATE tasks SET lease_until = clock_timestamp() + interval '1 second' WHERE lease_until IS NOT NULL"
    )


async def leases(bench: Workbench) -> list[float]:
    """For how long each claim is good, in the order of their tasks."""
    rows = await bench.execute(
        "SELECT extract(epoch FROM lease_until - clock_timestamp())::float8 AS left_seconds FROM tasks"
        " WHERE lease_until IS NOT NULL ORDER BY seq"
    )
    return [row["left_seconds"] for row in rows]


async def test_a_beat_renews_the_claims_that_it_names_and_no_others(bench: Workbench, agent: Agent) -> None:
    tasks = [await work(bench) for _ in range(3)]
    first, second, third = [await agent.claim(task, start=True) for task in tasks]
    await silence(bench)

    heard = await agent.beat(first, third)

    assert told(heard) == [True, True]
    assert heard.directive is Directive.CONTINUE
    assert [left > 80 for left in await leases(bench)] == [True, False, True]
    assert (await claim_row(bench, second))["beaten_at"] is None


async def test_a_beat_does_not_give_more_time_to_begin(bench: Workbench, agent: Agent) -> None:
    task = await work(bench)
    claim_id = await agent.claim(task)
    before = await leases(bench)

    assert told(await agent.beat(claim_id)) == [True]

    assert await bench.state(task) is TaskState.CLAIMED
    assert (await leases(bench))[0] <= before[0]


async def test_a_beat_that_follows_at_once_is_answered_and_books_but_writes_nothing_else(
    bench: Workbench, agent: Agent
) -> None:
    claim_id = await agent.claim(await work(bench), start=True)
    await agent.beat(claim_id, progress={"page": 1})
    # However long this machine takes, it is less than a second.
    await bench.execute("UPDATE agent_claims SET beaten_at = beaten_at + interval '1 hour'")
    (before,) = await bench.execute("SELECT xmin::text AS version, progress::text AS progress FROM tasks")

    assert told(await agent.beat(claim_id, spent=Spending(12), progress={"page": 2})) == [True]

    (after,) = await bench.execute("SELECT xmin::text AS version, progress::text AS progress FROM tasks")
    assert after == before
    assert before["progress"] == '{"page": 1}'
    assert (await claim_row(bench, claim_id))["cost_micros"] == 12


async def test_a_lease_does_not_outlast_the_time_of_its_attempt(bench: Workbench, agent: Agent) -> None:
    claim_id = await agent.claim(await work(bench, timeout_seconds=20), start=True)

    await agent.beat(claim_id)

    assert (await leases(bench))[0] <= 20


async def test_a_beat_tells_of_each_claim_what_became_of_it_and_books_what_it_cost(
    bench: Workbench, agent: Agent
) -> None:
    other = await a_holder(bench, "writer")
    theirs = await other.claim(await work(bench), start=True)
    cancelled_task = await work(bench)
    cancelled = await agent.claim(cancelled_task, start=True)
    await bench.runtime.cancellation.cancel(LOCAL, cancelled_task.id, None)
    done = await agent.claim(await work(bench))
    await agent.complete(done)
    held = await agent.claim(await work(bench))
    named = (held, cancelled, done, theirs, new_claim_id(), ClaimId("nothing like an id"))

    heard = await agent.beat(*named, spent=Spending(5, {"output": 3}))

    assert [claim_id for claim_id, _ in heard.claims] == list(named)
    assert told(heard) == [True, False, False, None, None, None]
    booked = [(await claim_row(bench, claim_id))["cost_micros"] for claim_id in (held, cancelled, done, theirs)]
    assert booked == [5, 5, 5, None]
    assert (await claim_row(bench, held))["tokens"] == '{"output": 3}'


async def test_a_beat_without_claims_says_that_the_agent_is_there(bench: Workbench) -> None:
    agent = await a_holder(bench)
    await agent.set_status(AgentStatus.PAUSED)
    await bench.execute("UPDATE agents SET last_seen_at = last_seen_at - interval '1 hour'")

    heard = await agent.beat()

    assert heard.directive is Directive.PAUSE
    assert await bench.clock() - (await agent.row())["last_seen_at"] < timedelta(seconds=30)


async def test_who_is_not_registered_or_not_there_for_the_caller_beats_for_nobody(
    bench: Workbench, agent: Agent
) -> None:
    beats = bench.runtime.heartbeats
    strangers = (
        Principal("narrow", Kind.KEY, frozenset(Scope), agents=("writer",)),
        Principal("elsewhere", Kind.KEY, frozenset(Scope), space=Space("acme")),
    )

    with pytest.raises(AgentNotFoundError):
        await beats.beat(LOCAL, "nobody", [])
    for stranger in strangers:
        with pytest.raises(AgentNotFoundError):
            await beats.beat(stranger, agent.id, [])


@pytest.mark.parametrize("news", ["cancel", "drain"])
async def test_who_waits_with_a_beat_hears_of_what_happens_meanwhile(bench: Workbench, agent: Agent, news: str) -> None:
    task = await work(bench)
    claim_id = await agent.claim(task, start=True)
    heard = await agent.beat(claim_id)
    waiting = asyncio.create_task(bench.runtime.heartbeats.news(heard, 60))

    if news == "cancel":
        await bench.runtime.cancellation.cancel(LOCAL, task.id, None)
    else:
        await agent.set_status(AgentStatus.DRAINING)
    async with asyncio.timeout(20):
        await waiting

    heard = await bench.runtime.heartbeats.hear(heard)
    assert told(heard) == [news != "cancel"]
    assert heard.directive is (Directive.CONTINUE if news == "cancel" else Directive.DRAIN)


async def test_who_waits_for_nothing_is_answered_when_the_time_is_over(bench: Workbench, agent: Agent) -> None:
    heard = await agent.beat(await agent.claim(await work(bench), start=True))

    await bench.runtime.heartbeats.news(heard, 0.01)

    assert told(await bench.runtime.heartbeats.hear(heard)) == [True]
