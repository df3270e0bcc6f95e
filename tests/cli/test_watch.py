"""`officeplane tasks watch`: seen to the end, across whatever happens to the connection."""

import asyncio
import json
import os
import signal
from pathlib import Path

from officeplane.embedded.ports import free_port
from tests.cli.conftest import LATER, PROGRAM, ROOT, Officeplane, Plane, Start, Tasks
from tests.support import eventually


async def test_it_ends_with_0_when_the_task_completes(tasks: Tasks) -> None:
    task_id = await tasks.submit("sleep", payload={"seconds": 0.5})

    ended = await tasks("watch", task_id)

    assert ended.code == 0
    assert all(line.startswith(f"{task_id}  sleep  ") for line in ended.out.splitlines())
    assert "COMPLETED" in ended.out.splitlines()[-1]


async def test_it_ends_with_1_when_one_of_the_tasks_fails(tasks: Tasks) -> None:
    good, bad = await tasks.submit("noop"), await tasks.submit("cli.fail")

    ended = await tasks("watch", good, bad)

    assert ended.code == 1
    assert f"{bad}  cli.fail  FAILED" in ended.out
    assert "permanent: PermanentFailure: there is no such sheet" in ended.out


async def test_tasks_that_are_final_already_are_told_at_once(tasks: Tasks) -> None:
    done = await tasks("submit", "noop", "--wait", "20", "--json")

    ended = await tasks("watch", str(done.object["id"]))

    assert ended.code == 0
    assert len(ended.out.splitlines()) == 1


async def test_progress_is_seen(start: Start, plane: Plane, tasks: Tasks, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    task_id = await tasks.submit("cli.report", payload={"gate": str(gate)})
    async with start("tasks", "watch", task_id, env=plane.env) as watch:
        try:
            await eventually(lambda: "50% halfway" in watch.out.read_text())
        finally:
            gate.touch()

        assert await asyncio.wait_for(watch.process.wait(), 60) == 0


async def test_a_batch_is_watched_to_its_end(tasks: Tasks) -> None:
    children = [{"taskType": "sleep", "payload": {"seconds": 0.2}} for _ in range(3)]
    batch = (await tasks("submit", "--body", json.dumps({"children": children}), "--json")).object

    ended = await tasks("watch", str(batch["id"]))

    assert ended.code == 0
    assert "3 completed" in ended.out.splitlines()[-1]


async def test_json_is_the_task_at_every_change(tasks: Tasks) -> None:
    task_id = await tasks.submit("sleep", payload={"seconds": 0.5})

    ended = await tasks("watch", task_id, "--json")

    assert {str(line["id"]) for line in ended.lines} == {task_id}
    assert ended.lines[-1]["state"] == "COMPLETED"


async def test_it_survives_an_api_that_is_killed_and_comes_back(
    start: Start, officeplane: Officeplane, plane: Plane, tasks: Tasks
) -> None:
    port = str(free_port())
    here = {"OFFICEPLANE_URL": f"http://127.0.0.1:{port}"}
    task_id = await tasks.submit("noop", runAt=LATER)
    async with start("serve", "--port", port, env=plane.env) as first:
        await eventually(lambda: first.address, within=60)
        async with start("tasks", "watch", task_id, "--url", f"http://127.0.0.1:{port}") as watch:
            await eventually(lambda: task_id in watch.out.read_text())
            await first.stop(signal.SIGKILL)
            assert (await officeplane("tasks", "list", env=here)).code == 3
            # What happens meanwhile must not be missed.
            await tasks("cancel", task_id)
            async with start("serve", "--port", port, env=plane.env):
                assert await asyncio.wait_for(watch.process.wait(), 60) == 1

            assert "CANCELLED" in watch.out.read_text()
            assert "Connection lost" in watch.err.read_text()


async def test_the_whole_installation_is_watched_until_ctrl_c(start: Start, plane: Plane, tasks: Tasks) -> None:
    submitted: list[str] = []
    async with start("tasks", "watch", "--all", "--json", env=plane.env) as watch:

        async def one_of_them_is_seen() -> bool:
            submitted.append(await tasks.submit("noop"))
            return any(task_id in watch.out.read_text() for task_id in submitted)

        await eventually(one_of_them_is_seen)

        assert await watch.stop(signal.SIGINT) == 0
        assert all(json.loads(line)["type"] for line in watch.out.read_text().splitlines())
        assert watch.err.read_text() == ""


async def test_ctrl_c_before_the_end_ends_with_1(start: Start, plane: Plane, tasks: Tasks) -> None:
    task_id = await tasks.submit("noop", runAt=LATER)
    async with start("tasks", "watch", task_id, env=plane.env) as watch:
        await eventually(lambda: task_id in watch.out.read_text())

        assert await watch.stop(signal.SIGINT) == 1
        assert watch.err.read_text() == ""


async def test_on_a_terminal_it_is_a_table_with_ids_that_fit(plane: Plane, tasks: Tasks, tmp_path: Path) -> None:
    task_id = await tasks.submit("noop")
    terminal, theirs = os.openpty()
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        *("tasks", "watch", task_id),
        cwd=ROOT,
        env={**os.environ, **plane.env, "TERM": "xterm", "COLUMNS": "60", "XDG_STATE_HOME": str(tmp_path)},
        stdout=theirs,
    )
    os.close(theirs)

    shown = await asyncio.to_thread(_read_all, terminal)

    assert await process.wait() == 0
    assert task_id[-8:] in shown
    assert task_id in (tmp_path / "officeplane" / "ids").read_text()
    assert "COMPLETED" in shown
    assert "connection lost" not in shown  # nothing was lost only because nothing was open yet
    assert "\x1b[" in shown  # coloured


def _read_all(terminal: int) -> str:
    chunks: list[bytes] = []
    try:
        while chunk := os.read(terminal, 4096):
            chunks.append(chunk)
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(terminal)
    return b"".join(chunks).decode()
