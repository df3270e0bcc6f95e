"""Edits, from their claim to the revision they make, or to the reason why they make none."""

import asyncio
import hashlib
import os
import signal
from typing import Any

import pytest
from uuid_utils import uuid7

from officeplane.domain.document import Format
from officeplane.domain.errors import InvalidPayloadError
from officeplane.domain.failure import FailureKind
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.outcome import Failed
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask
from officeplane.formats.blank import blank
from officeplane.services.edits.lane_ahead import AHEAD_MAX
from officeplane.services.files.spool import spooled_bytes
from officeplane.services.settle.settlements import Fenced
from tests import contents
from tests.sandbox.processes import asleep, gone
from tests.services.conftest import AnotherBench
from tests.services.editing import (
    a_claimed_edit,
    a_document,
    an_edit,
    carried_out,
    content,
    edited,
    head,
    made,
    ran,
    stayed,
    text,
)
from tests.support import eventually
from tests.workbench import Workbench

LONG = "\n\n".join(f"Paragraph {number}, {hashlib.sha256(bytes([number])).hexdigest()}" for number in range(250)) * 4


@pytest.fixture(autouse=True)
async def plan(bench: Workbench) -> str:
    """An empty Word document at revision 1."""
    return await a_document(bench)


def failure_of(outcome: object) -> tuple[FailureKind, str]:
    assert isinstance(outcome, Failed), outcome
    return outcome.failure.kind, outcome.failure.message


async def test_an_edit_makes_the_next_revision_and_says_which(bench: Workbench) -> None:
    task = await an_edit(bench, created_by="ann")

    details = await ran(bench, task)

    assert details.task.state is TaskState.COMPLETED
    result: Any = details.task.result
    assert result["revision"] == 2
    (chapter,) = await contents.outline(bench.runtime, "plan")
    assert (chapter["id"], chapter["text"]) == (result["id"], "One")
    newest, first = await bench.runtime.documents.history(LOCAL, "plan", None, 9)
    assert (newest.revision, newest.base, newest.task_id) == (2, 1, task.id)
    assert (newest.task_type, newest.author) == ("add_chapter", "ann")
    assert (first.revision, first.base, first.task_id) == (1, 0, None)


async def test_a_revision_is_told_of_as_an_event(bench: Workbench) -> None:
    await edited(bench)

    rows = await bench.execute("SELECT kind FROM events WHERE kind = 'document.revised'")

    assert len(rows) == 2


async def followed(bench: Workbench, claimed: ClaimedTask) -> ClaimedTask:
    """Carry out an edit and settle it as a worker does that stays in the lane; return what follows."""
    (follower,) = (await stayed(bench, claimed, await carried_out(bench, claimed))).followers
    return follower


async def test_an_edit_its_revision_and_the_claim_of_the_next_are_one_commit(bench: Workbench) -> None:
    first, second = await an_edit(bench), await an_edit(bench, payload={"title": "Two"})

    follower = await followed(bench, await bench.claim_next(first))

    assert follower.id == second.id
    rows = await bench.execute("SELECT kind FROM events WHERE xid = (SELECT max(xid) FROM events) ORDER BY id")
    assert [row["kind"] for row in rows] == ["task.completed", "document.revised", "task.running"]


async def test_an_edit_that_follows_starts_from_what_the_last_one_made(bench: Workbench) -> None:
    first, second = await an_edit(bench), await an_edit(bench, payload={"title": "Two"}, created_by="bob")

    details = await ran(bench, await followed(bench, await bench.claim_next(first)))

    assert details.task.id == second.id
    assert [chapter["text"] for chapter in await contents.outline(bench.runtime, "plan")] == ["One", "Two"]
    newest = (await bench.runtime.documents.history(LOCAL, "plan", None, 1))[0]
    assert (newest.revision, newest.base, newest.author) == (3, 2, "bob")


async def test_what_follows_an_edit_that_only_a_dead_child_knew_is_left_to_its_own_turn(bench: Workbench) -> None:
    first, second, *others = [await an_edit(bench, payload={"title": str(number)}) for number in range(AHEAD_MAX + 6)]
    follower = await followed(bench, await bench.claim_next(first))
    outcome = await carried_out(bench, follower)
    (lane,) = bench.worker.editing.lookahead._lanes.values()  # pyright: ignore[reportPrivateUsage]
    await eventually(lambda: len(lane.done) == AHEAD_MAX, what="all that may be done ahead")
    await eventually(lambda: bench.runtime.sandbox._idle, what="the end of the request")  # pyright: ignore[reportPrivateUsage]
    (child,) = bench.runtime.sandbox._idle  # pyright: ignore[reportPrivateUsage]
    os.kill(child.pid, signal.SIGKILL)
    await gone(child.pid)

    # The lookahead goes on, from pieces that are nowhere before they are settled.
    await bench.settle(follower, outcome)
    states = [(await ran(bench, task)).task.state for task in others]

    assert follower.id == second.id
    assert states == [TaskState.COMPLETED] * len(others)


