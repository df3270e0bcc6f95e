"""The runner: every attempt has an outcome that the ledger can store, whatever its handler does."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from officeplane.domain.failure import MESSAGE_LIMIT, Failure, FailureKind
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.outcome import Failed, HandedBack, Outcome, Succeeded
from officeplane.domain.task import ClaimedTask
from officeplane.handlers.catalogue import load_catalogue
from officeplane.services.claims.leases import Leases
from officeplane.store.connection import open_ledger
from tests.fault_proxy import fault_proxy
from tests.workbench import Workbench
from tests.workers.hosting import HANDLERS
from workers.children import Children
from workers.reports import LedgerReports
from workers.runner import Runner


def a_runner(bench: Workbench, children: Children, leases: Leases | None = None) -> Runner:
    """Return a runner that knows the tests' handlers."""
    leases = leases or bench.worker.leases
    return Runner(
        load_catalogue([HANDLERS]),
        leases,
        bench.worker.editing,
        bench.worker.spawner,
        LedgerReports(leases),
        children,
    )


@pytest.fixture(scope="module")
async def children() -> AsyncIterator[Children]:
    made = Children([HANDLERS])
    yield made
    await made.close()


@pytest.fixture
def runner(bench: Workbench, children: Children) -> Runner:
    return a_runner(bench, children)


def failure_of(outcome: Outcome) -> Failure:
    """Return the failure that the outcome must be."""
    assert isinstance(outcome, Failed)
    assert not outcome.killed_its_child
    return outcome.failure


async def test_what_a_handler_returns_is_its_result(bench: Workbench, runner: Runner) -> None:
    outcome = await runner.run(await bench.a_running_task("test.return", payload={"what": "dict"}))

    assert isinstance(outcome, Succeeded)
    assert json.loads(outcome.result_json or "") == {"answer": 42, "text": "ä"}


async def test_a_handler_may_return_nothing(bench: Workbench, runner: Runner) -> None:
    assert await runner.run(await bench.a_running_task("test.return", payload={"what": "nothing"})) == Succeeded(None)


async def test_a_handler_knows_the_same_of_its_task_in_the_loop_and_in_a_child(
    bench: Workbench, runner: Runner
) -> None:
    batch, child = await bench.a_batch({"task_type": "test.facts", "document_id": "plan", "max_retries": 7})
    claimed = await bench.claim_next(child)

    here = await runner.run(claimed)
    there = await runner.run(claimed._replace(task_type="test.facts_def"))

    assert isinstance(here, Succeeded)
    assert isinstance(there, Succeeded)
    told, elsewhere = json.loads(here.result_json or ""), json.loads(there.result_json or "")
    assert told["task"] == {
        "id": repr(child.id),
        "task_type": "'test.facts'",
        "document_id": "'plan'",
        "attempt": "1",
        "attempts_charged": "0",
        "max_retries": "7",
        "timeout_seconds": repr(claimed.timeout_seconds),
        "parent_id": repr(batch.id),
        "root_id": repr(batch.id),
        "created_at": repr(claimed.created_at),
    }
    assert told["is_equal"]
    told["task"]["task_type"] = "'test.facts_def'"
    assert elsewhere == told


@pytest.mark.parametrize("task_type", ["test.return", "test.return_def"])
async def test_a_handler_that_wants_no_edits_leaves_its_document_alone(
    bench: Workbench, runner: Runner, task_type: str
) -> None:
    outcome = await runner.run(await bench.a_running_task(task_type, payload={"what": "no_edits"}))

    assert outcome == Succeeded(None)


@pytest.mark.parametrize("task_type", ["test.return", "test.return_def"])
@pytest.mark.parametrize(
    ("what", "complaint"),
    [
        ("list", "it returned a list with int in it; edits are wanted"),
        ("nan", "its result is not JSON"),
        ("not_json", "its result is not JSON"),
        ("deep", "its result is not JSON"),
        ("large", "1048576 are allowed"),
    ],
)
async def test_what_is_no_result_fails_as_invalid_output(
    bench: Workbench, runner: Runner, task_type: str, what: str, complaint: str
) -> None:
    failure = failure_of(await runner.run(await bench.a_running_task(task_type, payload={"what": what})))

    assert failure.kind is FailureKind.INVALID_OUTPUT
    assert complaint in failure.message


@pytest.mark.parametrize("what", ["nul", "surrogate"])
async def test_a_result_that_postgres_cannot_keep_fails_alone(bench: Workbench, runner: Runner, what: str) -> None:
    task = await bench.a_running_task("test.return", payload={"what": what})

    await bench.settle(task, await runner.run(task))

    details = await bench.details(task.id)
    assert details.task.state is TaskState.FAILED
    assert details.failures[0].message == "its result could not be stored"


