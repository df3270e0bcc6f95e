"""Merges: a file that follows an earlier revision takes its turn in the lane, and comes into what others have made."""

import asyncio
import json
from typing import Any

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.domain.errors import (
    InvalidRequestError,
    MergeConflictError,
    PreconditionRequiredError,
    RevisionNotFoundError,
    StaleRevisionError,
)
from officeplane.domain.principal import LOCAL
from officeplane.services.documents.uploads import ANY, IfMatch, Put
from officeplane.services.files.spool import spooled_bytes
from tests.fixtures.strangers import LEASE, a_text, lines_of, with_line
from tests.services.documents.uploading import upload_of
from tests.services.editing import content, ran
from tests.support import eventually
from tests.workbench import Workbench


async def put(bench: Workbench, data: bytes, if_match: IfMatch = None, *, merges: bool = True) -> Put:
    """Upload a file, and carry out the task that this becomes, if it becomes one."""
    before = await upload_of(bench)
    request = asyncio.create_task(_put(bench, data, if_match, merges=merges))

    async def taken() -> bool:
        now = await upload_of(bench)
        return request.done() or (now is not None and (before is None or now.id != before.id))

    await eventually(taken, what="the upload's task, or an answer")
    task = await upload_of(bench)
    if task is not None and not request.done():
        await ran(bench, task)
    return await request


async def _put(bench: Workbench, data: bytes, if_match: IfMatch, *, merges: bool) -> Put:
    async with spooled_bytes(data) as spool:
        return await bench.runtime.documents.put(LOCAL, "plan", spool, if_match, "ann", merges=merges)


async def text_of(bench: Workbench) -> list[str]:
    return lines_of(await content(bench))


async def test_what_two_people_have_changed_in_different_places_is_there_afterwards(bench: Workbench) -> None:
    await put(bench, base := a_text(*LEASE))
    await put(bench, with_line(base, 0, "Rent is due on the tenth of the month"), 1, merges=False)

    done = await put(bench, with_line(base, 2, "Notice is two months before the end of any quarter"), 1)

    assert done.document is not None
    assert done.document.revision == 3
    assert await text_of(bench) == [
        "Rent is due on the tenth of the month",
        LEASE[1],
        "Notice is two months before the end of any quarter",
    ]


async def test_the_task_tells_what_was_merged(bench: Workbench) -> None:
    await put(bench, base := a_text(*LEASE))
    await put(bench, with_line(base, 0, "Rent is due on the tenth of the month"), 1, merges=False)

    done = await put(bench, with_line(base, 2, "Notice is two months before the end of any quarter"), 1)

    task = await upload_of(bench)
    assert task is not None
    result: Any = task.result
    assert done.result == result
    assert (result["revision"], result["merged"]["base"], len(result["merged"]["changed"])) == (3, 1, 1)
    assert result["merged"]["nodes"] == 1


async def test_what_both_have_changed_is_refused_and_nothing_of_it_is_there(bench: Workbench) -> None:
    await put(bench, base := a_text(*LEASE))
    await put(bench, with_line(base, 0, "Rent is due on the tenth of the month"), 1, merges=False)
    both = with_line(
        with_line(base, 0, "Rent is due on the second of the month"),
        2,
        "Notice is two months before the end of any quarter",
    )

    with pytest.raises(MergeConflictError) as refused:
        await put(bench, both, 1)

    facts: Any = refused.value.facts
    assert (facts["expected"], facts["actual"], facts["revisions"][0]["revision"]) == (1, 2, 2)
    (conflict,) = facts["conflicts"]
    assert [conflict[name] for name in ("base", "head", "upload")] == [
        LEASE[0], "Rent is due on the tenth of the month", "Rent is due on the second of the month",
    ]  # fmt: skip
    assert await text_of(bench) == ["Rent is due on the tenth of the month", *LEASE[1:]]


