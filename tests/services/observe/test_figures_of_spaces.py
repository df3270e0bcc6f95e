"""Figures of spaces: who controls the default space sees the whole, everybody else his own and no host."""

import pytest

from officeplane.domain.blockage import Blockage
from officeplane.domain.failure import FailureKind
from officeplane.domain.principal import LOCAL, Principal, Scope
from officeplane.services.observe import statistics
from officeplane.store.dead_letters import LetterFilter
from officeplane.store.tasks import END_OF_TIME, TaskFilter
from tests.callers import a_caller
from tests.services.observe.test_metrics import Sample, sample, samples_in
from tests.workbench import Workbench

ACME = a_caller(space="acme")
READER = a_caller(Scope.READ)
OUTSIDERS = [ACME, READER, a_caller(documents=("d",)), a_caller(task_types=("noop",))]
"""Who does not see the whole: of another space, without `control`, narrowed."""


@pytest.fixture
def acme(bench: Workbench) -> Workbench:
    """The same plane, as somebody of another space has it."""
    return bench.called_by(ACME)


async def scrape(bench: Workbench, caller: Principal = LOCAL) -> dict[Sample, float]:
    return samples_in(await bench.runtime.statistics.metrics(caller))


async def something_happens(bench: Workbench) -> None:
    """Let tasks of every fate be there: one waits, one has failed, one has completed, one is retried."""
    await bench.exhaust(await bench.a_task())
    await bench.complete(await bench.a_running_task())
    await bench.fail(await bench.a_running_task())
    await bench.a_task()


@pytest.mark.parametrize(("caller", "label"), [(LOCAL, {"space": "acme"}), (ACME, {})], ids=["whole", "own"])
async def test_a_space_is_told_apart_by_a_label_and_to_itself_needs_none(
    bench: Workbench, acme: Workbench, caller: Principal, label: dict[str, str]
) -> None:
    await something_happens(acme)
    await bench.runtime.valves.pause_type(ACME, "noop")
    await bench.runtime.valves.open_breaker(ACME, "sleep")
    await acme.execute("UPDATE tasks SET queued_at = now() - interval '1 minute' WHERE state = 'QUEUED'")
    await acme.a_task("sleep", payload={"seconds": 0})

    metrics = await scrape(bench, caller)

    assert metrics[sample("task_queue_depth", status="ready", priority_tier="normal", **label)] == 2
    assert metrics[sample("task_queue_depth", status="retrying", priority_tier="normal", **label)] == 1
    assert metrics[sample("task_queue_oldest_wait_seconds", **label)] == 0
    assert metrics[sample("dead_letters_unresolved", **label)] == 1
    assert metrics[sample("tasks_completed_total", type="noop", **label)] == 1
    assert metrics[sample("tasks_cancelled_total", type="noop", **label)] == 0
    assert metrics[sample("tasks_failed_total", type="noop", reason="permanent", **label)] == 1
    assert metrics[sample("tasks_retried_total", type="noop", reason="error", **label)] == 1
    assert metrics[sample("task_type_paused", type="noop", **label)] == 1
    assert metrics[sample("circuit_breaker_state", type="sleep", state="open", **label)] == 1


async def test_what_happens_in_one_space_changes_no_figure_of_another(bench: Workbench, acme: Workbench) -> None:
    before = {caller.id: await scrape(bench, caller) for caller in (READER, a_caller(space="others", name="o"))}

    await something_happens(acme)
    await bench.runtime.valves.pause_type(ACME, "noop")

    assert await scrape(bench, READER) == before[READER.id]
    assert await scrape(bench, a_caller(space="others", name="o")) == before["o"]
    in_default = {of: value for of, value in (await scrape(bench)).items() if "space" not in dict(of[1])}
    assert in_default.items() >= before[READER.id].items()


async def test_every_sample_of_another_space_is_labelled_with_it(bench: Workbench, acme: Workbench) -> None:
    before = (await scrape(bench)).keys()

    await something_happens(acme)

    new = (await scrape(bench)).keys() - before
    assert new
    assert {dict(labels).get("space") for _, labels in new} == {"acme"}


async def test_spaces_beyond_the_largest_are_told_of_together(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "SPACES_SHOWN", 1)
    small, smaller = (bench.called_by(a_caller(space=name)) for name in ("small", "smaller"))
    large = bench.called_by(a_caller(space="large"))
    for of_space, times in ((large, 3), (small, 2), (smaller, 1)):
        for _ in range(times):
            await of_space.complete(await of_space.a_running_task())
        await of_space.a_task()
    await bench.runtime.valves.open_breaker(small.caller, "noop")
    await bench.runtime.valves.pause_type(smaller.caller, "noop")

    metrics = await scrape(bench)

    def told(name: str, **labels: str) -> dict[str, float]:
        found = {space: metrics.get(sample(name, space=space, **labels)) for space in ("large", "small", "other")}
        return {space: value for space, value in found.items() if value is not None}

    assert told("tasks_completed_total", type="noop") == {"large": 3, "other": 3}
    assert told("task_queue_depth", status="ready", priority_tier="normal") == {"large": 1, "other": 2}
    assert told("task_type_paused", type="noop")["other"] == 1
    assert told("circuit_breaker_state", type="noop", state="open")["other"] == 1