@pytest.mark.parametrize("task_type", ["test.raise", "test.raise_def"])
@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("error", "RuntimeError: it goes wrong"),
        ("broken", "BrokenError: (the error could not be described)"),
        ("group", "ExceptionGroup: several (2 sub-exceptions)"),
        ("nul", "RuntimeError: a\N{REPLACEMENT CHARACTER}b?c"),
        ("system_exit", "SystemExit: 3"),
        ("keyboard_interrupt", "KeyboardInterrupt"),
        ("base_exception", "BaseException: out of line"),
    ],
)
async def test_whatever_a_handler_raises_fails_the_attempt_and_nothing_else(
    bench: Workbench, runner: Runner, task_type: str, what: str, message: str
) -> None:
    task = await bench.a_running_task(task_type, payload={"what": what})

    outcome = await runner.run(task)

    assert failure_of(outcome) == Failure(FailureKind.ERROR, message)
    await bench.settle(task, outcome)
    assert (await bench.details(task.id)).failures[0].message == message


@pytest.mark.parametrize("task_type", ["test.raise", "test.raise_def"])
async def test_a_huge_complaint_is_cut(bench: Workbench, runner: Runner, task_type: str) -> None:
    failure = failure_of(await runner.run(await bench.a_running_task(task_type, payload={"what": "huge"})))

    assert len(failure.message) == MESSAGE_LIMIT


@pytest.mark.parametrize("task_type", ["test.raise", "test.raise_def"])
@pytest.mark.parametrize(("what", "retry_after"), [("rate_limited", 1.5), ("too_many", 30), ("quota", None)])
async def test_a_rate_limit_is_known_as_one_in_the_loop_and_in_a_child(
    bench: Workbench, runner: Runner, task_type: str, what: str, retry_after: float | None
) -> None:
    outcome = await runner.run(await bench.a_running_task(task_type, payload={"what": what}))

    failure = failure_of(outcome)
    assert (failure.kind, failure.retry_after) == (FailureKind.RATE_LIMITED, retry_after)


@pytest.mark.parametrize("task_type", ["test.raise", "test.raise_def"])
async def test_a_permanent_failure_is_not_tried_again(bench: Workbench, runner: Runner, task_type: str) -> None:
    task = await bench.a_running_task(task_type, payload={"what": "permanent"})

    outcome = await runner.run(task)

    assert failure_of(outcome) == Failure(FailureKind.PERMANENT, "PermanentFailure: it never will")
    await bench.settle(task, outcome)
    assert await bench.state(task) is TaskState.FAILED


@pytest.mark.parametrize("task_type", ["test.fail", "test.return_def"])
async def test_a_payload_that_no_longer_fits_its_type_is_a_permanent_failure(
    bench: Workbench, runner: Runner, task_type: str
) -> None:
    fitting = {"times": 1} if task_type == "test.fail" else {"what": "dict"}
    task = await bench.a_task(task_type, payload=fitting)
    await bench.execute("""UPDATE tasks SET payload = '{"old": true}'""")
    (claimed,) = await bench.claim(task)

    failure = failure_of(await runner.run(claimed))

    assert failure.kind is FailureKind.PERMANENT
    assert failure.message.startswith("the payload does not fit")


async def test_a_reference_becomes_the_siblings_result(bench: Workbench, runner: Runner) -> None:
    second = await the_second_child(bench, {"said": {"$ref": "first.chapter.id"}}, '{"chapter": {"id": "c7"}}')

    outcome = await runner.run(second)

    assert outcome == Succeeded('{"said":"c7"}')


async def test_results_that_make_a_payload_too_large_are_a_permanent_failure(bench: Workbench, runner: Runner) -> None:
    more: dict[str, Any] = {"said": [{"$ref": "first.text"}] * 20}
    second = await the_second_child(bench, more, json.dumps({"text": "a" * 100_000}))

    failure = failure_of(await runner.run(second))

    assert failure.kind is FailureKind.PERMANENT
    assert failure.message == "with the results that it refers to, the payload has more than 1048576 bytes"


async def test_a_reference_that_leads_nowhere_is_a_permanent_failure(bench: Workbench, runner: Runner) -> None:
    second = await the_second_child(bench, {"said": {"$ref": "first.chapter.id"}}, '{"chapter": null}')

    failure = failure_of(await runner.run(second))

    assert failure.kind is FailureKind.PERMANENT
    assert "a reference leads nowhere" in failure.message


async def test_an_attempt_that_cannot_read_its_references_is_handed_back(
    bench: Workbench, children: Children, database_url: str
) -> None:
    second = await the_second_child(bench, {"said": {"$ref": "first.id"}}, '{"id": 1}')
    async with fault_proxy(database_url) as proxy, open_ledger(proxy.url(database_url), connections=1) as ledger:
        await proxy.refuse()

        outcome = await a_runner(bench, children, Leases(ledger)).run(second)

    assert outcome == HandedBack()


async def the_second_child(bench: Workbench, payload: dict[str, object], first_result: str) -> ClaimedTask:
    """Return the second of two children, claimed once the first has this result."""
    _, first, second = await bench.a_batch(
        {"task_type": "test.say", "key": "first"}, {"task_type": "test.say", "payload": payload}
    )
    (claimed,) = await bench.claim(first)
    await bench.complete(claimed, first_result)
    (following,) = await bench.claim(second)
    return following
