"""Declared types: what the ledger says of task types is known wherever tasks are taken in."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from officeplane.domain.dead_letter import Decision, Ruling
from officeplane.domain.declared_type import DeclaredType, TypeDefaults
from officeplane.domain.errors import InvalidPayloadError, UnknownTaskTypeError
from officeplane.domain.json_schema import NoSchemaError
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import LOCAL
from officeplane.domain.request import DagRequest
from officeplane.domain.retry import RetryPolicy
from officeplane.handlers.catalogue import DuplicateTaskTypeError
from officeplane.services.submit import task_types
from officeplane.services.submit.task_types import LOOK_SECONDS
from officeplane.store import task_types as store
from officeplane.store.connection import Executor
from tests.services.conftest import AnotherBench
from tests.support import eventually
from tests.workbench import Workbench

TOPIC: dict[str, Any] = {
    "type": "object", "properties": {"topic": {"type": "string"}}, "required": ["topic"], "additionalProperties": False,
}  # fmt: skip
TRANSLATE = DeclaredType(name="translate", title="Say it in another language", payload_schema=TOPIC)
WITHIN_SECONDS = LOOK_SECONDS + 20


@pytest.fixture
async def other(another_bench: AnotherBench) -> AsyncIterator[Workbench]:
    """Another process's plane."""
    async with another_bench() as opened:
        yield opened


async def is_known(bench: Workbench, name: str) -> bool:
    """Whether a task of this type is taken in."""
    try:
        await bench.a_task(name, payload={"topic": "owls"})
    except UnknownTaskTypeError:
        return False
    return True


async def declare(bench: Workbench, declared: DeclaredType = TRANSLATE) -> None:
    await bench.runtime.task_types.declare(declared)


async def test_who_has_declared_a_type_can_submit_at_once(bench: Workbench) -> None:
    assert not await is_known(bench, "translate")

    await declare(bench)

    assert await is_known(bench, "translate")


