"""Conflicts: an edit that is based on an older revision is rejected, rebased or forced, as it asks."""

from typing import Any

import pytest

from officeplane.domain.document import Format
from officeplane.domain.failure import FailureKind
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import LOCAL
from tests.services.editing import (
    a_document,
    an_edit,
    edited,
    head,
    ran,
    text,
)
from tests.workbench import Workbench


@pytest.fixture(autouse=True)
async def plan(bench: Workbench) -> str:
    """An empty Word document at revision 1."""
    return await a_document(bench)


async def test_a_base_that_is_the_head_is_no_conflict(bench: Workbench) -> None:
    await edited(bench)

    result = await edited(bench, base_revision=2)

    assert result["revision"] == 3


async def test_an_edit_based_on_an_older_revision_is_rejected_and_told_who_changed_what(bench: Workbench) -> None:
    other = await an_edit(bench, created_by="ann")
    await ran(bench, other)

    details = await ran(bench, await an_edit(bench, base_revision=1))

    assert details.task.state is TaskState.FAILED
    assert details.task.error == {
        "kind": "edit_conflict",
        "message": "it was based on revision 1, but the document is at revision 2",
        "expected": 1,
        "actual": 2,
        "revisions": [{"revision": 2, "author": "ann", "taskType": "add_chapter", "taskId": other.id}],
    }
    assert await head(bench) == 2


async def test_conflicts_of_one_cause_are_alike_however_much_was_changed_since(bench: Workbench) -> None:
    fingerprints: set[str] = set()
    for _ in range(3):
        await edited(bench)
        task = await an_edit(bench, base_revision=1)
        await ran(bench, task)
        rows = await bench.execute("SELECT fingerprint FROM task_failures WHERE task_id = $1::uuid", task.id)
        fingerprints |= {row["fingerprint"] for row in rows}

    assert len(fingerprints) == 1


async def test_an_edit_based_on_a_revision_to_come_is_rejected(bench: Workbench) -> None:
    for action in ("reject", "rebase"):
        details = await ran(bench, await an_edit(bench, base_revision=9, on_conflict=action))

        assert [(failure.kind, failure.message) for failure in details.failures] == [
            (FailureKind.EDIT_CONFLICT, "it was based on revision 9, but the document is only at revision 1")
        ]


async def test_an_edit_that_is_to_be_forced_goes_through(bench: Workbench) -> None:
    await edited(bench)

    assert (await edited(bench, base_revision=1, on_conflict="force"))["revision"] == 3


async def test_an_edit_is_rebased_if_what_it_aims_at_is_unchanged(bench: Workbench) -> None:
    page = (await edited(bench, "write_page", payload={"content": "Mine."}))["id"]
    await edited(bench, "write_page", payload={"content": "Another's."})

    result = await edited(
        bench, "edit_page", payload={"pageId": page, "content": "Better."}, base_revision=2, on_conflict="rebase"
    )

    assert result["revision"] == 4
    assert "Better." in await text(bench)
    assert "Another's." in await text(bench)


async def test_an_edit_is_not_rebased_over_a_change_of_what_it_aims_at(bench: Workbench) -> None:
    page = (await edited(bench, "write_page", payload={"content": "Mine."}))["id"]
    await edited(bench, "edit_page", payload={"pageId": page, "content": "Theirs."}, created_by="ben")

    task = await an_edit(
        bench,
        "edit_page",
        payload={"pageId": page, "content": "Better."},
        base_revision=2,
        on_conflict="rebase",
    )
    error: Any = (await ran(bench, task)).task.error

    assert (error["kind"], error["changed"]) == (FailureKind.EDIT_CONFLICT, [page])
    assert [(one["revision"], one["author"], one["taskType"]) for one in error["revisions"]] == [
        (3, "ben", "edit_page")
    ]
    assert "Theirs." in await text(bench)


@pytest.mark.parametrize("format", Format)
async def test_properties_are_rebased_over_others_and_not_over_themselves(bench: Workbench, format: Format) -> None:
    await bench.runtime.documents.create(LOCAL, "mine", format, None, None)
    given = {"document_id": "mine", "base_revision": 1, "on_conflict": "rebase"}
    await edited(bench, "set_properties", document_id="mine", payload={"author": "Ben"}, created_by="ben")

    await edited(bench, "set_properties", payload={"title": "Mine"}, **given)
    task = await an_edit(bench, "set_properties", payload={"author": "Ann"}, **given)
    error: Any = (await ran(bench, task)).task.error

    assert (error["kind"], error["changed"]) == (FailureKind.EDIT_CONFLICT, ["properties.author"])


async def test_an_edit_that_cannot_be_compared_says_why_in_words(bench: Workbench) -> None:
    await edited(bench)
    task = await an_edit(bench, base_revision=1, on_conflict="rebase")
    await bench.execute("UPDATE tasks SET payload = '{\"title\": 5}' WHERE id = $1::uuid", task.id)

    error: Any = (await ran(bench, task)).task.error

    assert error["kind"] == FailureKind.EDIT_CONFLICT
    assert error["message"].startswith("it cannot be compared with revision 1: title: ")
    assert "{" not in error["message"]
