"""Documents for tests of services: made, edited as a worker edits, and read back."""

import asyncio
from typing import Any, NamedTuple

from officeplane.domain.document import Format
from officeplane.domain.ids import TaskId
from officeplane.domain.outcome import Edited, Outcome
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask, Task, TaskDetails
from tests import contents
from tests.workbench import Workbench
from tests.workers.settling import Finished, a_settler


async def a_document(bench: Workbench, document_id: str = "plan", format: Format = Format.DOCX) -> str:
    """Make an empty document."""
    return (await bench.runtime.documents.create(LOCAL, document_id, format, None, None)).id


async def a_claimed_edit(bench: Workbench, task_type: str = "add_chapter", **options: Any) -> ClaimedTask:
    """Submit an edit of the document and claim it."""
    return await bench.claim_next(await an_edit(bench, task_type, **options))


async def an_edit(bench: Workbench, task_type: str = "add_chapter", **options: Any) -> Task:
    """Submit an edit of the document."""
    given = {"document_id": "plan", "payload": {"title": "One"}, **options}
    return await bench.a_task(task_type, **given)


async def carried_out(bench: Workbench, claimed: ClaimedTask) -> Outcome:
    """Run an edit as a worker does, without its settlement."""
    payload_json = await bench.worker.leases.resolve_payload(claimed)
    return await bench.worker.editing.run(claimed, payload_json)


async def ran(bench: Workbench, task: Task | ClaimedTask) -> TaskDetails:
    """Claim an edit, carry it out and settle it, as a worker does, and return the task as it is then."""
    claimed = await bench.claim_next(task) if isinstance(task, Task) else task
    await bench.settle(claimed, await carried_out(bench, claimed))
    return await bench.details(claimed.id)


async def edited(bench: Workbench, task_type: str = "add_chapter", **options: Any) -> dict[str, Any]:
    """Have an edit done, and return its result."""
    details = await ran(bench, await an_edit(bench, task_type, **options))
    result: Any = details.task.result
    assert result is not None, details.failures
    return dict(result)


def made(outcome: Outcome) -> Edited:
    """Return the outcome, which must be a revision."""
    assert isinstance(outcome, Edited), outcome
    return outcome


async def content(bench: Workbench, revision: int | None = None, document_id: str = "plan") -> bytes:
    """Return a document's file."""
    file = await bench.runtime.documents.file(LOCAL, document_id, revision)
    return b"".join([block async for block in file.content])


async def head(bench: Workbench, document_id: str = "plan") -> int:
    """Return which revision a document is at."""
    return (await bench.runtime.documents.show(LOCAL, document_id)).revision


async def text(bench: Workbench, revision: int | None = None) -> str:
    """Return what the document says."""
    return await contents.text(bench.runtime, "plan", revision)


class Stay(NamedTuple):
    """What a worker's settler made of an attempt: which edits ended with it, and which are claimed behind it."""

    ended_ahead: list[TaskId]
    followers: list[ClaimedTask]


async def stayed(bench: Workbench, claimed: ClaimedTask, outcome: Outcome) -> Stay:
    """Have a worker's settler end an attempt and go on in the lane of its document; return when all is told."""
    finished = Finished()
    async with a_settler(bench, finished) as settler:
        settler.add(claimed, outcome)
        await finished.all(claimed)
        await settler.wait_told()
    return Stay(await _ended_with(bench, claimed), finished.followed_by)


async def _ended_with(bench: Workbench, claimed: ClaimedTask) -> list[TaskId]:
    """Return the tasks that completed in the same transaction as this one, in their order."""
    rows = await bench.execute(
        "SELECT id FROM tasks WHERE id <> $1 AND id = ANY("
        "  SELECT unnest(task_ids) FROM events WHERE kind = 'task.completed' AND xid = ("
        "    SELECT xid FROM events WHERE kind = 'task.completed' AND $1 = ANY(task_ids))) ORDER BY seq",
        claimed.id,
    )
    return [TaskId(str(row["id"])) for row in rows]


def lookahead_tasks(document_id: str = "plan") -> list[asyncio.Task[Any]]:
    """Return the asyncio tasks that do edits of a document before their turn."""
    return [task for task in asyncio.all_tasks() if task.get_name() == f"lookahead.{document_id}"]


async def at_rest(document_id: str = "plan") -> None:
    """Return once everything is done that is to be done before its turn."""
    while going := lookahead_tasks(document_id):
        _, still = await asyncio.wait(going, timeout=20)
        assert not still, f"{document_id} does not come to rest"


def done_ahead(bench: Workbench, claimed: ClaimedTask, outcome: Outcome) -> list[TaskId]:
    """Return the edits that are done and would end with this one, in their order."""
    assert claimed.document_id is not None
    ahead, _ = bench.worker.editing.lookahead.behind({claimed.id: made(outcome).revision}, {claimed.document_id: 99})
    return [edit.task_id for edit in ahead]