async def test_whoever_is_narrowed_sees_figures_of_no_more_than_that(bench: Workbench) -> None:
    await something_happens(bench)
    await bench.a_task("sleep", payload={"seconds": 0}, document_id="d")
    sleepers, of_document = a_caller(task_types=("sleep",)), a_caller(documents=("d",))

    of_types, of_documents = await scrape(bench, sleepers), await scrape(bench, of_document)

    ready = sample("task_queue_depth", status="ready", priority_tier="normal")
    assert (of_types[ready], of_documents[ready]) == (1, 1)
    assert {dict(labels)["type"] for _, labels in of_types if "type" in dict(labels)} == {"sleep"}
    assert of_documents[sample("tasks_completed_total", type="noop")] == 0
    assert of_types[sample("dead_letters_unresolved")] == of_documents[sample("dead_letters_unresolved")] == 0
    for caller in (sleepers, of_document):
        stats = await bench.runtime.statistics.stats(caller)
        assert [(count.state.value, count.count) for count in stats.counts] == [("QUEUED", 1)]


async def test_stats_are_of_the_whole_or_of_the_callers_space(bench: Workbench, acme: Workbench) -> None:
    await acme.a_task()
    await bench.a_running_task()
    await bench.beat()

    whole, ours, theirs = [await bench.runtime.statistics.stats(one) for one in (LOCAL, READER, ACME)]

    assert sorted(count.state.value for count in whole.counts) == ["QUEUED", "RUNNING"]
    assert [count.state.value for count in ours.counts] == ["RUNNING"]
    assert [count.state.value for count in theirs.counts] == ["QUEUED"]
    assert whole.oldest_wait_seconds is not None
    assert ours.oldest_wait_seconds is None
    assert [len(stats.workers) for stats in (whole, ours, theirs)] == [1, 0, 0]


@pytest.mark.parametrize("caller", OUTSIDERS, ids=["of_acme", "without_control", "of_documents", "of_types"])
async def test_nobody_else_is_told_what_the_installation_runs_on(bench: Workbench, caller: Principal) -> None:
    await bench.beat()
    bench.worker.meter.ran("noop", 1)
    await bench.worker.leases.report(bench.worker.worker_id, bench.worker.meter)

    names = {name for name, _ in await scrape(bench, caller)}

    assert not [name for name in names if "worker" in name or "seconds_bucket" in name or "redis" in name]
    assert [name for name, _ in await scrape(bench) if name == "officeplane_workers"]


@pytest.mark.parametrize("caller", OUTSIDERS, ids=["of_acme", "without_control", "of_documents", "of_types"])
async def test_nobody_else_is_told_which_worker_has_or_had_a_task(bench: Workbench, caller: Principal) -> None:
    theirs = bench.called_by(a_caller(space=caller.space))
    task = await theirs.a_task(document_id="d")
    await theirs.fail(await theirs.claim_next(task))
    await theirs.make_due()
    running = await theirs.claim_next(task)
    await bench.beat(blocked=Blockage(12.0, "acme.py:7", running.id, "noop"))
    behind = await theirs.a_task(document_id="d")
    explain, named = bench.runtime.explanations.explain, bench.worker.worker_id

    page, _ = await bench.runtime.tasks.page(caller, TaskFilter(), None, 10)
    found = [await bench.runtime.tasks.find(caller, task.id), *page]
    told = [await explain(caller, one.id) for one in (task, behind)]

    assert {one.task.worker_id for one in found} == {None}
    assert {failure.worker_id for one in found for failure in one.failures} == {None}
    assert named not in str(told)
    assert "acme.py" not in str(told)
    assert [reason.code for reason in told[0].reasons] == ["running", "worker_blocked"]
    assert told[0].reasons[0].detail.startswith("A worker is running it, last heard ")
    assert {reason.facts["workerId"] for one in told for reason in one.reasons if "workerId" in reason.facts} == {None}
    if caller.space == LOCAL.space:
        assert (await bench.details(task.id)).task.worker_id == named


async def test_letters_name_workers_to_those_who_see_the_whole_alone(bench: Workbench, acme: Workbench) -> None:
    for one in (bench, acme):
        await one.fail(await one.a_running_task(), FailureKind.PERMANENT)
    page = bench.runtime.dead_letters.page

    (ours,), (theirs,) = [await page(caller, LetterFilter(), END_OF_TIME, 10) for caller in (LOCAL, ACME)]

    assert [failure.worker_id for failure in ours.failures] == [bench.worker.worker_id]
    assert [failure.worker_id for failure in theirs.failures] == [None]


async def test_no_count_of_workers_is_told_to_another_space(bench: Workbench, acme: Workbench) -> None:
    task = await acme.a_task()
    await bench.beat(task_types=["sleep"])

    (reason,) = (await bench.runtime.explanations.explain(ACME, task.id)).reasons

    assert (reason.code, reason.facts) == ("no_worker", {"workers": None})
    assert reason.detail == "No live worker knows task type 'noop'."
    await bench.another_worker().beat(running=3, concurrency=3)
    (reason,) = (await bench.runtime.explanations.explain(ACME, task.id)).reasons
    assert (reason.code, reason.facts) == ("workers_busy", {"workers": None})


async def test_lost_attempts_are_counted_in_their_space(bench: Workbench, acme: Workbench) -> None:
    lost = await acme.a_running_task()
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()

    await acme.complete(lost)

    assert (await scrape(bench))[sample("fenced_commits_total", type="noop", space="acme")] == 1
    assert (await scrape(bench, ACME))[sample("fenced_commits_total", type="noop")] == 1


async def test_the_ends_of_batches_and_of_what_is_cancelled_are_counted_in_their_space(
    bench: Workbench, acme: Workbench
) -> None:
    _, child, _ = await acme.a_batch({"task_type": "noop"}, {"task_type": "noop"})
    await acme.exhaust(child)
    await bench.runtime.cancellation.cancel(ACME, (await acme.a_task()).id, None)

    metrics = await scrape(bench, ACME)

    assert metrics[sample("tasks_failed_total", type="batch_edit", reason="child")] == 1
    assert metrics[sample("tasks_cancelled_total", type="noop")] == 2
    assert all(value == 0 for (name, _), value in (await scrape(bench, READER)).items() if name.endswith("_total"))
