"""Children: real processes that run `def` handlers, die with them, and leave nothing behind."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from officeplane.domain.failure import FailureKind
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.outcome import Failed, Outcome, Succeeded
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask
from tests.sandbox.processes import children_of
from tests.support import eventually, stopwatch
from tests.workbench import Workbench
from tests.workers.hosting import HANDLERS, a_worker
from tests.workers.marks import Marks, is_running
from workers import attempts, children
from workers.attempts import Attempt, StopReason
from workers.children import ChildNotStartedError, Children
from workers.reports import LedgerReports
from workers.results import EditsWanted


class Host:
    """Children, and attempts that run in them."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench
        self.reports = LedgerReports(bench.worker.leases)
        self.children = Children([HANDLERS], ["ACME_TOKEN", "ACME_MANY_*", "OFFICEPLANE_*"])

    async def run(self, task_type: str, payload: dict[str, Any] | None = None) -> Outcome:
        """Run a new task to its end."""
        return await self.run_claimed(await self.bench.a_running_task(task_type, payload=payload or {}))

    async def run_claimed(self, task: ClaimedTask) -> Outcome:
        """Run an attempt to its end."""
        reader = cache(partial(self.bench.worker.editing.reader, task))
        outcome = await self.children.run(task, task.payload_json, self.reports, reader, self.bench.worker.spawner)
        assert not isinstance(outcome, EditsWanted)
        return outcome

    def start(self, task: ClaimedTask) -> tuple[Attempt, "asyncio.Future[Outcome | None]"]:
        """Run an attempt as a worker does, with its timeout; the future gets its outcome."""
        ended: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()
        attempt = Attempt(task, lambda _, outcome: ended.set_result(outcome))
        attempt.start(self.run_claimed(task))
        return attempt, ended


@pytest.fixture
async def host(bench: Workbench) -> AsyncIterator[Host]:
    made = Host(bench)
    flushing = asyncio.create_task(made.reports.flush())
    yield made
    flushing.cancel()
    await made.children.close()


def payload(marks: Marks, **more: Any) -> dict[str, Any]:
    """Return the payload of a task that leaves marks."""
    return {"folder": str(marks.folder), **more}


async def pid_of_child(host: Host) -> int:
    """Return the process in which the next task runs."""
    outcome = await host.run("test.surroundings")
    assert isinstance(outcome, Succeeded)
    return int(outcome.result_json.split('"pid":')[1].rstrip("}")) if outcome.result_json else 0


async def test_a_def_handler_runs_in_a_process_of_its_own(host: Host, marks: Marks) -> None:
    outcome = await host.run("test.mark_def", payload(marks))

    assert isinstance(outcome, Succeeded)
    assert marks.of("it") == ["begin", "end"]
    assert {mark.pid for mark in marks.all()}.isdisjoint({os.getpid()})


async def test_a_child_lives_across_tasks(host: Host) -> None:
    assert await pid_of_child(host) == await pid_of_child(host)


async def test_a_handler_that_fails_leaves_its_child_alive(host: Host) -> None:
    pid = await pid_of_child(host)

    outcome = await host.run("test.raise_def", {"what": "error"})

    assert isinstance(outcome, Failed)
    assert await pid_of_child(host) == pid


@pytest.mark.parametrize(
    "said",
    [
        "far too much", "no json", "[]", "{}", '{"result": 5}', '{"failed": ["no such kind", "x", null]}',
        '{"failed": ["error", "x", NaN]}', '{"edits": [1]}', '{"edits": ["ab"]}', '{"what": "ever"}', "[" * 100_000,
        '{"result": "a long text"}',
    ],
    ids=["length", "text", "list", "nothing", "number", "kind", "NaN", "edit", "short", "unknown", "nested", "long"],
)  # fmt: skip
async def test_a_child_that_says_what_no_handler_says_is_ended(host: Host, said: str) -> None:
    pid = await pid_of_child(host)

    async with asyncio.timeout(60):
        outcome = await host.run("test.say_on_the_line", {"what": said})

    assert isinstance(outcome, Failed)
    assert outcome.failure.kind is FailureKind.CRASH
    assert "no message" in outcome.failure.message
    assert await pid_of_child(host) != pid


async def test_children_end_when_they_are_closed(host: Host) -> None:
    pid = await pid_of_child(host)

    await host.children.close()

    assert not is_running(pid)


