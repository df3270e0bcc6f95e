"""`copy_slide`: what is taken from another document is what whoever asks may read, and the same in every attempt."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from officeplane.domain.document import Format
from officeplane.domain.errors import (
    DocumentNotFoundError,
    ForbiddenError,
    InvalidReferenceError,
    InvalidRequestError,
    RevisionNotFoundError,
)
from officeplane.domain.failure import FailureKind
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.outcome import Failed
from officeplane.domain.principal import LOCAL, Kind, Principal, Scope
from officeplane.domain.request import TaskRequest
from officeplane.domain.space import Space
from officeplane.services.submit.intake import other_payload
from tests import contents
from tests.services.editing import a_document, an_edit, carried_out, edited, head, made, ran, text
from tests.workbench import Workbench


def copying(slide_id: str, **source: object) -> dict[str, Any]:
    return {"from": {"documentId": "deck", "slideId": slide_id, **source}}


@pytest.fixture(autouse=True)
async def slide(bench: Workbench) -> str:
    """A slide of another presentation, at revision 2 of that, beside the empty one that is edited."""
    await a_document(bench, format=Format.PPTX)
    await a_document(bench, "deck", Format.PPTX)
    result = await edited(bench, "add_slide", document_id="deck", payload={"title": "Sales", "notes": "Slowly"})
    return str(result["id"])


async def renamed(bench: Workbench, slide_id: str) -> None:
    """Have the slide say something else, at revision 3 of its presentation."""
    await edited(bench, "edit_slide", document_id="deck", payload={"slideId": slide_id, "title": "Costs"})


async def test_a_slide_of_another_presentation_comes_with_its_notes(bench: Workbench, slide: str) -> None:
    result = await edited(bench, "copy_slide", payload=copying(slide))

    assert result["revision"] == 2
    assert (await text(bench)).splitlines() == ["Sales", "Slowly"]
    assert await head(bench, "deck") == 2
    (node,) = await contents.outline(bench.runtime, "plan")
    assert node["id"] == result["id"]


async def test_the_revision_is_that_of_the_moment_in_which_the_task_was_taken_in(bench: Workbench, slide: str) -> None:
    task = await an_edit(bench, "copy_slide", payload=copying(slide))
    await renamed(bench, slide)
    claimed = await bench.claim_next(task)

    first = made(await carried_out(bench, claimed))
    again = made(await carried_out(bench, claimed))

    assert task.payload == copying(slide, revision=2)
    assert first.revision.sha256 == again.revision.sha256
    await bench.settle(claimed, first)
    assert "Sales" in await text(bench)


async def test_an_earlier_revision_brings_back_a_slide_that_a_presentation_had_once(
    bench: Workbench, slide: str
) -> None:
    await edited(bench, "delete_slide", document_id="deck", payload={"slideId": slide})

    result = await edited(bench, "copy_slide", document_id="deck", payload=copying(slide, revision=2))

    assert result["id"] != slide
    assert "Sales" in await contents.text(bench.runtime, "deck")


async def test_an_atomic_batch_copies_slides_and_goes_on_with_them(bench: Workbench, slide: str) -> None:
    batch, *_ = await bench.a_batch(
        {"key": "one", "task_type": "copy_slide", "payload": copying(slide)},
        {"task_type": "edit_slide", "payload": {"slideId": {"$ref": "one.id"}, "title": "Seen"}},
        document_id="plan",
        atomic=True,
    )
    claimed = await bench.claim_next(batch)

    await bench.settle(claimed, await bench.worker.editing.run_batch(claimed))

    assert await bench.state(batch) is TaskState.COMPLETED
    assert (await text(bench)).splitlines() == ["Seen", "Slowly"]


async def test_slides_are_copied_behind_other_edits_of_the_lane(bench: Workbench, slide: str) -> None:
    tasks = [
        await an_edit(bench, "add_slide", payload={"title": "First"}),
        await an_edit(bench, "copy_slide", payload=copying(slide)),
        await an_edit(bench, "add_slide", payload={"title": "Last"}),
    ]

    for task in tasks:
        assert (await ran(bench, task)).task.state is TaskState.COMPLETED

    assert (await text(bench)).splitlines() == ["First", "Sales", "Slowly", "Last"]


async def test_a_preview_shows_the_slide_and_copies_nothing(bench: Workbench, slide: str) -> None:
    request = TaskRequest.from_python({"task_type": "copy_slide", "payload": copying(slide)})

    seen = await bench.runtime.documents.preview(LOCAL, "plan", request)

    assert "Sales" in str(seen["diff"])
    assert await head(bench) == 1


NOBODY = Principal("nobody", Kind.KEY, frozenset((Scope.EDIT, Scope.READ)))


@pytest.mark.parametrize(
    ("caller", "error"),
    [
        (replace(NOBODY, documents=("plan",)), DocumentNotFoundError),
        (replace(NOBODY, scopes=frozenset((Scope.EDIT,))), ForbiddenError),
    ],
    ids=["narrowed", "may not read"],
)
async def test_who_may_not_read_a_document_copies_nothing_from_it(
    bench: Workbench, slide: str, caller: Principal, error: type[Exception]
) -> None:
    request = {"task_type": "copy_slide", "document_id": "plan", "payload": copying(slide)}
    child = {"task_type": "copy_slide", "payload": copying(slide)}

    for options in (request, {"document_id": "plan", "atomic": True, "children": [child]}):
        with pytest.raises(error):
            await bench.submit(options, caller)
        with pytest.raises(error):
            await bench.runtime.submission.submit_many(caller, [TaskRequest.from_python(options)])
    with pytest.raises(error):
        await bench.runtime.documents.preview(caller, "plan", TaskRequest.from_python(request))


async def test_a_document_of_another_space_is_not_there(bench: Workbench, slide: str) -> None:
    other = replace(LOCAL, space=Space("acme"))
    await bench.runtime.documents.create(other, "plan", Format.PPTX, None, None)

    with pytest.raises(DocumentNotFoundError):
        await bench.submit({"task_type": "copy_slide", "document_id": "plan", "payload": copying(slide)}, other)


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ({"documentId": "nowhere"}, DocumentNotFoundError),
        ({"revision": 99}, RevisionNotFoundError),
        ({"documentId": "text"}, InvalidRequestError),
        ({"slideId": {"$ref": "one.id"}}, InvalidReferenceError),
        ({"documentId": {"$ref": "one.id"}}, InvalidReferenceError),
    ],
)
async def test_a_source_that_is_none_is_refused_at_once(
    bench: Workbench, slide: str, source: Mapping[str, Any], error: type[Exception]
) -> None:
    await a_document(bench, "text", Format.DOCX)
    first = {"key": "one", "task_type": "add_slide", "payload": {"title": "One"}}
    child = {
        "task_type": "copy_slide",
        "payload": copying(slide_id=slide) | {"from": copying(slide)["from"] | source},
    }

    with pytest.raises(error):
        await bench.a_batch(first, child, document_id="plan", atomic=True)


async def test_a_slide_that_is_not_there_fails_the_task_and_says_so(bench: Workbench) -> None:
    details = await ran(bench, await an_edit(bench, "copy_slide", payload=copying("slide-999")))

    assert details.task.state is TaskState.FAILED
    assert "there is no slide 'slide-999'" in details.failures[0].message


async def test_a_document_that_was_deleted_meanwhile_fails_the_task(bench: Workbench, slide: str) -> None:
    task = await an_edit(bench, "copy_slide", payload=copying(slide))
    await bench.runtime.documents.delete(LOCAL, "deck")

    outcome = await carried_out(bench, await bench.claim_next(task))

    assert isinstance(outcome, Failed)
    assert outcome.failure.kind is FailureKind.INVALID_EDIT
    assert "was deleted meanwhile" in outcome.failure.message


async def test_another_payload_takes_nothing_from_elsewhere(bench: Workbench, slide: str) -> None:
    task = await an_edit(bench, "copy_slide", payload=copying(slide))
    catalogue = bench.runtime.submission.catalogue

    kept = other_payload(task, {**copying(slide, revision=2), "position": 0}, catalogue)

    assert '"position"' in kept
    with pytest.raises(InvalidRequestError):
        other_payload(task, copying(slide, revision=1), catalogue)


async def test_a_handler_copies_nothing_by_its_edits(bench: Workbench, slide: str) -> None:
    claimed = await bench.claim_next(await an_edit(bench))
    reader = bench.worker.editing.reader(claimed)

    outcome = await bench.worker.editing.apply(
        reader, [("copy_slide", f'{{"from": {{"documentId": "deck", "revision": 2, "slideId": "{slide}"}}}}')]
    )

    assert isinstance(outcome, Failed)
    assert outcome.failure.kind is FailureKind.PERMANENT
