"""Uploads: a file makes a document or becomes its next revision in its turn, and covers up nothing unseen."""

import asyncio

import pytest

from officeplane.domain.document import Format, UnsupportedDocumentError
from officeplane.domain.errors import (
    DocumentNotFoundError,
    IllegalStateError,
    PreconditionRequiredError,
    StaleRevisionError,
)
from officeplane.domain.failure import FailureKind
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import Task
from officeplane.formats.blank import blank
from officeplane.services.documents import uploads as service
from officeplane.services.documents.uploads import Put
from tests.fixtures.documents import excel
from tests.services.documents.uploading import FILE, OTHER, put, upload_of, uploading
from tests.services.editing import a_claimed_edit, an_edit, content, head, ran
from tests.support import eventually
from tests.workbench import Workbench


async def test_a_first_upload_makes_the_document_without_a_task(bench: Workbench) -> None:
    done = await put(bench)

    assert done.was_made
    assert done.task is None
    assert await content(bench) == FILE
    assert await bench.execute("SELECT FROM tasks") == []
    (first,) = await bench.runtime.documents.history(LOCAL, "plan", None, 9)
    assert (first.revision, first.author, first.task_type) == (1, "ann", None)


@pytest.mark.parametrize("data", [excel.hard(), excel.big(3000)], ids=["hard", "big"])
async def test_an_upload_is_kept_as_it_came(bench: Workbench, data: bytes) -> None:
    await put(bench, data)

    assert await content(bench) == data


async def test_two_first_uploads_at_once_make_one_document_and_none_is_covered_up(bench: Workbench) -> None:
    done = await asyncio.gather(*(put(bench, data) for data in (FILE, OTHER)), return_exceptions=True)

    (made,) = [one for one in done if isinstance(one, Put)]
    (refused,) = [one for one in done if isinstance(one, PreconditionRequiredError)]
    assert made.was_made
    assert refused.facts["revision"] == 1
    assert await head(bench) == 1


async def test_an_upload_never_covers_up_what_its_sender_may_not_know_of(bench: Workbench) -> None:
    await put(bench)
    task = await an_edit(bench, created_by="agent")
    await ran(bench, task)

    with pytest.raises(PreconditionRequiredError) as refused:
        await put(bench, OTHER)

    assert refused.value.facts == {
        "revision": 2,
        "revisions": [
            {"revision": 1, "author": "ann", "taskType": None, "taskId": None},
            {"revision": 2, "author": "agent", "taskType": "add_chapter", "taskId": task.id},
        ],
    }
    assert await bench.execute("SELECT FROM uploads") == []
    assert await head(bench) == 2


@pytest.mark.parametrize("if_match", [None, 1, 7])
async def test_what_is_sent_again_after_a_lost_answer_does_no_harm(bench: Workbench, if_match: int | None) -> None:
    await put(bench)

    again = await put(bench, if_match=if_match)

    assert again.document is not None
    assert (again.was_made, again.document.revision) == (False, 1)
    assert await bench.execute("SELECT FROM tasks") == []


async def test_what_is_sent_twice_at_once_becomes_one_revision(bench: Workbench) -> None:
    await put(bench)
    async with uploading(bench, if_match=1) as (one, first), uploading(bench, if_match=1) as (other, _):

        async def another_task() -> Task | None:
            found = await upload_of(bench)
            return None if found is None or found.id == first.id else found

        # Both have been taken in before either is carried out.
        second = await eventually(another_task, what="the other's task")
        await ran(bench, first)
        details = await ran(bench, second)

        answered = [(await request).document for request in (one, other)]

    now = await bench.runtime.documents.show(LOCAL, "plan")
    assert [(it.revision, it.sha256) for it in answered if it is not None] == [(now.revision, now.sha256)] * 2
    assert (details.task.state, details.task.result) == ("COMPLETED", {"revision": 2})
    assert await head(bench) == 2