async def test_an_edit_that_follows_is_under_its_own_conditions(bench: Workbench) -> None:
    first = await an_edit(bench)
    await an_edit(bench, payload={"title": "Two"}, base_revision=1)

    details = await ran(bench, await followed(bench, await bench.claim_next(first)))

    assert details.task.state is TaskState.FAILED
    assert details.failures[-1].kind == FailureKind.EDIT_CONFLICT


async def test_an_edit_that_followed_and_is_overtaken_by_the_deletion_of_its_document_is_no_revision(
    bench: Workbench,
) -> None:
    first, second = await an_edit(bench), await an_edit(bench, payload={"title": "Two"})
    follower = await followed(bench, await bench.claim_next(first))

    await bench.runtime.documents.delete(LOCAL, "plan")
    await bench.settle(follower, await carried_out(bench, follower))

    assert await bench.state(second) is TaskState.CANCELLED
    assert await bench.execute("SELECT FROM revisions WHERE document_id = 'plan'") == []


async def test_every_revision_can_be_read_for_ever(bench: Workbench) -> None:
    for title in ("One", "Two", "Three"):
        await edited(bench, payload={"title": title})

    history = await bench.runtime.documents.history(LOCAL, "plan", None, 9)

    for one in history:
        data = await content(bench, one.revision)
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (one.sha256, one.size)
    assert "Three" not in await text(bench, 3)
    assert "Two" in await text(bench, 3)


async def test_an_edit_of_an_older_head_is_handed_back_uncharged_and_done_again(bench: Workbench) -> None:
    claimed = await a_claimed_edit(bench)
    stale = await carried_out(bench, claimed)
    # Nobody may, while the lane is held: what if somebody does all the same?
    await bench.execute("UPDATE documents SET head = head")
    await _revise_behind_its_back(bench)

    await bench.settle(claimed, stale)

    details = await bench.details(claimed.id)
    assert (details.task.state, details.task.attempts_charged) == (TaskState.QUEUED, 0)
    assert await head(bench) == 2
    assert (await ran(bench, details.task)).task.state is TaskState.COMPLETED
    assert await head(bench) == 3


async def test_a_fenced_edit_writes_no_revision(bench: Workbench) -> None:
    lost = await a_claimed_edit(bench)
    outcome = await carried_out(bench, lost)
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()

    settled = await bench.settle(lost, outcome)

    assert isinstance(settled, Fenced)
    assert await head(bench) == 1
    assert len(await bench.execute("SELECT FROM revisions")) == 1


async def test_two_attempts_at_one_edit_make_one_revision(bench: Workbench) -> None:
    lost = await a_claimed_edit(bench)
    late = await carried_out(bench, lost)
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()
    again = await bench.claim_next((await bench.details(lost.id)).task)

    assert made(await carried_out(bench, again)).revision.sha256 == made(late).revision.sha256
    await ran(bench, again)
    assert isinstance(await bench.settle(lost, late), Fenced)

    assert await head(bench) == 2


async def test_an_edit_that_was_cancelled_while_it_ran_has_no_revision(bench: Workbench) -> None:
    claimed = await a_claimed_edit(bench)
    outcome = await carried_out(bench, claimed)
    await bench.runtime.cancellation.cancel(LOCAL, claimed.id, None)

    await bench.settle(claimed, outcome)

    assert await bench.state(claimed) is TaskState.CANCELLED
    assert await head(bench) == 1


async def test_a_stale_edit_that_was_cancelled_does_not_wait_again(bench: Workbench) -> None:
    claimed = await a_claimed_edit(bench)
    outcome = await carried_out(bench, claimed)
    await _revise_behind_its_back(bench)
    await bench.runtime.cancellation.cancel(LOCAL, claimed.id, None)

    await bench.settle(claimed, outcome)

    assert await bench.state(claimed) is TaskState.CANCELLED


async def test_an_edit_of_a_document_that_was_deleted_meanwhile_ends_and_makes_nothing(bench: Workbench) -> None:
    claimed = await a_claimed_edit(bench)
    outcome = await carried_out(bench, claimed)
    await bench.runtime.documents.delete(LOCAL, "plan")

    await bench.settle(claimed, outcome)

    assert await bench.state(claimed) is TaskState.CANCELLED
    assert await bench.execute("SELECT FROM revisions") == []


