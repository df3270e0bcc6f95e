"""One seed of chaos on servers of its own, as part of every run of the tests; `make chaos` runs any other."""

import shutil
import tempfile
from pathlib import Path
from typing import Final

import pytest

from tests.chaos.report import acknowledged, ended_ahead, lines, lost, suspended
from tests.chaos.run import Plan, run_chaos

SEED: Final = 42
NEMESIS_SECONDS: Final = 90.0
TASKS_MIN: Final = 500
FAULTS_MIN: Final = 30
AHEAD_MIN: Final = 50
DAGS_MIN: Final = 20
WAITS_MIN: Final = 20

pytestmark = [pytest.mark.slow, pytest.mark.timeout(480)]


async def test_no_promise_is_broken_while_everything_is_killed_cut_and_starved() -> None:
    # Not pytest's folder, which the next run removes: what was found is worth a look.
    folder = Path(tempfile.mkdtemp(prefix="officeplane-chaos-"))
    outcome = await run_chaos(Plan(SEED, NEMESIS_SECONDS), folder)

    report = "\n".join((f"logs and data are in {folder}", *lines(outcome)))
    assert outcome.violations == [], report
    assert lost(outcome) == 0, report
    # A run in which little happened proves little.
    assert acknowledged(outcome) >= TASKS_MIN, report
    assert ended_ahead(outcome) >= AHEAD_MIN, report
    assert len(outcome.evidence.dags) >= DAGS_MIN, report
    assert suspended(outcome) >= WAITS_MIN, report
    assert len(outcome.evidence.struck) >= FAULTS_MIN, report
    shutil.rmtree(folder)
