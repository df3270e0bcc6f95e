"""One seed of chaos on servers of its own, as part of every run of the tests; `make chaos` runs any other."""

from pathlib import Path
from typing import Final

import pytest

from tests.chaos.report import acknowledged, lines, lost
from tests.chaos.run import Plan, run_chaos

SEED: Final = 42
NEMESIS_SECONDS: Final = 90.0
TASKS_MIN: Final = 500
FAULTS_MIN: Final = 30


@pytest.mark.timeout(480)
async def test_no_promise_is_broken_while_everything_is_killed_cut_and_starved(tmp_path: Path) -> None:
    outcome = await run_chaos(Plan(SEED, NEMESIS_SECONDS), tmp_path)

    report = "\n".join(lines(outcome))
    assert outcome.violations == [], report
    assert lost(outcome) == 0, report
    # A run in which little happened proves little.
    assert acknowledged(outcome) >= TASKS_MIN, report
    assert len(outcome.evidence.struck) >= FAULTS_MIN, report