async def test_a_refused_merge_leaves_no_dead_letter(bench: Workbench) -> None:
    await put(bench, base := a_text(*LEASE))
    await put(bench, with_line(base, 0, "Rent is due on the tenth of the month"), 1, merges=False)

    with pytest.raises(MergeConflictError):
        await put(bench, with_line(base, 0, "Rent is due on the second of the month"), 1)

    assert await bench.execute("SELECT FROM dead_letters") == []


async def test_a_file_in_which_nothing_was_changed_makes_no_revision(bench: Workbench) -> None:
    await put(bench, base := a_text(*LEASE))
    await put(bench, with_line(base, 0, "Rent is due on the tenth of the month"), 1, merges=False)

    done = await put(bench, with_line(base, 0, LEASE[0]), 1)

    assert done.document is not None
    assert done.document.revision == 2
    assert done.result is not None
    assert done.result["merged"]["nodes"] == 0


async def test_a_file_that_follows_the_head_is_put_in_place_as_it_is(bench: Workbench) -> None:
    await put(bench, base := a_text(*LEASE))
    upload = with_line(base, 2, "Notice is two months before the end of any quarter")

    done = await put(bench, upload, 1)

    assert done.document is not None
    assert done.result is None
    assert await content(bench) == upload


async def test_one_merge_follows_another_and_what_is_there_already_is_not_merged_again(bench: Workbench) -> None:
    await put(bench, base := a_text(*LEASE))
    await put(bench, revised := with_line(base, 0, "Rent is due on the tenth of the month"), 1, merges=False)
    await put(bench, with_line(base, 2, "Notice is two months before the end of any quarter"), 1)
    await put(bench, with_line(base, 1, "Pets are welcome in the house"), 1)

    done = await put(bench, with_line(revised, 1, "Pets are welcome in the house"), 2)

    assert done.document is not None
    assert done.document.revision == 4
    assert await text_of(bench) == [
        "Rent is due on the tenth of the month",
        "Pets are welcome in the house",
        "Notice is two months before the end of any quarter",
    ]


@pytest.mark.parametrize(
    ("if_match", "refusal"),
    [
        (None, PreconditionRequiredError), (ANY, InvalidRequestError), (9, StaleRevisionError),
    ],
)  # fmt: skip
async def test_who_wants_to_merge_has_to_say_what_was_read(
    bench: Workbench, if_match: IfMatch, refusal: type[Exception]
) -> None:
    await put(bench, base := a_text(*LEASE))

    with pytest.raises(refusal):
        await put(bench, with_line(base, 0, "Rent is due never"), if_match)


async def test_a_revision_of_an_earlier_document_of_that_name_is_none_to_merge_from(bench: Workbench) -> None:
    await put(bench, base := a_text(*LEASE))
    await bench.runtime.documents.delete(LOCAL, "plan")
    await put(bench, a_text("Something else"))

    with pytest.raises(RevisionNotFoundError):
        await put(bench, with_line(base, 0, "Rent is due never"), 1)


async def test_a_file_of_which_nothing_can_be_matched_is_refused_by_name(bench: Workbench) -> None:
    await put(bench, base := a_text(*LEASE))
    await put(bench, with_line(base, 0, "Rent is due on the tenth of the month"), 1, merges=False)

    with pytest.raises((MergeConflictError, InvalidEditError)) as refused:
        await put(bench, a_text("Entirely other words stand here", "and here"), 1)

    assert str(refused.value)
    assert (await text_of(bench))[0] == "Rent is due on the tenth of the month"


async def test_what_is_told_of_a_merge_is_json(bench: Workbench) -> None:
    await put(bench, base := a_text(*LEASE))
    await put(bench, with_line(base, 0, "Rent is due on the tenth of the month"), 1, merges=False)
    done = await put(bench, with_line(base, 2, "Notice is two months before the end of any quarter"), 1)

    assert json.loads(json.dumps(done.result)) == done.result