async def test_progress_and_checkpoints_of_a_child_reach_the_ledger_while_it_runs(host: Host, marks: Marks) -> None:
    task = await host.bench.a_running_task("test.report_def", payload=payload(marks))
    _, ended = host.start(task)
    await marks.seen("begin", "it")

    checkpoint = await host.bench.execute("SELECT checkpoint::text FROM tasks")

    assert checkpoint == [{"checkpoint": '{"attempt": 1}'}]

    async def is_told() -> bool:
        return (await host.bench.details(task.id)).task.progress == {"fraction": 0.25, "message": "a quarter"}

    await eventually(is_told)
    marks.open_gate("it")
    assert isinstance(await ended, Failed)


async def test_the_next_attempt_finds_the_checkpoint_of_the_last(host: Host, marks: Marks) -> None:
    marks.open_gate("it")
    first = await host.bench.a_running_task("test.report_def", payload=payload(marks), retry={"strategy": "immediate"})
    await host.bench.settle(first, await host.run_claimed(first))
    (second,) = await host.bench.worker.desk.claim([first.id])

    assert await host.run_claimed(second) == Succeeded('{"found":{"attempt":1}}')


async def test_a_checkpoint_that_cannot_be_kept_is_the_handlers_error_and_its_child_lives_on(host: Host) -> None:
    pid = await pid_of_child(host)

    outcome = await host.run("test.bad_checkpoint_def")

    assert isinstance(outcome, Failed)
    assert outcome.failure.kind is FailureKind.ERROR
    assert await pid_of_child(host) == pid


@pytest.mark.parametrize("reason", [StopReason.CANCELLED, StopReason.LOST, StopReason.DRAINED])
async def test_a_child_that_must_stop_is_killed_with_everything_it_started(
    host: Host, marks: Marks, reason: StopReason, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "STUBBORN_SECONDS", 30.0)
    task = await host.bench.a_running_task("test.family", payload=payload(marks))
    attempt, ended = host.start(task)
    child, grandchild = (await marks.seen("begin", "it")).pid, (await marks.seen("grandchild", "it")).pid
    assert is_running(grandchild)

    with stopwatch() as seconds:
        attempt.stop(reason)

        await ended
        assert seconds() < 5, "killed, not abandoned"
    assert not is_running(child)
    await eventually(lambda: not is_running(grandchild))


async def test_a_child_past_its_timeout_is_killed_with_everything_it_started(host: Host, marks: Marks) -> None:
    await pid_of_child(host)  # a child that is already up, so that the time is the handler's
    task = await host.bench.a_running_task("test.family", payload=payload(marks), timeout_seconds=3)

    _, ended = host.start(task)

    outcome = await ended
    assert isinstance(outcome, Failed)
    assert outcome.failure.kind is FailureKind.TIMEOUT
    assert not is_running((await marks.seen("begin", "it")).pid)
    grandchild = await marks.seen("grandchild", "it")
    await eventually(lambda: not is_running(grandchild.pid))


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("exit", "its process ended by itself with status 7"),
        ("segfault", "its process was killed by SIGSEGV"),
        ("killed", "its process was killed by SIGKILL"),
    ],
)
async def test_a_child_that_dies_is_a_crash_of_its_task_and_the_next_task_gets_another(
    host: Host, what: str, told: str
) -> None:
    pid = await pid_of_child(host)

    outcome = await host.run("test.die", {"what": what})

    assert isinstance(outcome, Failed)
    assert outcome.killed_its_child
    assert (outcome.failure.kind, outcome.failure.message) == (FailureKind.CRASH, told)
    assert await pid_of_child(host) != pid


async def test_a_child_that_dies_is_noticed_although_what_it_forked_still_holds_its_line(
    host: Host, marks: Marks
) -> None:
    async with asyncio.timeout(30):
        outcome = await host.run("test.die_heard", payload(marks))

    assert isinstance(outcome, Failed)
    assert outcome.killed_its_child
    forked = await marks.seen("forked", "it")
    await eventually(lambda: not is_running(forked.pid))


async def test_a_child_that_died_between_tasks_costs_the_next_task_nothing(host: Host) -> None:
    pid = await pid_of_child(host)
    os.kill(pid, 9)
    await eventually(lambda: not is_running(pid))

    outcome = await host.run("test.surroundings")

    assert isinstance(outcome, Succeeded)