async def test_who_means_it_covers_up_whatever_is_there_when_the_turn_comes(bench: Workbench) -> None:
    await put(bench)
    holder = await a_claimed_edit(bench)
    async with uploading(bench, FILE, service.ANY) as (request, task):
        await ran(bench, holder)
        await ran(bench, task)

        assert (await request).document is not None

    assert await head(bench) == 3
    assert await content(bench) == FILE


async def test_a_later_upload_waits_for_its_turn_and_becomes_the_next_revision(bench: Workbench) -> None:
    await put(bench)
    async with uploading(bench) as (request, task):
        await ran(bench, task)

        done = await request

    assert done.document is not None
    assert (done.was_made, done.document.revision) == (False, 2)
    assert await content(bench) == OTHER
    assert await content(bench, 1) == FILE


async def test_an_upload_to_a_busy_document_is_answered_with_its_task(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(bench)
    holder = await a_claimed_edit(bench)
    monkeypatch.setattr(service, "LANE_SECONDS", 0.05)

    done = await put(bench, OTHER, if_match=service.ANY)

    assert done.document is None
    assert done.task is not None
    assert done.task.task.state is TaskState.QUEUED
    await ran(bench, holder)
    assert (await ran(bench, done.task.task)).task.state is TaskState.COMPLETED
    assert await content(bench) == OTHER
    assert await head(bench) == 3


async def test_an_upload_that_follows_another_revision_is_refused_when_it_arrives(bench: Workbench) -> None:
    await put(bench)

    with pytest.raises(StaleRevisionError) as refused:
        await put(bench, OTHER, if_match=7)

    assert refused.value.facts == {"expected": 7, "actual": 1, "revisions": []}
    assert await bench.execute("SELECT FROM uploads") == []


async def test_an_upload_that_follows_another_revision_is_refused_when_it_runs(bench: Workbench) -> None:
    await put(bench)
    holder = await a_claimed_edit(bench, created_by="ben")
    async with uploading(bench, if_match=1) as (request, task):
        await ran(bench, holder)
        details = await ran(bench, task)

        with pytest.raises(StaleRevisionError) as refused:
            await request

    since = [{"revision": 2, "author": "ben", "taskType": "add_chapter", "taskId": holder.id}]
    assert refused.value.facts == {"expected": 1, "actual": 2, "revisions": since}
    assert details.task.error == {
        "kind": "edit_conflict",
        "message": "it was to follow revision 1, but the document is at revision 2",
        **refused.value.facts,
    }
    assert [failure.kind for failure in details.failures] == [FailureKind.EDIT_CONFLICT]
    assert await head(bench) == 2


async def test_an_upload_that_follows_the_head_is_taken(bench: Workbench) -> None:
    await put(bench)
    async with uploading(bench, if_match=1) as (request, task):
        await ran(bench, task)

        assert (await request).document is not None


async def test_an_upload_that_is_cancelled_says_so_and_not_that_it_was_stale(bench: Workbench) -> None:
    await put(bench)
    async with uploading(bench, if_match=1) as (request, task):
        await bench.runtime.cancellation.cancel(LOCAL, task.id, None)

        with pytest.raises(IllegalStateError, match="CANCELLED"):
            await request

    assert await head(bench) == 1


@pytest.mark.parametrize("if_match", [1, service.ANY])
async def test_an_upload_to_what_is_not_there_cannot_follow_anything(
    bench: Workbench, if_match: service.IfMatch
) -> None:
    with pytest.raises(DocumentNotFoundError):
        await put(bench, if_match=if_match)


async def test_a_document_keeps_its_format(bench: Workbench) -> None:
    await put(bench)

    with pytest.raises(UnsupportedDocumentError) as refused:
        await put(bench, blank(Format.XLSX, None))

    assert refused.value.reason == "other_format"


async def test_what_is_no_document_is_refused_with_its_reason(bench: Workbench) -> None:
    with pytest.raises(UnsupportedDocumentError) as refused:
        await put(bench, b"no document")

    assert refused.value.reason
    assert await bench.execute("SELECT FROM documents") == []
