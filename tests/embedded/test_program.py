"""Programs that run on the servers, as `up` keeps them."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from officeplane.embedded.log_file import LogFile
from officeplane.embedded.processes import is_alive
from officeplane.embedded.program import Program, keep_program
from officeplane.embedded.watchdog import Watchdog
from tests.support import eventually

# Each says the pids that matter, a line each, in the file that is its argument.
ENDS_AT_ONCE = 'echo $$ >> "$0"; exit 3'
HEARS_NOTHING = "trap '' TERM; echo $$ >> \"$0\"; while :; do sleep 0.1; done"
HAS_A_CHILD = 'sleep 60 & echo $$ $! >> "$0"; wait'

OWNER = """
import os, sys, time
from pathlib import Path
from officeplane.embedded.log_file import LogFile
from officeplane.embedded.program import Program
from officeplane.embedded.watchdog import Watchdog
Program("it", sys.argv[1:], os.environ, Watchdog(), LogFile(Path(os.devnull))).start()
print("the watchdog knows", flush=True)
time.sleep(60)
"""


@pytest.fixture
def watchdog() -> Iterator[Watchdog]:
    with Watchdog() as watching:
        yield watching


def a_program(code: str, told: Path, watchdog: Watchdog) -> Program:
    return Program("it", ("sh", "-c", code, str(told)), os.environ, watchdog, LogFile(told.with_name("it.log")))


def pids(told: Path) -> list[int]:
    return [int(line) for line in told.read_text().split()] if told.exists() else []


async def test_a_program_that_ends_is_started_again_after_a_pause(watchdog: Watchdog, tmp_path: Path) -> None:
    told = tmp_path / "pids"
    program = a_program(ENDS_AT_ONCE, told, watchdog)
    program.start()

    with capture_logs() as said:
        keeping = asyncio.create_task(keep_program(program))
        await eventually(lambda: len(pids(told)) >= 2)
        keeping.cancel()
        await program.stop(5)

    first = next(entry for entry in said if entry["event"] == "program.ended")
    assert (first["exit_code"], first["starts_again_in"]) == (3, 1)


async def test_a_program_that_does_not_stop_is_killed_when_the_patience_is_over(
    watchdog: Watchdog, tmp_path: Path
) -> None:
    program = a_program(HEARS_NOTHING, tmp_path / "pids", watchdog)
    program.start()
    (pid,) = await eventually(lambda: pids(tmp_path / "pids"))

    await program.stop(patience_seconds=0.2)

    assert not program.running
    assert not is_alive(pid)


async def test_what_a_killed_program_leaves_in_its_group_goes_with_it(watchdog: Watchdog, tmp_path: Path) -> None:
    told = tmp_path / "pids"
    program = a_program(HAS_A_CHILD, told, watchdog)
    program.start()
    parent, child = await eventually(lambda: pids(told))

    os.kill(parent, signal.SIGKILL)
    await program.ended()

    await eventually(lambda: not is_alive(child))
    await program.stop(1)


async def test_a_program_is_ended_by_the_watchdog_when_its_owner_is_killed(tmp_path: Path) -> None:
    told = tmp_path / "pids"
    command = (sys.executable, "-c", OWNER, "sh", "-c", HEARS_NOTHING, str(told))
    with subprocess.Popen(command, stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        owner.stdout.readline()
        (pid,) = await eventually(lambda: pids(told))

        owner.kill()

    await eventually(lambda: not is_alive(pid))
