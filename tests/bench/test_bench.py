"""`officeplane bench`, as users run it, at a tenth of its size."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from officeplane.embedded.processes import is_alive
from tests.bench.conftest import SCENARIOS, TASKS_SECONDS, Run, Servers
from tests.cli.conftest import PROGRAM, run_program
from tests.support import eventually

# Far below what an idle machine shows (in brackets), far above a tenth of it.
LEAST_RATIOS = {
    "drain-documents": 0.02,
    "submit": 0.1,
    "post": 0.02,
    "hot-document": 0.02,
}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2 * TASKS_SECONDS)]


def test_a_drained_queue_lost_and_doubled_nothing(bench_run: Run) -> None:
    drained = bench_run.result("drain-documents")

    assert drained["tasks"] == 2_000
    assert drained["completed"] == 2_000
    assert drained["handler_runs"] == 2_000
    assert drained["doubled"] == 0
    assert drained["per_second"] > 0


@pytest.mark.parametrize(("scenario", "tasks"), [("submit", 3_000), ("post", 1_000)])
def test_what_was_submitted_is_stored_and_rung(bench_run: Run, scenario: str, tasks: int) -> None:
    result = bench_run.result(scenario)

    assert (result["tasks"], result["stored"], result["rung"]) == (tasks, tasks, tasks)


def test_lanes_neither_overlap_nor_change_their_order(bench_run: Run) -> None:
    lanes = bench_run.result("lanes")

    assert lanes["completed"] == lanes["tasks"] == 400
    assert lanes["overlaps"] == 0
    assert lanes["inversions"] == 0
    assert lanes["makespan_seconds"] > lanes["ideal_seconds"]


def test_a_hot_document_does_not_make_hints_go_round(bench_run: Run) -> None:
    hot = bench_run.result("hot-document")

    assert hot["completed"] == hot["tasks"] == 200
    # The servers are shared with the other tests of this run, hence the room.
    assert hot["pops_per_task"] < 5


@pytest.mark.parametrize(("scenario", "least"), LEAST_RATIOS.items())
def test_the_system_is_not_ten_times_slower_than_it_was(bench_run: Run, scenario: str, least: float) -> None:
    assert bench_run.ratio(scenario) > least


def test_the_report_has_the_form_that_programs_rely_on(bench_run: Run) -> None:
    report = bench_run.report

    assert report["format"] == 1
    assert set(report) == {
        "format",
        "beganAt",
        "seconds",
        "scale",
        "machine",
        "loadBefore",
        "loadAfter",
        "limits",
        "scenarios",
        "figures",
    }
    assert set(report["scenarios"]) == set(SCENARIOS)
    assert set(report["machine"]) >= {"cores", "python", "postgres", "postgres_settings", "redis", "libraries"}
    assert report["machine"]["postgres_settings"]["fsync"] == "off"
    for limit in report["limits"].values():
        assert set(limit) == {"title", "unit", "value", "values"}
    for figure in report["figures"]:
        assert set(figure) == {"scenario", "name", "unit", "value", "values", "spread", "limit", "ratio"}
        assert (figure["limit"] is None) == (figure["ratio"] is None)


def test_only_the_limits_that_are_compared_with_are_measured(bench_run: Run) -> None:
    measured = set(bench_run.report["limits"])

    assert {"single_inserts", "lock_cycles", "lock_claim_and_complete", "one_by_one"} <= measured
    assert "pairs" not in measured


def test_nothing_is_left_on_the_servers(bench_run: Run) -> None:
    assert bench_run.databases_left == []
    assert bench_run.keys_left == []


@pytest.fixture
def idle_bench(servers: Servers, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run in the middle of half a minute in which nothing happens."""
    urls = ("--database-url", servers.database_url, "--redis-url", servers.redis_url)
    with (tmp_path / "said").open("wb") as said:
        # One that is killed leaves its folder behind.
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        process = subprocess.Popen([PROGRAM, "bench", "--only", "idle", *urls], stderr=said, env=environment)
        yield process
        process.kill()
        process.wait()


async def test_stopped_half_way_it_cleans_up_and_says_so(
    idle_bench: subprocess.Popen[bytes], servers: Servers, tmp_path: Path
) -> None:
    workers = await eventually(lambda: processes_below(idle_bench.pid), within=60, what="a worker")

    idle_bench.terminate()
    code = await asyncio.to_thread(idle_bench.wait, 60)

    assert code == 1
    assert "Stopped before the end" in (tmp_path / "said").read_text()
    assert await servers.databases() == []
    assert await servers.keys() == []
    assert not any(map(is_alive, workers))


async def test_killed_outright_it_leaves_no_process(
    idle_bench: subprocess.Popen[bytes], servers: Servers, tmp_path: Path
) -> None:
    workers = await eventually(lambda: processes_below(idle_bench.pid), within=60, what="a worker")

    idle_bench.kill()

    await eventually(lambda: not any(map(is_alive, workers)))
    await servers.clear()


def processes_below(pid: int) -> list[int]:
    """The worker that a run has started; the watchdog is a Python of another kind."""
    listing = subprocess.run(("ps", "-axwwo", "pid=,ppid=,command="), capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=2) for line in listing.splitlines()]
    return [int(child) for child, parent, command in rows if int(parent) == pid and " worker " in command]


async def test_without_urls_it_brings_durable_servers_of_its_own() -> None:
    ended = await run_program("bench", "--quick", "--only", "submit-many", within=TASKS_SECONDS)

    assert ended.code == 0, ended.err
    assert "fsync on" in ended.out
    assert "synchronous_commit on" in ended.out
    assert "submit_many" in ended.out
    assert "grouped_inserts" in ended.out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--only", "nonsense"), 2, "There is no scenario 'nonsense'; there are: drain, "),
        (("--database-url", "postgresql://127.0.0.1:1/x"), 2, "Give both --database-url and --redis-url"),
        (
            ("--database-url", "nonsense", "--redis-url", "redis://127.0.0.1:1"),
            2,
            "OFFICEPLANE_DATABASE_URL: It must be",
        ),
        (("--database-url", "postgresql://127.0.0.1:1/x", "--redis-url", "redis://127.0.0.1:1"), 3, "does not answer"),
    ],
)
async def test_what_cannot_be_measured_is_refused_in_a_line(arguments: tuple[str, ...], code: int, said: str) -> None:
    ended = await run_program("bench", *arguments)

    assert ended.code == code
    assert said in ended.err
    assert ended.err.count("\n") == 1
    assert ended.out == ""
