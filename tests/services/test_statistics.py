"""Statistics: the ledger in numbers, for people and for Prometheus."""

from prometheus_client.parser import text_string_to_metric_families

from officeplane.domain.failure import FailureKind
from tests.services.conftest import AnotherBench
from tests.workbench import Workbench

Sample = tuple[str, frozenset[tuple[str, str]]]


async def scrape(bench: Workbench) -> dict[Sample, float]:
    """Return every sample of the metrics, by name and labels."""
    families = text_string_to_metric_families(await bench.runtime.statistics.metrics())
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def sample(name: str, **labels: str) -> Sample:
    return (f"officeplane_{name}", frozenset(labels.items()))


async def test_tasks_are_counted_by_state_and_tier(bench: Workbench) -> None:
    await bench.a_task(priority="LOW")
    await bench.a_task(priority="BACKGROUND")
    await bench.a_running_task(priority="CRITICAL")
    await bench.complete(await bench.a_running_task())

    stats = await bench.runtime.statistics.stats()

    counts = {(count.state.value, count.tier.name): count.count for count in stats.counts}
    assert counts == {("QUEUED", "LOW"): 2, ("RUNNING", "CRITICAL"): 1, ("COMPLETED", "NORMAL"): 1}


async def test_the_oldest_wait_is_that_of_what_could_run(bench: Workbench) -> None:
    assert (await bench.runtime.statistics.stats()).oldest_wait_seconds is None
    waiting, running = await bench.a_task(), await bench.a_task()
    await bench.a_task(run_at="2999-01-01T00:00:00Z")
    await bench.execute("UPDATE tasks SET queued_at = now() - interval '60 s' WHERE id = $1::uuid", waiting.id)
    await bench.execute("UPDATE tasks SET queued_at = now() - interval '90 s' WHERE id = $1::uuid", running.id)
    await bench.claim(running)

    oldest = (await bench.runtime.statistics.stats()).oldest_wait_seconds

    assert oldest is not None
    assert 60 <= oldest < 70


async def test_live_workers_are_listed(bench: Workbench) -> None:
    await bench.beat(running=2, concurrency=5)
    silent = bench.another_worker()
    await silent.beat()
    await bench.execute(
        "UPDATE workers SET last_seen_at = now() - interval '31 s' WHERE id = $1", silent.worker.worker_id
    )

    (worker,) = (await bench.runtime.statistics.stats()).workers

    assert (worker.id, worker.host, worker.pid) == (bench.worker.worker_id, "host", 7)
    assert (worker.concurrency, worker.running) == (5, 2)


async def test_the_metrics_of_an_empty_plane_are_all_there(bench: Workbench) -> None:
    metrics = await scrape(bench)

    assert metrics[sample("task_queue_oldest_wait_seconds")] == 0
    assert metrics[sample("workers")] == 0
    assert metrics[sample("redis_available")] == 1


async def test_the_metrics_say_what_waits(bench: Workbench) -> None:
    await bench.a_task(priority="HIGH")
    await bench.a_task()
    await bench.fail(await bench.a_running_task())
    await bench.a_batch({"task_type": "noop"})

    metrics = await scrape(bench)

    assert metrics[sample("task_queue_depth", status="ready", priority_tier="high")] == 1
    assert metrics[sample("task_queue_depth", status="ready", priority_tier="normal")] == 2
    assert metrics[sample("task_queue_depth", status="retrying", priority_tier="normal")] == 1


async def test_the_metrics_say_what_has_ended_and_why(bench: Workbench) -> None:
    await bench.complete(await bench.a_running_task())
    await bench.fail(await bench.a_running_task())
    await bench.fail(await bench.a_running_task(max_retries=0), FailureKind.TIMEOUT)
    await bench.fail(await bench.a_running_task(), FailureKind.PERMANENT)
    await bench.runtime.cancellation.cancel((await bench.a_task()).id, None)
    _, child = await bench.a_batch({"task_type": "noop", "max_retries": 0})
    await bench.exhaust(child)

    metrics = await scrape(bench)

    assert metrics[sample("tasks_completed_total", type="noop")] == 1
    assert metrics[sample("tasks_retried_total", type="noop", reason="error")] == 1
    assert metrics[sample("tasks_failed_total", type="noop", reason="timeout")] == 1
    assert metrics[sample("tasks_failed_total", type="noop", reason="permanent")] == 2
    assert metrics[sample("tasks_failed_total", type="batch_edit", reason="child")] == 1
    assert metrics[sample("tasks_cancelled_total", type="noop")] == 1


async def test_the_counts_of_all_processes_add_up(bench: Workbench) -> None:
    for worker in (bench, bench.another_worker()):
        await worker.complete(await worker.a_running_task())

    assert (await scrape(bench))[sample("tasks_completed_total", type="noop")] == 2


async def test_the_metrics_say_how_busy_the_workers_are(bench: Workbench) -> None:
    await bench.beat(running=2, concurrency=5)
    await bench.another_worker().beat(running=1, concurrency=3)

    metrics = await scrape(bench)

    assert [metrics[sample(name)] for name in ("workers", "worker_slots", "worker_slots_busy")] == [2, 8, 3]


async def test_the_metrics_say_that_redis_is_away(another_bench: AnotherBench) -> None:
    async with another_bench(redis_url="") as without:
        assert (await scrape(without))[sample("redis_available")] == 0


async def test_counters_never_go_down_when_workers_are_forgotten(bench: Workbench) -> None:
    await bench.complete(await bench.a_running_task())

    await bench.worker.retention.prune()

    assert (await scrape(bench))[sample("tasks_completed_total", type="noop")] == 1
