"""Retention: what ended long ago goes, whole, and nothing that is still of use."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from officeplane.domain.dead_letter import Decision, Ruling
from officeplane.domain.outcome import Succeeded
from officeplane.domain.principal import LOCAL, Kind, Principal, Scope
from officeplane.domain.revision import Recipe
from officeplane.domain.session import Login
from officeplane.domain.task import Task
from officeplane.services.chores import retention
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.store import dead_letters, documents
from officeplane.store.documents import Upload
from tests.services.conftest import AnotherBench
from tests.services.editing import a_document
from tests.workbench import Workbench

WAITING_UPLOAD: Final = "01a1ef09-0000-7000-8000-000000000001"
DONE_UPLOAD: Final = "01a1ef09-0000-7000-8000-000000000002"
NOOP: Final[Mapping[str, Any]] = {"task_type": "noop"}


async def completed(bench: Workbench, **options: Any) -> Task:
    task = await bench.a_task(**options)
    await bench.complete(await bench.claim_next(task))
    return task


async def exists(bench: Workbench, *tasks: Task) -> list[bool]:
    rows = await bench.execute("SELECT id::text AS id FROM tasks")
    return [task.id in {row["id"] for row in rows} for task in tasks]


async def resolve(bench: Workbench, *tasks: Task, as_: Decision = Decision.CANCEL) -> None:
    """Let somebody decide about the dead letters of these tasks."""
    await dead_letters.resolve(bench.runtime.ledger, [task.id for task in tasks], Ruling(as_, "alice"))


async def prune(bench: Workbench) -> None:
    """Prune until there is no more to look at."""
    while await bench.worker.retention.prune():
        pass


async def test_what_completed_longer_ago_than_its_days_goes(bench: Workbench) -> None:
    old, young = await completed(bench), await completed(bench)
    await bench.let_days_pass(7.01, old)
    await bench.let_days_pass(6.99, young)

    await prune(bench)

    assert await exists(bench, old, young) == [False, True]


@pytest.mark.parametrize(("state", "days"), [("CANCELLED", 7), ("FAILED", 90), ("TIMEOUT", 90)])
async def test_each_state_has_its_days(bench: Workbench, state: str, days: float) -> None:
    old, young = [await bench.a_task(max_retries=0) for _ in range(2)]
    for task in (old, young):
        await bench.end(task, state)
    await resolve(bench, old, young)
    await bench.let_days_pass(days + 0.01, old)
    await bench.let_days_pass(days - 0.01, young)

    await prune(bench)

    assert await exists(bench, old, young) == [False, True]
    assert (
        await bench.execute("SELECT DISTINCT task_id::text FROM task_failures WHERE task_id = $1::uuid", old.id)
    ) == []


async def test_the_days_are_settings(bench: Workbench, another_bench: AnotherBench) -> None:
    done, failed = await completed(bench), await bench.a_task()
    await bench.exhaust(failed)
    await resolve(bench, failed)
    await bench.let_days_pass(2, done, failed)

    async with another_bench(retention_completed_days=3, retention_failed_days=1) as other:
        await prune(other)

    assert await exists(bench, done, failed) == [True, False]


async def test_what_has_not_ended_stays_however_old(bench: Workbench) -> None:
    running = await bench.a_task()
    await bench.claim(running)
    waiting = [await bench.a_task(), await bench.a_task(run_at="2999-01-01T00:00:00Z")]
    await bench.let_days_pass(1_000, running, *waiting)

    await prune(bench)

    assert await exists(bench, running, *waiting) == [True] * 3


async def test_a_tree_goes_whole_when_its_root_is_old(bench: Workbench) -> None:
    tree = await bench.a_batch({"children": [NOOP]}, NOOP)
    await bench.complete(await bench.claim_next(tree[2]))
    await bench.complete(await bench.claim_next(tree[3]))
    await bench.let_days_pass(8, tree[0])

    await prune(bench)

    assert await exists(bench, *tree) == [False] * 4


async def test_an_old_child_of_a_tree_that_goes_on_stays(bench: Workbench) -> None:
    parent, first, second = await bench.a_batch(NOOP, NOOP)
    await bench.complete(await bench.claim_next(first))
    await bench.let_days_pass(1_000, parent, first, second)

    await prune(bench)

    assert await exists(bench, parent, first, second) == [True] * 3


async def test_a_task_whose_key_still_lives_stays(bench: Workbench, another_bench: AnotherBench) -> None:
    kept, gone = await completed(bench, idempotency_key="kept"), await completed(bench, idempotency_key="gone")
    await bench.let_days_pass(0.5, kept)
    await bench.let_days_pass(1.01, gone)

    async with another_bench(retention_completed_days=0.1) as hasty:
        await prune(hasty)

    assert await exists(bench, kept, gone) == [True, False]


async def test_a_task_whose_dead_letter_nobody_has_resolved_stays(bench: Workbench) -> None:
    task = await bench.a_task()
    await bench.exhaust(task)
    await bench.let_days_pass(1_000, task)

    await prune(bench)
    assert await exists(bench, task) == [True]

    await resolve(bench, task)
    await prune(bench)
    assert await exists(bench, task) == [False]


async def test_a_tree_with_an_unresolved_dead_letter_stays_whole(bench: Workbench) -> None:
    tree = await bench.a_batch(NOOP, {"children": [NOOP]}, on_child_failure="continue")
    await bench.complete(await bench.claim_next(tree[1]))
    await bench.exhaust(tree[3])
    await bench.let_days_pass(1_000, *tree)

    await prune(bench)
    assert await exists(bench, *tree) == [True] * 4

    await resolve(bench, tree[3])
    await prune(bench)
    assert await exists(bench, *tree) == [False] * 4


async def test_what_was_decided_to_go_goes_at_once_and_the_decision_stays(bench: Workbench) -> None:
    go, stays = await bench.a_task(), await bench.a_task()
    for task, decision in ((go, Decision.DELETE), (stays, Decision.CANCEL)):
        await bench.exhaust(task)
        await resolve(bench, task, as_=decision)

    await prune(bench)

    assert await exists(bench, go, stays) == [False, True]
    (row,) = await bench.execute("SELECT * FROM dead_letter_decisions WHERE task_id = $1::uuid", go.id)
    assert (row["decision"], row["decided_by"]) == ("delete", "alice")
    assert await bench.execute("SELECT FROM dead_letters WHERE discarded") == []


async def test_what_was_decided_to_go_and_then_retried_stays(bench: Workbench) -> None:
    task = await bench.a_task()
    await bench.exhaust(task)
    await resolve(bench, task, as_=Decision.DELETE)
    await bench.runtime.reopening.retry(LOCAL, task.id)

    await prune(bench)
    assert await bench.states(task) == ["QUEUED"]

    await bench.exhaust(task)
    await resolve(bench, task)
    await prune(bench)
    assert await exists(bench, task) == [True]


async def test_of_what_was_decided_to_go_a_key_that_still_lives_and_a_batch_are_kept(bench: Workbench) -> None:
    keyed = await bench.a_task(idempotency_key="kept")
    parent, child = await bench.a_batch(NOOP)
    for task in (keyed, child):
        await bench.exhaust(task)
    await resolve(bench, keyed, child, as_=Decision.DELETE)

    await prune(bench)
    assert await exists(bench, keyed, parent, child) == [True] * 3

    await bench.let_days_pass(1.01, keyed)
    await prune(bench)
    assert await exists(bench, keyed) == [False]


async def test_tasks_go_a_window_at_a_time_past_those_that_stay(bench: Workbench) -> None:
    tasks = await bench.submit_many([NOOP] * (retention.TASKS_AT_ONCE + 200))
    stays, *go = tasks
    await bench.execute("UPDATE tasks SET state = 'COMPLETED', finished_at = now() WHERE id <> $1::uuid", stays.id)
    await bench.let_days_pass(8, *tasks)

    assert await bench.worker.retention.prune()
    (row,) = await bench.execute("SELECT count(*) AS n FROM tasks")
    assert row["n"] == 201

    assert await bench.worker.retention.prune()
    assert await exists(bench, stays, go[-1]) == [True, False]

    assert not await bench.worker.retention.prune()


async def test_what_becomes_old_behind_the_window_is_found_by_a_later_round(bench: Workbench) -> None:
    task = await bench.a_task()
    await bench.let_days_pass(8, task)
    await prune(bench)
    await bench.complete(await bench.claim_next(task))
    await bench.let_days_pass(8, task)

    await prune(bench)

    assert await exists(bench, task) == [False]


async def test_events_go_after_a_day(bench: Workbench) -> None:
    old = await bench.a_task()
    await bench.let_days_pass(1.01)
    young = await bench.a_task()

    await prune(bench)

    assert await bench.events(old) == []
    assert await bench.events(young) == ["task.queued"]


async def test_workers_silent_for_an_hour_are_forgotten_and_their_counts_are_kept(bench: Workbench) -> None:
    silent = bench.another_worker()
    for worker in (bench, silent):
        await worker.beat()
        await worker.complete(await worker.a_running_task())
    await bench.execute(
        "UPDATE workers SET last_seen_at = now() - interval '61 minutes' WHERE id = $1", silent.worker.worker_id
    )

    await prune(bench)

    assert [row["id"] for row in await bench.execute("SELECT id FROM workers")] == [bench.worker.worker_id]
    rows = await bench.execute("SELECT counted_by, count FROM task_counters ORDER BY counted_by")
    assert [(row["counted_by"], row["count"]) for row in rows] == [("", 1), (bench.worker.worker_id, 1)]


async def test_the_counts_of_a_worker_that_left_are_folded_and_go_on_adding_up(bench: Workbench) -> None:
    for _ in range(3):
        leaving = bench.another_worker()
        await leaving.beat()
        await leaving.complete(await leaving.a_running_task())
        await leaving.runtime.settlements.settle(
            [EndedAttempt(await leaving.a_running_task(), Succeeded(None))], counted_by=leaving.worker.counted_by(2)
        )
        assert len(await bench.execute("SELECT FROM task_counters WHERE counted_by <> ''")) == 2
        await prune(bench)
        assert len(await bench.execute("SELECT FROM task_counters WHERE counted_by <> ''")) == 2, "it lives"
        await leaving.worker.leases.leave(leaving.worker.worker_id)
        await prune(bench)

    assert await bench.counters() == {("noop", "completed", ""): 6}
    assert len(await bench.execute("SELECT FROM task_counters")) == 1


async def test_an_uploaded_file_is_kept_while_its_task_waits_and_not_much_longer(bench: Workbench) -> None:
    await a_document(bench)
    upload = Upload(None, "0" * 64, 1, Recipe((b"x",)), None)
    for upload_id in (WAITING_UPLOAD, DONE_UPLOAD):
        await documents.stage_upload(bench.runtime.ledger, upload_id, "plan", upload)
    await bench.execute("UPDATE uploads SET created_at = now() - interval '2 days'")
    await bench.a_task("upload", document_id="plan", payload={"uploadId": WAITING_UPLOAD})

    await bench.worker.retention.prune()

    assert await documents.upload(bench.runtime.ledger, WAITING_UPLOAD, "plan") == upload
    assert await documents.upload(bench.runtime.ledger, DONE_UPLOAD, "plan") is None


async def letters(bench: Workbench) -> list[str]:
    rows = await bench.execute("SELECT task_id::text AS id FROM dead_letters ORDER BY seq")
    return [row["id"] for row in rows]


async def test_a_letter_that_was_decided_goes_some_time_after_its_task(bench: Workbench) -> None:
    old, young = [await bench.a_task(max_retries=0) for _ in range(2)]
    for task in (old, young):
        await bench.end(task, "FAILED")
    await resolve(bench, old, young)
    await bench.execute(
        "UPDATE dead_letters SET resolved_at = now() - interval '91 days' WHERE task_id = $1::uuid", old.id
    )
    await prune(bench)
    assert await letters(bench) == [old.id, young.id], "its task is still there"
    await bench.let_days_pass(90.01, old)

    await prune(bench)

    assert await letters(bench) == [young.id]
    assert await bench.execute("SELECT FROM dead_letter_decisions WHERE task_id = $1::uuid", old.id) == []


async def test_a_letter_that_nobody_decides_about_goes_after_a_year_and_its_task_with_it(bench: Workbench) -> None:
    old, young = [await bench.a_task(max_retries=0) for _ in range(2)]
    for task, days in ((old, 366), (young, 364)):
        await bench.end(task, "FAILED")
        await bench.let_days_pass(days, task)
        await bench.execute(
            "UPDATE dead_letters SET dead_lettered_at = now() - make_interval(days => $2::integer) "
            "WHERE task_id = $1::uuid", task.id, days,
        )  # fmt: skip

    await prune(bench)
    await prune(bench)

    assert await letters(bench) == [young.id]
    assert await exists(bench, old, young) == [False, True]


async def test_the_row_of_a_document_that_was_deleted_long_ago_goes(bench: Workbench) -> None:
    for document_id in ("old", "young", "busy"):
        await a_document(bench, document_id)
    await bench.a_task(document_id="busy")
    for document_id in ("old", "young", "busy"):
        await bench.execute(
            "UPDATE documents SET deleted_at = now() - make_interval(days => $2::integer) WHERE id = $1",
            document_id, 89 if document_id == "young" else 91,
        )  # fmt: skip
    await bench.execute("DELETE FROM revisions")
    await bench.execute("DELETE FROM pieces")

    await prune(bench)

    rows = await bench.execute("SELECT id FROM documents ORDER BY id")
    assert [row["id"] for row in rows] == ["busy", "young"]


async def test_sessions_and_login_links_go_a_day_after_their_end(bench: Workbench) -> None:
    people, links = bench.runtime.sessions, bench.runtime.login_links
    await people.begin("stays", Login.LINK, frozenset({Scope.READ}))
    for subject, past in {
        "logged out": "ended_at = clock_timestamp() - interval '25 hours'",
        "out of late": "ended_at = clock_timestamp() - interval '23 hours'",
        "idle": "seen_at = clock_timestamp() - interval '37 hours'",
        "idle of late": "seen_at = clock_timestamp() - interval '35 hours'",
        "old": "created_at = clock_timestamp() - interval '8 days 1 hour'",
        "old of late": "created_at = clock_timestamp() - interval '7 days 23 hours'",
    }.items():
        await people.begin(subject, Login.LINK, frozenset({Scope.READ}))
        await bench.execute(f"UPDATE sessions SET {past} WHERE subject = $1", subject)  # noqa: S608 - all of it is above
    for hours in (25, 23):
        giver = Principal(f"{hours} hours ago", Kind.LOCAL, frozenset(Scope))
        await links.create(giver, [Scope.READ])
        await bench.execute(
            "UPDATE login_links SET expires_at = clock_timestamp() - make_interval(hours => $1) WHERE created_by = $2",
            hours,
            giver.id,
        )

    await prune(bench)

    left = await bench.execute("SELECT subject FROM sessions ORDER BY subject")
    assert [row["subject"] for row in left] == ["idle of late", "old of late", "out of late", "stays"]
    assert await bench.execute("SELECT created_by FROM login_links") == [{"created_by": "23 hours ago"}]
