"""The audit: whose deeds are kept, how many rows that takes, and who may read them."""

import asyncio
from dataclasses import replace
from typing import Any, Final

import pytest

from officeplane.domain.audit import Action, Audited, AuditFilter
from officeplane.domain.dead_letter import Decision, Ruling
from officeplane.domain.document import Format
from officeplane.domain.errors import OutsideError, SpaceNotFoundError
from officeplane.domain.ids import KeyId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import LOCAL, Principal, Scope
from officeplane.domain.request import TaskRequest
from officeplane.domain.session import Login
from officeplane.domain.space import Space
from officeplane.services.access.api_keys import ApiKeys
from tests.callers import a_caller, called
from tests.services.documents.uploading import FILE, OTHER, put, uploading
from tests.services.editing import ran
from tests.support import eventually
from tests.workbench import Workbench

NOOP: Final = {"task_type": "noop"}
KEY: Final = KeyId("01890a5d-ac96-774b-bcce-b302099a8057")
READER: Final = frozenset({Scope.READ})


async def deeds(bench: Workbench, space: str | None = None, **wanted: Any) -> list[Audited]:
    """Return what was done, in its order."""
    asked = None if space is None else Space(space)
    found = await bench.runtime.audit.page(LOCAL, asked, AuditFilter(**wanted), None, 500)
    return found[::-1]


async def submit(bench: Workbench, caller: Principal, **options: Any) -> str:
    request = TaskRequest.from_python({**NOOP, **options})
    return (await bench.runtime.submission.submit(caller, request)).task.id


async def test_what_many_submit_at_once_is_one_row_for_each_of_them_and_commit(bench: Workbench) -> None:
    ann, bob = a_caller(name="key:ann"), replace(a_caller(name="key:bob"), key_id=KEY, address="192.0.2.1")

    ids = await asyncio.gather(*(submit(bench, caller) for _ in range(30) for caller in (ann, bob)))

    found = await deeds(bench)
    commits = await bench.execute("SELECT DISTINCT xmin::text FROM tasks")
    assert len(found) <= 2 * len(commits) < 30
    assert {deed.action for deed in found} == {"task.submit"}
    for caller, theirs in ((ann, ids[::2]), (bob, ids[1::2])):
        rows = [deed for deed in found if deed.caller == caller.id]
        assert sorted(task_id for deed in rows for task_id in deed.task_ids) == sorted(theirs)
        assert {(deed.key_id, deed.address) for deed in rows} == {(caller.key_id, caller.address)}


async def test_whoever_calls_from_two_places_or_for_two_people_is_told_apart(bench: Workbench) -> None:
    here, there = replace(LOCAL, address="192.0.2.1"), replace(LOCAL, address="192.0.2.2")

    await asyncio.gather(
        submit(bench, here), submit(bench, there), submit(bench, here, on_behalf_of="ann"), submit(bench, here)
    )

    found = {(deed.address, deed.on_behalf_of) for deed in await deeds(bench)}
    assert found == {("192.0.2.1", None), ("192.0.2.2", None), ("192.0.2.1", "ann")}
    assert sum(deed.tasks for deed in await deeds(bench)) == 4


async def test_of_very_many_tasks_the_first_hundred_are_shown_and_each_is_found(bench: Workbench) -> None:
    tasks = await bench.submit_many([NOOP] * 150)

    (deed,) = await deeds(bench)

    assert deed.tasks == 150
    assert list(deed.task_ids) == [task.id for task in tasks[:100]]
    assert await deeds(bench, target=tasks[-1].id) == [deed]


async def test_what_a_worker_does_is_nobodys_deed(bench: Workbench) -> None:
    task, failing = await bench.a_task(), await bench.a_task(max_retries=0)
    before = await deeds(bench)

    await bench.complete(await bench.claim_next(task))
    await bench.exhaust(failing)
    await bench.worker.redelivery.reap()
    await bench.worker.retention.prune()

    assert await deeds(bench) == before


async def test_what_waits_for_a_document_that_is_deleted_is_cancelled_by_no_deed_of_its_own(bench: Workbench) -> None:
    await put(bench, FILE)
    task = await bench.a_task(document_id="plan")

    await bench.runtime.documents.delete(LOCAL, "plan")

    assert await bench.state(task) is TaskState.CANCELLED
    assert [deed.action for deed in await deeds(bench)] == ["document.upload", "task.submit", "document.delete"]


async def test_an_upload_that_waits_for_its_turn_is_the_deed_of_an_upload(bench: Workbench) -> None:
    await put(bench, FILE)
    async with uploading(bench, OTHER) as (request, task):
        await ran(bench, task)
        await request

    _, deed = await deeds(bench)

    assert (deed.action, deed.target, deed.task_ids) == ("document.upload", "plan", (task.id,))
    assert deed.on_behalf_of == "ann"
    assert deed.before is not None
    assert deed.before["revision"] == 1