async def test_an_edit_whose_document_goes_while_it_is_read_is_a_permanent_failure(
    bench: Workbench, another_bench: AnotherBench
) -> None:
    claimed = await a_claimed_edit(bench)
    async with another_bench() as cold:
        reader = cold.worker.editing.reader(claimed)
        await reader.content()
        await bench.runtime.documents.delete(LOCAL, "plan")

        outcome = await cold.worker.editing.apply(reader, [("add_section", '{"title": "x"}')])

    kind, message = failure_of(outcome)
    assert kind is FailureKind.PERMANENT
    assert "plan" in message


@pytest.mark.parametrize(
    ("task_type", "payload", "complaint"),
    [
        ("delete_page", {"pageId": "no-such"}, "no-such"),
        ("replace_text", {"find": "nowhere", "replace": "x", "expectedCount": 2}, "2"),
    ],
)
async def test_an_edit_that_can_never_work_is_not_tried_again(
    bench: Workbench, task_type: str, payload: dict[str, object], complaint: str
) -> None:
    details = await ran(bench, await an_edit(bench, task_type, payload=payload))

    assert details.task.state is TaskState.FAILED
    assert [failure.kind for failure in details.failures] == [FailureKind.INVALID_EDIT]
    assert complaint in details.failures[0].message
    assert await head(bench) == 1


async def test_a_revert_brings_the_bytes_of_an_earlier_revision_back(bench: Workbench) -> None:
    await edited(bench)
    await edited(bench, payload={"title": "Two"})

    reverted = await bench.runtime.documents.revert(LOCAL, "plan", 2, "ann")
    details = await ran(bench, reverted.task)

    assert details.task.result == {"revertedTo": 2, "revision": 4}
    assert await content(bench) == await content(bench, 2)
    newest = (await bench.runtime.documents.history(LOCAL, "plan", None, 1))[0]
    assert (newest.task_type, newest.author, newest.note) == ("revert", "ann", "as of revision 2")
    assert (await edited(bench))["revision"] == 5


@pytest.mark.parametrize("number", [7, 2**53])
async def test_a_revert_to_what_never_was_cannot_work(bench: Workbench, number: int) -> None:
    task = await an_edit(bench, "revert", payload={"toRevision": number})

    details = await ran(bench, task)

    assert [failure.kind for failure in details.failures] == [FailureKind.INVALID_EDIT]


@pytest.mark.parametrize(
    ("task_type", "payload"),
    [("revert", {"toRevision": 2**63}), ("revert", {"toRevision": 0}), ("upload", {"uploadId": "no-uuid"})],
)
async def test_what_the_ledger_could_not_even_look_for_is_refused_at_once(
    bench: Workbench, task_type: str, payload: dict[str, object]
) -> None:
    with pytest.raises(InvalidPayloadError):
        await an_edit(bench, task_type, payload=payload)


async def test_an_upload_that_nobody_sent_is_refused(bench: Workbench) -> None:
    details = await ran(bench, await an_edit(bench, "upload", payload={"uploadId": str(uuid7())}))

    assert [failure.kind for failure in details.failures] == [FailureKind.PERMANENT]


async def test_later_edits_of_a_batch_use_what_earlier_ones_made(bench: Workbench) -> None:
    parent, chapter, section = await bench.a_batch(
        {"key": "a", "task_type": "add_chapter", "payload": {"title": "One"}},
        {"task_type": "add_section", "payload": {"title": "Under it", "chapterId": {"$ref": "a.id"}}},
        document_id="plan",
    )

    await ran(bench, chapter)
    await ran(bench, section)

    assert await bench.state(parent) is TaskState.COMPLETED
    (node,) = await contents.outline(bench.runtime, "plan")
    assert [below["text"] for below in node["children"]] == ["Under it"]
    assert await head(bench) == 3


async def test_a_reference_may_stand_within_a_value_that_has_several_kinds(bench: Workbench) -> None:
    await bench.runtime.documents.create(LOCAL, "sheets", Format.XLSX, None, None)
    _, first, second = await bench.a_batch(
        {"key": "a", "task_type": "set_cells", "payload": {"sheet": "Sheet1", "cells": {"A1": 1}}},
        {"task_type": "set_cells", "payload": {"sheet": "Sheet1", "cells": {"B1": {"formula": {"$ref": "a.id"}}}}},
        document_id="sheets",
    )
    await ran(bench, first)

    await ran(bench, second)

    assert "=sheet-1" in await contents.text(bench.runtime, "sheets")


