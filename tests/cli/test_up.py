"""`officeplane up`, as a newcomer meets it: real processes, real signals."""

import asyncio
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from officeplane.domain.api_key import digest_of
from officeplane.embedded.ports import free_port
from officeplane.embedded.processes import is_alive
from officeplane.local import ADDRESSES, ADMIN_KEY
from officeplane.store import api_keys
from officeplane.store.connection import open_ledger
from tests.support import eventually

# One of them comes up four times, which may take three minutes where everything else is slow as well.
pytestmark = pytest.mark.timeout(600)

Up = subprocess.Popen[str]
StartUp = Callable[[Path, int], Up]


def started_up(data_dir: Path, port: int) -> Up:
    command = (sys.executable, "-m", "officeplane.cli.main", "up", "--port", str(port), "--data-dir", str(data_dir))
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


@pytest.fixture
def start_up() -> Iterator[StartUp]:
    """Starts the command on a folder and a port; it is ended with the test."""
    started: list[Up] = []

    def start(data_dir: Path, port: int) -> Up:
        started.append(started_up(data_dir, port))
        return started[-1]

    yield start
    for process in started:
        process.terminate()
        process.communicate()


@dataclass(frozen=True, slots=True)
class Standing:
    """One that runs, with what it said, for tests that harm nobody; its data is in the folder's `.officeplane`."""

    process: Up
    port: int
    folder: Path
    welcome: str

    @property
    def data(self) -> Path:
        return self.folder / ".officeplane"


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    port, folder = free_port(), tmp_path_factory.mktemp("standing")
    process = started_up(folder / ".officeplane", port)
    try:
        yield Standing(process, port, folder, until_welcome(process))
    finally:
        process.terminate()
        process.communicate()


def until_welcome(process: Up) -> str:
    """What it says until it tells how to stop it."""
    assert process.stdout is not None
    said: list[str] = []
    for line in process.stdout:
        said.append(line)
        if "Stop" in line:
            return "".join(said)
    raise AssertionError("".join(said))


def children_of(pid: int, command: str = "") -> list[int]:
    """The processes it has started, those with this in their command line."""
    listing = subprocess.run(("ps", "-axwwo", "pid=,ppid=,command="), capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=2) for line in listing.splitlines()]
    return [int(child) for child, parent, line in rows if int(parent) == pid and command in line]


def survivors(pids: list[int]) -> list[int]:
    return [pid for pid in pids if is_alive(pid)]


PROGRAM = """
import asyncio
from officeplane import open_plane

async def main() -> None:
    async with open_plane() as plane:
        task = await plane.submit("noop")
        print((await plane.wait(task.id, timeout=60)).state)

asyncio.run(main())
"""


def in_folder(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python there, with nothing in its environment that names an installation."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("OFFICEPLANE_")}
    return subprocess.run(
        (sys.executable, *arguments), cwd=folder, env=env, capture_output=True, text=True, check=False
    )


async def submit(port: int, task_type: str = "noop", **payload: object) -> str:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=30) as client:
        answer = await client.post("/api/tasks", json={"taskType": task_type, "payload": payload})
        return str(answer.raise_for_status().json()["id"])


async def state_of(port: int, task_id: str) -> str:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=30) as client:
        answer = await client.get(f"/api/tasks/{task_id}", params={"wait": 50}, timeout=60)
        return str(answer.raise_for_status().json()["state"])


async def test_it_serves_runs_a_task_and_ends_with_nothing_left(start_up: StartUp, tmp_path: Path) -> None:
    port = free_port()
    process = start_up(tmp_path / "data", port)
    welcome = until_welcome(process)
    children = children_of(process.pid)

    state = await state_of(port, await submit(port))
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)

    assert f"http://127.0.0.1:{port}" in welcome
    assert "curl" in welcome
    assert "serve.listening" in (tmp_path / "data" / "api.log").read_text()
    assert "worker.stopped" in (tmp_path / "data" / "worker.log").read_text()
    assert "worker.stopped" in said
    assert state == "COMPLETED"
    assert process.returncode == 0, said
    assert len(children) == 5  # the watchdog, two servers, the API, the worker
    assert survivors(children) == []