async def test_who_makes_the_same_task_twice_has_done_it_once(bench: Workbench) -> None:
    first = await submit(bench, LOCAL, dedupe="content", payload={})

    assert await submit(bench, LOCAL, dedupe="content", payload={}) == first

    assert len(await deeds(bench)) == 1


async def test_a_valve_tells_what_it_was_before_and_is_after(bench: Workbench) -> None:
    await bench.runtime.valves.pause_type(called("key:ann"), "noop")
    await bench.runtime.valves.open_breaker(LOCAL, "noop")

    paused, opened = await deeds(bench)

    assert (paused.caller, paused.target) == ("key:ann", "noop")
    assert (paused.before, paused.after) == ({"paused": False}, {"paused": True})
    assert opened.before is not None
    assert opened.after is not None
    assert (opened.before["state"], opened.after["state"]) == ("closed", "open")


async def test_a_task_that_is_cancelled_says_what_it_was_and_why(bench: Workbench) -> None:
    task = await bench.a_task()

    await bench.runtime.cancellation.cancel(LOCAL, task.id, "enough")

    (deed,) = await deeds(bench, action=Action.CANCEL_TASK)
    assert (deed.before, deed.after) == (
        {"state": "QUEUED"},
        {"cancelled": 1, "askedToStop": 0, "reason": "enough"},
    )


async def test_who_decides_about_a_letter_on_behalf_of_somebody_is_told(bench: Workbench) -> None:
    task = await bench.a_task(max_retries=0)
    await bench.exhaust(task)

    await bench.runtime.dead_letters.resolve(called("key:bot"), task.id, Ruling(Decision.RETRY, "ann", "again"))

    (deed,) = await deeds(bench, action=Action.RESOLVE_LETTER)
    assert (deed.caller, deed.on_behalf_of, deed.task_ids) == ("key:bot", "ann", (task.id,))
    assert (deed.before, deed.after) == ({"state": "FAILED"}, {"resolution": "retry", "reopened": 1})


async def test_a_key_that_is_revoked_twice_was_revoked_once(bench: Workbench) -> None:
    keys: ApiKeys = bench.runtime.api_keys
    made = await keys.create(LOCAL, "bot", [Scope.READ])

    await keys.revoke(LOCAL, made.key.id)
    await keys.revoke(LOCAL, made.key.id)

    created, revoked = await deeds(bench)
    assert (created.action, revoked.action, revoked.target) == ("key.create", "key.revoke", made.key.id)
    assert made.text not in str(created)


async def test_a_space_sees_its_own_deeds_and_the_default_one_may_name_any(bench: Workbench) -> None:
    acme = a_caller(name="key:bot", space="acme")
    await submit(bench, acme)
    await submit(bench, LOCAL)

    theirs = await bench.runtime.audit.page(acme, None, AuditFilter(), None, 50)

    assert [(deed.caller, deed.space) for deed in theirs] == [("key:bot", "acme")]
    assert await bench.runtime.audit.page(acme, Space("acme"), AuditFilter(), None, 50) == theirs
    assert await deeds(bench, "acme") == theirs
    assert [deed.caller for deed in await deeds(bench)] == ["local"]
    with pytest.raises(OutsideError):
        await bench.runtime.audit.page(acme, Space("default"), AuditFilter(), None, 50)


async def test_a_target_of_another_space_is_not_found(bench: Workbench) -> None:
    task_id = await submit(bench, a_caller(space="acme"))

    assert await deeds(bench, target=task_id) == []
    assert len(await deeds(bench, "acme", target=task_id)) == 1


@pytest.mark.parametrize("narrow", [{"documents": ("plan",)}, {"task_types": ("noop",)}])
async def test_who_sees_a_part_of_a_space_does_not_see_its_audit(bench: Workbench, narrow: dict[str, Any]) -> None:
    with pytest.raises(OutsideError):
        await bench.runtime.audit.page(a_caller(**narrow), None, AuditFilter(), None, 50)


async def test_what_was_done_longer_ago_than_its_days_goes(bench: Workbench) -> None:
    old, young = await bench.a_task(), await bench.a_task()
    async with bench.runtime.ledger.transaction() as connection:
        # Only a test turns time back.
        await connection.execute("SET LOCAL session_replication_role = replica")
        for task, days in ((old, 365.01), (young, 364.99)):
            await connection.execute(
                "UPDATE audit SET at = at - make_interval(secs => $2) WHERE task_ids = ARRAY[$1::uuid]",
                task.id,
                days * 86_400,
            )

    await bench.worker.retention.prune()

    assert [deed.task_ids for deed in await deeds(bench)] == [(young.id,)]


