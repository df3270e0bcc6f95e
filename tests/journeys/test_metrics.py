"""Metrics: what is counted outlives the processes that counted it."""

from functools import partial

from prometheus_client.parser import text_string_to_metric_families

from tests.journeys.conftest import Installation
from tests.journeys.processes import Server
from tests.support import eventually

TASKS = 20


async def test_counts_never_go_down_and_nothing_is_counted_twice_when_workers_are_killed(
    deserted: Installation,
) -> None:
    api, seen = deserted.api, list[float]()

    async def are_told(tasks: int) -> bool:
        runs = await _runs_of_noop(api)
        seen.append(runs)
        assert runs <= tasks
        return runs == tasks

    for round_ in range(1, 4):
        worker = await deserted.processes.worker()
        await api.all_final(await api.submit_many([{"taskType": "noop"}] * TASKS))
        await eventually(partial(are_told, round_ * TASKS))
        await worker.kill()

    assert await are_told(3 * TASKS)
    assert seen == sorted(seen)


async def _runs_of_noop(api: Server) -> float:
    samples = [
        sample
        for family in text_string_to_metric_families((await api.get("/metrics")).text)
        for sample in family.samples
        if sample.name == "officeplane_task_run_seconds_count" and sample.labels == {"type": "noop"}
    ]
    return sum(sample.value for sample in samples)