async def test_what_it_says_to_try_works_to_the_letter(standing: Standing) -> None:
    port, welcome = standing.port, standing.welcome
    # A command ends where the next hint begins.
    made, edited, looked_at = re.findall(r"curl .*?(?=\n  \w)", welcome, re.DOTALL)

    def tried(command: str) -> dict[str, Any]:
        ended = subprocess.run(("sh", "-c", command), capture_output=True, text=True, check=True)
        return dict(json.loads(ended.stdout))

    assert tried(made)["revision"] == 1
    assert await state_of(port, tried(edited)["id"]) == "COMPLETED"
    assert "The first words." in tried(looked_at)["text"]
    page = re.search(r"http\S+/docs", welcome)
    assert page is not None
    assert httpx.get(page[0], trust_env=False, timeout=30).status_code == 200


async def test_its_programs_are_the_app_and_not_the_owner(standing: Standing) -> None:
    facts = json.loads((standing.data / "installation.json").read_text())

    owner = f"postgresql://officeplane:{facts['postgres_password']}@127.0.0.1:{facts['postgres_port']}/officeplane"
    connection = await asyncpg.connect(owner)
    try:
        roles = await connection.fetch(
            # A connection that is just being made has no role yet.
            "SELECT DISTINCT usename FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND usename IS NOT NULL"
        )
    finally:
        await connection.close()

    assert [row["usename"] for row in roles] == ["officeplane_app"]


async def works(data: Path, text: str) -> bool:
    """Whether anybody gets in with this key."""
    async with open_ledger(json.loads((data / ADDRESSES).read_text())["databaseUrl"], connections=1) as ledger:
        return await api_keys.of_digest(ledger, digest_of(text)) is not None


async def test_its_owner_has_a_key_that_nobody_else_can_read_and_that_is_never_shown(standing: Standing) -> None:
    path = standing.data / ADMIN_KEY

    text = path.read_text().strip()

    assert await works(standing.data, text)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert str(path) in standing.welcome
    for said in (standing.welcome, (standing.data / "api.log").read_text()):
        assert text not in said
    listed = in_folder(standing.folder, "-m", "officeplane.cli.main", "keys", "list", "--json")
    (key,) = json.loads(listed.stdout)
    assert (key["name"], key["scopes"], key["state"]) == ("admin", ["admin"], "works")


async def test_its_owner_logs_in_with_the_link_that_it_says_once_and_may_do_everything(standing: Standing) -> None:
    found = re.search(r"http\S+/login\?token=(\S+)", standing.welcome)
    assert found is not None
    link, token = found[0], found[1]

    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{standing.port}", trust_env=False, timeout=30) as browser:
        browser.headers["Origin"] = str(browser.base_url).rstrip("/")
        assert (await browser.get(link)).status_code == 200
        assert (await browser.post("/login", data={"token": token})).status_code == 303
        session = (await browser.get("/api/session")).json()
        assert (await browser.post("/login", data={"token": token})).status_code == 401

    assert (session["kind"], session["scopes"], session["login"]) == ("person", ["admin"], "link")
    for log in standing.data.rglob("*.log"):
        assert token not in log.read_text(errors="replace"), log


async def test_the_key_of_its_owner_stays_until_it_is_lost_or_revoked(start_up: StartUp, tmp_path: Path) -> None:
    port, data = free_port(), tmp_path / ".officeplane"
    path = data / ADMIN_KEY

    @contextmanager
    def up() -> Generator[str]:
        """It is up, with this key in its file."""
        process = start_up(data, port)
        until_welcome(process)
        yield path.read_text().strip()
        process.terminate()
        process.communicate(timeout=60)

    with up() as first:
        pass
    with up() as again:
        assert again == first
    path.unlink()
    with up() as second:
        assert (await works(data, first), await works(data, second)) == (False, True)
        revoked = in_folder(tmp_path, "-m", "officeplane.cli.main", "keys", "revoke", "admin")
        assert revoked.returncode == 0, revoked.stderr
    path.chmod(0o644)
    with up() as third:
        assert (await works(data, second), await works(data, third)) == (False, True)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_an_installation_of_a_former_version_is_given_what_it_lacks(start_up: StartUp, tmp_path: Path) -> None:
    port, facts = free_port(), tmp_path / "data" / "installation.json"
    first = start_up(tmp_path / "data", port)
    until_welcome(first)
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=60)
    known = json.loads(facts.read_text())
    facts.write_text(json.dumps({name: value for name, value in known.items() if name != "app_password"}))

    second = start_up(tmp_path / "data", port)
    until_welcome(second)

    assert await state_of(port, await submit(port)) == "COMPLETED"
    assert json.loads(facts.read_text())["postgres_password"] == known["postgres_password"]


