"""Edits that agents hand in: one revision of their task's document, or none, and then their claim stands."""

from typing import Any, Final

import pytest

from officeplane.domain.agent_claim import ClaimEndedError, RefusedEditError
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import LOCAL
from tests.holders import Agent, a_holder, claim_row, work
from tests.services.editing import a_document, edited, head, text
from tests.workbench import Workbench

TWO_EDITS = (("add_chapter", {"title": "One"}), ("add_chapter", {"title": "Two"}))


@pytest.fixture
async def agent(bench: Workbench) -> Agent:
    """An agent that is registered."""
    return await a_holder(bench)


async def test_edits_make_one_revision_by_whoever_the_task_was_asked_for(bench: Workbench, agent: Agent) -> None:
    await a_document(bench)
    task = await work(bench, document_id="plan", on_behalf_of="ann")
    claim_id = await agent.claim(task)

    answer = await agent.edit(claim_id, *TWO_EDITS)

    shown = (await bench.details(task.id)).task
    result: Any = shown.result
    assert (answer.state, await head(bench)) == (TaskState.COMPLETED, 2)
    assert (result["revision"], len(result["results"])) == (2, 2)
    assert await text(bench) == "One\nTwo"
    (row,) = await bench.execute("SELECT author, task_id::text FROM revisions WHERE revision = 2")
    assert row == {"author": "ann", "task_id": task.id}
    assert await agent.edit(claim_id, *TWO_EDITS) == answer
    assert await head(bench) == 2


IMPOSSIBLE: Final[list[list[tuple[str, object]]]] = [
    [("add_chapter", {"title": "One"}), ("delete_node", {"nodeId": "p-00000000"})],
    [("no_such_edit", {})],
    [("add_chapter", {"titel": "One"})],
    [("noop", {})],
]


@pytest.mark.parametrize(
    "edits",
    IMPOSSIBLE,
    ids=["a node that is not there", "no edit of this name", "a wrong payload", "a type that is no edit"],
)
async def test_edits_that_cannot_be_done_make_no_revision_and_the_claim_stands(
    bench: Workbench, agent: Agent, edits: list[tuple[str, object]]
) -> None:
    await a_document(bench)
    task = await work(bench, document_id="plan")
    claim_id = await agent.claim(task)

    with pytest.raises(RefusedEditError):
        await agent.edit(claim_id, *edits)

    assert (await bench.state(task), await head(bench)) == (TaskState.RUNNING, 1)
    assert (await claim_row(bench, claim_id))["ended_at"] is None
    assert (await agent.edit(claim_id, *TWO_EDITS)).state is TaskState.COMPLETED


@pytest.mark.parametrize("document", [None, "no-such-document"])
async def test_a_task_without_a_document_has_nothing_to_edit(
    bench: Workbench, agent: Agent, document: str | None
) -> None:
    claim_id = await agent.claim(await work(bench, document_id=document))

    with pytest.raises(RefusedEditError):
        await agent.edit(claim_id, *TWO_EDITS)


async def test_late_edits_follow_whatever_the_document_is_by_then(bench: Workbench, agent: Agent) -> None:
    await a_document(bench)
    task = await work(bench, document_id="plan")
    claim_id = await agent.claim(task)
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()
    await edited(bench, priority=0, payload={"title": "Zero"})

    answer = await agent.edit(claim_id, *TWO_EDITS)

    assert (answer.state, answer.late, await head(bench)) == (TaskState.COMPLETED, True, 3)
    assert await text(bench) == "Zero\nOne\nTwo"


async def test_edits_that_come_too_late_are_kept_as_they_came(bench: Workbench, agent: Agent) -> None:
    await a_document(bench)
    task = await work(bench, document_id="plan")
    claim_id = await agent.claim(task, start=True)
    await agent.beat(claim_id)
    await bench.runtime.cancellation.cancel(LOCAL, task.id, None)

    with pytest.raises(ClaimEndedError):
        await agent.edit(claim_id, ("add_chapter", {"title": "One"}))

    kept = (await claim_row(bench, claim_id))["late_result"]
    assert kept == '{"edits": [{"payload": {"title": "One"}, "taskType": "add_chapter"}]}'
    assert await head(bench) == 1
