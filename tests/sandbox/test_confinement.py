"""Confinement: whoever takes a child over has gained nothing, and what does not hold is told."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from officeplane.sandbox.confinement import FULL, Confinement, Layer, offered
from officeplane.sandbox.errors import NotConfinedError
from officeplane.sandbox.operations import Check
from officeplane.sandbox.pool import Sandbox
from tests.sandbox.asking import AFile
from tests.sandbox.processes import born
from tests.sandbox.takeover import DONE, SECRET


def taken_over(folder: Path, living: str) -> dict[str, Any]:
    """Return what came of it when somebody took over a child of an owner that lives so."""
    ended = subprocess.run(
        [sys.executable, "-m", "tests.sandbox.takeover", str(folder), living],
        env={**os.environ, "OFFICEPLANE_DATABASE_URL": f"postgresql://officeplane:{SECRET}@127.0.0.1/officeplane"},
        capture_output=True,
        check=True,
        timeout=120,
    )
    told: dict[str, Any] = json.loads(ended.stdout)
    return told


@pytest.mark.parametrize("living", ["here", "contained"])
def test_whoever_takes_a_child_over_reads_reaches_starts_and_harms_nothing(open_folder: Path, living: str) -> None:
    told = taken_over(open_folder, living)

    layers: Confinement = frozenset(map(Layer, told["layers"]))
    assert layers - {Layer.NAMESPACES} == offered()
    if layers >= FULL:
        assert [name for name, outcome in told["attempts"].items() if outcome == DONE] == []
        assert (open_folder / "installation.json").read_text() == SECRET
        assert sorted(entry.name for entry in open_folder.iterdir()) == ["inner", "installation.json", "socket"]
    assert told["status"]["NoNewPrivs"] == "1"
    assert int(told["status"]["CapPrm"], 16) == 0
    assert told["leads"]


def test_a_kernel_without_landlock_and_seccomp_is_told_of_and_what_was_tried_is_possible(open_folder: Path) -> None:
    told = taken_over(open_folder, "old")

    assert not FULL & set(told["layers"])
    assert int(told["status"]["CapPrm"], 16) == 0
    assert {told["attempts"][name] for name in ("read a secret file", "list the data folder", "unlink a file")} == {
        DONE
    }


async def test_a_child_that_is_not_confined_as_required_is_not_used() -> None:
    sandbox = Sandbox(2, required=FULL | {cast("Layer", "a moat")})

    with pytest.raises(NotConfinedError, match="no file is opened without a moat"):
        await sandbox.ask(Check(), file=AFile(b"").to_look_at())

    assert born() == []
    await sandbox.close()


async def test_a_pool_tells_what_holds_its_children(sandbox: Sandbox) -> None:
    assert sandbox.confinement == offered()

    await sandbox.ask(Check(), file=AFile(b"no file at all").to_look_at())

    assert sandbox.confinement - {Layer.NAMESPACES} == offered()


def test_a_process_with_secrets_is_closed_to_others_of_its_user() -> None:
    program = """
import ctypes
from officeplane.cli.confinement import check_confinement
from officeplane.config import Settings
check_confinement(Settings())
print(ctypes.CDLL(None).prctl(3))
"""

    said = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=120).stdout

    assert said.splitlines()[-1] == b"0"
