"""Statistics: the ledger in numbers, for people."""

from officeplane.domain.ids import DocumentId
from officeplane.domain.principal import LOCAL
from officeplane.domain.valve import Limits
from tests.workbench import Workbench


async def test_tasks_are_counted_by_state_and_tier(bench: Workbench) -> None:
    await bench.a_task(priority="LOW")
    await bench.a_task(priority="BACKGROUND")
    await bench.a_running_task(priority="CRITICAL")
    await bench.complete(await bench.a_running_task())

    stats = await bench.runtime.statistics.stats(LOCAL)

    counts = {(count.state.value, count.tier.name): count.count for count in stats.counts}
    assert counts == {("QUEUED", "LOW"): 2, ("RUNNING", "CRITICAL"): 1, ("COMPLETED", "NORMAL"): 1}


async def test_the_oldest_wait_is_that_of_what_could_run(bench: Workbench) -> None:
    assert (await bench.runtime.statistics.stats(LOCAL)).oldest_wait_seconds is None
    waiting, running = await bench.a_task(), await bench.a_task()
    await bench.a_task(run_at="2999-01-01T00:00:00Z")
    await bench.execute("UPDATE tasks SET queued_at = now() - interval '60 s' WHERE id = $1::uuid", waiting.id)
    await bench.execute("UPDATE tasks SET queued_at = now() - interval '90 s' WHERE id = $1::uuid", running.id)
    await bench.claim(running)

    oldest = (await bench.runtime.statistics.stats(LOCAL)).oldest_wait_seconds

    assert oldest is not None
    assert 60 <= oldest < 70


async def longest_wait(bench: Workbench) -> float:
    """Return for how many minutes the longest wait has lasted; 0 when nobody waits."""
    found = (await bench.runtime.statistics.stats(LOCAL)).oldest_wait_seconds
    return 0 if found is None else found // 60


async def let_all_have_waited(bench: Workbench, minutes: float) -> None:
    await bench.execute("UPDATE tasks SET queued_at = now() - $1 * interval '1 min' WHERE finished_at IS NULL", minutes)


async def test_what_is_held_does_not_count_as_waiting_until_it_is_let_go(bench: Workbench) -> None:
    regulation, note = bench.runtime.valves, {"payload": {"text": "x"}}
    await bench.a_task("test.note", **note)
    await bench.a_task("test.note", document_id="d", **note)
    await let_all_have_waited(bench, 50)
    await bench.a_task()
    await bench.execute("UPDATE tasks SET queued_at = now() - interval '1 min' WHERE task_type = 'noop'")
    assert await longest_wait(bench) == 50

    await regulation.pause_type(LOCAL, "test.note")
    assert await longest_wait(bench) == 1
    await regulation.resume_type(LOCAL, "test.note")
    assert await longest_wait(bench) == 50

    await regulation.open_breaker(LOCAL, "test.note")
    assert await longest_wait(bench) == 1
    await regulation.reset_breaker(LOCAL, "test.note")

    await bench.execute("UPDATE valves SET slow_until = now() + interval '1 hour'")
    assert await longest_wait(bench) == 1
    await bench.execute("UPDATE valves SET slow_until = now() - interval '1 s'")
    assert await longest_wait(bench) == 50


async def test_a_paused_document_does_not_count_as_waiting(bench: Workbench) -> None:
    await bench.a_task(document_id="d")
    await let_all_have_waited(bench, 50)

    await bench.runtime.valves.pause_document(LOCAL, DocumentId("d"))
    assert await longest_wait(bench) == 0

    await bench.runtime.valves.resume_document(LOCAL, DocumentId("d"))
    assert await longest_wait(bench) == 50


async def test_what_stands_behind_a_held_head_or_one_that_is_not_due_does_not_count_as_waiting(
    bench: Workbench,
) -> None:
    await bench.a_task("test.note", document_id="held", payload={"text": "x"})
    await bench.fail(await bench.a_running_task(document_id="retries"))
    for document_id in ("held", "retries"):
        await bench.a_task(document_id=document_id)
    await bench.a_task("test.note", document_id="yields", payload={"text": "x"}, on_retry="yield")
    await bench.runtime.valves.pause_type(LOCAL, "test.note")
    await let_all_have_waited(bench, 50)
    assert await longest_wait(bench) == 0

    await bench.a_task(document_id="yields")
    await let_all_have_waited(bench, 50)
    assert await longest_wait(bench) == 50, "it may pass the one that yields"


async def test_a_task_that_waits_for_its_document_counts_as_waiting(bench: Workbench) -> None:
    await bench.a_running_task(document_id="d")
    await bench.a_task(document_id="d")

    await let_all_have_waited(bench, 50)

    assert await longest_wait(bench) == 50


async def test_what_waits_for_a_limit_does_not_count_as_waiting(bench: Workbench) -> None:
    running = await bench.a_running_task()
    await bench.a_task()
    await let_all_have_waited(bench, 50)
    set_limits = bench.runtime.valves.set_limits

    await set_limits(LOCAL, "noop", Limits(concurrency=1))
    assert await longest_wait(bench) == 0
    await bench.complete(running)
    assert await longest_wait(bench) == 50

    await set_limits(LOCAL, "noop", Limits(rate_per_second=0.01))
    await bench.execute("UPDATE valves SET tokens = 0, tokens_at = now()")
    assert await longest_wait(bench) == 0, "the rate is being used up"
    await bench.execute("UPDATE valves SET tokens_at = now() - interval '1 hour'")
    assert await longest_wait(bench) == 50, "nobody has made use of it for a while"


async def test_a_type_that_no_worker_knows_waits_in_earnest(bench: Workbench) -> None:
    await bench.a_task()
    await bench.execute("UPDATE tasks SET task_type = 'nobody.knows'")

    await let_all_have_waited(bench, 50)

    assert await longest_wait(bench) == 50


async def test_live_workers_are_listed(bench: Workbench) -> None:
    await bench.beat(running=2, concurrency=5)
    silent = bench.another_worker()
    await silent.beat()
    await bench.execute(
        "UPDATE workers SET last_seen_at = now() - interval '31 s' WHERE id = $1", silent.worker.worker_id
    )

    (worker,) = (await bench.runtime.statistics.stats(LOCAL)).workers

    assert (worker.id, worker.host, worker.pid) == (bench.worker.worker_id, "host", 7)
    assert (worker.concurrency, worker.running) == (5, 2)