async def test_every_command_and_a_program_find_it_from_a_folder_below(standing: Standing) -> None:
    port, below = standing.port, standing.folder / "chapters" / "one"
    below.mkdir(parents=True)
    task_id = await submit(port)

    def is_well() -> subprocess.CompletedProcess[str]:
        ended = in_folder(below, "-m", "officeplane.cli.main", "doctor")
        assert ended.returncode == 0, ended.stdout
        return ended

    # It is up when its API is: the worker may need a moment more to be heard of and to lead the chores.
    doctor = await eventually(is_well)
    listed = in_folder(below, "-m", "officeplane.cli.main", "tasks", "list", "--json")
    program = in_folder(below, "-c", PROGRAM)

    assert str(standing.data) in doctor.stdout
    assert f"http://127.0.0.1:{port} is ready" in doctor.stdout
    assert (task_id, "noop") in [(task["id"], task["taskType"]) for task in json.loads(listed.stdout)]
    assert program.stdout == "COMPLETED\n"


def test_a_program_in_a_folder_without_an_installation_is_told_what_to_do(tmp_path: Path) -> None:
    program = in_folder(tmp_path, "-c", PROGRAM)

    assert "OFFICEPLANE_DATABASE_URL" in program.stderr
    assert "officeplane up" in program.stderr


async def test_killed_outright_it_leaves_no_process_and_finds_its_data_again(start_up: StartUp, tmp_path: Path) -> None:
    port = free_port()
    first = start_up(tmp_path / "data", port)
    until_welcome(first)
    children = children_of(first.pid)
    task_id = await submit(port)
    assert await state_of(port, task_id) == "COMPLETED"

    first.kill()
    second = start_up(tmp_path / "data", port)
    until_welcome(second)

    assert survivors(children) == []
    assert await state_of(port, task_id) == "COMPLETED"


async def test_it_ends_although_nobody_is_left_who_reads_what_it_says(start_up: StartUp, tmp_path: Path) -> None:
    process = start_up(tmp_path / "data", free_port())
    until_welcome(process)
    children = children_of(process.pid)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None

    process.terminate()

    await asyncio.to_thread(process.wait, 60)
    assert survivors(children) == []


async def test_a_worker_that_dies_is_replaced(start_up: StartUp, tmp_path: Path) -> None:
    port = free_port()
    process = start_up(tmp_path / "data", port)
    until_welcome(process)
    (worker,) = children_of(process.pid, " worker")

    os.kill(worker, signal.SIGKILL)

    await eventually(lambda: not is_alive(worker))
    assert await state_of(port, await submit(port)) == "COMPLETED"
    assert len(children_of(process.pid)) == 5


async def test_what_a_worker_that_dies_had_in_hand_does_not_wait_for_its_lease(
    start_up: StartUp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFICEPLANE_LEASE_SECONDS", "3600")
    port = free_port()
    process = start_up(tmp_path / "data", port)
    until_welcome(process)
    (worker,) = children_of(process.pid, " worker")
    task_id = await submit(port, "sleep", seconds=3600)

    async def task() -> dict[str, Any]:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=30) as client:
            found: dict[str, Any] = (await client.get(f"/api/tasks/{task_id}")).json()
            return found

    async def runs() -> bool:
        return bool((await task())["state"] == "RUNNING")

    async def has_crashed() -> bool:
        return [failure["kind"] for failure in (await task())["failures"]] == ["crash"]

    await eventually(runs, within=60)
    os.kill(worker, signal.SIGKILL)

    await eventually(has_crashed, within=60)


def test_a_port_that_is_taken_is_said_in_one_line(start_up: StartUp, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        process = start_up(tmp_path / "data", port)

        said, _ = process.communicate(timeout=60)

    assert process.returncode == 1
    assert said == f"Port {port} is in use: stop what listens there, or choose another --port.\n"
    assert not (tmp_path / "data").exists()


async def test_a_second_one_on_the_same_data_is_refused_in_one_line(start_up: StartUp, standing: Standing) -> None:
    second = start_up(standing.data, free_port())
    said, _ = second.communicate(timeout=60)

    assert second.returncode == 1
    assert said == f"{standing.data} is in use by another officeplane (process {standing.process.pid}): stop it first\n"