async def test_a_child_sees_of_the_workers_environment_what_is_named_and_none_of_its_secrets(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = [f"OFFICEPLANE_{name}_URL" for name in ("DATABASE", "OWNER", "REDIS", "ALERT")]
    secrets += ["OFFICEPLANE_ADMIN_KEY", "OFFICEPLANE_OIDC_CLIENT_SECRET"]
    for name in (*secrets, "AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY", "ACME_TOKEN_TOO"):
        monkeypatch.setenv(name, "secret")
    for name in ("ACME_TOKEN", "ACME_MANY_THINGS", "OFFICEPLANE_URL", "LC_TIME"):
        monkeypatch.setenv(name, "for the handlers")

    environment = (await surroundings(host))["environment"]

    assert "secret" not in environment.values()
    named = {name for name, value in environment.items() if value == "for the handlers"}
    assert named == {"ACME_TOKEN", "ACME_MANY_THINGS", "OFFICEPLANE_URL", "LC_TIME"}
    assert environment["PATH"] == os.environ["PATH"]


async def test_a_child_inherits_no_descriptor_but_its_line(host: Host, tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as held:
        os.set_inheritable(held.fileno(), True)

        descriptors = (await surroundings(host))["descriptors"]

    beyond_the_standard_ones = {name: target for name, target in descriptors.items() if int(name) > 2}
    assert [target.split(":")[0] for target in beyond_the_standard_ones.values()] == ["socket"]
    assert descriptors["0"] == "/dev/null"


async def test_a_handler_with_less_time_than_its_process_takes_to_start_runs_in_the_end(
    bench: Workbench, marks: Marks
) -> None:
    # A busy machine takes its time over a start, and now and then stops a handler that had begun, and its process.
    patient = {"strategy": "fixed", "initial_seconds": 1}
    task = await bench.a_task(
        "test.mark_def", payload=payload(marks), timeout_seconds=0.2, max_retries=20, retry=patient
    )
    async with a_worker(bench):

        async def has_completed() -> bool:
            return await bench.state(task) is TaskState.COMPLETED

        await eventually(has_completed, within=60)


async def test_children_that_still_start_end_when_they_are_closed(host: Host) -> None:
    task = await host.bench.a_running_task("test.surroundings")
    others = _children()
    attempt, ended = host.start(task)
    (process,) = await eventually(lambda: _children() - others)
    attempt.stop(StopReason.CANCELLED)
    await ended

    await host.children.close()

    assert not is_running(process)


async def test_a_worker_whose_children_cannot_start_fails_the_attempt(bench: Workbench) -> None:
    task = await bench.a_running_task("test.surroundings")
    lame = Children(["no.such.module"])
    ended: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()

    async def work() -> Outcome:
        reader = cache(partial(bench.worker.editing.reader, task))
        reports = LedgerReports(bench.worker.leases)
        outcome = await lame.run(task, "{}", reports, reader, bench.worker.spawner)
        assert not isinstance(outcome, EditsWanted)
        return outcome

    Attempt(task, lambda _, outcome: ended.set_result(outcome)).start(work())

    outcome = await ended
    assert isinstance(outcome, Failed)
    assert not outcome.killed_its_child, "its handler had no part in it"
    assert "ended before it was ready" in outcome.failure.message
    assert "OFFICEPLANE_HANDLER_ENVIRONMENT" in outcome.failure.message


async def test_a_child_that_does_not_come_up_in_time_is_ended_and_that_is_said(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "START_SECONDS", 0.01)
    others = _children()

    with pytest.raises(ChildNotStartedError, match="was not ready within"):
        await host.run("test.surroundings")

    assert _children() == others


async def test_a_task_that_kills_its_process_twice_is_a_poison_pill(bench: Workbench) -> None:
    task = await bench.a_task("test.die", payload={"what": "exit"}, max_retries=20)
    async with a_worker(bench) as worker:

        async def has_failed() -> bool:
            return await bench.state(task) is TaskState.FAILED

        await eventually(has_failed)
        innocent = await bench.a_task("test.mark_def", payload={"folder": str(Path("/nowhere"))})
        assert not worker.running.done()
        await bench.runtime.cancellation.cancel(LOCAL, innocent.id, None)

    details = await bench.details(task.id)
    assert details.task.poison_pill
    assert [failure.kind for failure in details.failures] == ["crash", "crash"]


def _children() -> set[int]:
    """Return the children of this process that run handlers, or will: those of other tests may be among them."""
    found: set[int] = set()
    for pid in children_of(os.getpid()):
        with suppress(OSError):
            if b"workers.child" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.add(pid)
    return found


async def surroundings(host: Host) -> dict[str, dict[str, str]]:
    """Return what a child says of its environment and its descriptors."""
    outcome = await host.run("test.surroundings")
    assert isinstance(outcome, Succeeded)
    return TypeAdapter(dict[str, Any]).validate_json(outcome.result_json or "")
