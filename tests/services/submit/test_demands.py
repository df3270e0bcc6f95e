"""Tasks that agents do: what they ask is stored with them, once, and costs nobody else anything."""

import asyncio
from typing import Any

import pytest

from officeplane.domain.demand import AgentTerms, Demand
from officeplane.domain.errors import InvalidRequestError
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.patch import TaskPatch
from officeplane.domain.principal import LOCAL
from officeplane.domain.request import DagRequest, TaskRequest
from officeplane.domain.space import DEFAULT
from officeplane.domain.task import Task
from officeplane.domain.valve import Limits
from officeplane.handlers.spawning import spawn_request
from officeplane.services.submit import demands as service
from officeplane.store import demands
from officeplane.store.connection import Executor
from tests.services.conftest import AnotherBench
from tests.workbench import Workbench

WORK: dict[str, Any] = {"payload": {"goal": "The tests are green."}}
CODE: dict[str, Any] = {"task_type": "code", **WORK}
ASKING: dict[str, Any] = {
    "required_capabilities": ["python", "git"],
    "models": ["large", "small"],
    "fallback_models": ["tiny"],
    "require_decision_report": False,
    "output": {"type": "code"},
}


async def rows(bench: Workbench) -> list[dict[str, Any]]:
    """Return what was stored of tasks, with what they ask, in order."""
    return await bench.execute(
        "SELECT t.task_type, t.agent_terms::text AS terms, d.task_type AS of_type, d.capabilities, d.models,"
        " d.fallback_models FROM tasks t LEFT JOIN demands d ON d.id = t.demand_id ORDER BY t.seq"
    )


async def numbers(bench: Workbench) -> list[int | None]:
    """Return the demands of all tasks, in the order of these."""
    return [row["demand_id"] for row in await bench.execute("SELECT demand_id FROM tasks ORDER BY seq")]


async def test_what_a_task_asks_of_agents_is_stored_with_it_and_shown(bench: Workbench) -> None:
    task = await bench.a_task("code", **WORK, **ASKING)

    assert await rows(bench) == [
        {
            "task_type": "code",
            "terms": '{"output": {"type": "code"}}',
            "of_type": "code",
            "capabilities": ["git", "python"],
            "models": ["large", "small"],
            "fallback_models": ["tiny"],
        }
    ]
    assert (await bench.details(task.id)).task == task
    assert task.demand is not None
    assert task.demand._replace(id=None) == Demand(DEFAULT, "code", ("git", "python"), ("large", "small"), ("tiny",))
    assert task.agent_terms == AgentTerms(output="code")


async def test_a_task_that_asks_nothing_of_its_own_is_an_agents_all_the_same(bench: Workbench) -> None:
    await bench.a_task("orchestrate", **WORK)
    await bench.a_task("code", **WORK)
    await bench.a_task("judge", payload={"rubric": "Is it polite?", "threshold": 0.5, "output": "Hello"})

    stored = [(row["of_type"], row["capabilities"], row["terms"]) for row in await rows(bench)]
    assert stored == [
        ("orchestrate", [], None),
        ("code", [], '{"requireDecisionReport": true}'),
        ("judge", ["judge"], None),
    ]


