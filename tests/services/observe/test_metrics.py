"""Metrics: the ledger in numbers for Prometheus, and what workers have measured."""

import re
from collections import Counter
from pathlib import Path
from typing import Final

import pytest
from prometheus_client.parser import text_string_to_metric_families

from officeplane.domain.blockage import Blockage
from officeplane.domain.failure import FailureKind
from officeplane.domain.observation import BOUNDS_SECONDS, Bucket, Measure, Observed
from officeplane.domain.principal import LOCAL
from officeplane.store import observations
from tests.services.conftest import AnotherBench
from tests.workbench import Workbench

DOCS: Final = Path(__file__).parents[3] / "docs"
BOUNDS: Final = [str(bound) for bound in BOUNDS_SECONDS[:-1]] + ["+Inf"]

Sample = tuple[str, frozenset[tuple[str, str]]]


def samples_in(text: str) -> dict[Sample, float]:
    """Return every sample of a scrape, by name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def scrape(bench: Workbench) -> dict[Sample, float]:
    """Return what those who see the whole are told."""
    return samples_in(await bench.runtime.statistics.metrics(LOCAL))


def sample(name: str, **labels: str) -> Sample:
    return (f"officeplane_{name}", frozenset(labels.items()))


async def test_a_worker_whose_loop_is_blocked_says_by_whom_until_it_turns_again(bench: Workbench) -> None:
    task = await bench.a_running_task()
    blocked = Blockage(12.0, "acme.py:7", task.id, "noop")
    await bench.beat(blocked=blocked)
    other = bench.another_worker()
    await other.beat(blocked=Blockage(2.0, "acme.py:9"))

    first, second = [worker.blocked for worker in (await bench.runtime.statistics.stats(LOCAL)).workers]
    metrics = await scrape(bench)

    assert first is not None
    assert first.seconds >= 12
    assert first._replace(seconds=12.0) == blocked
    assert second is not None
    assert second.task_id is None
    assert metrics[sample("workers_blocked", type="noop")] == 1
    assert metrics[sample("workers_blocked", type="sleep")] == 0
    assert metrics[sample("workers_blocked", type="")] == 1

    await bench.beat()

    assert (await bench.runtime.statistics.stats(LOCAL)).workers[0].blocked is None
    assert (await scrape(bench))[sample("workers_blocked", type="noop")] == 0


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
    await bench.runtime.cancellation.cancel(LOCAL, (await bench.a_task()).id, None)
    _, child = await bench.a_batch({"task_type": "noop", "max_retries": 0})
    await bench.exhaust(child)

    metrics = await scrape(bench)

    assert metrics[sample("tasks_completed_total", type="noop")] == 1
    assert metrics[sample("tasks_retried_total", type="noop", reason="error")] == 1
    assert metrics[sample("tasks_failed_total", type="noop", reason="timeout")] == 1
    assert metrics[sample("tasks_failed_total", type="noop", reason="permanent")] == 2
    assert metrics[sample("tasks_failed_total", type="batch_edit", reason="child")] == 1
    assert metrics[sample("tasks_cancelled_total", type="noop")] == 1


async def test_a_type_that_was_cancelled_in_two_ways_is_one_sample(bench: Workbench) -> None:
    await bench.runtime.cancellation.cancel(LOCAL, (await bench.a_task()).id, None)
    running = await bench.a_running_task()
    await bench.runtime.cancellation.cancel(LOCAL, running.id, None)
    await bench.fail(running, FailureKind.CANCELLED)

    text = await bench.runtime.statistics.metrics(LOCAL)

    assert text.count('officeplane_tasks_cancelled_total{type="noop"}') == 1
    assert (await scrape(bench))[sample("tasks_cancelled_total", type="noop")] == 2


async def test_a_dead_letter_is_counted_once_though_its_batch_fails_with_it(bench: Workbench) -> None:
    _, child = await bench.a_batch({"task_type": "noop"})
    await bench.exhaust(child)
    await bench.fail(await bench.a_running_task(max_retries=0), FailureKind.TIMEOUT)

    metrics = await scrape(bench)

    assert metrics[sample("tasks_dead_lettered_total", type="noop")] == 2
    assert metrics[sample("tasks_dead_lettered_total", type="batch_edit")] == 0
    assert len(await bench.execute("SELECT FROM dead_letters")) == 2


async def test_attempts_that_met_a_limit_are_counted(bench: Workbench) -> None:
    await bench.fail(await bench.a_running_task())
    await bench.fail(await bench.a_running_task(), FailureKind.RATE_LIMITED)

    assert (await scrape(bench))[sample("tasks_rate_limited_total", type="noop")] == 1


async def test_waits_and_runs_are_histograms_of_each_type(bench: Workbench) -> None:
    meter = bench.worker.meter
    for seconds in (0.0004, 0.3, 7_000):
        meter.waited("noop", seconds)
    meter.ran("noop", 2)
    meter.ran("sleep", 0.001)
    await bench.worker.leases.report(bench.worker.worker_id, meter)

    metrics = await scrape(bench)

    waits = [metrics[sample("task_queue_wait_seconds_bucket", type="noop", le=le)] for le in BOUNDS]
    assert waits == [1.0] * BOUNDS.index("0.5") + [2.0] * (len(BOUNDS) - BOUNDS.index("0.5") - 1) + [3.0]
    assert metrics[sample("task_queue_wait_seconds_count", type="noop")] == 3
    assert metrics[sample("task_queue_wait_seconds_sum", type="noop")] == pytest.approx(7_000.3004)
    assert metrics[sample("task_run_seconds_bucket", type="noop", le="1.0")] == 0
    assert metrics[sample("task_run_seconds_bucket", type="noop", le="2.5")] == 1
    assert metrics[sample("task_run_seconds_bucket", type="sleep", le="0.001")] == 1


async def test_what_a_version_with_other_buckets_saw_is_counted_within_ours(bench: Workbench) -> None:
    seen = [Observed(Bucket(Measure.RUN, "noop", up_to), 1, up_to) for up_to in (0.07, 9_999)]
    await observations.add(bench.runtime.ledger, bench.worker.worker_id, 1, seen)

    metrics = await scrape(bench)

    assert metrics[sample("task_run_seconds_bucket", type="noop", le="0.05")] == 0
    assert metrics[sample("task_run_seconds_bucket", type="noop", le="0.1")] == 1
    assert metrics[sample("task_run_seconds_bucket", type="noop", le="3600.0")] == 1
    assert metrics[sample("task_run_seconds_bucket", type="noop", le="+Inf")] == 2


async def test_wasted_pops_are_counted_from_the_first(bench: Workbench) -> None:
    assert (await scrape(bench))[sample("wasted_pops_total")] == 0
    bench.worker.meter.popped_in_vain(4)
    await bench.worker.leases.report(bench.worker.worker_id, bench.worker.meter)

    assert (await scrape(bench))[sample("wasted_pops_total")] == 4


async def test_a_type_that_has_not_ended_yet_counts_from_zero(bench: Workbench) -> None:
    metrics = await scrape(bench)

    families = ("tasks_completed", "tasks_dead_lettered", "tasks_rate_limited", "tasks_cancelled", "fenced_commits")
    assert [metrics[sample(f"{family}_total", type="sleep")] for family in families] == [0] * len(families)


async def test_dead_letters_are_shown_until_somebody_decides(bench: Workbench) -> None:
    await bench.exhaust(await bench.a_task())
    assert (await scrape(bench))[sample("dead_letters_unresolved")] == 1

    await bench.execute("UPDATE dead_letters SET resolution = 'delete', resolved_by = 'me', resolved_at = now()")

    assert (await scrape(bench))[sample("dead_letters_unresolved")] == 0


async def test_dags_that_are_not_settled_are_counted(bench: Workbench) -> None:
    for status in ("running", "running", "failed", "completed", "cancelled"):
        await bench.execute(
            "INSERT INTO dags (id, status, finished_at)"
            " VALUES (gen_random_uuid(), $1, CASE WHEN $1 <> 'running' THEN now() END)",
            status,
        )

    metrics = await scrape(bench)

    assert {labels: metrics[name, labels] for name, labels in metrics if name == "officeplane_dags"} == {
        frozenset({("status", "running")}): 2,
        frozenset({("status", "failed")}): 1,
    }


async def test_the_metrics_say_which_types_are_held(bench: Workbench) -> None:
    await bench.execute(
        "INSERT INTO valves (task_type, breaker, opened_at, retry_at) VALUES ('noop', 'open', now(), now())"
    )
    await bench.execute("INSERT INTO valves (task_type, paused) VALUES ('sleep', true), ('acme.of_old', true)")

    metrics = await scrape(bench)

    def breaker(task_type: str) -> list[float]:
        return [
            metrics[sample("circuit_breaker_state", type=task_type, state=state)]
            for state in ("closed", "open", "half_open")
        ]

    assert [breaker(task_type) for task_type in ("noop", "sleep")] == [[0, 1, 0], [1, 0, 0]]
    assert not [name for name in metrics if "circuit_breaker" in name and "add_section" in name], "edits have none"
    paused = [metrics[sample("task_type_paused", type=name)] for name in ("noop", "sleep", "acme.of_old")]
    assert paused == [0, 1, 1]


async def test_no_sample_is_told_twice(bench: Workbench) -> None:
    """Prometheus drops a scrape's repeated samples, and with them the sense of its sums."""
    await bench.crash(await bench.a_running_task(max_retries=0))
    for kind in FailureKind:
        failing, cancelled = await bench.a_running_task(max_retries=0), await bench.a_running_task()
        await bench.fail(failing, kind)
        await bench.runtime.cancellation.cancel(LOCAL, cancelled.id, None)
        await bench.fail(cancelled, kind)
        # So that no breaker opens, and nothing slows down.
        await bench.execute("DELETE FROM valves")
    for outcome in ("failed", "timeout", "fenced", "retrying", "completed", "queued"):
        await bench.execute("INSERT INTO task_counters VALUES ('', 'noop', $1, 'timeout', 1)", outcome)

    lines = [line.rpartition(" ")[0] for line in (await bench.runtime.statistics.metrics(LOCAL)).splitlines()]

    assert [line for line, times in Counter(lines).items() if times > 1] == []


async def test_a_queue_that_is_empty_shows_as_zero(bench: Workbench) -> None:
    depths = {labels: value for (name, labels), value in (await scrape(bench)).items() if name.endswith("queue_depth")}

    tiers, statuses = ("critical", "high", "normal", "low"), ("ready", "retrying")
    wanted = [sample("", status=status, priority_tier=tier)[1] for status in statuses for tier in tiers]
    assert depths == dict.fromkeys(wanted, 0)


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


async def test_every_metric_is_explained_and_no_other(bench: Workbench) -> None:
    text = await bench.runtime.statistics.metrics(LOCAL)

    page = (DOCS / "operating.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| (`officeplane_.*?) \|", page, re.MULTILINE)
    assert set(re.findall(r"officeplane_\w+", " ".join(named))) == set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))


async def test_the_alerts_are_about_metrics_that_there_are(bench: Workbench) -> None:
    text = await bench.runtime.statistics.metrics(LOCAL)
    names = set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))

    asked = set(re.findall(r"officeplane_\w+", (DOCS / "alerts.yml").read_text(encoding="utf-8")))

    assert {name.removesuffix("_bucket") for name in asked} <= names
