"""Claims of agents: who gets what, in which order, and why not."""

from tests.agents import an_agent, an_agents_task, take
from tests.workbench import Workbench


async def test_an_agent_claims_what_waits_for_it_and_starts_it_later(bench: Workbench) -> None:
    task = await an_agents_task(bench)
    await an_agent(bench)

    (claim,) = await take(bench)

    assert claim.task.id == task.id
    details = await bench.details(task.id)
    assert (details.task.state, details.task.worker_id, details.task.attempt) == ("CLAIMED", "agent:ann", 1)
    assert await take(bench) == []


async def test_what_an_agent_wants_to_run_at_once_runs(bench: Workbench) -> None:
    task = await an_agents_task(bench)
    await an_agent(bench)

    (claim,) = await take(bench, starts=True)

    assert claim.task.id == task.id
    assert (await bench.details(task.id)).task.state == "RUNNING"