async def test_a_page_goes_on_behind_a_deed_that_has_gone_meanwhile(bench: Workbench) -> None:
    for _ in range(3):
        await submit(bench, LOCAL)
    first, second, third = await deeds(bench)
    async with bench.runtime.ledger.transaction() as connection:
        await connection.execute("SET LOCAL session_replication_role = replica")
        await connection.execute("DELETE FROM audit WHERE seq <= $1", second.seq)

    assert await bench.runtime.audit.page(LOCAL, None, AuditFilter(), third.seq, 50) == []
    assert await bench.runtime.audit.page(LOCAL, None, AuditFilter(), second.seq, 50) == []
    assert first.seq < second.seq < third.seq


async def test_a_submission_that_cannot_be_stored_leaves_the_others_rows_and_none_of_its_own(
    bench: Workbench,
) -> None:
    await bench.execute("ALTER TABLE tasks ADD CONSTRAINT no_such_title CHECK (title <> 'refused')")
    try:
        done = await asyncio.gather(
            *(submit(bench, called(f"key:{n}"), title="refused" if n == 3 else "fine") for n in range(6)),
            return_exceptions=True,
        )
    finally:
        await bench.execute("ALTER TABLE tasks DROP CONSTRAINT no_such_title")

    assert [n for n, one in enumerate(done) if isinstance(one, Exception)] == [3]
    found = await eventually(lambda: deeds(bench), what="the rows of the others")
    assert sorted(deed.caller for deed in found) == [f"key:{n}" for n in range(6) if n != 3]


async def test_what_is_done_in_a_space_is_told_by_the_names_that_its_callers_know(bench: Workbench) -> None:
    acme = a_caller(name="key:bot", space="acme")

    await bench.runtime.documents.create(acme, "plan", Format.DOCX, "Plan", None)
    await bench.runtime.valves.pause_document(acme, "plan")
    await bench.runtime.valves.pause_type(acme, "noop")
    await bench.runtime.documents.delete(acme, "plan")

    found = await deeds(bench, "acme")
    assert [(deed.action, deed.target, deed.space) for deed in found] == [
        ("document.create", "plan", "acme"),
        ("document.pause", "plan", "acme"),
        ("type.pause", "noop", "acme"),
        ("document.delete", "plan", "acme"),
    ]
    assert "acme/" not in str(found)
    assert await deeds(bench) == []


async def test_a_key_that_is_changed_tells_what_it_was_and_is(bench: Workbench) -> None:
    keys: ApiKeys = bench.runtime.api_keys
    made = await keys.create(LOCAL, "bot", [Scope.READ], space="acme")

    await keys.change(LOCAL, made.key.id, {"scopes": [Scope.EDIT], "documents": ("plan-*",)})

    created, changed = await deeds(bench)
    assert changed.before == created.after
    assert changed.before is not None
    assert changed.after == {**changed.before, "scopes": ["edit"], "documents": ["plan-*"]}
    assert (changed.target, changed.before["space"]) == (made.key.id, "acme")


async def test_quotas_tell_what_they_were_and_are_and_of_which_space(bench: Workbench) -> None:
    await bench.runtime.api_keys.create(LOCAL, "bot", [Scope.READ], space="acme")
    known, _ = await bench.runtime.spaces.show(LOCAL, "acme")

    await bench.runtime.spaces.set(LOCAL, "acme", replace(known, max_documents=7))
    with pytest.raises(SpaceNotFoundError):
        await bench.runtime.spaces.set(LOCAL, "nobody", known)

    (deed,) = await deeds(bench, action=Action.LIMIT_SPACE)
    assert deed.target == "acme"
    assert deed.before is not None
    assert deed.before["maxDocuments"] == known.max_documents
    assert deed.after == {**deed.before, "maxDocuments": 7}


async def test_a_session_that_has_ended_does_not_end_again(bench: Workbench) -> None:
    sessions = bench.runtime.sessions
    made = await bench.runtime.api_keys.create(LOCAL, "bot", [Scope.READ])
    with_key, other = await sessions.begin_with_key(made.text), await sessions.begin("ann", Login.OIDC, READER)
    assert with_key is not None
    await bench.runtime.api_keys.revoke(LOCAL, made.key.id)

    for token in (with_key, other, other):
        await sessions.end(token)

    assert [deed.caller for deed in await deeds(bench, action=Action.BEGIN_SESSION)] == [
        "person:key:bot",
        "person:oidc:ann",
    ]
    assert [deed.caller for deed in await deeds(bench, action=Action.END_SESSION)] == ["person:oidc:ann"]


@pytest.mark.parametrize("narrow", [{"agents": ("ann",)}, {"most_urgent": 50}])
async def test_who_does_not_run_the_installation_names_no_other_space(bench: Workbench, narrow: dict[str, Any]) -> None:
    caller = a_caller(**narrow)

    assert await bench.runtime.audit.page(caller, None, AuditFilter(), None, 50) == []
    with pytest.raises(OutsideError):
        await bench.runtime.audit.page(caller, Space("acme"), AuditFilter(), None, 50)
