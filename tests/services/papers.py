"""Documents for tests of services: made, edited as a worker edits, and read back."""

from typing import Any

from officeplane.domain.document import Format
from officeplane.domain.outcome import Edited, Outcome
from officeplane.domain.task import ClaimedTask, Task, TaskDetails
from tests.workbench import Workbench


async def a_document(bench: Workbench, document_id: str = "plan", format: Format = Format.DOCX) -> str:
    """Make an empty document."""
    return (await bench.runtime.documents.create(document_id, format, None, None)).id


async def a_claimed_edit(bench: Workbench, task_type: str = "add_chapter", **options: Any) -> ClaimedTask:
    """Submit an edit of the document and claim it."""
    return await bench.claim_next(await an_edit(bench, task_type, **options))


async def an_edit(bench: Workbench, task_type: str = "add_chapter", **options: Any) -> Task:
    """Submit an edit of the document."""
    given = {"document_id": "plan", "payload": {"title": "One"}, **options}
    return await bench.a_task(task_type, **given)


async def carried_out(bench: Workbench, claimed: ClaimedTask) -> Outcome:
    """Run an edit as a worker does, without its settlement."""
    payload_json = await bench.worker.keeping.resolve_payload(claimed)
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
    file = await bench.runtime.documents.file(document_id, revision)
    return b"".join([block async for block in file.content])


async def head(bench: Workbench, document_id: str = "plan") -> int:
    """Return which revision a document is at."""
    return (await bench.runtime.documents.show(document_id)).revision


async def text(bench: Workbench, revision: int | None = None) -> str:
    """Return what the document says."""
    return await bench.runtime.documents.text("plan", revision)