async def test_a_reference_to_what_an_edit_does_not_take_cannot_work(bench: Workbench) -> None:
    _, chapter, section = await bench.a_batch(
        {"key": "a", "task_type": "add_chapter", "payload": {"title": "One"}},
        {"task_type": "add_section", "payload": {"title": "Under it", "chapterId": {"$ref": "a.revision"}}},
        document_id="plan",
    )
    await ran(bench, chapter)

    details = await ran(bench, section)

    assert [(failure.kind, failure.message) for failure in details.failures] == [
        (FailureKind.INVALID_EDIT, "chapterId: Input should be a valid string")
    ]


async def test_a_child_of_the_sandbox_that_dies_is_a_crash_of_the_attempt(
    bench: Workbench,
) -> None:
    await edited(bench)
    claimed = await a_claimed_edit(bench)
    sandbox = bench.runtime.sandbox
    idle = [child.pid for child in sandbox._idle]  # pyright: ignore[reportPrivateUsage]
    for child in idle:
        os.kill(child, signal.SIGSTOP)
        await asleep(child)
    running = asyncio.ensure_future(carried_out(bench, claimed))
    await eventually(lambda: len(sandbox._idle) < len(idle), what="the request in a child's hands")  # pyright: ignore[reportPrivateUsage]
    for child in idle:
        os.kill(child, signal.SIGKILL)

    outcome = await running

    assert isinstance(outcome, Failed)
    assert outcome.killed_its_child
    assert failure_of(outcome) == (
        FailureKind.CRASH,
        "the process that had the document open was ended by SIGKILL",
    )


async def test_a_document_with_the_bytes_of_another_is_whole_after_its_edits(bench: Workbench) -> None:
    await edited(bench, "write_page", payload={"content": LONG})
    data = await content(bench)
    async with spooled_bytes(data) as spool:
        await bench.runtime.documents.put(LOCAL, "copy", spool, None, None)

    # The child has these bytes open already, as another document's, cut in another way.
    await edited(bench, document_id="copy", payload={"title": "Two"})

    copy = await content(bench, document_id="copy")
    newest = (await bench.runtime.documents.history(LOCAL, "copy", None, 1))[0]
    assert (hashlib.sha256(copy).hexdigest(), len(copy)) == (newest.sha256, newest.size)


async def test_a_document_that_came_back_with_its_old_bytes_is_whole_after_its_edits(bench: Workbench) -> None:
    await edited(bench, "write_page", payload={"content": LONG})
    data = await content(bench)
    await bench.runtime.documents.delete(LOCAL, "plan")
    async with spooled_bytes(data) as spool:
        await bench.runtime.documents.put(LOCAL, "plan", spool, None, None)

    await edited(bench)

    newest = (await bench.runtime.documents.history(LOCAL, "plan", None, 1))[0]
    assert hashlib.sha256(await content(bench)).hexdigest() == newest.sha256


async def test_an_author_that_no_file_can_hold_does_not_spoil_the_edit(bench: Workbench) -> None:
    await edited(bench, "write_page", payload={"content": "A page."})

    task = await an_edit(bench, "add_comment", payload={"find": "A page", "text": "Good."}, created_by="a\x01b\ufffe")
    details = await ran(bench, task)

    assert details.task.state is TaskState.COMPLETED, details.failures


async def test_edits_of_many_documents_run_at_once(bench: Workbench) -> None:
    names = [f"many-{number}" for number in range(4)]
    for name in names:
        await a_document(bench, name, Format.XLSX)
    tasks = [
        await an_edit(bench, "set_cells", document_id=name, payload={"sheet": "Sheet1", "cells": {"A1": 1}})
        for name in names
    ]
    claimed = await bench.claim(*tasks)

    outcomes = await asyncio.gather(*(carried_out(bench, one) for one in claimed))

    for one, outcome in zip(claimed, outcomes, strict=True):
        await bench.settle(one, outcome)
    assert [await head(bench, name) for name in names] == [2] * 4


async def _revise_behind_its_back(bench: Workbench) -> None:
    """Have the document be at another revision, without its lane."""
    async with spooled_bytes(blank(Format.DOCX, "Another")) as spool:
        upload = await spool.keep(bench.runtime.ledger, "plan", None)
    await bench.execute(
        "INSERT INTO revisions (document_id, revision, base, sha256, size, recipe) "
        "SELECT 'plan', head + 1, head, $1, $2, $3 FROM documents WHERE id = 'plan'",
        upload.sha256,
        upload.size,
        upload.recipe.encode(),
    )
    await bench.execute("UPDATE documents SET head = head + 1 WHERE id = 'plan'")