async def test_what_another_process_declares_is_known_a_moment_later(
    bench: Workbench, other: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not await is_known(other, "translate")

    await declare(bench)

    await eventually(lambda: is_known(other, "translate"), within=WITHIN_SECONDS)
    # Nor is it forgotten by the next look, which finds nothing new.
    monkeypatch.setattr(task_types, "LOOK_SECONDS", 0.0)
    assert await is_known(other, "translate")


async def test_what_is_declared_no_longer_is_unknown_a_moment_later(bench: Workbench, other: Workbench) -> None:
    await declare(bench)
    assert await is_known(other, "translate")

    await bench.execute("DELETE FROM task_types")

    async def is_unknown() -> bool:
        return not await is_known(other, "translate")

    await eventually(is_unknown, within=WITHIN_SECONDS)


async def test_a_type_that_is_declared_anew_is_checked_by_what_it_says_now(bench: Workbench, other: Workbench) -> None:
    await declare(bench)
    assert await is_known(other, "translate")

    await declare(bench, DeclaredType(name="translate", title="Look", payload_schema={"type": "object"}))

    async def takes_anything() -> bool:
        try:
            await other.a_task("translate", payload={"any": "thing"})
        except InvalidPayloadError:
            return False
        return True

    await eventually(takes_anything, within=WITHIN_SECONDS)


async def test_a_payload_that_does_not_fit_is_refused_and_nothing_stored(bench: Workbench) -> None:
    await declare(bench)

    with pytest.raises(InvalidPayloadError) as refused:
        await bench.a_task("translate", payload={"topic": 5, "more": 1})

    assert {wrong.field for wrong in refused.value.errors} == {"payload.topic", "payload.more"}
    assert await bench.execute("SELECT FROM tasks") == []


async def test_its_tasks_have_what_it_says_by_default(bench: Workbench) -> None:
    defaults = TypeDefaults(max_retries=7, timeout_seconds=12, retry=RetryPolicy(initial_seconds=9))
    await declare(bench, DeclaredType(name="translate", title="Look", defaults=defaults))

    await bench.a_task("translate")
    await bench.a_task("translate", max_retries=1)

    rows = await bench.execute("SELECT max_retries, timeout_seconds, retry_policy FROM tasks ORDER BY seq")
    assert [(row["max_retries"], row["timeout_seconds"]) for row in rows] == [(7, 12), (1, 12)]
    assert '"initialSeconds": 9' in rows[0]["retry_policy"]


async def test_it_may_be_a_child_part_of_a_bulk_and_a_task_of_a_dag(bench: Workbench, other: Workbench) -> None:
    one = {"task_type": "translate", "payload": {"topic": "owls"}}
    await declare(bench)

    await other.a_batch({"task_type": "noop"}, {"children": [one]})
    async with asyncio.timeout(WITHIN_SECONDS):
        await bench.submit_many([{"task_type": "noop"}] * 300 + [one])
    dag = {"title": "Owls", "tasks": [{**one, "key": "a"}, {"task_type": "noop", "key": "b", "depends_on": ["a"]}]}
    await other.runtime.dags.submit(LOCAL, DagRequest.model_validate(dag, by_name=True, by_alias=False))

    (row,) = await bench.execute("SELECT count(*) AS n FROM tasks WHERE task_type = 'translate'")
    assert row["n"] == 3


async def test_its_dead_letter_can_be_retried_with_another_payload_that_fits(
    bench: Workbench, other: Workbench
) -> None:
    await declare(bench)
    task = await bench.a_task("translate", payload={"topic": "owls"}, max_retries=0)
    await bench.execute(
        'UPDATE tasks SET state = \'FAILED\', finished_at = now(), error = \'{"kind": "error", "message": "x"}\''
    )
    await bench.execute(
        "INSERT INTO dead_letters (task_id, generation, task_type, kind, message, fingerprint, poison_pill, recurring,"
        " total_cost_usd) SELECT id, generation, task_type, 'error', 'x', 'f', false, false, 0 FROM tasks"
    )
    ruling = Ruling(Decision.MODIFY_AND_RETRY, "alice")

    with pytest.raises(InvalidPayloadError):
        await other.runtime.dead_letters.resolve(LOCAL, task.id, ruling, {"topic": 5})
    await other.runtime.dead_letters.resolve(LOCAL, task.id, ruling, {"topic": "bats"})

    assert await bench.state(task) is TaskState.QUEUED


async def test_no_worker_rings_or_claims_what_none_can_do(bench: Workbench) -> None:
    await declare(bench)
    free = await bench.a_task("translate", payload={"topic": "owls"})
    in_lane = await bench.a_task("translate", payload={"topic": "owls"}, document_id="plan")

    assert await bench.rung() == []
    assert await bench.worker.redelivery.sweep() == 0
    assert await bench.worker.desk.claim_from_ledger(8) == []
    assert await bench.claim(free, in_lane) == []
    assert {await bench.state(free), await bench.state(in_lane)} == {TaskState.QUEUED}


class LookedError(Exception):
    """Somebody has looked into the ledger."""


async def test_what_has_a_handler_needs_no_look(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    async def looks(_: Executor, __: int) -> None:
        raise LookedError

    monkeypatch.setattr(store, "changed", looks)

    await bench.a_batch({"task_type": "noop"}, {"task_type": "test.note", "payload": {"text": "hello"}})
    await bench.submit_many([{"task_type": "noop"}] * 3)

    with pytest.raises(LookedError):
        await bench.a_task("translate")


async def test_a_type_with_a_handler_cannot_be_declared(bench: Workbench) -> None:
    with pytest.raises(DuplicateTaskTypeError, match="'noop' has a handler"):
        await declare(bench, DeclaredType(name="noop", title="Nothing"))

    assert await bench.execute("SELECT FROM task_types") == []


async def test_a_handler_that_came_after_its_type_was_declared_does_its_tasks(bench: Workbench) -> None:
    await declare(bench)
    await bench.execute(
        "INSERT INTO task_types (name, title, payload_schema) VALUES ('noop', 'No', '{\"type\": \"null\"}')"
    )

    await bench.runtime.task_types.look()

    assert bench.runtime.catalogue.find("noop").run is not None
    assert bench.runtime.catalogue.find("translate").asks is not None


@pytest.mark.parametrize("schemas", [{"payload_schema": {"if": {}}}, {"result_schema": {"$ref": "#"}}])
async def test_a_schema_that_is_not_understood_is_not_declared(bench: Workbench, schemas: dict[str, Any]) -> None:
    with pytest.raises(NoSchemaError):
        await declare(bench, DeclaredType(name="translate", title="Look", **schemas))

    assert await bench.execute("SELECT FROM task_types") == []


async def test_a_type_whose_schema_only_a_later_version_understands_is_unknown_here_and_the_others_are_not(
    bench: Workbench,
) -> None:
    await bench.execute("INSERT INTO task_types (name, title, payload_schema) VALUES ('later', 'L', '{\"if\": {}}')")
    await declare(bench)

    with capture_logs() as logs:
        assert await is_known(bench, "translate")

    assert not await is_known(bench, "later")
    assert [log["task_type"] for log in logs if log["event"] == "task_type.not_understood"] == ["later"]