async def test_what_many_tasks_ask_is_kept_once_and_looked_up_once(
    bench: Workbench, another_bench: AnotherBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    looked_up = demands.intern

    async def counted(executor: Executor, wanted: set[Demand]) -> dict[Demand, int]:
        looks.append(len(wanted))
        return await looked_up(executor, wanted)

    monkeypatch.setattr(demands, "intern", counted)
    await bench.a_task("code", **WORK, required_capabilities=["git", "python"])
    await bench.a_task("code", **WORK, required_capabilities=["python", "git", "git"])
    async with another_bench() as other:
        await other.submit_many([{**CODE, "required_capabilities": ["git", "python"]}, CODE])

    first, *others = await numbers(bench)
    assert others[:2] == [first, first]
    assert others[2] not in (first, None)
    assert looks == [1, 2]


async def test_processes_that_ask_for_something_new_at_once_agree_on_its_number(
    bench: Workbench, another_bench: AnotherBench
) -> None:
    async with another_bench() as other:
        several = [{**CODE, "required_capabilities": [f"c{n % 5}"]} for n in range(20)]
        await asyncio.gather(*(one.submit_many(several[n:]) for one in (bench, other) for n in range(5)))

    stored = await bench.execute("SELECT count(DISTINCT demand_id) AS asked, count(*) AS n FROM tasks")
    assert [(row["asked"], row["n"]) for row in stored] == [(5, 2 * sum(range(16, 21)))]
    assert len(await bench.execute("SELECT FROM demands")) == 5


async def test_a_full_memory_of_demands_is_emptied_and_nothing_else_happens(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "KNOWN_MAX", 0)

    for capability in ("a", "b", "a"):
        await bench.a_task("code", **WORK, required_capabilities=[capability])

    first, second, third = await numbers(bench)
    assert (first, second is not None) == (third, first != second)


async def test_what_workers_do_asks_nothing_and_looks_nothing_up(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def looks(_: Executor, __: object) -> dict[Demand, int]:
        pytest.fail("somebody has looked into the ledger")

    monkeypatch.setattr(demands, "intern", looks)

    task = await bench.a_task()
    await bench.a_batch({"task_type": "noop"}, {"task_type": "noop"})
    await bench.submit_many([{"task_type": "noop"}] * 3)

    assert (task.demand, task.agent_terms) == (None, None)
    assert set(await numbers(bench)) == {None}


async def test_children_tasks_of_dags_spawned_ones_and_many_at_once_ask_too(bench: Workbench) -> None:
    await bench.a_batch({"task_type": "noop"}, {"children": [{**CODE, **ASKING}]})
    dag = {"tasks": [{**CODE, **ASKING, "key": "a"}, {"task_type": "noop", "key": "b", "depends_on": ["a"]}]}
    dag_id, _ = await bench.runtime.dags.submit(LOCAL, DagRequest.model_validate(dag, by_name=True, by_alias=False))
    more = {"tasks": [{**CODE, **ASKING, "key": "c"}]}
    await bench.runtime.dags.add(LOCAL, dag_id, DagRequest.model_validate(more, by_name=True, by_alias=False))
    spawner = await bench.a_running_task()
    await bench.worker.spawner.spawn(spawner, spawn_request("code", WORK["payload"], ASKING), "key")
    async with bench.runtime.ledger.transaction() as connection:
        await bench.runtime.submission.submit_within(LOCAL, connection, TaskRequest.from_python({**CODE, **ASKING}))
    # More than a part of a bulk, of which the first parts are stored before the last is read.
    await bench.submit_many([*[{"task_type": "noop"}] * 400, {**CODE, **ASKING}])

    stored = [row for row in await rows(bench) if row["task_type"] == "code"]
    assert len(stored) == 6
    assert all(row["capabilities"] == ["git", "python"] and row["terms"] is not None for row in stored)


@pytest.mark.parametrize("name", ASKING)
@pytest.mark.parametrize("task_type", ["noop", "replace_text"])
async def test_what_workers_do_may_not_ask_for_an_agent(bench: Workbench, task_type: str, name: str) -> None:
    with pytest.raises(InvalidRequestError, match="Only a task that an agent does may have it") as refused:
        await bench.a_task(task_type, document_id="d", **{name: ASKING[name]})

    assert len(refused.value.errors) == 1
    assert await bench.execute("SELECT FROM tasks") == []


async def test_a_batch_may_not_ask_for_an_agent_and_is_told_who_may(bench: Workbench) -> None:
    with pytest.raises(InvalidRequestError, match="give it to the children that agents do") as refused:
        await bench.a_batch({"children": [{"task_type": "noop"}], "models": ["large"]})

    assert [wrong.field for wrong in refused.value.errors] == ["children.0.models"]


async def test_an_atomic_batch_has_no_tasks_of_agents_in_it(bench: Workbench) -> None:
    with pytest.raises(InvalidRequestError, match="The children of an atomic batch are edits; 'code' is none"):
        await bench.a_batch(CODE, document_id="d", atomic=True)


async def test_null_is_as_if_it_were_not_there(bench: Workbench) -> None:
    await bench.a_task(models=None, output=None)

    assert await numbers(bench) == [None]


async def test_tasks_that_ask_for_different_agents_do_not_do_the_same(bench: Workbench) -> None:
    same = {**CODE, "dedupe": "content"}
    (first,) = await bench.submit(same)

    asked_again: list[dict[str, Any]] = [{}, {"models": []}, {"require_decision_report": True}]
    again = [await _only(bench, {**same, **asked}) for asked in asked_again]
    others = [
        await _only(bench, {**same, name: ASKING[name]})
        for name in ("required_capabilities", "models", "fallback_models", "require_decision_report", "output")
    ]

    assert {task.id for task in again} == {first.id}
    assert len({task.id for task in others} | {first.id}) == 6


async def _only(bench: Workbench, options: dict[str, Any]) -> Task:
    (task,) = await bench.submit(options)
    return task


async def test_no_worker_is_rung_for_an_agents_task_or_claims_it(bench: Workbench) -> None:
    free = await bench.a_task("code", **WORK)
    in_lane = await bench.a_task("code", **WORK, document_id="plan")

    assert await bench.rung() == []
    assert await bench.worker.redelivery.sweep() == 0
    assert await bench.worker.desk.claim_from_ledger(8) == []
    assert await bench.claim(free, in_lane) == []
    assert await bench.states(free, in_lane) == [TaskState.QUEUED, TaskState.QUEUED]


async def test_nobody_rings_for_an_agents_task_however_it_becomes_ready(bench: Workbench) -> None:
    runtime = bench.runtime
    due = await bench.a_task("code", **WORK, run_at="2040-01-01T00:00:00Z")
    _, first, second = await bench.a_batch({"task_type": "noop"}, CODE)
    behind = await bench.a_task("code", **WORK, depends_on=[first.id])
    reopened = await bench.a_task("code", **WORK)
    urgent = await bench.a_task("code", **WORK, boost_per_minute=100)
    paused = await bench.a_task("code", **WORK, document_id="d")
    limited = await bench.a_task("review", **WORK)
    again = await bench.a_task("code", **WORK, max_retries=3)
    await bench.complete(await bench.claim_next(first))
    await bench.hush()

    await bench.execute(
        "UPDATE tasks SET state = 'RETRYING', rung_at = now() - interval '1 hour', run_at = now(), attempt = 1"
        " WHERE id = $1::uuid",
        again.id,
    )
    await bench.execute("UPDATE tasks SET run_at = now() WHERE id = $1::uuid", due.id)
    while await bench.worker.redelivery.promote() == 0.0:
        pass
    await runtime.cancellation.cancel(LOCAL, reopened.id, None)
    await runtime.reopening.retry(LOCAL, reopened.id)
    await bench.execute("UPDATE tasks SET created_at = created_at - interval '1 day' WHERE id = $1::uuid", urgent.id)
    await bench.worker.ranks.rank_anew()
    await runtime.valves.pause_document(LOCAL, "d")
    await runtime.valves.resume_document(LOCAL, "d")
    await runtime.valves.set_limits(LOCAL, "review", Limits(concurrency=1))
    await bench.worker.valve_timers.tend()
    await runtime.valves.set_limits(LOCAL, "review", Limits())
    await runtime.patches.patch(LOCAL, limited.id, TaskPatch(priority=0))
    # Somebody has brought handlers of these names since: what is there stays the agents'.
    await bench.beat(task_types=["code", "review"])
    await bench.let_rings_age()

    assert await bench.worker.redelivery.sweep() == 0
    assert await bench.rung() == []
    waiting = (due, second, behind, reopened, urgent, paused, limited)
    assert set(await bench.states(*waiting)) == {TaskState.QUEUED}


async def test_behind_an_agents_task_a_worker_s_waits_and_is_rung_when_that_is_gone(bench: Workbench) -> None:
    ahead = await bench.a_task("code", **WORK, document_id="d")
    behind = await bench.a_task("noop", document_id="d")
    await bench.hush()
    assert await bench.claim(behind) == []

    await bench.runtime.cancellation.cancel(LOCAL, ahead.id, None)

    assert await bench.rung() == [behind.id]
    assert [claimed.id for claimed in await bench.claim(behind)] == [behind.id]
