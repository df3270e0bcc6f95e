"""Handlers that spawn tasks, in the loop and in a child."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from officeplane.domain.failure import FailureKind
from officeplane.domain.outcome import Failed, Outcome, Succeeded
from tests.workbench import Workbench
from tests.workers.hosting import HANDLERS
from tests.workers.test_runner import a_runner
from workers.children import Children
from workers.runner import Runner

BOTH = pytest.mark.parametrize("task_type", ["test.spawn", "test.spawn_def"])


@pytest.fixture(scope="module")
async def children() -> AsyncIterator[Children]:
    made = Children([HANDLERS])
    yield made
    await made.close()


@pytest.fixture
def runner(bench: Workbench, children: Children) -> Runner:
    return a_runner(bench, children)


def spawned_in(outcome: Outcome) -> list[str]:
    """Return the ids that the handler returned."""
    assert isinstance(outcome, Succeeded)
    answer: dict[str, list[str]] = json.loads(outcome.result_json or "")
    return answer["spawned"]


async def keys_of(bench: Workbench) -> dict[str, str]:
    """Return the keys of all that was spawned, in order, with the ids."""
    rows = await bench.execute("SELECT id, spawn_key FROM tasks WHERE spawn_key IS NOT NULL ORDER BY seq")
    return {row["spawn_key"]: str(row["id"]) for row in rows}


@BOTH
async def test_a_handler_that_spawns_without_keys_finds_the_same_tasks_at_its_next_run(
    bench: Workbench, runner: Runner, task_type: str
) -> None:
    task = await bench.a_running_task(task_type, payload={"keys": [None, None, None]})

    first, second = spawned_in(await runner.run(task)), spawned_in(await runner.run(task))

    assert await keys_of(bench) == dict(zip(["noop#1", "noop#2", "noop#3"], first, strict=True))
    assert second == first


@BOTH
async def test_a_key_that_is_used_twice_in_a_run_is_one_task(bench: Workbench, runner: Runner, task_type: str) -> None:
    task = await bench.a_running_task(task_type, payload={"keys": ["left", "right", "left"]})

    left, right, again = spawned_in(await runner.run(task))

    assert left == again
    assert await keys_of(bench) == {"left": left, "right": right}


@BOTH
@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ({"task_type": "no.such"}, "PermanentFailure: The task 'no.such#1' cannot be spawned: There is no task type"),
        ({"payload": {"unknown": 1}}, "PermanentFailure: The task 'noop#1' cannot be spawned: The payload does not"),
        ({"keys": [""]}, "PermanentFailure: The key of a spawned task has 1 to 200 printable characters"),
    ],
)
async def test_a_handler_that_spawns_what_cannot_be_fails_for_good(
    bench: Workbench, runner: Runner, task_type: str, asked: dict[str, Any], complaint: str
) -> None:
    task = await bench.a_running_task(task_type, payload=asked)

    outcome = await runner.run(task)

    assert isinstance(outcome, Failed)
    assert outcome.failure.kind is FailureKind.PERMANENT
    assert complaint in outcome.failure.message
    assert await keys_of(bench) == {}


@BOTH
async def test_a_handler_whose_claim_was_lost_spawns_nothing_and_is_fenced(
    bench: Workbench, runner: Runner, task_type: str
) -> None:
    task = await bench.a_running_task(task_type)
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()

    outcome = await runner.run(task)

    assert isinstance(outcome, Failed)
    assert "ClaimLostError" in outcome.failure.message
    await bench.settle(task, outcome)
    assert await bench.state(task) == "RETRYING"
    assert await keys_of(bench) == {}
