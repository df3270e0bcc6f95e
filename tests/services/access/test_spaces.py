"""Quotas of spaces and keys: each at its edge, and who may set them."""

import asyncio
from dataclasses import replace

import pytest

from officeplane.domain.document import Format
from officeplane.domain.errors import OutsideError, SpaceNotFoundError
from officeplane.domain.principal import LOCAL, Principal, Scope
from officeplane.domain.quota import UNLIMITED, QuotaExceededError, Quotas
from officeplane.domain.request import DagRequest, TaskRequest
from officeplane.domain.space import DEFAULT, Space
from officeplane.domain.task import Task
from officeplane.services.access import spaces as service
from officeplane.services.access.spaces import Spaces
from officeplane.services.files.spool import spooled_bytes
from tests.callers import a_caller
from tests.services.documents.uploading import FILE, OTHER
from tests.workbench import Workbench

ACME = Space("acme")
CALLER = a_caller(space=ACME)
NO_OP = {"task_type": "noop"}


@pytest.fixture(autouse=True)
async def acme(bench: Workbench) -> None:
    """Have a space be there, without limits."""
    await bench.runtime.api_keys.create(LOCAL, "bot", [Scope.EDIT])
    await bench.execute("UPDATE api_keys SET space = 'acme'")
    await allow(bench)


async def allow(bench: Workbench, space: Space = ACME, **quotas: int) -> None:
    await bench.runtime.spaces.set(LOCAL, space, replace(UNLIMITED, **quotas))


async def submit(bench: Workbench, caller: Principal = CALLER, **options: object) -> Task:
    (task, *_) = await bench.submit({**NO_OP, **options}, caller)
    return task


async def put(bench: Workbench, name: str, data: bytes = FILE, caller: Principal = CALLER) -> None:
    async with spooled_bytes(data) as spool:
        await bench.runtime.documents.put(caller, name, spool, "*" if data is OTHER else None, None)


def refused(quota: str, limit: int, caught: pytest.ExceptionInfo[QuotaExceededError]) -> bool:
    return caught.value.facts == {"quota": quota, "limit": limit} and caught.value.retry_after >= 1


async def test_a_space_has_the_usual_quotas_until_somebody_says_others(bench: Workbench) -> None:
    await bench.execute("DELETE FROM spaces")

    assert await bench.runtime.spaces.every(LOCAL) == {DEFAULT: UNLIMITED, ACME: Quotas()}
    assert await bench.runtime.spaces.every(CALLER) == {ACME: Quotas()}

    await allow(bench, max_documents=5)

    assert (await bench.runtime.spaces.show(CALLER, ACME))[0] == replace(UNLIMITED, max_documents=5)


async def test_only_the_default_space_sets_quotas_and_sees_other_spaces(bench: Workbench) -> None:
    with pytest.raises(OutsideError):
        await bench.runtime.spaces.set(CALLER, ACME, UNLIMITED)
    with pytest.raises(SpaceNotFoundError):
        await bench.runtime.spaces.show(CALLER, DEFAULT)
    with pytest.raises(SpaceNotFoundError):
        await bench.runtime.spaces.set(LOCAL, "nobody", UNLIMITED)
    assert "nobody" not in await bench.runtime.spaces.every(LOCAL)


async def test_who_is_narrowed_in_the_default_space_has_nothing_to_do_with_the_quotas_of_others(
    bench: Workbench,
) -> None:
    await allow(bench, max_documents=5)
    narrowed = a_caller(Scope.ADMIN, documents=("contract*",))

    with pytest.raises(OutsideError):
        await bench.runtime.spaces.set(narrowed, ACME, UNLIMITED)
    with pytest.raises(SpaceNotFoundError):
        await bench.runtime.spaces.show(narrowed, ACME)
    assert list(await bench.runtime.spaces.every(narrowed)) == [DEFAULT]


