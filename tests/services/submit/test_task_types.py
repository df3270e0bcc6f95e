"""Declared types: what the ledger says of task types is known wherever tasks are taken in."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from officeplane.domain.dead_letter import Decision, Ruling
from officeplane.domain.declared_type import SCHEMA_BYTES_MAX, DeclaredType, TypeDefaults
from officeplane.domain.demand import AgentTerms
from officeplane.domain.errors import (
    InvalidPayloadError,
    InvalidRequestError,
    OutsideError,
    TaskTypeInUseError,
    TaskTypeNotFoundError,
    TaskTypeTakenError,
    UnknownTaskTypeError,
)
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import LOCAL, Principal, Scope
from officeplane.domain.request import DagRequest
from officeplane.domain.retry import RetryPolicy
from officeplane.services.submit import task_types
from officeplane.services.submit.task_types import LOOK_SECONDS
from officeplane.store import task_types as store
from officeplane.store.connection import Executor
from tests.callers import a_caller
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


def defaulting(**given: Any) -> TypeDefaults:
    return TypeDefaults.model_validate(given, by_alias=False, by_name=True)


async def is_known(bench: Workbench, name: str) -> bool:
    """Whether a task of this type is taken in."""
    try:
        await bench.a_task(name, payload={"topic": "owls"})
    except UnknownTaskTypeError:
        return False
    return True


async def declare(bench: Workbench, declared: DeclaredType = TRANSLATE) -> None:
    await bench.runtime.task_types.declare(LOCAL, declared)


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
    retry = RetryPolicy(initial_seconds=9)
    defaults = defaulting(max_retries=7, timeout_seconds=12, retry=retry)
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
    for name in ("noop", "replace_text", "code"):
        with pytest.raises(TaskTypeTakenError, match=f"'{name}' is built in or has a handler"):
            await declare(bench, DeclaredType(name=name, title="Nothing"))

    assert await bench.execute("SELECT FROM task_types") == []


async def test_a_handler_that_came_after_its_type_was_declared_does_its_tasks(bench: Workbench) -> None:
    await declare(bench)
    await bench.execute(
        "INSERT INTO task_types (name, title, payload_schema) VALUES ('noop', 'No', '{\"type\": \"null\"}')"
    )

    await bench.runtime.task_types.look()

    assert bench.runtime.catalogue.find("noop").run is not None
    assert bench.runtime.catalogue.find("translate").asks is not None


@pytest.mark.parametrize(
    ("schemas", "field"),
    [
        ({"payload_schema": {"if": {}}}, "payloadSchema"),
        ({"result_schema": {"$ref": "#"}}, "resultSchema"),
        ({"payload_schema": {"description": "x" * SCHEMA_BYTES_MAX}}, "payloadSchema"),
    ],
)
async def test_a_schema_that_is_not_understood_or_too_large_is_not_declared(
    bench: Workbench, schemas: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        await declare(bench, DeclaredType(name="translate", title="Look", **schemas))

    assert [wrong.field for wrong in refused.value.errors] == [field]
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


async def test_a_type_whose_defaults_only_a_later_version_understands_is_unknown_here_and_the_others_are_not(
    bench: Workbench,
) -> None:
    await bench.execute("INSERT INTO task_types (name, title, defaults) VALUES ('later', 'L', '{\"hurry\": true}')")
    await declare(bench)

    with capture_logs() as logs:
        assert await is_known(bench, "translate")

    assert not await is_known(bench, "later")
    assert [log["task_type"] for log in logs if log["event"] == "task_type.not_understood"] == ["later"]


async def test_its_tasks_ask_of_agents_what_it_says_by_default(bench: Workbench) -> None:
    asks = {"required_capabilities": ["languages"], "models": ["large"], "fallback_models": ["small"]}
    defaults = defaulting(**asks, require_decision_report=True, output={"type": "markdown"})
    await declare(bench, DeclaredType(name="translate", title="Say", defaults=defaults))

    task = await bench.a_task("translate")
    other = await bench.a_task("translate", models=[], require_decision_report=False, output={"type": "json"})

    assert task.demand is not None
    assert other.demand is not None
    assert task.demand[2:5] == (("languages",), ("large",), ("small",))
    assert other.demand[2:5] == (("languages",), (), ("small",))
    assert (task.agent_terms, other.agent_terms) == (
        AgentTerms(require_decision_report=True, output="markdown"),
        AgentTerms(output="json"),
    )


async def test_declaring_tells_whether_it_is_new_and_is_kept_in_the_audit(bench: Workbench) -> None:
    was_new = [
        await bench.runtime.task_types.declare(LOCAL, TRANSLATE),
        await bench.runtime.task_types.declare(
            LOCAL, DeclaredType(name="translate", title="Anew", defaults=defaulting(models=["large"]))
        ),
    ]
    await bench.runtime.task_types.remove(LOCAL, "translate")

    rows = await bench.execute("SELECT action, target, before::text, after::text FROM audit ORDER BY seq")
    assert was_new == [True, False]
    assert [(row["action"], row["target"]) for row in rows] == [
        ("type.declare", "translate"),
        ("type.declare", "translate"),
        ("type.remove", "translate"),
    ]
    assert (rows[0]["before"], rows[2]["after"]) == (None, None)
    assert rows[0]["after"] == rows[1]["before"] != rows[1]["after"] == rows[2]["before"]
    assert '"models": ["large"]' in rows[1]["after"]


async def test_a_type_with_unfinished_tasks_in_any_space_is_not_removed(bench: Workbench) -> None:
    await declare(bench)
    elsewhere = bench.called_by(a_caller(Scope.ADMIN, space="acme"))
    task = await elsewhere.a_task("translate", payload={"topic": "owls"})

    with pytest.raises(TaskTypeInUseError):
        await bench.runtime.task_types.remove(LOCAL, "translate")
    assert await is_known(bench, "translate")
    await bench.runtime.cancellation.cancel(elsewhere.caller, task.id, None)
    await bench.execute("DELETE FROM tasks WHERE space = 'default'")
    await bench.runtime.task_types.remove(LOCAL, "translate")

    assert not await is_known(bench, "translate")
    assert (await elsewhere.details(task.id)).task.state is TaskState.CANCELLED


async def test_a_type_that_waits_behind_others_is_in_use_too(bench: Workbench) -> None:
    await declare(bench)
    await bench.a_batch({"task_type": "noop"}, {"task_type": "translate", "payload": {"topic": "owls"}})

    with pytest.raises(TaskTypeInUseError):
        await bench.runtime.task_types.remove(LOCAL, "translate")


@pytest.mark.parametrize("name", ["unheard-of", "noop", "code"])
async def test_what_is_not_declared_cannot_be_removed(bench: Workbench, name: str) -> None:
    with pytest.raises(TaskTypeNotFoundError):
        await bench.runtime.task_types.remove(LOCAL, name)


@pytest.mark.parametrize(
    "caller",
    [
        a_caller(Scope.ADMIN, space="acme"),
        a_caller(Scope.CONTROL),
        a_caller(Scope.ADMIN, task_types=("translate",)),
    ],
    ids=["of another space", "no admin", "narrowed"],
)
async def test_types_are_declared_and_removed_by_who_has_to_do_with_all_spaces(
    bench: Workbench, caller: Principal
) -> None:
    with pytest.raises(OutsideError):
        await bench.runtime.task_types.declare(caller, TRANSLATE)
    await declare(bench)
    with pytest.raises(OutsideError):
        await bench.runtime.task_types.remove(caller, "translate")

    assert len(await bench.execute("SELECT FROM task_types")) == 1


async def test_as_many_types_are_declared_as_every_process_can_know(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_types, "DECLARED_MAX", 1)
    await declare(bench)

    with pytest.raises(InvalidRequestError, match="no more may be"):
        await declare(bench, DeclaredType(name="another", title="Another"))
    await declare(bench, DeclaredType(name="translate", title="Anew"))

    assert [row["title"] for row in await bench.execute("SELECT title FROM task_types")] == ["Anew"]


async def test_what_postgres_cannot_keep_is_refused(bench: Workbench) -> None:
    with pytest.raises(InvalidRequestError, match="Postgres refuses"):
        await declare(bench, DeclaredType(name="translate", title="T", payload_schema={"description": "a\x00b"}))


async def test_two_who_change_what_is_declared_wait_for_each_other(bench: Workbench, other: Workbench) -> None:
    many = [DeclaredType(name=f"t{n}", title="T") for n in range(10)]

    await asyncio.gather(
        *(one.runtime.task_types.declare(LOCAL, declared) for one in (bench, other) for declared in many)
    )

    assert len(await bench.execute("SELECT FROM task_types")) == 10
    firsts = await bench.execute("SELECT count(*) AS n FROM audit WHERE action = 'type.declare' AND before IS NULL")
    assert firsts[0]["n"] == 10