async def test_no_more_tasks_wait_than_may_and_the_next_are_let_in_when_some_have_ended(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await allow(bench, max_waiting_tasks=3)
    first = await submit(bench)
    await bench.submit({"children": [NO_OP]}, CALLER)

    with pytest.raises(QuotaExceededError) as caught:
        await submit(bench)

    assert refused("maxWaitingTasks", 3, caught)
    assert (await bench.execute("SELECT count(*) FROM tasks"))[0]["count"] == 3
    await submit(bench, LOCAL)
    await submit(bench, a_caller(space="other"))
    await bench.complete(await bench.claim_next(first))
    monkeypatch.setattr(service, "KEPT_SECONDS", 0.0)
    await submit(bench)
    with pytest.raises(QuotaExceededError):
        await submit(bench)


async def test_many_at_once_are_all_let_in_or_none(bench: Workbench) -> None:
    await allow(bench, max_waiting_tasks=300)
    requests = [TaskRequest.from_python(NO_OP) for _ in range(301)]
    dag = {"tasks": [{"taskType": "noop", "key": f"t{number}"} for number in range(301)]}

    with pytest.raises(QuotaExceededError):
        await bench.runtime.submission.submit_many(CALLER, requests)
    with pytest.raises(QuotaExceededError):
        await bench.runtime.dags.submit(CALLER, DagRequest.model_validate(dag))

    assert await bench.execute("SELECT id FROM tasks") == []
    assert len(await bench.runtime.submission.submit_many(CALLER, requests[1:])) == 300


async def test_of_those_that_come_at_the_same_moment_no_more_are_let_in(bench: Workbench) -> None:
    await allow(bench, max_waiting_tasks=5)

    outcomes = await asyncio.gather(*(submit(bench) for _ in range(20)), return_exceptions=True)

    assert sum(isinstance(one, Task) for one in outcomes) == 5
    assert sum(isinstance(one, QuotaExceededError) for one in outcomes) == 15


async def test_what_was_stored_before_is_answered_although_the_space_is_full(bench: Workbench) -> None:
    await allow(bench, max_waiting_tasks=1)
    first = await submit(bench, idempotency_key="k")

    again = await submit(bench, idempotency_key="k")

    assert again.id == first.id
    with pytest.raises(QuotaExceededError):
        await submit(bench, idempotency_key="another")


async def test_the_default_space_is_limited_too_if_somebody_says_so(bench: Workbench) -> None:
    await submit(bench, LOCAL)
    await allow(bench, DEFAULT, max_waiting_tasks=2)
    await submit(bench, LOCAL)

    with pytest.raises(QuotaExceededError) as caught:
        await submit(bench, LOCAL)

    assert refused("maxWaitingTasks", 2, caught)
    await allow(bench, DEFAULT)
    await submit(bench, LOCAL)


async def test_no_more_documents_are_made_than_may_be(bench: Workbench) -> None:
    await allow(bench, max_documents=2)
    await put(bench, "one")
    await bench.runtime.documents.create(CALLER, "two", Format.DOCX, None, None)

    for making in (
        put(bench, "three"),
        bench.runtime.documents.create(CALLER, "three", Format.DOCX, None, None),
    ):
        with pytest.raises(QuotaExceededError) as caught:
            await making
        assert refused("maxDocuments", 2, caught)
    await put(bench, "three", caller=LOCAL)


async def test_no_more_bytes_are_uploaded_than_may_be_and_nothing_is_edited_then(bench: Workbench) -> None:
    await allow(bench, max_bytes=len(FILE) - 1)
    with pytest.raises(QuotaExceededError) as caught:
        await put(bench, "one")
    assert refused("maxBytes", len(FILE) - 1, caught)

    await allow(bench, max_bytes=len(FILE))
    await put(bench, "one")
    # What a process adds up itself is a file's size; as it is kept, which is counted a second later, it takes less.
    _, usage = await bench.runtime.spaces.show(CALLER, ACME)
    await allow(bench, max_bytes=usage.bytes)

    with pytest.raises(QuotaExceededError):
        await put(bench, "two")
    with pytest.raises(QuotaExceededError) as caught:
        await submit(bench, document_id="one", task_type="add_chapter", payload={"title": "A"})
    assert refused("maxBytes", usage.bytes, caught)
    _, usage = await bench.runtime.spaces.show(CALLER, ACME)
    assert (usage.documents, usage.waiting_tasks) == (1, 0)
    assert 0 < usage.bytes <= len(FILE)


async def test_a_document_has_no_more_revisions_than_it_may(bench: Workbench) -> None:
    await allow(bench, max_revisions_per_document=1)
    await put(bench, "one")

    for changing in (
        put(bench, "one", OTHER),
        submit(bench, document_id="one", task_type="add_chapter", payload={"title": "A"}),
        bench.runtime.documents.revert(CALLER, "one", 1, None),
    ):
        with pytest.raises(QuotaExceededError) as caught:
            await changing
        assert refused("maxRevisionsPerDocument", 1, caught)
    assert await bench.execute("SELECT id FROM tasks") == []
    assert await bench.execute("SELECT id FROM uploads") == []
    await allow(bench, max_revisions_per_document=2)
    await submit(bench, document_id="one", task_type="add_chapter", payload={"title": "A"})


async def test_no_more_is_submitted_and_uploaded_in_a_minute_than_may_be(bench: Workbench) -> None:
    now = 0.0
    spaces = Spaces(bench.runtime.ledger, clock=lambda: now)
    await allow(bench, submissions_per_minute=6, uploads_per_minute=1)
    await spaces.let_in_tasks(CALLER, 6)
    await spaces.let_in_file(CALLER, 1, None)

    with pytest.raises(QuotaExceededError) as caught:
        await spaces.let_in_tasks(CALLER, 1)
    assert refused("submissionsPerMinute", 6, caught)
    assert caught.value.retry_after == 10
    with pytest.raises(QuotaExceededError) as caught:
        await spaces.let_in_file(CALLER, 1, None)
    assert refused("uploadsPerMinute", 1, caught)

    now = 10.0
    await spaces.let_in_tasks(CALLER, 1)
    with pytest.raises(QuotaExceededError):
        await spaces.let_in_file(CALLER, 1, None)


async def test_no_more_is_held_at_once_than_may_be(bench: Workbench) -> None:
    spaces = bench.runtime.spaces
    await allow(bench, max_waits=1, max_streams=0)

    with await spaces.wait(CALLER):
        with pytest.raises(QuotaExceededError) as caught, await spaces.wait(CALLER):
            pass
        assert refused("maxWaits", 1, caught)
        with await spaces.wait(a_caller(space="other")):
            pass
    with await spaces.wait(CALLER):
        pass
    with pytest.raises(QuotaExceededError) as caught, await spaces.stream(CALLER):
        pass
    assert refused("maxStreams", 0, caught)


async def test_a_key_has_limits_of_its_own_beside_those_of_its_space(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = replace(CALLER, id="key:bot", quotas=replace(UNLIMITED, max_waiting_tasks=2))
    await allow(bench, max_waiting_tasks=4)
    first = await submit(bench, bot)
    await submit(bench, bot)

    with pytest.raises(QuotaExceededError, match="This key may have 2 tasks") as caught:
        await submit(bench, bot)

    assert refused("maxWaitingTasks", 2, caught)
    await submit(bench)
    await submit(bench)
    with pytest.raises(QuotaExceededError, match="This space may have 4 tasks"):
        await submit(bench)
    await bench.complete(await bench.claim_next(first))
    monkeypatch.setattr(service, "KEPT_SECONDS", 0.0)
    await submit(bench, bot)


async def test_a_key_of_the_default_space_is_counted_alone(bench: Workbench) -> None:
    bot = replace(a_caller(), id="key:bot", quotas=replace(UNLIMITED, max_waiting_tasks=1))
    await submit(bench, a_caller())
    await submit(bench, bot)

    with pytest.raises(QuotaExceededError):
        await submit(bench, bot)

    await submit(bench, a_caller())


async def test_of_a_key_the_documents_count_that_it_has_made_whomever_it_names(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "KEPT_SECONDS", 0.0)
    bot = replace(CALLER, id="key:bot", quotas=replace(UNLIMITED, max_documents=1, max_bytes=len(FILE)))
    await put(bench, "of-others")
    async with spooled_bytes(FILE) as spool:
        await bench.runtime.documents.put(bot, "its-own", spool, None, "somebody else")

    with pytest.raises(QuotaExceededError) as caught:
        await put(bench, "another", caller=bot)
    assert refused("maxDocuments", 1, caught)
    with pytest.raises(QuotaExceededError) as caught:
        await put(bench, "its-own", OTHER, bot)
    assert refused("maxBytes", len(FILE), caught)
    await bench.runtime.documents.delete(CALLER, "its-own")
    await put(bench, "another", caller=bot)


async def test_a_key_waits_streams_and_submits_within_its_own_limits(bench: Workbench) -> None:
    spaces = bench.runtime.spaces
    bot = replace(CALLER, id="key:bot", quotas=replace(UNLIMITED, max_waits=0, max_streams=0, submissions_per_minute=1))

    for holding in (spaces.wait, spaces.stream):
        with pytest.raises(QuotaExceededError), await holding(bot):
            pass
        with await holding(CALLER):
            pass
    await submit(bench, bot)
    with pytest.raises(QuotaExceededError) as caught:
        await submit(bench, bot)
    assert refused("submissionsPerMinute", 1, caught)
    await submit(bench)


async def test_a_space_without_limits_is_not_counted(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "KEPT_SECONDS", 3_600.0)
    await submit(bench, LOCAL)

    assert bench.runtime.spaces.has_no_limits(LOCAL)
    assert not bench.runtime.spaces.has_no_limits(a_caller(space="unheard-of"))
    assert not bench.runtime.spaces.has_no_limits(replace(LOCAL, quotas=Quotas()))
